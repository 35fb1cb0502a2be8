"""Kernels of the dense-subgraph search against naive twins, on small graphs with and without weights."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest

from flipwise.densest.core import arc_weights, core_above, core_of_size, induced, peeling, peeling_and_cores, whole_core
from flipwise.densest.loads import shared_edges
from flipwise.densest.starts import times
from flipwise.densest.subset import Subset
from flipwise.graphs.convert import as_graph
from flipwise.graphs.graph import Graph
from flipwise.kernels import bounds, cores, subgraph

pytestmark = pytest.mark.kernels


def a_graph(weighted: bool, n: int = 24, seed: int = 0) -> tuple[Graph, np.ndarray]:
    """A random graph and its dense matrix; weights are of both signs."""
    rng = np.random.default_rng(seed)
    W = np.triu(rng.random((n, n)) < 0.3, 1) * (np.round(rng.normal(1.0, 1.0, (n, n)), 3) if weighted else 1.0)
    W = W + W.T
    graph = as_graph((n, np.array([[i, j, W[i, j]] for i in range(n) for j in range(i) if W[i, j]])))
    return graph, W


@pytest.fixture(params=[False, True], ids=["plain", "weighted"])
def pair(request: pytest.FixtureRequest) -> tuple[Graph, np.ndarray]:
    return a_graph(request.param)


def consistent(subset: Subset, W: np.ndarray) -> bool:
    """Whether degrees and weight are what they should be."""
    x = subset.inside.astype(float)
    return np.allclose(subset.degrees, W @ x) and np.isclose(subset.weight, x @ W @ x / 2)


def test_degrees_and_products_are_those_of_the_matrix(pair) -> None:
    """degrees_into, multiply and inner_weight agree with NumPy; plain graphs count in integers."""
    graph, W = pair
    mask = np.arange(24) % 3 == 0
    subset = Subset.of(graph, mask)
    assert consistent(subset, W)
    assert subset.degrees.dtype == (np.int64 if graph.weights is None else np.float64)
    x = np.random.default_rng(1).random(24)
    assert np.allclose(times(graph, x), W @ x)
    inside = mask.astype(np.uint8)
    total = subgraph.inner_weight(graph.indptr, graph.indices, arc_weights(graph), np.flatnonzero(mask), inside)
    assert np.isclose(total, W[np.ix_(mask, mask)].sum())


def test_every_move_keeps_degrees_and_weight(pair) -> None:
    """Exchanges, growth and shedding leave the incremental state equal to the recomputed one."""
    graph, W = pair
    subset = Subset.of(graph, np.arange(24) < 8)
    subset.exchange(np.array([0, 1]), np.array([20, 21]))
    assert consistent(subset, W)
    before = subset.weight
    made = subset.exchange_improving(np.array([2, 3, 4]), np.array([10, 11, 12]))
    assert consistent(subset, W) and (subset.weight > before if made else subset.weight == before)
    piece = subset.grow(int(np.flatnonzero(subset.inside == 0)[0]), 4, 2)
    assert consistent(subset, W) and subset.inside.sum() == 12
    subset.shed(4, piece)
    assert consistent(subset, W) and subset.inside.sum() == 8 and np.all(subset.inside[piece] == 1)


def test_best_swaps_end_where_no_exchange_improves(pair) -> None:
    """After best_swaps no pair of all pairs gains, by the dense matrix."""
    graph, W = pair
    subset = Subset.of(graph, np.arange(24) < 8)
    subset.best_swaps(1000)
    assert consistent(subset, W)
    d = W @ subset.inside
    ins, outs = np.flatnonzero(subset.inside), np.flatnonzero(subset.inside == 0)
    assert np.max(d[outs][None, :] - d[ins][:, None] - W[np.ix_(ins, outs)]) <= 1e-9


def test_a_tabu_walk_keeps_its_state_and_its_best(pair) -> None:
    """The walk's value and best value are those of its sets."""
    graph, W = pair
    subset = Subset.of(graph, np.arange(24) < 8)
    best_inside = subset.inside.copy()
    noise = np.random.default_rng(2).integers(0, 2**30, 60)
    start = int(subset.weight) if graph.weights is None else subset.weight
    subset.weight, best = subgraph.tabu_walk(
        *subset.csr, subset.inside, subset.degrees, best_inside, np.zeros(24, np.int64), noise, 3,
        np.zeros((2, 16), np.int64), 0, start, start,
    )  # fmt: skip
    x = best_inside.astype(float)
    assert consistent(subset, W) and subset.inside.sum() == best_inside.sum() == 8
    assert np.isclose(best, x @ W @ x / 2) and best >= start


def test_core_numbers_are_those_of_networkx() -> None:
    """The peeling order gives the core numbers, and no later neighbour count above them."""
    graph, W = a_graph(False, 40, 3)
    order, numbers = peeling_and_cores(graph)
    assert dict(enumerate(numbers)) == nx.core_number(nx.from_numpy_array(W))
    place = np.argsort(order)
    later = np.zeros(40, dtype=np.int64)
    cores.later_neighbours(graph.indptr, graph.indices, place, later)
    assert np.array_equal(later, [(W[i] * (place > place[i])).sum() for i in range(40)]) and np.all(later <= numbers)


def test_weighted_peeling_removes_a_node_of_least_degree_each_time() -> None:
    """Each node taken has the least weighted degree among those left."""
    graph, W = a_graph(True, 20, 4)
    left = np.ones(20, dtype=bool)
    for node in peeling(graph):
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
        again = whole if core.whole else core_above(whole, np.floor(core.cap))
        assert np.array_equal(core.nodes, again.nodes)
        if not weighted:
            assert np.array_equal(core.order, peeling(core.graph))
            assert np.all(np.diff(core.core_numbers[core.order]) >= 0)


def test_a_large_core_is_cut_down_to_the_wanted_size() -> None:
    """A dense part inside a large regular one is found although the first cut by degree keeps everything."""
    rng = np.random.default_rng(0)
    ring = [[i, (i + step) % 300] for i in range(300) for step in (1, 2, 3)]
    dense = [[i, j] for i in range(40) for j in range(i) if rng.random() < 0.8]
    core = core_of_size(whole_core(as_graph((300, np.array(ring + dense)))), 30)
    assert 30 <= core.graph.n <= 60


def test_every_edge_is_dealt_once_to_the_group_of_its_blocks(pair) -> None:
    """The shares hold each edge of positive weight once, in the group of its two blocks, and halves add up."""
    graph, W = pair
    shares = shared_edges(whole_core(graph))
    group = np.searchsorted(shares.group_start, np.arange(shares.first.size), side="right") - 1
    blocks = np.sort(np.stack([shares.first % bounds.BLOCKS, shares.second % bounds.BLOCKS]), axis=0)
    assert np.array_equal(group, blocks[0] * bounds.BLOCKS + blocks[1])
    P = np.zeros_like(W)
    np.add.at(P, (shares.first, shares.second), shares.weight if shares.weight.size > 1 else 1.0)
    assert np.allclose(P + P.T, np.maximum(W, 0.0))
    assert np.allclose(shares.loads, np.maximum(W, 0.0).sum(axis=1) / 2)
    assert np.array_equal(shares.counts, (W > 0).sum(axis=1))


def test_serial_and_parallel_balancing_give_the_same_bits() -> None:
    """Both kernels of the load bound move the same weight."""
    graph, _ = a_graph(False, 60, 5)
    one, other = (shared_edges(whole_core(graph)) for _ in range(2))
    arguments = (one.first, one.second, one.weight)
    bounds.balance(*arguments, one.share, one.loads, one.group_start, one.rounds, 5)
    bounds.balance_serially(*arguments, other.share, other.loads, other.group_start, other.rounds, 5)
    assert np.array_equal(one.share, other.share) and np.array_equal(one.loads, other.loads)
    assert np.isclose(one.loads.sum(), graph.n_edges)


def test_a_node_with_hundreds_of_neighbours_is_counted() -> None:
    """More than a byte holds, in both tiers: all counts of neighbours stay exact."""
    graph = as_graph(nx.star_graph(400))
    everyone = np.arange(401)
    for tier in ("interpreted", "compiled"):
        degrees, alive, one = np.zeros(401, np.int64), np.ones(401, np.uint8), np.ones(1, np.int64)
        cores.alive_degrees.compile()
        getattr(cores.alive_degrees, tier)(graph.indptr, graph.indices, one, everyone, alive, degrees)
        assert degrees[0] == 400 and np.array_equal(degrees, graph.degrees)
    assert np.array_equal(induced(graph, everyone).indices, graph.indices)
