"""No constraint: everything is feasible, nothing is moved."""

from __future__ import annotations

import numpy as np

import flipwise
from tests.reference import all_spins

FREE = flipwise.Free()


def test_every_array_is_feasible() -> None:
    """Any shape, any point, spins and bits."""
    for shape in ((1,), (4,), (2, 3), (2, 1, 2)):
        FREE.check(shape)
        assert FREE.contains(np.ones(shape)) is True
        assert FREE.violation(np.zeros(shape)) is None
        assert FREE.labels(shape).tolist() == [0] * int(np.prod(shape))
    assert not FREE.swaps


def test_random_points_are_all_points() -> None:
    """In the shape asked for, each about equally often."""
    rng = np.random.default_rng(0)
    drawn = [FREE.random((3, 1), rng) for _ in range(800)]
    assert all(x.shape == (3, 1) for x in drawn)
    points, often = np.unique(np.array(drawn).reshape(800, 3), axis=0, return_counts=True)
    assert points.tolist() == sorted(all_spins(3).tolist())
    assert often.min() > 60 and often.max() < 140


def test_the_projection_is_the_sign() -> None:
    """With sgn(0) = 1, in any shape."""
    y = np.array([[0.3, -0.3], [0.0, -7.0]])
    assert FREE.project(y).tolist() == [[1.0, -1.0], [1.0, -1.0]]


def test_all_moves_are_made_and_no_level_is_taken_away() -> None:
    """First those at +1, then those at -1, in their order; the gradient itself is the gauge."""
    g = np.array([1.0, -2.0, 3.0])
    assert FREE.pair(np.array([2, 0]), np.array([1]), g).tolist() == [2, 0, 1]
    assert FREE.gauge(g) is g
