"""The methods for dense subgraphs against naive versions of themselves."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest
import scipy.sparse as sp

import flipwise
from flipwise import Cardinality, InvalidInput
from flipwise.densest.frank_wolfe import frank_wolfe
from flipwise.densest.peeling import peel
from flipwise.densest.ravi import greedy_dispersion
from flipwise.densest.tpm import truncated_power

pytestmark = pytest.mark.kernels


def _graph(seed: int, weighted: bool, n: int = 30) -> sp.csr_array:
    W = np.triu(np.random.default_rng(seed).random((n, n)) < 0.25, 1).astype(float)
    if weighted:
        W *= np.random.default_rng(seed + 1).integers(1, 9, (n, n))
    return sp.csr_array(W + W.T)


def _arrays(W: sp.csr_array, weighted: bool):
    return W.indptr.astype(np.int64), W.indices, W.data if weighted else None


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
        assert greedy_dispersion(*_arrays(W, weighted), k).tolist() == _naive_ravi(W.toarray(), k)


def test_ravi_leaves_a_small_component() -> None:
    """When no neighbour is left the growth goes on elsewhere, and graphs without edges work."""
    W = sp.csr_array(nx.to_numpy_array(nx.disjoint_union(nx.complete_graph(3), nx.path_graph(4))))
    assert sorted(greedy_dispersion(*_arrays(W, False), 7).tolist()) == list(range(7))
    empty = sp.csr_array((4, 4))
    for method in (greedy_dispersion, peel, truncated_power, frank_wolfe):
        assert len(set(method(empty.indptr.astype(np.int64), empty.indices, None, 3).tolist())) == 3


@pytest.mark.parametrize("weighted", [False, True], ids=["unit", "weighted"])
def test_peeling_removes_a_least_degree_each_time(weighted: bool) -> None:
    """The sets for k and k + 1 differ by one node, of least degree in the larger one."""
    W = _graph(3, weighted)
    dense = W.toarray()
    for k in range(1, 30):
        smaller, larger = peel(*_arrays(W, weighted), k), peel(*_arrays(W, weighted), k + 1)
        (gone,) = set(larger.tolist()) - set(smaller.tolist())
        inside = dense[np.ix_(larger, larger)].sum(axis=1)
        assert inside[larger.tolist().index(gone)] == inside.min()


def test_tpm_is_monotone_and_a_fixed_point() -> None:
    """The density never falls from that of the nodes of largest degree."""
    for seed in range(4):
        W = _graph(seed, False)
        nodes = truncated_power(*_arrays(W, False), 8)
        start = np.argsort(-W.sum(axis=1), kind="stable")[:8]
        dense = W.toarray()
        assert dense[np.ix_(nodes, nodes)].sum() >= dense[np.ix_(start, start)].sum()


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
    found = frank_wolfe(*_arrays(W, True), k)
    assert np.array_equal(found, naive)


@pytest.mark.parametrize("method", ["ravi", "tpm", "frank-wolfe", "peeling"])
def test_a_clique_is_found(method: str) -> None:
    """A planted clique in a sparse graph is found by every one of them, through minimize as well."""
    graph = nx.gnp_random_graph(80, 0.05, seed=1)
    graph.add_edges_from(nx.complete_graph(12).edges)
    W = sp.csr_array(nx.to_numpy_array(graph, nodelist=range(80)))
    result = flipwise.minimize(
        flipwise.Quadratic(-W, variables="binary"), constraint=Cardinality(12), method=method, seed=0
    )
    assert result.value == -12 * 11


def test_sizes_are_checked() -> None:
    """k outside 1..n and weights of another length are refused."""
    W = _graph(0, False)
    for k in (0, 31, True, 2.5):
        with pytest.raises(InvalidInput, match="`k`"):
            peel(*_arrays(W, False), k)  # type: ignore[arg-type]
    with pytest.raises(InvalidInput, match="weights"):
        peel(W.indptr, W.indices, np.ones(3), 4)


def test_frank_wolfe_returns_its_last_point() -> None:
    """However many iterations there are, the last one is what counts (not the last multiple of the report interval)."""
    W = _graph(7, False)
    dense = W.toarray()
    found = [frank_wolfe(*_arrays(W, False), 6, iterations=i) for i in (9, 10, 11, 200)]
    weights = [dense[np.ix_(nodes, nodes)].sum() for nodes in found]
    result = flipwise.minimize(
        flipwise.Quadratic(-W, variables="binary"), constraint=Cardinality(6), method="frank-wolfe", seed=0
    )
    assert -result.value >= weights[-1]
