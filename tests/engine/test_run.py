"""The best point of a run so far."""

from __future__ import annotations

import numpy as np

from flipwise.engine.run import Incumbent


def test_only_better_points_are_kept_and_copied() -> None:
    """The first point, and every one of a smaller value; the caller's array may change afterwards."""
    best, x = Incumbent(), np.ones(2)
    assert best.offer(x, 3.0) and not best.offer(-x, 3.0) and best.offer(x, 1.0)
    x[0] = -1.0
    assert best.x is not None and best.x.tolist() == [1.0, 1.0] and best.value == 1.0


def test_bounds_only_rise() -> None:
    """A weaker bound changes nothing."""
    best = Incumbent()
    for bound in (-5.0, -7.0):
        best.raise_bound(bound)
    assert best.bound == -5.0


def test_a_proven_point_replaces_one_of_a_smaller_rounded_value_and_stays() -> None:
    """What a search has added up with rounding is no argument against a proof."""
    best = Incumbent()
    best.offer(np.ones(2), -3.0000001)
    best.prove(-np.ones(2), -3.0)
    assert not best.offer(np.ones(2), -3.0000001)
    assert best.x is not None and best.x.tolist() == [-1.0, -1.0] and best.value == best.bound == -3.0
