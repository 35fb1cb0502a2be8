"""Flows between loads, against what they must leave: every edge whole, and nodes that too much cannot leave."""

from __future__ import annotations

import numpy as np
import pytest

from flipwise.densest.flow import Split, in_units
from flipwise.kernels.orientation import fall_below, gains_in_order, opposite_arcs
from tests.kernels.graphs import a_graph

pytestmark = pytest.mark.kernels


def test_opposite_arcs_are_each_others() -> None:
    """The twin of an arc leads back, and its twin is the arc."""
    graph, _ = a_graph(False, 15, 1)
    twin = np.empty(graph.n_arcs, np.int64)
    opposite_arcs(graph.indptr, graph.indices, graph.indptr[:-1].copy(), twin)
    rows = np.repeat(np.arange(graph.n), graph.degrees)
    assert np.array_equal(twin[twin], np.arange(graph.n_arcs)) and np.array_equal(graph.indices[twin], rows)


@pytest.mark.parametrize("seed", range(4))
def test_a_flow_leaves_nothing_or_a_set_that_it_cannot_leave(seed: int) -> None:
    """Edges stay whole; the nodes met at the end carry their edges and none to others, above their room in all."""
    graph, W = a_graph(False, 12, seed)
    split = Split.even(in_units(graph), passes=1)
    for average in (1, 2, 3):
        room = np.full(graph.n, average * split.parts)
        _, full = split.spread(room)
        assert np.array_equal(split.own + split.own[split.twin], np.full(graph.n_arcs, split.parts))
        assert split.loads.sum() == split.parts * graph.n_edges
        if full.any():
            inside = W[np.ix_(full, full)].sum() / 2
            assert split.loads[full].sum() == split.parts * inside > room[full].sum()
        else:
            assert np.all(split.loads <= room)


def test_gains_and_falling_nodes_equal_naive_twins() -> None:
    """What a node adds to those before it, and what is left when nodes of too small a degree are gone."""
    graph, W = a_graph(False, 14, 2)
    place = np.random.default_rng(0).permutation(14)
    bonus, gains, one = np.arange(14), np.empty(14, np.int64), np.ones(1, np.int64)
    gains_in_order(graph.indptr, graph.indices, one, bonus, place, gains)
    assert np.array_equal(gains, [bonus[i] + W[i][place < place[i]].sum() for i in range(14)])
    alive, degrees = np.ones(14, np.uint8), graph.degrees.copy()
    left = fall_below(graph.indptr, graph.indices, one, alive, degrees, np.full(14, 4.0), np.empty(14, np.int64))
    naive = np.ones(14, dtype=bool)
    while (weak := naive & (W[:, naive].sum(axis=1) < 4)).any():
        naive &= ~weak
    assert np.array_equal(alive > 0, naive) and left == naive.sum()
