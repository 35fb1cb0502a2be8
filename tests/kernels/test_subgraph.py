"""Sets of nodes and cliques outside them against naive twins, on small graphs with and without weights."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest

import flipwise
from flipwise.densest.core import arc_weights
from flipwise.densest.subset import CliqueArrays, Subset, clique_exchanges, losses, times
from flipwise.graphs.convert import as_graph
from flipwise.graphs.graph import Graph
from flipwise.kernels import subgraph
from tests.kernels.graphs import a_graph

pytestmark = pytest.mark.kernels


N = 30


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


@pytest.fixture(params=[False, True], ids=["plain", "weighted"])
def clique_pair(request: pytest.FixtureRequest) -> tuple[Graph, np.ndarray]:
    """A random graph and its dense matrix; weights are of both signs."""
    rng = np.random.default_rng(3)
    W = np.triu(rng.random((N, N)) < 0.5, 1) * (np.round(rng.normal(1.0, 1.0, (N, N)), 3) if request.param else 1.0)
    graph = as_graph((N, np.array([[i, j, W[i, j]] for i in range(N) for j in range(N) if W[i, j]])))
    return graph, W + W.T


def naive_clique(W: np.ndarray, seed: int, inside: np.ndarray, most: int) -> tuple[list[int], list[float]]:
    """The same growth with sets."""
    ties = W @ inside
    first = {j for j in range(N) if W[seed, j] and not inside[j]}
    near = {j: sum(W[j, i] for i in first) for j in first}
    piece, worth = [seed], [0.0, float(ties[seed])]
    while len(piece) < most:
        joined = sorted(j for j in first - set(piece) if all(W[j, i] for i in piece))
        if not joined:
            break
        node = max(joined, key=lambda j: (round(near[j] + ties[j], 9), -j))
        worth.append(worth[-1] + ties[node] + sum(W[node, i] for i in piece))
        piece.append(node)
    return piece, worth


def test_cliques_are_those_of_the_naive_growth(clique_pair: tuple[Graph, np.ndarray]) -> None:
    """Through every node outside, whole or cut short; work arrays are zero again."""
    graph, W = clique_pair
    subset = Subset.of(graph, np.arange(N) % 4 == 0)
    for most in (3, 12):
        room = CliqueArrays.of(subset, most)
        for seed in np.flatnonzero(subset.inside == 0):
            piece, worth = naive_clique(W, int(seed), subset.inside, most)
            size = subgraph.clique_through(*subset.csr, int(seed), *room)
            assert room.clique[:size].tolist() == piece
            assert np.allclose(room.worth[: len(worth)], worth)
        assert not any(work.any() for work in room[2:5])


def test_the_best_size_of_each_clique(clique_pair: tuple[Graph, np.ndarray]) -> None:
    """What a clique brings less what the weakest nodes take away, largest over its sizes."""
    graph, W = clique_pair
    subset = Subset.of(graph, np.arange(N) % 3 == 0)
    most = 5
    lost = losses(subset, most)
    left = set(subset.members.tolist())
    for q in range(1, most + 1):
        left.remove(min(sorted(left), key=lambda i: round(sum(W[i, j] for j in left), 9)))
        rest = np.array(sorted(left))
        assert lost[q] == pytest.approx(subset.weight - W[np.ix_(rest, rest)].sum() / 2)
    seeds = np.flatnonzero(subset.inside == 0)
    room = CliqueArrays.of(subset, most)
    gains, sizes = np.empty(seeds.size, dtype=subset.degrees.dtype), np.empty(seeds.size, dtype=np.int64)
    subgraph.best_cliques(*subset.csr, seeds, lost, *room, gains, sizes)
    for seed, gain, size in zip(seeds, gains, sizes, strict=True):
        _, worth = naive_clique(W, int(seed), subset.inside, most)
        by_size = [worth[q] - lost[q] for q in range(1, len(worth))]
        assert gain == pytest.approx(max(by_size)) and by_size[size - 1] == pytest.approx(gain)


def test_exchanges_keep_the_size_and_the_degrees(clique_pair: tuple[Graph, np.ndarray]) -> None:
    """Each exchange has k nodes and an exact state; the set itself is left as it was; no work, no exchange."""
    graph, W = clique_pair
    subset = Subset.of(graph, np.arange(N) < 9)
    loads = graph.degrees.astype(float)
    found = list(clique_exchanges(subset, loads, 1e9))
    assert len({each.inside.tobytes() for each in found}) > 1
    for each in found:
        x = each.inside.astype(float)
        assert x.sum() == 9 and np.allclose(each.degrees, W @ x) and each.weight == pytest.approx(x @ W @ x / 2)
    assert np.array_equal(subset.inside, np.arange(N) < 9)
    assert not list(clique_exchanges(subset, loads, 0.0))
    assert not list(clique_exchanges(Subset.of(graph, np.arange(N) < 1), loads, 1e9))


def test_a_clique_tied_to_the_set_is_found() -> None:
    """Of two cliques that fill the set up, the one with more ties to the rest is taken, whatever the start."""
    graph = nx.disjoint_union_all([nx.complete_graph(20), nx.complete_graph(9), nx.complete_graph(9)])
    hubs = nx.star_graph(12)  # nodes with ties to the set, but none among themselves, lead a growth by degree astray
    graph = nx.disjoint_union(graph, hubs)
    graph.add_edges_from((28 + i + 1, i) for i in range(9))  # the second small clique: one tie each
    graph.add_edges_from((38 + leaf, i) for leaf in range(1, 13) for i in range(3))
    first = Subset.of(as_graph(graph), np.arange(graph.number_of_nodes()) < 29)
    found = max(clique_exchanges(first, np.ones(first.graph.n), 1e9), key=lambda each: each.weight)
    assert found.weight == first.weight + 9 and found.inside[29:38].all()
    solved = flipwise.densest_subgraph(graph, 29, seed=0)
    assert solved.optimal or solved.density * 29 / 2 >= found.weight


def test_sums_over_rows_have_the_same_bits_in_all_tiers(pair) -> None:
    """degrees_into and multiply: loops, NumPy and machine code."""
    graph, _ = pair
    weights, rng = arc_weights(graph), np.random.default_rng(3)
    inside, x = rng.integers(0, 2, graph.n).astype(np.uint8), rng.standard_normal(graph.n)
    for kernel, vector, kind in ((subgraph.degrees_into, inside, weights.dtype), (subgraph.multiply, x, np.float64)):
        results = []
        for tier in (kernel.interpreted, kernel.uncompiled, kernel.compile()):
            out = np.empty(graph.n, kind)
            tier(graph.indptr, graph.indices, weights, vector, out)
            results.append(out.tobytes())
        assert len(set(results)) == 1
