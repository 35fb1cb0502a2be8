"""The graphs of the studies."""

from __future__ import annotations

from flipwise_studies.studies.graphs import collaboration_graph


def test_a_collaboration_graph_has_cliques() -> None:
    """The members of one group are joined pairwise: the largest core is a clique at least."""
    graph = collaboration_graph(200, 60, seed=1)
    assert graph.n == 200 and graph.n_edges > 200
