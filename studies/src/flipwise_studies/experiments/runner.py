"""Runs the tasks of studies into a store: nothing twice, nothing lost, the time left always known."""

from __future__ import annotations

import logging
import math
import time
from dataclasses import replace
from datetime import UTC, datetime

from flipwise.foundation.errors import FlipwiseError, MissingDependency
from flipwise.kernels.jit import threads as limited_threads
from flipwise_studies.experiments.cells import Cell, Outcome, Skip
from flipwise_studies.experiments.environment import environment, forget_peak_memory, load_average, peak_memory
from flipwise_studies.experiments.progress import Listener, RemainingTime, RunnerProgress
from flipwise_studies.experiments.store import Store
from flipwise_studies.experiments.study import Plan, PlannedStudies, Study, Task

log = logging.getLogger("flipwise_studies")


def run_studies(
    planned: PlannedStudies,
    store: Store,
    plan: Plan,
    *,
    threads: int,
    retry: bool = False,
    callback: Listener | None = None,
) -> None:
    """Run every task whose cell is not in the store; with `retry` also those that failed or were skipped before."""
    began = time.perf_counter()
    total = sum(len(tasks) for _, tasks in planned)
    finished = 0
    remaining = RemainingTime([len(tasks) for _, tasks in planned])
    for number, (study, tasks) in enumerate(planned):
        warmed: set[str] = set()
        for place, task in enumerate(tasks):
            started = time.perf_counter()
            cell = _run_once(study, task, store, plan, threads, retry, warmed)
            if place + 1 == len(tasks) or tasks[place + 1].instance is not task.instance:
                task.instance.forget()
            finished += 1
            remaining.finish(number, time.perf_counter() - started, ran=cell is not None)
            if cell is None:
                continue
            progress = RunnerProgress(finished, total, cell, time.perf_counter() - began, remaining.seconds_left())
            log.info("%s", progress)
            if callback is not None:
                callback(progress)


def _run_once(
    study: Study, task: Task, store: Store, plan: Plan, threads: int, retry: bool, warmed: set[str]
) -> Cell | None:
    """Run a task and store its cell; None when the store had it."""
    try:
        key = task.key(study.name, threads, task.instance.checksum)
        missing = None
    except (Skip, FlipwiseError, OSError) as error:
        key = task.key(study.name, threads, "")
        missing = Outcome(status="skipped", reason=f"no data: {error}")
    before = store.attempts(key)
    if before and not (retry and before[-1] != "done"):
        return None
    outcome, peak = (missing, None) if missing else _measured(study, task, threads, warmed)
    cell = Cell(
        key=key,
        outcome=_storable(outcome),
        scale=plan.scale,
        peak_memory=peak,
        environment=environment(),
        finished=datetime.now(UTC).isoformat(timespec="seconds"),
        attempt=len(before),
    )
    store.add(cell)
    return cell


def _measured(study: Study, task: Task, threads: int, warmed: set[str]) -> tuple[Outcome, float | None]:
    """Run a task; exceptions become outcomes with a reason."""
    try:
        data = task.instance.data
        if study.warm is not None and task.method not in warmed:
            study.warm(task)
        warmed.add(task.method)
        forget_peak_memory()
        with limited_threads(threads):
            outcome = study.run(data, task, threads)
        peak = peak_memory()
        load = load_average()
        return outcome if load is None else replace(outcome, metrics={**outcome.metrics, "load_average": load}), peak
    except (Skip, MissingDependency) as reason:
        return Outcome(status="skipped", reason=str(reason)), None
    except Exception as error:
        log.warning("%s | %s | %s failed", study.name, task.instance.name, task.method, exc_info=True)
        return Outcome(status="failed", reason=f"{type(error).__name__}: {error}"), None


def _storable(outcome: Outcome) -> Outcome:
    """Numbers without NaN and infinities, in Python's own types."""
    numbers = {name: _finite(value) for name, value in outcome.metrics.items()}
    return replace(
        outcome,
        value=_finite(outcome.value),
        bound=_finite(outcome.bound),
        seconds=_finite(outcome.seconds),
        metrics={name: value for name, value in numbers.items() if value is not None},
        series={
            name: [[float(x), float(y)] for x, y in points if _finite(x) is not None and _finite(y) is not None]
            for name, points in outcome.series.items()
        },
    )


def _finite(value: float | None) -> float | None:
    """A number as JSON and SQLite can keep it: NaN and infinities become None."""
    return None if value is None or not math.isfinite(value) else float(value)
