"""Curves of a run, as they are stored with its cell."""

from __future__ import annotations

import numpy as np

import flipwise
from flipwise_studies.experiments.curves import MOST_POINTS, run_curves


def test_curves_follow_the_trace() -> None:
    """The last best value is the answer, with the sign of the scale; no curve is longer than what is stored."""
    A = np.random.default_rng(0).standard_normal((300, 300))
    result = flipwise.minimize(A + A.T, seed=0, restarts=30)
    curves = run_curves(result.trace, scale=-1.0)
    assert set(curves) == {"best", "value", "flips"}
    assert curves["best"][-1][1] == -min(record.best for record in result.trace.records)
    assert all(0 < len(points) <= MOST_POINTS for points in curves.values())
    bests = [best for _, best in curves["best"]]
    assert bests == sorted(bests)
