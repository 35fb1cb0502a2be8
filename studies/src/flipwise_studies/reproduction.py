"""`reproduce`: run the studies into a store. Rendering is a separate step (`flipwise_studies.render`)."""

from __future__ import annotations

import difflib
import logging
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from flipwise.engine.limits import Limits
from flipwise.foundation.checks import check_whole
from flipwise.foundation.errors import InvalidInput
from flipwise_studies.experiments.cells import current
from flipwise_studies.experiments.environment import cores, environment
from flipwise_studies.experiments.progress import Listener
from flipwise_studies.experiments.runner import run_studies
from flipwise_studies.experiments.store import Store
from flipwise_studies.experiments.study import Plan, PlannedStudies, Study
from flipwise_studies.experiments.workers import run_in_processes
from flipwise_studies.studies.catalogue import find_studies

log = logging.getLogger("flipwise_studies")


@dataclass(frozen=True)
class Summary:
    """What the store holds after `reproduce`."""

    store: Path
    done: int
    failed: int
    skipped: int


def reproduce(
    *,
    quick: bool = True,
    only: Sequence[str] | str | None = None,
    store: str | Path = "flipwise-results.sqlite",
    data: str | Path | None = None,
    seed: int = 0,
    time_limit: float | None = None,
    threads: int | None = None,
    jobs: int = 1,
    retry: bool = False,
    callback: Listener | None = None,
) -> Summary:
    """Run the paper's experiments and our comparisons; finished cells of the store are not run again.

    Parameters
    ----------
    quick
        True: generated data, a few minutes, no files needed. False: real data from `data`.
    only
        Names of studies, of methods, or both (a sequence or one string with commas): run only these studies, and in
        them only these methods.
    store
        The SQLite file the cells are appended to; a killed run continues where it was.
    data
        The folder with real data; by default the one the variable FLIPWISE_DATA names.
    seed
        Added to the seed of every cell: other starts on the same data.
    time_limit
        Seconds that each cell may take; by default each study has its own limit. Stored with the cell.
    threads
        The most threads for the compiled kernels; by default all cores, shared evenly by the jobs.
    jobs
        Studies that run at the same time, each in a process of its own. (A program that asks for several needs the
        usual `if __name__ == "__main__":`.) Times of cells are then taken beside the work of the other processes.
    retry
        Run cells again that failed or were skipped (the old rows stay in the file).
    callback
        Called after each cell with a `RunnerProgress`, whose text is a line for a log.

    Returns
    -------
    Summary
        Where the cells are and how many there are of each status.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> from flipwise_studies import reproduce
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     summary = reproduce(only=["convergence", "sgm"], store=pathlib.Path(folder) / "cells.sqlite")
    >>> summary.failed
    0
    """
    folder = data or os.environ.get("FLIPWISE_DATA") or None
    Limits(time_limit=time_limit)  # raises for what is no time
    plan = Plan(quick=quick, data=None if folder is None else Path(folder), time_limit=time_limit)
    check_whole("seed", seed, 0)
    check_whole("jobs", jobs, 1)
    check_whole("threads", threads, 1, optional=True)
    seed, jobs = int(seed), int(jobs)  # NumPy's integers cannot be stored
    threads_each = max(1, cores() // jobs) if threads is None else int(threads)
    planned = [
        (study, [replace(task, seed=task.seed + seed) for task in tasks])
        for study, tasks in select(find_studies(), plan, only)
    ]
    with Store(store) as opened:
        _warn_of_another_version(opened)
        if jobs == 1 or len(planned) < 2:
            run_studies(planned, opened, plan, threads=threads_each, retry=retry, callback=callback)
        else:
            methods = [] if only is None else sorted({task.method for _, tasks in planned for task in tasks})
            options = {"quick": quick, "store": store, "data": folder, "seed": seed, "time_limit": time_limit}
            run_one = partial(_run_one_study, methods, {**options, "threads": threads_each, "retry": retry})
            run_in_processes(planned, jobs, threads_each, run_one, callback)
        statuses = [cell.outcome.status for cell in current(opened.cells())]
    return Summary(Path(store), *(statuses.count(status) for status in ("done", "failed", "skipped")))


def select(available: Sequence[Study], plan: Plan, only: Sequence[str] | str | None) -> PlannedStudies:
    """The tasks to run: all, or those of the studies and methods named."""
    planned = [(study, list(study.tasks(plan))) for study in available]
    if only is None:
        return planned
    study_names = [study.name for study, _ in planned]
    methods = {task.method.replace("-", "_"): task.method for _, tasks in planned for task in tasks}
    names = _checked_names(only, study_names, methods)
    wanted_studies = [name for name in names if name in study_names] or study_names
    wanted_methods = {methods[name] for name in names if name not in study_names} or set(methods.values())
    selected = [
        (study, [task for task in tasks if task.method in wanted_methods])
        for study, tasks in planned
        if study.name in wanted_studies
    ]
    return [(study, tasks) for study, tasks in selected if tasks]


def _checked_names(only: Sequence[str] | str, study_names: Sequence[str], methods: Mapping[str, str]) -> list[str]:
    """The names in `only`, written with underscores; a name that is neither a study nor a method is refused."""
    names = [name.strip().replace("-", "_") for name in (only.split(",") if isinstance(only, str) else only)]
    for name in names:
        if name not in study_names and name not in methods:
            near = difflib.get_close_matches(name, [*study_names, *sorted(methods)], n=1)
            hint = f" Did you mean {near[0]!r}?" if near else ""
            raise InvalidInput(
                f"`only` must name studies ({', '.join(study_names)}) or methods "
                f"({', '.join(sorted(methods.values()))}), got {name!r}.{hint}"
            )
    return names


def _run_one_study(methods: Sequence[str], options: dict[str, Any], name: str, callback: Listener) -> None:
    """Run the study of this name, as a process of its own does."""
    reproduce(only=[name, *methods], callback=callback, **options)


def _warn_of_another_version(store: Store) -> None:
    """Finished cells are kept whatever wrote them; say so when that was another version."""
    here = environment()["versions"]["flipwise"]
    others = {cell.environment.get("versions", {}).get("flipwise", "?") for cell in store.cells()} - {here}
    if others:
        log.warning(
            "%s holds cells of flipwise %s; they are kept. Give a new `store` to run them with %s.",
            store.path,
            ", ".join(sorted(others)),
            here,
        )
