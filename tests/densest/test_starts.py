"""Where a search begins: the published methods against naive versions of themselves, and the starts in a core."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest
import scipy.sparse as sp

from flipwise.densest import starts
from flipwise.densest.bounds import balanced_loads
from flipwise.densest.core import whole_core
from flipwise.densest.starts import leading_eigenvalue, peeled_nodes, power_sets, ravi_nodes
from flipwise.densest.whole import GraphInMemory
from flipwise.graphs.convert import as_graph
from flipwise.graphs.graph import Graph

pytestmark = pytest.mark.kernels


def _graph(seed: int, weighted: bool, n: int = 30) -> sp.csr_array:
    W = np.triu(np.random.default_rng(seed).random((n, n)) < 0.25, 1).astype(float)
    if weighted:
        W *= np.random.default_rng(seed + 1).integers(1, 9, (n, n))
    return sp.csr_array(W + W.T)


def _naive_ravi(W: np.ndarray, k: int) -> list[int]:
    degree = W.sum(axis=1)
    n = len(W)
    edges = [(-W[i, j], -(degree[i] + degree[j]), i, j) for i in range(n) for j in range(i + 1, n) if W[i, j] > 0]
    chosen = list(min(edges)[2:])[:k]
    while len(chosen) < k:
        rest = [i for i in range(n) if i not in chosen]
        chosen.append(min(rest, key=lambda i: (-W[i, chosen].sum(), -degree[i], i)))
    return chosen


@pytest.mark.parametrize("weighted", [False, True], ids=["unit", "weighted"])
@pytest.mark.parametrize("k", [1, 2, 5, 12, 30])
def test_ravi_is_the_naive_greedy(k: int, weighted: bool) -> None:
    """The heap chooses what a full scan chooses, in the same order."""
    for seed in range(3):
        W = _graph(seed, weighted)
        assert ravi_nodes(as_graph(W), k).tolist() == _naive_ravi(W.toarray(), k)


def test_ravi_leaves_a_small_component() -> None:
    """When no neighbour is left the growth goes on elsewhere, and graphs without edges work."""
    W = sp.csr_array(nx.to_numpy_array(nx.disjoint_union(nx.complete_graph(3), nx.path_graph(4))))
    assert sorted(ravi_nodes(as_graph(W), 7).tolist()) == list(range(7))
    empty = as_graph(sp.csr_array((4, 4)))
    for graph in (empty, Graph(empty.indptr, empty.indices, np.empty(0))):
        assert [len(set(nodes.tolist())) for nodes in GraphInMemory(graph).published_sets(3)] == [3] * 4


@pytest.mark.parametrize("weighted", [False, True], ids=["unit", "weighted"])
def test_peeling_removes_a_least_degree_each_time(weighted: bool) -> None:
    """The sets for k and k + 1 differ by one node, of least degree in the larger one."""
    W = _graph(3, weighted)
    dense = W.toarray()
    for k in range(1, 30):
        smaller, larger = (np.sort(peeled_nodes(as_graph(W), size)) for size in (k, k + 1))
        (gone,) = set(larger.tolist()) - set(smaller.tolist())
        inside = dense[np.ix_(larger, larger)].sum(axis=1)
        assert inside[larger.tolist().index(gone)] == inside.min()


def test_tpm_is_monotone_and_a_fixed_point() -> None:
    """The density never falls from that of the nodes of largest degree."""
    for seed in range(4):
        W = _graph(seed, False)
        nodes = GraphInMemory(as_graph(W)).published_sets(8)[3]
        start = np.argsort(-W.sum(axis=1), kind="stable")[:8]
        dense = W.toarray()
        assert dense[np.ix_(nodes, nodes)].sum() >= dense[np.ix_(start, start)].sum()
        weights = [weight for _, weight in power_sets(as_graph(W), 8)]
        assert weights == sorted(weights) and weights[-1] == dense[np.ix_(nodes, nodes)].sum()


def test_frank_wolfe_follows_the_published_recurrence() -> None:
    """The incremental products give the points of the plain iteration."""
    noise = np.random.default_rng(6).random((30, 30))  # weights without ties
    W = sp.csr_array(_graph(5, True) * (noise + noise.T))
    n, k, dense = 30, 6, W.toarray()
    x = np.full(n, k / n)
    L = np.linalg.eigvalsh(dense + np.eye(n))[-1]
    for _ in range(200):
        g = (dense + np.eye(n)) @ x
        s = np.zeros(n)
        s[np.argsort(-g, kind="stable")[:k]] = 1.0
        d = s - x
        if g @ d <= 1e-12 * abs(g @ x):
            break
        x = x + min(1.0, g @ d / (L * (d @ d))) * d
    naive = np.sort(np.argsort(-x, kind="stable")[:k])
    found = GraphInMemory(as_graph(W)).published_sets(k)[2]
    assert np.array_equal(found, naive)


@pytest.mark.parametrize("weighted", [False, True], ids=["unit", "weighted"])
@pytest.mark.parametrize("n", [30, 400])
def test_the_leading_eigenvalue(n: int, weighted: bool) -> None:
    """By factorisation or by Lanczos, it is that of the dense matrix."""
    W = _graph(2, weighted, n)
    assert leading_eigenvalue(as_graph(W)) == pytest.approx(np.linalg.eigvalsh(W.toarray())[-1], rel=1e-3)


@pytest.mark.parametrize("weighted", [False, True], ids=["unit", "weighted"])
@pytest.mark.parametrize("k", [1, 4, 30])
def test_every_start_is_a_set_of_k_nodes(k: int, weighted: bool) -> None:
    """Each rule gives a mask with exactly k nodes; the growths from seeds begin with different nodes."""
    core = whole_core(as_graph(_graph(4, weighted)))
    graph, rng = core.graph, np.random.default_rng(0)
    loads = balanced_loads(core, [k])
    grown = list(starts.grown_from_seeds(core, loads, k, 5))
    masks = [
        starts.top(loads, k),
        starts.by_degree(graph, k),
        starts.by_peeling(core, k),
        starts.by_frank_wolfe(graph, k, 20),
        starts.by_spectrum(graph, k, 20),
        starts.at_random(graph, k, rng),
        *grown,
    ]
    assert all(mask.dtype == bool and mask.sum() == k for mask in masks) and grown
    if k == 1:
        assert len({int(np.flatnonzero(mask)[0]) for mask in grown}) == len(grown)


def test_a_set_of_another_size_is_completed() -> None:
    """Too many nodes are cut off, too few filled up with those of the largest degree into them."""
    graph = as_graph((6, [[0, 1], [0, 2], [1, 2], [2, 3], [3, 4], [4, 5]]))
    some = np.array([True, True, False, False, False, False])
    assert starts.completed(graph, some, 3).tolist() == [True, True, True, False, False, False]
    assert starts.completed(graph, np.ones(6, dtype=bool), 2).tolist() == some.tolist()
    assert starts.completed(graph, some, 2) is some


def test_the_start_of_the_densest_part_finds_a_clique() -> None:
    """Frank-Wolfe and the truncated power method end at a planted clique."""
    graph = nx.gnp_random_graph(80, 0.05, seed=1)
    graph.add_edges_from(nx.complete_graph(12).edges)
    simple = as_graph(sp.csr_array(nx.to_numpy_array(graph, nodelist=range(80))))
    for mask in (starts.by_frank_wolfe(simple, 12, 100), starts.by_spectrum(simple, 12, 50)):
        assert np.flatnonzero(mask).tolist() == list(range(12))
