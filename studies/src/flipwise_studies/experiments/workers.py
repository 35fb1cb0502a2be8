"""Studies dealt out to several processes, the longest first; the store is theirs in common.

Every process appends its own cells, so a kill at any moment loses no finished cell, however many processes there are.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from queue import Empty
from typing import Any

from flipwise.foundation.errors import FlipwiseError
from flipwise_studies.experiments.progress import Listener, RemainingTime, RunnerProgress
from flipwise_studies.experiments.study import PlannedStudies

BLAS = ("OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "OMP_NUM_THREADS")
"""What tells the libraries under NumPy how many threads they may use: as many as the kernels."""
RunStudy = Callable[[str, Listener], object]
"""Runs the study of this name and tells the listener about each cell; it must be importable, not a closure."""


def longest_first(planned: PlannedStudies) -> PlannedStudies:
    """The studies by the most seconds they may take, as far as their tasks have time limits."""
    return sorted(planned, key=lambda entry: -sum(task.parameters.get("time_limit", 1.0) for task in entry[1]))


def run_in_processes(
    planned: PlannedStudies, jobs: int, threads: int, run: RunStudy, callback: Listener | None
) -> None:
    """Run each study in one of `jobs` processes; the callback hears of cells with counts over all studies."""
    ordered = longest_first(planned)
    names = [study.name for study, _ in ordered]
    context = multiprocessing.get_context("spawn")  # threads of the kernels do not survive a fork
    messages: Any = context.Queue()
    next_study = context.Value("i", 0)
    workers = [
        context.Process(target=_work, args=(names, next_study, messages, os.getpid(), run), daemon=True)
        for _ in range(min(jobs, len(names)))
    ]
    with _environment_variables({name: str(threads) for name in BLAS}):
        for worker in workers:
            worker.start()
    overall = _OverallProgress([len(tasks) for _, tasks in ordered], len(workers))
    try:
        while not messages.empty() or any(worker.is_alive() for worker in workers):
            try:
                study, progress = messages.get(timeout=0.2)
            except Empty:
                continue
            if callback is not None:
                callback(overall.update(study, progress))
    finally:
        for worker in workers:
            worker.terminate() if worker.is_alive() else worker.join()
    if any(worker.exitcode for worker in workers):
        raise FlipwiseError("a process of the studies has ended early; run the same command again to go on.")


@contextmanager
def _environment_variables(variables: dict[str, str]) -> Iterator[None]:
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


def _work(names: Sequence[str], next_study: Any, messages: Any, parent: int, run: RunStudy) -> None:
    """Take studies until none is left."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is answered by the parent, which ends its workers
    while True:
        with next_study.get_lock():
            study = next_study.value
            next_study.value += 1
        if study >= len(names):
            return

        def send(progress: RunnerProgress, study: int = study) -> None:
            if os.getppid() != parent:  # the run was killed: do not go on behind its back
                os._exit(1)
            messages.put((study, progress))

        run(names[study], send)


class _OverallProgress:
    """Counts and time left over all studies, from what the processes say about theirs."""

    def __init__(self, tasks: Sequence[int], jobs: int) -> None:
        self._remaining = RemainingTime(tasks)
        self._finished = [0] * len(tasks)
        self._seconds = [0.0] * len(tasks)
        self._total = sum(tasks)
        self._jobs = jobs

    def update(self, study: int, progress: RunnerProgress) -> RunnerProgress:
        """What a process says about its study, with the counts and the time of all."""
        for _ in range(progress.finished - self._finished[study] - 1):  # cells that the store had
            self._remaining.finish(study, 0.0, ran=False)
        self._remaining.finish(study, progress.seconds - self._seconds[study], ran=True)
        self._finished[study], self._seconds[study] = progress.finished, progress.seconds
        left = self._remaining.seconds_left() / self._jobs
        return replace(progress, finished=sum(self._finished), total=self._total, seconds_left=left)
