"""Some nodes of a graph, against networkx."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from flipwise import InvalidInput
from flipwise.graphs.convert import as_graph
from flipwise.graphs.selection import core_numbers, induced_subgraph, node_marks, node_table
from tests.graphs.test_formats_exchange import NAMES, named, networkx


@given(st.integers(1, 25), st.floats(0, 1), st.integers(0, 99), st.booleans())
def test_as_networkx_has_it(n: int, density: float, seed: int, weighted: bool) -> None:
    """The graph of some nodes, the degrees and weights among them, the core numbers."""
    G = nx.relabel_nodes(nx.gnp_random_graph(n, density, seed=seed), {i: f"n{i}" for i in range(n)})
    rng = np.random.default_rng(seed)
    for _, _, data in G.edges(data=True):
        data["weight"] = float(rng.integers(1, 9)) if weighted else 1.0
    graph = as_graph(G)
    nodes = np.flatnonzero(rng.integers(0, 2, n))
    names = [f"n{i}" for i in nodes]
    inner = G.subgraph(names)
    assert named(induced_subgraph(graph, nodes)) == {
        a: {b: data["weight"] for b, data in inner.adj[a].items()} for a in names
    }
    assert core_numbers(graph).tolist() == list(nx.core_number(G).values())
    assert node_table(graph, nodes) == {
        "node": names,
        "degree": [inner.degree(name) for name in names],
        "weight": [float(inner.degree(name, weight="weight")) for name in names],
        "core": [nx.core_number(G)[name] for name in names],
    }
    assert node_marks(graph, nodes)["inside"].nonzero()[0].tolist() == nodes.tolist()


@pytest.mark.parametrize("nodes", [[1, 0], [0, 0], [-1], [6], [0.5], [[0]]])
def test_what_are_no_nodes(nodes) -> None:  # type: ignore[no-untyped-def]
    """Refused with the rule."""
    with pytest.raises(InvalidInput, match="`nodes` must"):
        induced_subgraph(as_graph(networkx(NAMES)), nodes)
