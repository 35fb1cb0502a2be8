"""GEXF, the format of Gephi: nodes with labels, edges with weights (1 where none is given, as the format says).

Graphs that change in time and hierarchies of nodes are refused by name.
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
    "meta": {"gexf"},
    "graph": {"gexf"},
    "attributes": {"graph"},
    "attribute": {"attributes"},
    "default": {"attribute"},
    "options": {"attribute"},
    "nodes": {"graph"},
    "edges": {"graph"},
    "node": {"nodes"},
    "edge": {"edges"},
    "attvalues": {"node", "edge"},
    "attvalue": {"attvalues"},
}
_DYNAMIC = ("start", "end", "startopen", "endopen", "timestamp", "timestamps", "intervals")


class _Reader:
    """What is known at a place in the file."""

    def __init__(self, path: Path) -> None:
        self.markup, self.elements = Markup(path, "gexf"), Elements(path, default_weight=1.0)
        self.keys: dict[str, dict[str, str]] = {"node": {}, "edge": {}}
        self.defaults: dict[str, dict[str, str]] = {"node": {}, "edge": {}}
        self.kind, self.key = "", ""
        self.graphs = 0
        self.at: tuple[int, dict[str, str]] = (0, {})
        self.values: dict[str, str] = {}

    def opened(self, element: str, attributes: dict[str, str]) -> None:
        if "meta" in self.markup.stack[:-1]:
            return
        inside = self.markup.stack[-2] if len(self.markup.stack) > 1 else ""
        self._refuse_element(element, inside, attributes)
        if element == "attributes":
            self.kind = attributes.get("class", "")
            if self.kind not in self.keys:
                self.markup.wrong(f"attributes of the class {self.kind!r}; known are node and edge.")
        elif element == "attribute":
            self.key = attributes.get("id", "")
            title = attributes.get("title", self.key)
            if not self.key or self.keys[self.kind].setdefault(self.key, title) != title:
                self.markup.wrong(f"an attribute without an id, or a second one called {self.key!r}.")
        elif element in ("node", "edge"):
            self.at, self.values = (self.markup.line, attributes), {}
        elif element == "attvalue":
            self._take_value(self.markup.stack[-3], attributes)

    def _refuse_element(self, element: str, inside: str, attributes: dict[str, str]) -> None:
        """Raise for an element that is not understood where it stands."""
        if element == "graph":
            self.graphs += 1
            if self.graphs > 1:
                self.markup.wrong("a second graph; a file with several is not read.")
        if (element == "nodes" and inside == "node") or (element == "node" and "pid" in attributes):
            self.markup.wrong("a node inside a node, which is not read. Flatten the graph first.")
        if element == "spells" or attributes.get("mode") == "dynamic" or self._is_timed(element, attributes):
            self.markup.wrong("a graph that changes in time, which is not read. Write it as it is at one time.")
        if element != "gexf" and inside not in _PLACES.get(element, set()):
            self.markup.wrong(f"<{element}> in <{inside}>, which is no part of GEXF as it is read.")

    def _is_timed(self, element: str, attributes: dict[str, str]) -> bool:
        """Whether an element is there at some times only."""
        return element in ("node", "edge", "attvalue") and any(name in attributes for name in _DYNAMIC)

    def _take_value(self, kind: str, attributes: dict[str, str]) -> None:
        """Take in an attribute of the present node or edge; `id` is what the first version called `for`."""
        key = attributes.get("for", attributes.get("id", ""))
        if key not in self.keys[kind]:
            self.markup.wrong(f"a value of the attribute {key!r}, which is not declared above.")
        title = self.keys[kind][key]
        if title in self.values:
            self.markup.wrong(f"a second value of {title!r} for one {kind}.")
        self.values[title] = attributes.get("value", "")

    def closed(self, element: str, text: str) -> None:
        place, given = self.at
        if "meta" in self.markup.stack:
            return
        if element == "default":
            self.defaults[self.kind][self.keys[self.kind][self.key]] = text
        elif element == "node":
            values = self.defaults["node"] | self.values
            label = given.get("label")
            self.elements.add_node(place, given.get("id"), values | ({} if label is None else {"label": label}))
        elif element == "edge":
            weight, name = weight_of(self.defaults["edge"] | self.values)
            if "weight" in given:
                if weight is not None and name == "weight" and weight != given["weight"]:
                    self.elements.wrong(place, f"an edge with the weights {weight!r} and {given['weight']!r}.")
                weight, name = given["weight"], "weight"
            elif name != "weight":
                weight, name = None, ""
            self.elements.add_edge(place, (given.get("source"), given.get("target")), weight, name)


def read_gexf(
    path: Path, *, symmetrise: Symmetrise = "max", weighted: bool | None = None, max_bytes: int | None = None
) -> Graph:
    """The graph of a GEXF file."""
    reader = _Reader(path)
    reader.markup.read(max_bytes, reader.opened, reader.closed)
    if not reader.graphs:
        reader.markup.wrong("the file ends without a graph.")
    return reader.elements.graph(symmetrise, weighted)


def write_gexf(graph: Graph, path: Path, attributes: Mapping[str, Any] | None = None) -> None:
    """GEXF 1.2: nodes with the names as ids and labels, and attributes of nodes; edges with their weights."""
    columns = checked_attributes(graph, attributes)
    ids = [quoted(name) for name in written_names(graph, "GEXF")]
    with packed_file(path) as file:
        file.write(
            b'<?xml version="1.0" encoding="UTF-8"?>\n<gexf xmlns="http://www.gexf.net/1.2draft" version="1.2">\n'
            b'<graph mode="static" defaultedgetype="undirected">\n'
        )
        if columns:
            declared = (
                f'<attribute id="{k}" title="{name}" type="{kind_of(values)}"/>\n'
                for k, (name, values) in enumerate(columns.items())
            )
            file.write(f'<attributes class="node">\n{"".join(declared)}</attributes>\n'.encode())
        file.write(b"<nodes>\n")
        for i, node in enumerate(ids):
            values = "".join(
                f'<attvalue for="{k}" value={quoted(value_text(column[i]))}/>'
                for k, column in enumerate(columns.values())
            )
            inner = f"><attvalues>{values}</attvalues></node>" if values else "/>"
            file.write(f"<node id={node} label={node}{inner}\n".encode())
        file.write(b"</nodes>\n<edges>\n")
        for number, (i, j, weight) in enumerate(edges(graph)):
            heavy = "" if graph.weights is None else f' weight="{number_text(weight)}"'
            file.write(f'<edge id="{number}" source={ids[i]} target={ids[j]}{heavy}/>\n'.encode())
        file.write(b"</edges>\n</graph>\n</gexf>\n")
