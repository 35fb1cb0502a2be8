"""Peeling, cores and greedy growth against naive twins, on small graphs with and without weights."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest

from flipwise.densest.core import (
    core_above,
    core_of_size,
    induced,
    whole_core,
)
from flipwise.graphs.convert import as_graph
from flipwise.graphs.graph import Graph
from flipwise.kernels.peeling import (
    alive_degrees,
    greedy_growth,
    heaviest_edge,
    later_neighbours,
    peel_least,
    weighted_peeling_order,
)
from tests.kernels.graphs import a_graph

pytestmark = pytest.mark.kernels


@pytest.fixture(params=[False, True], ids=["plain", "weighted"])
def pair(request: pytest.FixtureRequest) -> tuple[Graph, np.ndarray]:
    return a_graph(request.param)


def test_core_numbers_are_those_of_networkx() -> None:
    """The peeling order gives the core numbers, and no later neighbour count above them."""
    graph, W = a_graph(False, 40, 3)
    order, numbers = whole_core(graph).peeling
    assert dict(enumerate(numbers)) == nx.core_number(nx.from_numpy_array(W))
    place = np.argsort(order)
    later = np.zeros(40, dtype=np.int64)
    later_neighbours(graph.indptr, graph.indices, place, later)
    assert np.array_equal(later, [(W[i] * (place > place[i])).sum() for i in range(40)]) and np.all(later <= numbers)


def test_weighted_peeling_removes_a_node_of_least_degree_each_time() -> None:
    """Each node taken has the least weighted degree among those left."""
    graph, W = a_graph(True, 20, 4)
    left = np.ones(20, dtype=bool)
    for node in whole_core(graph).peeling.order:
        degrees = W[:, left].sum(axis=1)
        assert degrees[node] <= degrees[left].min() + 1e-9
        left[node] = False


def test_a_core_is_what_repeated_removal_leaves(pair) -> None:
    """core_above equals the naive fixed point on the positive part; its graph is the induced one."""
    graph, W = pair
    P = np.maximum(W, 0.0)
    for cap in (1.0, 2.0, 4.0):
        left = np.ones(24, dtype=bool)
        while np.any(left & (P @ left <= cap)):
            left &= P @ left > cap
        core = core_above(whole_core(graph), cap)
        assert np.array_equal(core.nodes, np.flatnonzero(left)) and core.cap >= cap
        assert np.allclose(core.graph.to_scipy().toarray(), W[np.ix_(left, left)])
    nodes = np.array([1, 5, 9, 10])
    assert np.allclose(induced(graph, nodes).to_scipy().toarray(), W[np.ix_(nodes, nodes)])


def test_a_core_of_some_size_is_a_core_and_not_much_larger() -> None:
    """It is what repeated removal at its own cap leaves, has enough nodes, and peels in order of core numbers."""
    for weighted, size in ((False, 8), (False, 20), (True, 15)):
        graph, _ = a_graph(weighted, 120, 7)
        whole = whole_core(graph)
        core = core_of_size(whole, size)
        assert size <= core.graph.n
        again = whole if core.is_whole else core_above(whole, np.floor(core.cap))
        assert np.array_equal(core.nodes, again.nodes)
        if not weighted:
            order, numbers = core.peeling
            assert np.array_equal(order, whole_core(core.graph).peeling.order)
            assert np.all(np.diff(numbers[order]) >= 0)


def test_a_large_core_is_cut_down_to_the_wanted_size() -> None:
    """A dense part inside a large regular one is found although the first cut by degree keeps everything."""
    rng = np.random.default_rng(0)
    ring = [[i, (i + step) % 300] for i in range(300) for step in (1, 2, 3)]
    dense = [[i, j] for i in range(40) for j in range(i) if rng.random() < 0.8]
    core = core_of_size(whole_core(as_graph((300, np.array(ring + dense)))), 30)
    assert 30 <= core.graph.n <= 60


def test_a_node_with_hundreds_of_neighbours_is_counted() -> None:
    """More than a byte holds, in both tiers: all counts of neighbours stay exact."""
    graph = as_graph(nx.star_graph(400))
    everyone = np.arange(401)
    for tier in ("interpreted", "compiled"):
        degrees, alive, one = np.zeros(401, np.int64), np.ones(401, np.uint8), np.ones(1, np.int64)
        alive_degrees.compile()
        getattr(alive_degrees, tier)(graph.indptr, graph.indices, one, everyone, alive, degrees)
        assert degrees[0] == 400 and np.array_equal(degrees, graph.degrees)
    assert np.array_equal(induced(graph, everyone).indices, graph.indices)


@pytest.mark.parametrize("tier", ["interpreted", "compiled"])
def test_least_degrees_are_removed_from_lists(tier: str) -> None:
    """Every node taken has the least degree among those left, and all are taken."""
    graph, W = a_graph(False, 40, 3)
    peel_least.compile()
    degrees = graph.degrees.copy()
    head, following, preceding, nodes = (np.empty(size, np.int64) for size in (degrees.max() + 1, 40, 40, 40))
    getattr(peel_least, tier)(graph.indptr, graph.indices, degrees, head, following, preceding, nodes)
    left = np.ones(40, dtype=bool)
    for node in nodes:
        assert W[node, left].sum() == W[np.ix_(left, left)].sum(axis=1).min()
        left[node] = False
    assert not left.any()


def test_the_heap_gives_the_same_order_in_both_tiers() -> None:
    """Peeling by weighted degree, weights of both signs, interpreted and compiled."""
    graph, W = a_graph(True, 60, 6)
    weighted_peeling_order.compile()
    orders = []
    for tier in ("interpreted", "compiled"):
        heap, place, nodes = (np.empty(60, np.int64) for _ in range(3))
        run = getattr(weighted_peeling_order, tier)
        run(graph.indptr, graph.indices, graph.weights, W.sum(axis=1), heap, place, nodes)
        orders.append(nodes)
    assert np.array_equal(*orders) and np.array_equal(np.sort(orders[0]), np.arange(60))


@pytest.mark.parametrize("tier", ["interpreted", "compiled"])
def test_growth_adds_the_node_with_the_largest_tie(tier: str) -> None:
    """From the heaviest edge on, by total weight to the chosen ones, then by degree, then by number."""
    rng = np.random.default_rng(8)
    W = np.triu(rng.integers(0, 4, (25, 25)) * (rng.random((25, 25)) < 0.3), 1).astype(float)
    W += W.T
    graph = as_graph(W)
    assert graph.weights is not None
    tie = W.sum(axis=1)
    greedy_growth.compile()
    first, second = heaviest_edge(graph.indptr, graph.indices, graph.weights, tie)
    assert W[first, second] == W.max()
    expected = [first, second]
    while len(expected) < 12:
        rest = [i for i in range(25) if i not in expected]
        expected.append(max(rest, key=lambda i: (W[i, expected].sum(), tie[i], -i)))
    chosen, heap = np.empty(12, np.int64), np.empty(25, np.int64)
    getattr(greedy_growth, tier)(
        *(graph.indptr, graph.indices, graph.weights, tie, np.argsort(-tie, kind="stable")),
        *(np.int64(first), np.int64(second), chosen, np.full(25, -1), heap, np.zeros(25)),
    )
    assert chosen.tolist() == expected


@pytest.mark.parametrize("edges", [True, False])
def test_heaviest_edge_and_later_neighbours_are_the_same_in_all_tiers(pair, edges: bool) -> None:
    """Loops, NumPy and machine code, ties among them, and a graph without edges."""
    graph, _ = pair
    if not edges:
        graph = as_graph((3, np.empty((0, 2), np.int64)))
    rng = np.random.default_rng(5)
    weights = np.ones(1) if graph.weights is None else np.round(graph.weights)
    tie, place = rng.integers(0, 3, graph.n).astype(float), rng.permutation(graph.n)
    ends, later = [], []
    for tier in ("interpreted", "uncompiled", "compiled"):
        heaviest_edge.compile()
        later_neighbours.compile()
        ends.append(tuple(map(int, getattr(heaviest_edge, tier)(graph.indptr, graph.indices, weights, tie))))
        later.append(np.empty(graph.n, np.int64))
        getattr(later_neighbours, tier)(graph.indptr, graph.indices, place, later[-1])
    assert len(set(ends)) == 1
    assert np.array_equal(later[0], later[1]) and np.array_equal(later[0], later[2])
