"""The quasi-Newton ascent: maxima with and without limits, straight slopes, and functions that are no numbers."""

from __future__ import annotations

import numpy as np

from flipwise.bounds.ascent import ascend


def test_a_quadratic_with_limits() -> None:
    """Its maximum under lower limits: no slope is left inside, none points inward at a limit."""
    rng = np.random.default_rng(0)
    A = rng.standard_normal((12, 12))
    A, c = A @ A.T + np.eye(12), rng.standard_normal(12)

    def function(x: np.ndarray) -> tuple[float, np.ndarray]:
        return float(c @ x - x @ A @ x / 2.0), c - A @ x

    lower = np.where(np.arange(12) % 2, 0.0, -np.inf)
    x = ascend(function, np.ones(12), lower, 1e-2, 2000)
    slope = c - A @ x
    assert (x >= lower).all() and np.abs(slope[x > lower]).max() < 1e-6 and (slope[x == lower] <= 1e-6).all()
    assert (x == lower).any()


def test_a_straight_slope_is_left_quickly() -> None:
    """Where nothing curves steps become longer: a hundred thousand first steps in some evaluations."""

    def function(x: np.ndarray) -> tuple[float, np.ndarray]:
        beyond = np.maximum(x - 1000.0, 0.0)
        return float(x.sum() - (beyond**2).sum()), 1.0 - 2.0 * beyond

    x = ascend(function, np.zeros(3), np.full(3, -np.inf), 0.01, 60)
    assert np.allclose(x, 1000.5, atol=1e-3)


def test_no_numbers_leave_the_point() -> None:
    """A function that cannot be evaluated anywhere gives back where it began, after as many evaluations as allowed."""
    taken = []

    def function(x: np.ndarray) -> tuple[float, np.ndarray]:
        taken.append(x)
        return np.nan, np.ones(2)

    assert np.array_equal(ascend(function, np.ones(2), np.zeros(2), 1.0, 15), np.ones(2)) and len(taken) <= 15
