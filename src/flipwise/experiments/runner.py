"""Runs the tasks of studies into a store: nothing twice, nothing lost, the time left always known."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime

from flipwise.errors import FlipwiseError, MissingDependency
from flipwise.experiments.cells import Cell, Outcome, Skip, finite
from flipwise.experiments.environment import environment, forget_peak_memory, load_average, peak_memory
from flipwise.experiments.store import Store
from flipwise.experiments.study import Plan, Study, Task
from flipwise.kernels.jit import threads as limited_threads

log = logging.getLogger("flipwise.experiments")


@dataclass(frozen=True)
class RunnerProgress:
    """Told to the callback after each cell: how many are finished, which was the last, and the seconds left."""

    finished: int
    total: int
    cell: Cell
    seconds: float
    seconds_left: float

    def __str__(self) -> str:
        key, outcome = self.cell.key, self.cell.outcome
        said = outcome.reason if outcome.status != "done" else _shown(outcome)
        left = (
            f"{self.seconds_left:.0f} s left" if self.seconds_left < 120 else f"{self.seconds_left / 60:.0f} min left"
        )
        return f"[{self.finished}/{self.total}, {left}] {key.study} | {key.instance} | {key.method}: {said}"


Listener = Callable[[RunnerProgress], object]


def run_studies(
    planned: Sequence[tuple[Study, Sequence[Task]]],
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
    clock = Clock([len(tasks) for _, tasks in planned])
    for number, (study, tasks) in enumerate(planned):
        warmed: set[str] = set()
        for place, task in enumerate(tasks):
            started = time.perf_counter()
            cell = _run_once(study, task, store, plan, threads, retry, warmed)
            if place + 1 == len(tasks) or tasks[place + 1].instance is not task.instance:
                task.instance.forget()
            finished += 1
            clock.took(number, time.perf_counter() - started, ran=cell is not None)
            if cell is None:
                continue
            told = RunnerProgress(finished, total, cell, time.perf_counter() - began, clock.seconds_left())
            log.info("%s", told)
            if callback is not None:
                callback(told)


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
    numbers = {name: finite(value) for name, value in outcome.metrics.items()}
    return replace(
        outcome,
        value=finite(outcome.value),
        bound=finite(outcome.bound),
        seconds=finite(outcome.seconds),
        metrics={name: value for name, value in numbers.items() if value is not None},
        series={
            name: [[float(x), float(y)] for x, y in points if finite(x) is not None and finite(y) is not None]
            for name, points in outcome.series.items()
        },
    )


def _shown(outcome: Outcome) -> str:
    value = "-" if outcome.value is None else f"{outcome.value:.6g}"
    return value if outcome.seconds is None else f"{value} in {outcome.seconds:.2f} s"


class Clock:
    """Seconds left, from the mean time of the cells run so far: those of the same study where there are any."""

    def __init__(self, tasks: Sequence[int]) -> None:
        self._left = list(tasks)
        self._times: list[list[float]] = [[] for _ in tasks]

    def took(self, study: int, seconds: float, *, ran: bool) -> None:
        self._left[study] -= 1
        if ran:
            self._times[study].append(seconds)

    def seconds_left(self) -> float:
        everything = [t for times in self._times for t in times]
        overall = sum(everything) / len(everything) if everything else 0.0
        means = [sum(times) / len(times) if times else overall for times in self._times]
        return sum(left * mean for left, mean in zip(self._left, means, strict=True))
