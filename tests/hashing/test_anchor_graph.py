"""The anchor graph: rows that sum to one on the nearest anchors, centres inside the data."""

from __future__ import annotations

import numpy as np
import pytest

from flipwise.hashing.anchor_graph import anchor_weights, choose_anchors


def test_weights_are_on_the_nearest_anchors_and_sum_to_one() -> None:
    """Each row has so many positive weights, larger on nearer anchors; the similarity has row sums 1."""
    rng = np.random.default_rng(0)
    X, anchors = rng.standard_normal((50, 3)), rng.standard_normal((8, 3))
    Z = anchor_weights(X, anchors, 3)
    dense = Z.toarray()
    assert np.allclose(dense.sum(axis=1), 1.0) and ((dense > 0).sum(axis=1) == 3).all()
    distance = ((X[:, None, :] - anchors[None, :, :]) ** 2).sum(axis=2)
    nearest = np.argsort(distance, axis=1)[:, :3]
    assert (np.take_along_axis(dense, nearest, axis=1) > 0).all()
    assert (np.diff(np.take_along_axis(dense, nearest, axis=1), axis=1) <= 0).all()
    A = dense @ np.diag(1.0 / np.maximum(dense.sum(axis=0), 1e-12)) @ dense.T
    assert np.allclose(A.sum(axis=1), 1.0)


@pytest.mark.parametrize("count", [1, 4, 100])
def test_anchors_are_centres_of_the_rows(count: int) -> None:
    """As many as asked for, at most as many as rows, none outside the box of the data; the same for the same seed."""
    X = np.random.default_rng(1).standard_normal((30, 4))
    one, other = (choose_anchors(X, count, np.random.default_rng(2)) for _ in range(2))
    assert one.shape == (min(count, 30), 4) and np.array_equal(one, other)
    assert (one >= X.min(axis=0) - 1e-9).all() and (one <= X.max(axis=0) + 1e-9).all()
