"""The whole graph as the search asks about it."""

from __future__ import annotations

import networkx as nx
import numpy as np

from flipwise.densest.whole import GraphInMemory, WholeGraph, integral_weights, weight_range
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
