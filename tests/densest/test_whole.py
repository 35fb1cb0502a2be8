"""The whole graph as the search asks about it."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest

import flipwise
from flipwise.densest.whole import GraphInMemory, WholeGraph, integral_weights, is_bipartite, weight_range
from flipwise.graphs.convert import as_graph


def test_a_graph_in_memory_answers_what_the_search_asks() -> None:
    """It is a `WholeGraph`; a plain graph is none."""
    graph = as_graph(nx.karate_club_graph())
    whole = GraphInMemory(graph)
    assert isinstance(whole, WholeGraph) and not isinstance(graph, WholeGraph)
    W = graph.to_scipy().toarray()
    nodes = np.array([0, 1, 2, 3])
    assert whole.inner_weight(nodes) == W[np.ix_(nodes, nodes)].sum()
    assert whole.nodes_above(nodes, 4.0).tolist() == np.flatnonzero(W[:, nodes].sum(axis=1) > 4.0).tolist()
    assert whole.core_of_size(5).graph.n >= 5 and whole.core_above(2.0).cap >= 2.0
    assert np.array_equal(whole.subgraph(nodes).to_scipy().toarray(), W[np.ix_(nodes, nodes)])


def test_facts_about_weights() -> None:
    """Where all weights are integers every set has an integer weight; a pair without an edge has weight 0."""
    plain, weighted = as_graph((3, [[0, 1], [1, 2]])), as_graph((3, [[0, 1, -0.5], [1, 2, 2.0]]))
    assert integral_weights(plain) and not integral_weights(weighted)
    assert integral_weights(as_graph((3, [[0, 1, -3.0], [1, 2, 2.0]])))
    assert not integral_weights(as_graph((3, [[0, 1, 2.0**52], [1, 2, 2.0]])))  # sums would be rounded
    assert weight_range(plain) == (0.0, 1.0) and weight_range(weighted) == (-0.5, 2.0)
    assert weight_range(as_graph((3, np.empty((0, 2), dtype=int)))) == (0.0, 0.0)


@pytest.mark.parametrize("seed", range(6))
def test_bipartite_graphs_are_known_by_their_double_cover(seed: int) -> None:
    """Against networkx, also with several pieces and nodes without an edge."""
    network = nx.gnp_random_graph(12, 0.12, seed=seed)
    assert is_bipartite(as_graph(network)) == nx.is_bipartite(network)
    sides = nx.complete_bipartite_graph(3, 4)
    assert is_bipartite(as_graph(sides)) and not is_bipartite(as_graph(nx.cycle_graph(5)))


def test_bipartite_graphs_are_proven_by_their_sides() -> None:
    """A complete bipartite graph, larger than any relaxation: k^2 / 4 pairs, and that is all."""
    result = flipwise.densest_subgraph(nx.complete_bipartite_graph(150, 200), 31, seed=0, effort=0.02)
    assert result.optimal and result.bound_method == "bipartite" and result.density == 2 * 15 * 16 / 31
