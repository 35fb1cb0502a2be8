"""The walk among cliques: the same in both tiers, and its lists and counts are those of its clique."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest

from flipwise.densest.cliques import not_joined
from flipwise.graphs.convert import as_graph
from flipwise.kernels import cliques

pytestmark = pytest.mark.kernels


def walked(walk, graph, delay: int, moves: int) -> list[np.ndarray]:
    """All arrays of a walk after some moves, in slices."""
    n = graph.n
    start, others = not_joined(graph)
    member, missing, lists = np.zeros(n, np.uint8), np.zeros(n, np.int64), np.zeros((3, n), np.int64)
    lists[0] = np.arange(n)
    arrays = [member, missing, lists, np.array([n, 0, 0]), np.arange(n), np.zeros(n, np.int64), np.full(n, -1)]
    arrays += [np.zeros(n, np.int64), np.array([12345, 0, 0, 0, 0]), np.zeros(n, np.int64)]
    for _ in range(5):
        walk(start, others, *arrays, n + 1, delay, moves // 5)
    return arrays


@pytest.mark.parametrize("delay", [1, 2, 15])
@pytest.mark.parametrize("density", [0.2, 0.7])
def test_the_lists_are_those_of_the_clique(delay: int, density: float) -> None:
    """Members are joined to each other, counts and both lists follow from them, the best set is a clique."""
    network = nx.gnp_random_graph(24, density, seed=7)
    graph = as_graph(network)
    A = nx.to_numpy_array(network, nodelist=sorted(network)) > 0
    slow = walked(cliques.clique_walk.interpreted, graph, delay, 300)
    fast = walked(cliques.clique_walk.compile(), graph, delay, 300)
    assert all(np.array_equal(a, b) for a, b in zip(slow, fast, strict=True))
    member, missing, lists, sizes, _, _, _, _, place, best = slow
    inside = np.flatnonzero(member)
    assert set(lists[2, : sizes[2]]) == set(inside) and A[np.ix_(inside, inside)].sum() == inside.size * (
        inside.size - 1
    )
    outside = np.flatnonzero(member == 0)
    assert np.array_equal(missing[outside], (~A)[np.ix_(outside, inside)].sum(axis=1))
    for row in (0, 1):
        assert set(lists[row, : sizes[row]]) == set(outside[missing[outside] == row])
    largest = best[: place[cliques.BEST]]
    assert A[np.ix_(largest, largest)].sum() == largest.size * (largest.size - 1) and largest.size >= 2
