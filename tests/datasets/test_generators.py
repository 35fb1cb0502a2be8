"""Seeded generators."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest

from flipwise import Graph, InvalidInput
from flipwise.datasets import generators as make
from flipwise.kernels.jit import threads

CALLS = {
    "rmat": lambda seed: make.rmat_graph(3000, 40_000, seed),
    "random": lambda seed: make.random_graph(500, 3000, seed),
    "planted": lambda seed: make.planted_dense_subgraph(500, 2000, 30, 0.8, seed)[0],
    "cluster": lambda seed: make.power_law_cluster_graph(2000, 4, 0.5, seed),
}


def _is_simple(graph: Graph) -> bool:
    A = graph.to_scipy()
    return (A != A.T).nnz == 0 and A.diagonal().sum() == 0 and A.max() <= 1


@pytest.mark.parametrize("name", CALLS)
def test_seeds(name: str) -> None:
    """The same seed gives the same simple graph on one thread and two, another seed another graph."""
    graphs = []
    for count in (1, 2):
        with threads(count):
            graphs.append(CALLS[name](5))
    assert np.array_equal(graphs[0].indices, graphs[1].indices) and _is_simple(graphs[0])
    assert not np.array_equal(graphs[0].indices[:500], CALLS[name](6).indices[:500])


@pytest.mark.parametrize("n", [1024, 1500, 3000])
def test_rmat_size_and_skew(n: int) -> None:
    """About the arcs asked for, and a degree far above the mean."""
    graph = make.rmat_graph(n, 20 * n, seed=1)
    assert abs(graph.n_arcs / (20 * n) - 1) < 0.03
    assert graph.degrees.max() > 8 * graph.degrees.mean()


def test_random_graph_is_exact_and_uniform() -> None:
    """Exactly the edges asked for, from none to all, and every pair equally often."""
    for edges in (0, 1, 30, 44, 45):
        assert make.random_graph(10, edges, seed=edges).n_edges == edges
    counts = sum(make.random_graph(6, 5, seed=s).to_scipy().toarray() for s in range(300))
    inside = counts[np.triu_indices(6, 1)]
    assert abs(inside - 100).max() < 40


def test_pairs_are_a_bijection() -> None:
    """Numbers below n(n-1)/2 are the pairs, also where float64 rounds."""
    lower, upper = make._pairs(np.arange(45))
    assert {(int(a), int(b)) for a, b in zip(lower, upper)} == {(a, b) for b in range(10) for a in range(b)}
    big = 3_000_000_000
    for code, pair in ((big * (big - 1) // 2, (0, big)), (big * (big - 1) // 2 - 1, (big - 2, big - 1))):
        assert tuple(int(x[0]) for x in make._pairs(np.array([code]))) == pair


def test_planted_nodes_are_dense() -> None:
    """The planted nodes hold at least the share of pairs asked for."""
    graph, nodes = make.planted_dense_subgraph(400, 500, 25, 0.9, seed=2)
    inside = graph.to_scipy()[nodes][:, nodes].sum() / 2
    assert nodes.size == 25 and inside >= 0.9 * 25 * 24 / 2 - 1


def test_triangles_come_with_the_probability() -> None:
    """More closing links, more clustering; the graph is connected."""
    loose, tight = (make.power_law_cluster_graph(1500, 4, p, seed=3) for p in (0.0, 0.9))
    clustering = [nx.average_clustering(nx.from_scipy_sparse_array(g.to_scipy())) for g in (loose, tight)]
    assert clustering[1] > 3 * clustering[0]
    assert nx.is_connected(nx.from_scipy_sparse_array(tight.to_scipy()))


@pytest.mark.parametrize(
    "call",
    [
        lambda: make.rmat_graph(10, 200, 0),
        lambda: make.rmat_graph(100, 200, 0, a=0.9, b=0.2),
        lambda: make.random_graph(0, 0),
        lambda: make.random_graph(5, 11),
        lambda: make.planted_dense_subgraph(10, 5, 11, 0.5),
        lambda: make.planted_dense_subgraph(10, 5, 4, 0.0),
        lambda: make.power_law_cluster_graph(5, 5, 0.5),
        lambda: make.power_law_cluster_graph(5, 2, 1.5),
    ],
)
def test_refusals(call) -> None:  # type: ignore[no-untyped-def]
    """Impossible sizes are refused."""
    with pytest.raises(InvalidInput):
        call()
