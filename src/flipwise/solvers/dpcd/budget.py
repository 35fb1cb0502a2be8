"""How long one scheme may go on: so many evaluations, or seconds when the run has a time limit."""

from __future__ import annotations

from dataclasses import dataclass

from flipwise.engine.run import Run

WALK_SHARE = 0.9
"""Share of the limits that a scheme takes for itself; the rest is for the descent that ends it."""


@dataclass(frozen=True)
class Budget:
    """`steps` evaluations; with `seconds` the clock decides and `steps` is what is expected to fit."""

    steps: int
    seconds: float | None = None


class Meter:
    """How much of a budget is spent, from 0 to 1. `spent` is what an earlier part of a resumed run has used up."""

    def __init__(self, budget: Budget, run: Run, spent: float = 0.0) -> None:
        self.budget = budget
        self._run = run
        self._done = spent
        self._began = run.seconds

    @property
    def spent(self) -> float:
        """The share of the budget that is used up."""
        if self.budget.seconds is None:
            return self._done
        return self._done + (self._run.seconds - self._began) / max(self.budget.seconds, 1e-9)

    def step(self) -> None:
        """One evaluation is over."""
        if self.budget.seconds is None:
            self._done += 1.0 / self.budget.steps


def budget_within(run: Run, steps: int, share: float = WALK_SHARE) -> Budget:
    """The budget of a scheme that has the run to itself: its limits, or `steps` where there are none."""
    if run.limits.max_iterations is not None:
        return Budget(max(1, int(share * run.limits.max_iterations)))
    if run.limits.time_limit is None:
        return Budget(steps)
    seconds = max(0.0, run.seconds_left)
    cost = run.seconds / max(1, run.evaluations)
    return Budget(max(1, int(share * seconds / max(cost, 1e-6))), share * seconds)
