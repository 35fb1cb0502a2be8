"""Hidden cliques: found where they are, never claimed where they are not, and the walk's lists are what they say."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest

import flipwise
from flipwise.densest import solver
from flipwise.densest.cliques import find_clique, may_hide_clique, not_joined
from flipwise.densest.core import Core, core_above, whole_core
from flipwise.graphs.convert import as_graph
from flipwise.graphs.graph import Graph


def graph_with_clique(n: int, size: int, density: float, seed: int) -> tuple[Graph, np.ndarray]:
    """A random graph with a clique whose nodes have no larger degree than others."""
    rng = np.random.default_rng(seed)
    inside = np.arange(n) < size
    A = rng.random((n, n)) < density
    A[np.ix_(inside, inside)] = True
    thinner = density - size * (1.0 - density) / n
    A[np.ix_(inside, ~inside)] = rng.random((size, n - size)) < thinner
    A = np.triu(A, 1)
    hidden = rng.permutation(n)
    A = (A | A.T)[np.ix_(np.argsort(hidden), np.argsort(hidden))]
    return as_graph(A.astype(float)), np.sort(hidden[:size])


def never() -> None:
    """Nothing to stop for."""


@pytest.mark.parametrize("seed", range(3))
def test_a_hidden_clique_is_found(seed: int) -> None:
    """One that degrees do not show; the nodes are joined to each other."""
    graph, hidden = graph_with_clique(120, 14, 0.5, seed)
    found = find_clique(whole_core(graph), 14, np.random.default_rng(seed), never, 1e9)
    assert found is not None and graph.to_scipy().toarray()[np.ix_(found, found)].sum() == 14 * 13
    assert np.array_equal(found, hidden)


@pytest.mark.parametrize("seed", range(4))
def test_a_walk_finds_the_largest_clique_and_no_larger_one(seed: int) -> None:
    """Against networkx, on graphs small enough to list all cliques."""
    graph = nx.gnp_random_graph(25, 0.6, seed=seed)
    largest = max(len(clique) for clique in nx.find_cliques(graph))
    core = whole_core(as_graph(graph))
    assert find_clique(core, largest, np.random.default_rng(0), never, 1e8) is not None
    assert find_clique(core, largest + 1, np.random.default_rng(0), never, 4e7) is None


def test_only_cores_that_hold_all_cliques_of_the_size_are_searched() -> None:
    """A narrower core, one with weights, one that is too small, and an early end find nothing."""
    graph = as_graph(nx.complete_graph(8))
    assert find_clique(Core(graph, np.arange(8), 5.0), 5, np.random.default_rng(0), never, 1e6) is None
    assert find_clique(core_above(whole_core(graph), 3.0), 5, np.random.default_rng(0), never, 1e6) is not None
    weighted = as_graph((3, [[0, 1, 2.0], [1, 2, 1.0], [0, 2, 1.0]]))
    assert find_clique(whole_core(weighted), 3, np.random.default_rng(0), never, 1e6) is None
    assert find_clique(whole_core(graph), 9, np.random.default_rng(0), never, 1e6) is None
    sparse = as_graph(nx.gnp_random_graph(60, 0.7, seed=1))
    assert find_clique(whole_core(sparse), 25, np.random.default_rng(0), lambda: True, 1e12) is None


def test_pairs_that_are_not_joined_are_listed() -> None:
    """Every node with those it has no edge to, itself left out."""
    graph = as_graph(nx.path_graph(4))
    start, others = not_joined(graph)
    assert start.tolist() == [0, 2, 3, 4, 6] and others.tolist() == [2, 3, 3, 0, 0, 1]


def test_only_sets_that_are_nearly_cliques_call_for_a_search() -> None:
    """At least 85 of 100 pairs, but not all."""
    assert may_hide_clique(44.0, 10) and not may_hide_clique(45.0, 10) and not may_hide_clique(30.0, 10)


def test_the_default_search_finds_what_exchanges_do_not(monkeypatch: pytest.MonkeyPatch) -> None:
    """A clique of 20 among 400 nodes: proven as soon as it is found; without the walk nearly all edges are."""
    graph, hidden = graph_with_clique(400, 20, 0.6, 3)
    result = flipwise.densest_subgraph(graph, 20, seed=0)
    assert result.optimal and np.array_equal(result.indices, hidden)
    monkeypatch.setattr(solver, "CLIQUE_WORK", 0.0)
    assert flipwise.densest_subgraph(graph, 20, seed=0, effort=0.05).density <= result.density
