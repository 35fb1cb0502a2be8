"""Runs the tasks of studies into a store: nothing twice, nothing lost, the time left always known.

Several processes get whole studies, the longest first. Every process appends its own cells to the common store, so a
kill at any moment loses no finished cell, however many processes there are.
"""

from __future__ import annotations

import logging
import math
import multiprocessing
import os
import signal
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from queue import Empty
from typing import Any

from flipwise.foundation.errors import FlipwiseError, MissingDependency
from flipwise.kernels.jit import threads as limited_threads
from flipwise_studies.experiments.cells import Cell, Outcome, Skip
from flipwise_studies.experiments.environment import environment, forget_peak_memory, load_average, peak_memory
from flipwise_studies.experiments.store import Store
from flipwise_studies.experiments.study import Plan, Study, Task

log = logging.getLogger("flipwise_studies")


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
Planned = Sequence[tuple[Study, Sequence[Task]]]
BLAS = ("OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "OMP_NUM_THREADS")
"""What tells the libraries under NumPy how many threads they may use: as many as the kernels."""
Run = Callable[[str, Listener], object]
"""Runs the study of this name and tells the listener about each cell; it must be importable, not a closure."""


def run_studies(
    planned: Planned,
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


def longest_first(planned: Planned) -> Planned:
    """The studies by the most seconds they may take, as far as their tasks have time limits."""
    return sorted(planned, key=lambda entry: -sum(task.parameters.get("time_limit", 1.0) for task in entry[1]))


def run_in_processes(planned: Planned, jobs: int, threads: int, run: Run, callback: Listener | None) -> None:
    """Run each study in one of `jobs` processes; the callback hears of cells with counts over all studies."""
    ordered = longest_first(planned)
    names = [study.name for study, _ in ordered]
    context = multiprocessing.get_context("spawn")  # threads of the kernels do not survive a fork
    messages: Any = context.Queue()
    next_place = context.Value("i", 0)
    workers = [
        context.Process(target=_work, args=(names, next_place, messages, os.getpid(), run), daemon=True)
        for _ in range(min(jobs, len(names)))
    ]
    with _inherited({name: str(threads) for name in BLAS}):
        for worker in workers:
            worker.start()
    total = _Total([len(tasks) for _, tasks in ordered], len(workers))
    try:
        while not messages.empty() or any(worker.is_alive() for worker in workers):
            try:
                place, told = messages.get(timeout=0.2)
            except Empty:
                continue
            if callback is not None:
                callback(total.heard(place, told))
    finally:
        for worker in workers:
            worker.terminate() if worker.is_alive() else worker.join()
    if any(worker.exitcode for worker in workers):
        raise FlipwiseError("a process of the studies has ended early; run the same command again to go on.")


@contextmanager
def _inherited(variables: dict[str, str]) -> Iterator[None]:
    """Environment variables for the processes started inside; BLAS reads them when it is loaded."""
    before = {name: os.environ.get(name) for name in variables}
    os.environ.update(variables)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


def _work(names: Sequence[str], next_place: Any, messages: Any, parent: int, run: Run) -> None:
    """Take studies until none is left."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is answered by the parent, which ends its workers
    while True:
        with next_place.get_lock():
            place = next_place.value
            next_place.value += 1
        if place >= len(names):
            return

        def tell(progress: RunnerProgress, place: int = place) -> None:
            if os.getppid() != parent:  # the run was killed: do not go on behind its back
                os._exit(1)
            messages.put((place, progress))

        run(names[place], tell)


class _Total:
    """Counts and time left over all studies, from what the processes say about theirs."""

    def __init__(self, tasks: Sequence[int], jobs: int) -> None:
        self._clock = Clock(tasks)
        self._finished = [0] * len(tasks)
        self._seconds = [0.0] * len(tasks)
        self._sum = sum(tasks)
        self._jobs = jobs

    def heard(self, place: int, told: RunnerProgress) -> RunnerProgress:
        for _ in range(told.finished - self._finished[place] - 1):  # cells that the store had
            self._clock.took(place, 0.0, ran=False)
        self._clock.took(place, told.seconds - self._seconds[place], ran=True)
        self._finished[place], self._seconds[place] = told.finished, told.seconds
        left = self._clock.seconds_left() / self._jobs
        return replace(told, finished=sum(self._finished), total=self._sum, seconds_left=left)
