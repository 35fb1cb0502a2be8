"""Graphs of other libraries."""

from __future__ import annotations

from pathlib import Path

import networkx as nx
import numpy as np
import pytest
import scipy.sparse as sp

from flipwise import Graph, InvalidInput
from flipwise.graphs.convert import as_graph


def _dense(graph: Graph) -> np.ndarray:
    return graph.to_scipy().toarray()


@pytest.mark.parametrize("kind", [nx.Graph, nx.DiGraph, nx.MultiGraph, nx.MultiDiGraph])
def test_networkx_keeps_labels_and_weights(kind) -> None:  # type: ignore[no-untyped-def]
    """Nodes keep their own labels in their own order; weights come from the attribute."""
    G = kind()
    G.add_nodes_from(["x", 3, (1, 2), "alone"])
    G.add_edge("x", 3, weight=2.5)
    G.add_edge(3, (1, 2))
    G.add_edge(3, 3)
    graph = as_graph(G)
    assert list(graph.names) == ["x", 3, (1, 2), "alone"]
    assert _dense(graph)[0].tolist() == [0, 2.5, 0, 0] and graph.n_edges == 2
    assert as_graph(G, weight=None).weights is None


def test_networkx_plain_numbers_need_no_names() -> None:
    """Nodes 0, 1, 2, ... have no names."""
    assert as_graph(nx.path_graph(4)).names is None
    assert list(as_graph(nx.relabel_nodes(nx.path_graph(3), {0: 5, 1: 6, 2: 7})).names) == [5, 6, 7]


def test_multi_edges_by_rule() -> None:
    """Parallel edges of a multigraph are merged by maximum or added."""
    G = nx.MultiGraph([(0, 1, {"weight": 2.0}), (0, 1, {"weight": 3.0})])
    assert _dense(as_graph(G))[0, 1] == 3 and _dense(as_graph(G, symmetrise="sum"))[0, 1] == 5


def test_igraph() -> None:
    """igraph graphs come with their vertex names and weights."""
    igraph = pytest.importorskip("igraph")
    g = igraph.Graph(n=4, edges=[(0, 1), (1, 2), (2, 1)], directed=True)
    g.vs["name"] = ["a", "b", "c", "d"]
    g.es["weight"] = [1.0, 2.0, 4.0]
    graph = as_graph(g)
    assert list(graph.names) == ["a", "b", "c", "d"] and _dense(graph)[1].tolist() == [1, 0, 4, 0]
    assert as_graph(igraph.Graph.Ring(5)).names is None


@pytest.mark.parametrize("form", ["csr_array", "coo_matrix", "csc_array", "lil_array", "dia_array"])
def test_scipy_forms(form: str) -> None:
    """Any scipy format and class; the caller's arrays stay as they are."""
    A = np.array([[1.0, 2, 0], [0, 0, 0], [3, 0, 0]])
    matrix = getattr(sp, form)(A)
    graph = as_graph(matrix)
    assert _dense(graph).tolist() == [[0, 2, 3], [2, 0, 0], [3, 0, 0]]
    assert np.array_equal(matrix.toarray(), A)


def test_scipy_is_copied() -> None:
    """Changing the graph's source later does not change the graph."""
    A = sp.csr_array(np.ones((4, 4)) - np.eye(4))
    graph = as_graph(A)
    A.indices[:] = 0
    assert graph.n_edges == 6 and _dense(graph).sum() == 12


def test_pyarrow_tables() -> None:
    """Tables with numbers or strings, columns found by name or place."""
    pa = pytest.importorskip("pyarrow")
    graph = as_graph(pa.table({"weight": [2.0, 3.0], "dst": [7, 9], "src": [5, 7]}))
    assert list(graph.names) == [5, 7, 9] and _dense(graph)[1].tolist() == [2, 0, 3]
    named = as_graph(pa.table({"a": ["x", "y"], "b": ["y", "z"]}))
    assert list(named.names) == ["x", "y", "z"] and named.n_edges == 2
    with pytest.raises(InvalidInput, match="missing values"):
        as_graph(pa.table({"a": [1, None], "b": [2, 3]}))
    with pytest.raises(InvalidInput, match="whole numbers or strings"):
        as_graph(pa.table({"a": [1.5], "b": [2.5]}))


def test_paths_and_graphs(tmp_path: Path) -> None:
    """A Graph is returned as it is; a path is read."""
    path = tmp_path / "g.txt"
    path.write_text("0 1\n")
    graph = as_graph(path)
    assert graph.n_edges == 1 and as_graph(graph) is graph and as_graph(str(path)).n == 2


@pytest.mark.parametrize("value", [3, None, [1, 2], np.zeros((2, 3)), sp.csr_array((2, 3)), np.array([[1j]])])
def test_refusals(value) -> None:  # type: ignore[no-untyped-def]
    """What is no graph is refused with the list of what is."""
    with pytest.raises(InvalidInput, match="`graph`"):
        as_graph(value)
