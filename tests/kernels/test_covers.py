"""The walk on sets of one size: its scores and lists are those of the set it is at."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest

from flipwise.kernels import covers
from flipwise.solvers.portfolio.conflicts import CoverWalk
from tests.kernels.test_conflicts import graph_of

pytestmark = pytest.mark.kernels


def test_the_scores_of_a_walk_are_the_weights_of_conflicts() -> None:
    """Recounted after many steps, weights having fallen meanwhile, with the list of conflicts."""
    graph = graph_of(nx.gnp_random_graph(12, 0.5, seed=3), np.ones(12))
    walk = CoverWalk(graph, np.zeros(12, dtype=np.bool_), np.random.default_rng(0))
    walk(5000)
    weight, inside, score, _, _, open_edges, _, _, counts, _ = walk._arrays
    edge_of, entries, first, second = graph.edges
    assert np.array_equal(weight[entries[0]], weight[entries[1]])
    both = inside[first] & inside[second]
    assert set(open_edges[: counts[0]]) == set(np.flatnonzero(both))
    expected = np.where(inside, -covers.INSIDE, 0)
    for e, (u, v) in enumerate(zip(first, second, strict=True)):
        w = weight[entries[0, e]]
        expected[u] += w if both[e] else -w if inside[v] else 0
        expected[v] += w if both[e] else -w if inside[u] else 0
    assert np.array_equal(score, expected)
    assert counts[1] == inside.sum()
    assert counts[4] == weight.sum() / 2
    assert np.array_equal(edge_of[entries], np.tile(np.arange(first.size), (2, 1)))
