"""How far a run of the studies is: what the callback is told after each cell, and the time that is left."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from flipwise_studies.experiments.cells import Cell, Outcome


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
        answer = _value_and_time(outcome) if outcome.status == "done" else outcome.reason
        left = (
            f"{self.seconds_left:.0f} s left" if self.seconds_left < 120 else f"{self.seconds_left / 60:.0f} min left"
        )
        return f"[{self.finished}/{self.total}, {left}] {key.study} | {key.instance} | {key.method}: {answer}"


Listener = Callable[[RunnerProgress], object]
"""A callback of the runner."""


class RemainingTime:
    """Seconds left, from the mean time of the cells run so far: those of the same study where there are any."""

    def __init__(self, tasks: Sequence[int]) -> None:
        """`tasks` is the number of tasks of each study."""
        self._left = list(tasks)
        self._times: list[list[float]] = [[] for _ in tasks]

    def finish(self, study: int, seconds: float, *, ran: bool) -> None:
        """One task less in a study; one that the store had already says nothing about the time of others."""
        self._left[study] -= 1
        if ran:
            self._times[study].append(seconds)

    def seconds_left(self) -> float:
        """The estimate for all tasks that are not finished."""
        everything = [seconds for times in self._times for seconds in times]
        overall = sum(everything) / len(everything) if everything else 0.0
        means = [sum(times) / len(times) if times else overall for times in self._times]
        return sum(left * mean for left, mean in zip(self._left, means, strict=True))


def _value_and_time(outcome: Outcome) -> str:
    """What a finished cell gave, in a few words."""
    value = "-" if outcome.value is None else f"{outcome.value:.6g}"
    return value if outcome.seconds is None else f"{value} in {outcome.seconds:.2f} s"
