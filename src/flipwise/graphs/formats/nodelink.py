"""Node-link JSON: `{"nodes": [{"id": ...}], "edges": [{"source": ..., "target": ...}]}`, as networkx and D3 have it.

`links` is as good as `edges`. Ids are texts, whole numbers, or lists of these (networkx writes tuples so).
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NoReturn

import numpy as np

from flipwise.foundation.errors import InvalidFile, InvalidInput
from flipwise.graphs.formats.elements import Elements, checked_attributes, weight_of, whole_text
from flipwise.graphs.formats.lines import edges, number_text
from flipwise.graphs.graph import Graph, Symmetrise
from flipwise.graphs.streams import packed_file

_OTHERS = {
    "elements": "Cytoscape JSON",
    "graph": "JSON Graph Format",
    "graphs": "JSON Graph Format",
    "quadratic_terms": "BQPJSON",
    "adjacency": "networkx adjacency JSON",
    "children": "networkx tree JSON",
}
"""What other formats of JSON have at the top, where there are no nodes and edges."""


class _Elements(Elements):
    """Nodes and edges by their numbers in the file: JSON has no lines to speak of."""

    def where(self, place: int) -> str:
        return f"node {place:,}" if place >= 0 else f"edge {-place - 1:,}"


def read_node_link(
    path: Path, *, symmetrise: Symmetrise = "max", weighted: bool | None = None, max_bytes: int | None = None
) -> Graph:
    """The graph of a node-link JSON file."""
    nodes, links = _node_and_edge_lists(path, _parse_json(path, max_bytes))
    elements = _Elements(path, typed=True)
    for place, node in enumerate(nodes):
        if not isinstance(node, dict) or "id" not in node:
            elements.wrong(place, f"expected an object with an `id`, found {_shortened(node)}.")
        elements.add_node(place, _node_id(elements, place, node["id"]), node)
    for number, link in enumerate(links):
        place = -1 - number
        if not isinstance(link, dict) or not link.keys() >= {"source", "target"}:
            elements.wrong(place, f"expected an object with `source` and `target`, found {_shortened(link)}.")
        ends = (_node_id(elements, place, link["source"]), _node_id(elements, place, link["target"]))
        weight, name = weight_of(link)
        if isinstance(weight, str):
            elements.wrong(place, f"the weight {weight!r} is a text; write it as a number.")
        elements.add_edge(place, ends, weight, name)
    return elements.graph(symmetrise, weighted)


def _parse_json(path: Path, max_bytes: int | None) -> Any:
    """What the file holds; NaN and keys that stand twice are refused."""

    def constant(name: str) -> NoReturn:
        raise InvalidFile(f"{path}: holds {name}, which is no JSON.")

    def pairs(items: list[tuple[str, Any]]) -> dict[str, Any]:
        made = dict(items)
        if len(made) != len(items):
            raise InvalidFile(f"{path}: an object has one key twice: {_shortened(items)}.")
        return made

    try:
        return json.loads(whole_text(path, max_bytes), parse_constant=constant, object_pairs_hook=pairs)
    except json.JSONDecodeError as error:
        raise InvalidFile(f"{path}, line {error.lineno:,}: broken JSON: {error.msg}.") from None
    except RecursionError:
        raise InvalidFile(f"{path}: lists too deep inside one another.") from None
    except ValueError as error:
        if isinstance(error, InvalidFile):
            raise
        raise InvalidFile(f"{path}: broken JSON: {error}.") from None


def _node_and_edge_lists(path: Path, held: Any) -> tuple[list[Any], list[Any]]:
    """The lists of nodes and of edges; other formats are refused by name."""
    if not isinstance(held, dict):
        raise InvalidFile(f"{path}: JSON, but no node-link graph: {_shortened(held)}.")
    keys = [key for key in ("edges", "links") if key in held]
    if "nodes" in held and len(keys) == 1:
        nodes, links = held["nodes"], held[keys[0]]
        if isinstance(nodes, list) and isinstance(links, list):
            return nodes, links
        raise InvalidFile(f"{path}: `nodes` and `{keys[0]}` must be lists.")
    if len(keys) == 2:
        raise InvalidFile(f"{path}: holds both `edges` and `links`; delete those that are not meant.")
    other = next((name for key, name in _OTHERS.items() if key in held), "JSON")
    raise InvalidFile(
        f"{path}: a file of the format {other}, which is not read; of JSON only node-link graphs are, objects with "
        "`nodes` and `edges` (or `links`)."
    )


def _node_id(elements: Elements, place: int, value: Any) -> Any:
    """The id of a node; lists become tuples."""
    parts = value if type(value) is list else [value]
    if not all(type(part) in (str, int) for part in parts):
        elements.wrong(place, f"the id of a node must be a text or a whole number, got {_shortened(value)}.")
    return tuple(parts) if type(value) is list else value


def _shortened(value: Any) -> str:
    """A value in few characters."""
    try:
        text = repr(value)
    except (RecursionError, ValueError):  # lists deep inside one another; numbers of thousands of digits
        return type(value).__name__
    return text if len(text) < 80 else text[:77] + "..."


def write_node_link(graph: Graph, path: Path, attributes: Mapping[str, Any] | None = None) -> None:
    """Nodes with their names as ids, and attributes of nodes; edges with their weights; a line each."""
    columns = checked_attributes(graph, attributes)
    names = range(graph.n) if graph.names is None else graph.names
    ids = [json.dumps(_plain_name(name), ensure_ascii=False) for name in names]
    with packed_file(path) as file:
        file.write(b'{"directed": false, "multigraph": false, "graph": {}, "nodes": [')
        for i, node in enumerate(ids):
            data = "".join(f', "{name}": {json.dumps(values[i])}' for name, values in columns.items())
            file.write(f'{"," if i else ""}\n{{"id": {node}{data}}}'.encode())
        file.write(b'\n], "edges": [')
        for number, (i, j, weight) in enumerate(edges(graph)):
            heavy = "" if graph.weights is None else f', "weight": {number_text(weight)}'
            file.write(f'{"," if number else ""}\n{{"source": {ids[i]}, "target": {ids[j]}{heavy}}}'.encode())
        file.write(b"\n]}\n")


def _plain_name(name: Any) -> Any:
    """A name as JSON has it: a text, a whole number, or a list of these."""
    parts = [int(part) if isinstance(part, np.integer) else part for part in (name if type(name) is tuple else [name])]
    for part in parts:
        if type(part) not in (str, int) or (type(part) is str and part.encode(errors="replace").decode() != part):
            raise InvalidInput(f"`graph`: the name {name!r} is no text or whole number, which JSON files have.")
    return parts if type(name) is tuple else parts[0]
