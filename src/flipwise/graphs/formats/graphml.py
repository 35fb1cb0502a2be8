"""GraphML: nodes and edges with typed attributes, as networkx, igraph, Gephi, yEd and Cytoscape write it.

Defaults of attributes count. Nested graphs, several graphs in one file and hyperedges are refused by name.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from flipwise.graphs.formats.elements import Elements, checked_attributes, weight_of, written_names
from flipwise.graphs.formats.lines import edges, number_text
from flipwise.graphs.formats.markup import Markup, kind_of, quoted, value_text
from flipwise.graphs.graph import Graph, Symmetrise
from flipwise.graphs.streams import packed_file

_PLACES = {
    "key": {"graphml"},
    "graph": {"graphml"},
    "node": {"graph"},
    "edge": {"graph"},
    "default": {"key"},
    "data": {"graphml", "graph", "node", "edge", "port"},
    "port": {"node", "port"},
    "desc": {"graphml", "key", "graph", "node", "edge", "port"},
}
"""The elements that are understood, and what they may stand in."""


class _Reader:
    """What is known at a place in the file."""

    def __init__(self, path: Path) -> None:
        self.markup, self.elements = Markup(path, "graphml"), Elements(path)
        self.keys: dict[str, str] = {}
        self.defaults: dict[str, dict[str, str]] = {"node": {}, "edge": {}}
        self.key: dict[str, str] = {}
        self.data_key = ""
        self.graphs = 0
        self.at: tuple[int, dict[str, str]] = (0, {})
        self.values: dict[str, str] = {}

    def opened(self, element: str, attributes: dict[str, str]) -> None:
        inside = self.markup.stack[-2] if len(self.markup.stack) > 1 else ""
        if element == "graph":
            self.graphs += 1
            if inside in ("node", "edge"):
                self.markup.wrong("a graph inside a node or edge, which is not read. Flatten the graph first.")
            if self.graphs > 1:
                self.markup.wrong("a second graph; a file with several is not read.")
        elif element == "hyperedge":
            self.markup.wrong("a hyperedge, which is not read.")
        elif element == "key":
            self.key = attributes
            name = attributes.get("attr.name", attributes.get("id", ""))
            if self.keys.setdefault(attributes.get("id", ""), name) != name or "id" not in attributes:
                self.markup.wrong(f"a key without an id, or a second one called {attributes.get('id')!r}.")
        elif element == "data":
            self.data_key = attributes.get("key", "")
            if self.data_key not in self.keys:
                self.markup.wrong(f"data of the key {self.data_key!r}, which is not declared above.")
        elif element in ("node", "edge"):
            self.at, self.values = (self.markup.line, attributes), {}
        if element != "graphml" and inside not in _PLACES.get(element, set()):
            self.markup.wrong(f"<{element}> in <{inside}>, which is no part of GraphML as it is read.")

    def closed(self, element: str, text: str) -> None:
        place, given = self.at
        if element == "default":
            for kind in ("node", "edge"):
                if self.key.get("for", "all") in (kind, "all"):
                    self.defaults[kind][self.keys[self.key["id"]]] = text
        elif element == "data" and self.markup.stack[-2] in ("node", "edge"):
            name = self.keys[self.data_key]
            if name in self.values:
                self.markup.wrong(f"a second value of {name!r} for one {self.markup.stack[-2]}.")
            self.values[name] = text
        elif element == "node":
            self.elements.add_node(place, given.get("id"), self.defaults["node"] | self.values)
        elif element == "edge":
            weight, name = weight_of(self.defaults["edge"] | self.values)
            self.elements.add_edge(place, (given.get("source"), given.get("target")), weight, name)


def read_graphml(
    path: Path, *, symmetrise: Symmetrise = "max", weighted: bool | None = None, max_bytes: int | None = None
) -> Graph:
    """The graph of a GraphML file."""
    reader = _Reader(path)
    reader.markup.read(max_bytes, reader.opened, reader.closed)
    if not reader.graphs:
        reader.markup.wrong("the file ends without a graph.")
    return reader.elements.graph(symmetrise, weighted)


def write_graphml(graph: Graph, path: Path, attributes: Mapping[str, Any] | None = None) -> None:
    """Nodes with the names as ids, and attributes of nodes; edges with their weights."""
    columns = checked_attributes(graph, attributes)
    ids = [quoted(name) for name in written_names(graph, "GraphML")]
    with packed_file(path) as file:
        file.write(b'<?xml version="1.0" encoding="UTF-8"?>\n<graphml xmlns="http://graphml.graphdrawing.org/xmlns">\n')
        for name, values in columns.items():
            file.write(f'<key id="{name}" for="node" attr.name="{name}" attr.type="{kind_of(values)}"/>\n'.encode())
        if graph.weights is not None:
            file.write(b'<key id="edge_weight" for="edge" attr.name="weight" attr.type="double"/>\n')
        file.write(b'<graph edgedefault="undirected">\n')
        for i, node in enumerate(ids):
            data = "".join(f'<data key="{k}">{quoted(value_text(v[i]))[1:-1]}</data>' for k, v in columns.items())
            file.write(f"<node id={node}>{data}</node>\n".encode() if data else f"<node id={node}/>\n".encode())
        for i, j, weight in edges(graph):
            data = "" if graph.weights is None else f'<data key="edge_weight">{number_text(weight)}</data>'
            file.write(f"<edge source={ids[i]} target={ids[j]}>{data}</edge>\n".encode())
        file.write(b"</graph>\n</graphml>\n")
