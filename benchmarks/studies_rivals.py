"""Dense subgraphs of the stored studies: what was stopped before the study's limit of today is run again.

    python benchmarks/studies_rivals.py --graphs dblp-2010 uk-2007-05@100000 --methods spectral frank-wolfe mpec-epm
    python benchmarks/studies.py                       # then the tables

Rivals may take ten times our limit. Each cell takes the place of the one that was stopped as soon as it is done, so the
program can be killed and called again. Limits and seconds are of the processor, for one thread on a machine with other
work. Data are found through FLIPWISE_DATA.
"""

from __future__ import annotations

import argparse
import os
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

from recording import RESULTS, commit, count_processor_seconds

from flipwise.kernels.jit import threads as limited_threads
from flipwise_studies.experiments.cells import Cell
from flipwise_studies.experiments.environment import environment, load_average
from flipwise_studies.experiments.results import read_cells, write_results
from flipwise_studies.experiments.study import Plan, Study, Task
from flipwise_studies.report.sections.shared import unfinished
from flipwise_studies.studies.cpu_times import STUDY as CPU_TIMES
from flipwise_studies.studies.dense_subgraphs import RIVALS
from flipwise_studies.studies.densities import STUDY as DENSITIES

STORED = RESULTS / "studies-full.json"
COMMAND = "flipwise reproduce --full --threads 1; rivals that its limit stopped: python benchmarks/studies_rivals.py"


def stopped(study: Study, task: Task, cells: list[Cell]) -> int | None:
    """Where the stored cell of a task is that was stopped earlier than the task's limit."""
    for place, cell in enumerate(cells):
        key = cell.key
        if (key.study, key.instance, key.method, key.seed) == (study.name, task.instance.name, task.method, task.seed):
            asked = key.options
            if asked["k"] == task.parameters["k"] and asked["time_limit"] < task.parameters["time_limit"]:
                return place if unfinished(cell) else None
    return None


def run_again(study: Study, task: Task, before: Cell) -> Cell:
    """The cell, with the limit of today."""
    key = task.key(study.name, before.key.threads, before.key.checksum)
    with limited_threads(before.key.threads):
        outcome = study.run(task.instance.data, task, before.key.threads)
    metrics = {**outcome.metrics, "load_average": load_average() or 0.0}
    now = datetime.now(UTC).isoformat(timespec="seconds")
    return Cell(key, replace(outcome, metrics=metrics), "full", None, environment(), now)


def main() -> None:
    """Run what is asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--graphs", nargs="+", help="some graphs only")
    parser.add_argument("--methods", nargs="+", choices=RIVALS, default=list(RIVALS))
    given = parser.parse_args()
    if str(commit()).endswith("-dirty"):
        raise SystemExit("Commit first: a stored cell names the code that made it.")
    count_processor_seconds()
    plan = Plan(quick=False, data=Path(os.environ["FLIPWISE_DATA"]))
    warmed: set[str] = set()
    for method in given.methods:
        for study in (DENSITIES, CPU_TIMES):
            for task in study.tasks(plan):
                if task.method != method or (given.graphs and task.instance.name not in given.graphs):
                    continue
                cells = read_cells(STORED)
                place = stopped(study, task, cells)
                if place is None:
                    continue
                if study.warm is not None and method not in warmed:
                    study.warm(task)
                    warmed.add(method)
                cells[place] = run_again(study, task, cells[place])
                write_results(cells, STORED, command=COMMAND)
                outcome = cells[place].outcome
                print(
                    study.name, task.instance.name, method, task.parameters, outcome.value, outcome.seconds, flush=True
                )


if __name__ == "__main__":
    main()
