"""`reproduce`: run the studies into a store. Rendering is a separate step (`flipwise_studies.render`)."""

from __future__ import annotations

import difflib
import logging
import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from flipwise.engine.limits import Limits
from flipwise.foundation.checks import check_whole
from flipwise.foundation.errors import InvalidInput
from flipwise_studies.experiments.cells import current
from flipwise_studies.experiments.environment import cores, environment
from flipwise_studies.experiments.runner import Listener, Planned, run_in_processes, run_studies
from flipwise_studies.experiments.store import Store
from flipwise_studies.experiments.study import Plan, Study
from flipwise_studies.studies import graphs, hashing, optimisation, qubo

log = logging.getLogger("flipwise_studies")

STUDIES = {
    study.name: study
    for study in (
        optimisation.CONVERGENCE,
        graphs.DENSITIES,
        graphs.CPU_TIMES,
        graphs.NEIGHBOURHOOD,
        hashing.OPTIMISERS,
        hashing.UNSUPERVISED,
        hashing.SUPERVISED,
        qubo.QUBO,
        hashing.COMPRESSION,
        optimisation.MOMENTUM,
        graphs.GROWTH,
    )
}
"""The studies by name, in the order of the report."""


@dataclass(frozen=True)
class Summary:
    """What the store holds after `reproduce`."""

    store: Path
    done: int
    failed: int
    skipped: int


def find_studies(names: Iterable[str] = STUDIES) -> list[Study]:
    """The studies of these names.

    Examples
    --------
    >>> from flipwise_studies import find_studies
    >>> find_studies(["convergence"])[0].title
    'Convergence of DPCD against SGM'
    """
    return [STUDIES[name] for name in names]


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
    shift = _checked_count("seed", seed, 0) or 0
    processes = _checked_count("jobs", jobs, 1) or 1
    used = _checked_count("threads", threads, 1) or max(1, cores() // processes)
    planned = [
        (study, [replace(task, seed=task.seed + shift) for task in tasks])
        for study, tasks in select(find_studies(), plan, only)
    ]
    with Store(store) as opened:
        _warn_of_another_version(opened)
        if processes == 1 or len(planned) < 2:
            run_studies(planned, opened, plan, threads=used, retry=retry, callback=callback)
        else:
            methods = sorted({task.method for _, tasks in planned for task in tasks})
            shared = {"store": store, "threads": used, "seed": shift, "time_limit": time_limit, "retry": retry}
            alone = partial(_one_study, methods if only is not None else [], {**shared, "quick": quick, "data": folder})
            run_in_processes(planned, processes, used, alone, callback)
        statuses = [cell.outcome.status for cell in current(opened.cells())]
    return Summary(Path(store), *(statuses.count(status) for status in ("done", "failed", "skipped")))


def select(available: Sequence[Study], plan: Plan, only: Sequence[str] | str | None) -> Planned:
    """The tasks to run: all, or those of the studies and methods named."""
    planned = [(study, list(study.tasks(plan))) for study in available]
    if only is None:
        return planned
    wanted = [name.strip().replace("-", "_") for name in (only.split(",") if isinstance(only, str) else only)]
    study_names = [study.name for study, _ in planned]
    method_names = sorted({task.method for _, tasks in planned for task in tasks})
    by_plain_name = {method.replace("-", "_"): method for method in method_names}
    for name in wanted:
        if name not in study_names and name not in by_plain_name:
            near = difflib.get_close_matches(name, [*study_names, *by_plain_name], n=1)
            hint = f" Did you mean {near[0]!r}?" if near else ""
            raise InvalidInput(
                f"`only` must name studies ({', '.join(study_names)}) or methods ({', '.join(method_names)}), "
                f"got {name!r}.{hint}"
            )
    chosen = [name for name in wanted if name in study_names]
    methods = {by_plain_name[name] for name in wanted if name not in study_names}
    kept = [
        (study, [task for task in tasks if not methods or task.method in methods])
        for study, tasks in planned
        if not chosen or study.name in chosen
    ]
    return [(study, tasks) for study, tasks in kept if tasks]


def _one_study(methods: Sequence[str], options: dict[str, Any], name: str, callback: Listener) -> None:
    """What a process of its own does."""
    reproduce(only=[name, *methods], callback=callback, **options)


def _checked_count(name: str, given: int | None, least: int) -> int | None:
    check_whole(name, given, least, optional=True)
    return None if given is None else int(given)


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
