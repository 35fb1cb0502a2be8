"""Graphs of other libraries, there and back."""

from __future__ import annotations

import sys
import types
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import pytest

from flipwise import InvalidInput, MissingDependency
from flipwise.graphs.convert import as_graph
from tests.graphs.files import same, weighted_graph
from tests.graphs.test_formats_exchange import NAMES, named, networkx, wanted


@pytest.mark.parametrize("library", ["networkx", "igraph"])
def test_names_weights_and_lonely_nodes_survive(library: str) -> None:
    """There and back, with marks on the nodes."""
    pytest.importorskip(library)
    graph = as_graph(networkx(NAMES))
    made = graph.to(library, attributes={"inside": np.arange(6) < 2})
    assert named(as_graph(made)) == wanted(NAMES)
    marks = dict(made.nodes(data="inside")).values() if library == "networkx" else made.vs["inside"]
    assert list(marks) == [True, True, False, False, False, False]
    assert same(as_graph(weighted_graph(2).to(library)), weighted_graph(2))
    assert as_graph(as_graph(nx.path_graph(4)).to(library)).weights is None


def test_networkit() -> None:
    """Weights and lonely nodes; gaps in the numbers are kept as names."""
    nk = pytest.importorskip("networkit")
    graph = weighted_graph(3)
    made = graph.to("networkit")
    assert isinstance(made, nk.Graph) and same(as_graph(made), graph)
    made.removeNode(5)
    assert list(as_graph(made).names) == [*range(5), *range(6, 40)]
    assert as_graph(as_graph(nx.path_graph(4)).to("networkit")).weights is None
    with pytest.raises(InvalidInput, match="attributes"):
        graph.to("networkit", attributes={"a": np.zeros(40)})


class _Tool:
    """What is used of a graph of graph-tool."""

    def __init__(self, directed: bool = False) -> None:
        self.n, self.edges, self.vertex_properties, self.edge_properties = 0, [], {}, {}

    def add_vertex(self, n: int) -> None:
        self.n += n

    def new_edge_property(self, kind: str) -> list[float]:
        return []

    def new_vertex_property(self, kind: str, vals: list[Any]) -> list[Any]:
        return vals

    def add_edge_list(self, rows: Any, eprops: list[list[float]]) -> None:
        self.edges = [row[:2] for row in rows]
        eprops[0].extend(row[2] for row in rows)

    def get_vertices(self) -> Any:
        return np.arange(self.n)

    def get_edges(self, eprops: Any = ()) -> Any:
        return np.array([[*edge, *(p[k] for p in eprops)] for k, edge in enumerate(self.edges)])


def test_graph_tool_by_its_documentation(monkeypatch: pytest.MonkeyPatch) -> None:
    """The calls that its documentation has; the library itself is not on PyPI."""
    module = types.ModuleType("graph_tool")
    module.Graph = _Tool  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "graph_tool", module)
    made = as_graph(networkx(NAMES)).to("graph-tool", attributes={"inside": np.arange(6) < 2})
    assert isinstance(made, _Tool) and made.vertex_properties["inside"][:3] == [True, True, False]
    assert named(as_graph(made)) == wanted(NAMES)
    assert as_graph(made, weight=None).weights is None


def test_what_cannot_be_made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Unknown and missing libraries, attributes that fit nothing."""
    graph = as_graph(nx.path_graph(3))
    with pytest.raises(InvalidInput, match="`library` must be one of networkx"):
        graph.to("numpy")
    for wrong in ({"a b": [1, 2, 3]}, {"a": [1, 2]}, {"a": [1.0, np.nan, 2.0]}, {"label": [1, 2, 3]}):
        with pytest.raises(InvalidInput, match="attributes"):
            graph.to("networkx", attributes=wrong)
    with pytest.raises(InvalidInput, match="no nodes to hold them"):
        graph.to("pandas", attributes={"a": [1, 2, 3]})
    for library, line in (
        ("igraph", r"flipwise\[igraph\]"),
        ("pandas", r"flipwise\[frames\]"),
        ("graph-tool", "conda"),
    ):
        monkeypatch.setitem(sys.modules, library.replace("-", "_"), None)
        with pytest.raises(MissingDependency, match=line):
            graph.to(library)
