"""Shortest odd closed walks: the same as by Bellman and Ford on the doubled graph, in both tiers."""

from __future__ import annotations

import numpy as np
import pytest

from flipwise.bounds.odd_cycles import CycleGraph
from flipwise.kernels.odd_cycles import odd_walks

pytestmark = pytest.mark.kernels


def _distance(graph: CycleGraph, x: np.ndarray, v: int) -> float:
    """The length of a shortest path between the two copies of v."""
    far = np.full((graph.n, 2), np.inf)
    far[v, 0] = 0.0
    for _ in range(2 * graph.n):
        for e, (i, j) in enumerate(zip(graph.first, graph.second, strict=True)):
            for a, b in ((i, j), (j, i)):
                for side in (0, 1):
                    far[b, side] = min(far[b, side], far[a, side] + x[e], far[a, 1 - side] + 1.0 - x[e])
    return float(far[v, 1])


@pytest.mark.parametrize("compiled", [False, True])
@pytest.mark.parametrize("seed", range(4))
def test_walks_are_shortest(seed: int, compiled: bool) -> None:
    """Every walk that is found has the length of a shortest one, and none is missing below the reach."""
    rng = np.random.default_rng(seed)
    n = 9
    pairs = np.array([(i, j) for i in range(n) for j in range(i) if rng.random() < 0.4])
    graph = CycleGraph(n, pairs[:, 1], pairs[:, 0])
    x = np.round(rng.random(len(pairs)), 2)
    states, arcs = 2 * n, 8 * len(pairs) + 4
    before, parent, touched = np.zeros((3, states + 1), np.int64)
    distance = np.full(states, 2.0)
    scratch = distance, before, parent, touched, np.zeros(arcs), np.zeros(arcs, np.int64)
    walks, ends = np.zeros(500, np.int64), np.zeros(n, np.int64)
    kernel = odd_walks.compile() if compiled else odd_walks.interpreted
    clear, arcs = np.zeros(n, np.uint8), (graph.indptr, graph.neighbours, graph.edges)
    kernel(*arcs, x, np.arange(n), 0.999, 10**6, 0.0, *scratch, clear, walks, ends)
    assert (distance == 2.0).all()
    begin = 0
    for v, end in enumerate(ends.tolist()):
        marks = walks[begin:end]
        shortest = _distance(graph, x, v)
        assert (end > begin) == (shortest < 0.999)
        if end > begin:
            lengths = np.where(marks & 1, 1.0 - x[marks >> 1], x[marks >> 1])
            assert lengths.sum() == pytest.approx(shortest) and (marks & 1).sum() % 2 == 1
        begin = end
