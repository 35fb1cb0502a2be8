"""What a scheme may spend, and how much of it is spent."""

from __future__ import annotations

import numpy as np
import pytest

import flipwise
from flipwise.engine.limits import Limits
from flipwise.model.problem import Problem
from flipwise.solvers.dpcd.budget import WALK_SHARE, Budget, Meter, budget_within


def run_with(**limits: object) -> flipwise.Run:
    """A run on a small problem that has just begun."""
    problem = Problem(flipwise.Quadratic(np.eye(3)), flipwise.Free())
    return flipwise.Run(problem, Limits(**limits))  # type: ignore[arg-type]


def test_without_a_time_limit_evaluations_are_counted() -> None:
    """Every step is its share of them; what an earlier part has spent counts."""
    meter = Meter(Budget(4), run_with(), spent=0.5)
    meter.step()
    assert meter.spent == pytest.approx(0.75)
    meter.step()
    assert meter.spent == pytest.approx(1.0)


def test_with_seconds_the_clock_decides() -> None:
    """Steps are free then."""
    meter = Meter(Budget(4, seconds=1e9), run_with(time_limit=1e9))
    for _ in range(100):
        meter.step()
    assert 0.0 <= meter.spent < 0.5


def test_a_scheme_leaves_a_share_of_the_limits_to_the_descent_after_it() -> None:
    """Of the iterations, of the seconds; without limits it has the steps that are asked for."""
    assert budget_within(run_with(), 70) == Budget(70)
    assert budget_within(run_with(max_iterations=100), 70) == Budget(int(WALK_SHARE * 100))
    assert budget_within(run_with(max_iterations=1), 70).steps == 1
    timed = budget_within(run_with(time_limit=1000.0), 70)
    assert timed.seconds is not None and 0.0 < timed.seconds <= WALK_SHARE * 1000.0 and timed.steps >= 1
