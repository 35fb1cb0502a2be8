"""Graphs of other libraries, into a `Graph` and back. A library is touched when it is loaded already, or asked for."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from typing import Any

import numpy as np
import numpy.typing as npt

from flipwise.foundation.errors import InvalidInput, MissingDependency
from flipwise.foundation.numbers import EXACT, as_number, check_size
from flipwise.graphs.formats.elements import checked_attributes
from flipwise.graphs.formats.lines import edges
from flipwise.graphs.graph import ArcBlock, Graph, Symmetrise, build_graph


def is_instance(value: Any, package: str, kind: str) -> bool:
    """Whether `value` is an instance of a class of a package that may not even be installed."""
    module = sys.modules.get(package)
    cls = getattr(module, kind, None)
    return cls is not None and isinstance(value, cls)


def from_networkx(graph: Any, symmetrise: Symmetrise, weight: str | None) -> Graph:
    """The graph of a networkx graph of any kind, directed and with parallel edges too."""
    nodes = list(graph.nodes)
    position = {node: i for i, node in enumerate(nodes)}
    m = graph.number_of_edges()
    sources, targets, weights = np.empty(m, np.int64), np.empty(m, np.int64), np.ones(m)
    edges: Any = graph.edges(data=weight, default=1.0) if weight else ((u, v, 1.0) for u, v in graph.edges())
    for p, (u, v, value) in enumerate(edges):
        sources[p], targets[p] = position[u], position[v]
        weights[p] = _as_weight(value, f"edge ({u!r}, {v!r})")
    return _from_lists(nodes, sources, targets, weights, symmetrise)


def from_igraph(graph: Any, symmetrise: Symmetrise, weight: str | None) -> Graph:
    """The graph of an igraph graph; names are those of its vertices, if they have any."""
    n = graph.vcount()
    names: Sequence[Any] = graph.vs["name"] if "name" in graph.vs.attributes() else range(n)
    edges = np.array(graph.get_edgelist(), dtype=np.int64).reshape(-1, 2)
    weights = np.ones(len(edges))
    if weight and weight in graph.es.attributes():
        for p, value in enumerate(graph.es[weight]):
            weights[p] = _as_weight(value, f"edge {tuple(edges[p].tolist())}")
    return _from_lists(names, edges[:, 0], edges[:, 1], weights, symmetrise)


def from_networkit(graph: Any, symmetrise: Symmetrise, weight: str | None) -> Graph:
    """The graph of a networkit graph; nodes that were taken out of it leave gaps in the numbers, which are kept."""
    nodes = [int(node) for node in graph.iterNodes()]
    position = {node: i for i, node in enumerate(nodes)}
    listed = list(graph.iterEdgesWeights())
    ends = np.array([(position[u], position[v]) for u, v, _ in listed], dtype=np.int64).reshape(-1, 2)
    heavy = weight is not None and graph.isWeighted()
    weights = np.array([float(w) for _, _, w in listed]) if heavy else np.ones(len(listed))
    return _from_lists(nodes, ends[:, 0], ends[:, 1], weights, symmetrise)


def from_graph_tool(graph: Any, symmetrise: Symmetrise, weight: str | None) -> Graph:
    """The graph of a graph-tool graph; names are those of its vertex property `name`, if it has one."""
    vertices = [int(vertex) for vertex in graph.get_vertices()]
    position = {vertex: i for i, vertex in enumerate(vertices)}
    names: Sequence[Any] = vertices
    if "name" in graph.vertex_properties:
        names = [graph.vertex_properties["name"][vertex] for vertex in vertices]
    heavy = weight is not None and weight in graph.edge_properties
    listed = np.asarray(graph.get_edges([graph.edge_properties[weight]] if heavy else []))
    ends = np.array([[position[int(end)] for end in row[:2]] for row in listed], dtype=np.int64).reshape(-1, 2)
    weights = listed[:, 2].astype(np.float64) if heavy and len(listed) else np.ones(len(ends))
    return _from_lists(names, ends[:, 0], ends[:, 1], weights, symmetrise)


def _as_weight(value: Any, where: str) -> float:
    """The weight of an edge as a number."""
    if type(value) is float or (type(value) is int and abs(value) <= EXACT):
        return float(value)  # the usual ones, of which there can be millions; NaN and inf are refused later
    try:
        return as_number("weight", value)
    except InvalidInput as error:
        raise InvalidInput(f"`graph`: {where} has weight {value!r}; weights must be numbers. {error}") from None


def _from_lists(
    names: Sequence[Any],
    sources: npt.NDArray[np.int64],
    targets: npt.NDArray[np.int64],
    weights: npt.NDArray[np.float64],
    symmetrise: Symmetrise,
) -> Graph:
    """The graph of columns of arcs over named nodes; names 0, 1, ... are left out."""
    if np.isfinite(weights).all():
        check_size("graph", weights)
    arcs = ArcBlock(sources, targets, None if (weights == 1.0).all() else weights)
    plain = all(type(name) is int and name == i for i, name in enumerate(names))
    return build_graph(len(names), [arcs], symmetrise=symmetrise, names=None if plain else names, what="`graph`")


def to_library(graph: Graph, library: str, attributes: Mapping[str, Any] | None = None) -> Any:
    """The graph as an object of another library; what `Graph.to` returns."""
    if library in ("pandas", "polars", "pyarrow"):
        from flipwise.graphs.frames import to_frame

        if attributes is not None:
            raise InvalidInput(f"`attributes`: a table of edges ({library}) has no nodes to hold them.")
        return to_frame(graph, library)
    if library not in _MAKERS:
        raise InvalidInput(f"`library` must be one of {', '.join(_MAKERS)}, pandas, polars, pyarrow, got {library!r}.")
    make, install = _MAKERS[library]
    try:
        module = import_module(library.replace("-", "_"))
    except ImportError:
        raise MissingDependency(library, purpose=f"A graph of {library}", install=install) from None
    return make(module, graph, checked_attributes(graph, attributes))


def _to_networkx(nx: Any, graph: Graph, attributes: Mapping[str, list[Any]]) -> Any:
    """A `networkx.Graph` whose nodes are the names."""
    names = range(graph.n) if graph.names is None else list(graph.names)
    made = nx.Graph()
    made.add_nodes_from(names)
    for title, values in attributes.items():
        nx.set_node_attributes(made, dict(zip(names, values)), title)
    if graph.weights is None:
        made.add_edges_from((names[i], names[j]) for i, j, _ in edges(graph))
    else:
        made.add_weighted_edges_from((names[i], names[j], weight) for i, j, weight in edges(graph))
    return made


def _to_igraph(igraph: Any, graph: Graph, attributes: Mapping[str, list[Any]]) -> Any:
    """An `igraph.Graph` with the names in the vertex attribute `name`."""
    listed = list(edges(graph))
    made = igraph.Graph(n=graph.n, edges=[(i, j) for i, j, _ in listed])
    if graph.names is not None:
        made.vs["name"] = list(graph.names)
    for title, values in attributes.items():
        made.vs[title] = values
    if graph.weights is not None:
        made.es["weight"] = [weight for _, _, weight in listed]
    return made


def _to_networkit(nk: Any, graph: Graph, attributes: Mapping[str, list[Any]]) -> Any:
    """A `networkit.Graph`, which has no names: node i is `graph.names[i]`."""
    if attributes:
        raise InvalidInput("`attributes`: nodes of networkit graphs are made without any here.")
    made = nk.Graph(graph.n, weighted=graph.weights is not None, directed=False)
    for i, j, weight in edges(graph):
        made.addEdge(i, j, weight)
    return made


def _to_graph_tool(gt: Any, graph: Graph, attributes: Mapping[str, list[Any]]) -> Any:
    """A `graph_tool.Graph` with the names in the vertex property `name`."""
    made = gt.Graph(directed=False)
    made.add_vertex(graph.n)
    weight = made.new_edge_property("double")
    made.add_edge_list(list(edges(graph)), eprops=[weight])
    if graph.weights is not None:
        made.edge_properties["weight"] = weight
    texts = {} if graph.names is None else {"name": [str(name) for name in graph.names]}
    for title, values in {**texts, **attributes}.items():
        kind = {bool: "bool", int: "int64_t", float: "double", str: "string"}[type(values[0]) if values else str]
        made.vertex_properties[title] = made.new_vertex_property(kind, vals=values)
    return made


_MAKERS: dict[str, tuple[Callable[[Any, Graph, Mapping[str, list[Any]]], Any], str]] = {
    "networkx": (_to_networkx, 'pip install "flipwise[graphs]"'),
    "igraph": (_to_igraph, 'pip install "flipwise[igraph]"'),
    "networkit": (_to_networkit, 'pip install "flipwise[networkit]"'),
    "graph-tool": (_to_graph_tool, "conda install -c conda-forge graph-tool"),
}
"""The libraries whose graphs are made, and how they are installed."""
