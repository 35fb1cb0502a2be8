"""Kernels on shards against their naive twins."""

from __future__ import annotations

import numpy as np
import pytest

from flipwise.kernels import shards as kernels
from tests.kernels.graphs import a_graph

pytestmark = pytest.mark.kernels


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("positive", [False, True])
def test_shard_kernels_equal_their_naive_twins(weighted: bool, positive: bool) -> None:
    """Degrees into a set, their update after flips, and one step of the loads equal dense arithmetic."""
    graph, W = a_graph(weighted, 60)
    P = np.maximum(W, 0.0) if positive else W
    first, last = 20, 45
    indptr = graph.indptr[first : last + 1] - graph.indptr[first]
    arcs = slice(graph.indptr[first], graph.indptr[last])
    weights = np.ones(1, np.int64) if graph.weights is None else graph.weights[arcs]
    rng = np.random.default_rng(0)
    mask = rng.integers(0, 2, 60).astype(np.uint8)
    degrees = np.zeros(last - first, dtype=weights.dtype)
    wanted = np.ones(last - first, np.uint8)
    kernels.row_degrees(indptr, graph.indices[arcs], weights, mask, wanted, positive, degrees)
    assert np.allclose(degrees, P[first:last] @ mask)

    flips = np.array([1, 30, 58])
    mask[flips] ^= 1
    signs = mask[flips].astype(np.int64) * 2 - 1
    all_weights = np.ones(1, np.int64) if graph.weights is None else graph.weights
    kernels.toggle_rows(graph.indptr, graph.indices, all_weights, flips, signs, first, positive, degrees)
    assert np.allclose(degrees, P[first:last] @ mask)

    loads = rng.integers(0, 4, 60).astype(float)
    taken = np.zeros(last - first)
    kernels.row_loads(indptr, graph.indices[arcs], weights, mask, loads, first, taken)
    share = np.where(loads[:, None] < loads[None, :], 1.0, np.where(loads[:, None] == loads[None, :], 0.5, 0.0))
    inside = np.outer(mask, mask) * np.maximum(W, 0.0)
    assert np.allclose(taken, (inside * share).sum(axis=1)[first:last])
