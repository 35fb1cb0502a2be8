"""`as_graph`: whatever holds a graph in Python becomes a `Graph`; other libraries are only touched when loaded."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from flipwise.foundation.errors import InvalidInput
from flipwise.foundation.numbers import EXACT, as_csr, as_floats, as_number, as_real, check_size
from flipwise.graphs.csr import graph_from_csr
from flipwise.graphs.graph import ArcBlock, Graph, Symmetrise, build_graph, check_symmetrise, index_type

if TYPE_CHECKING:
    import igraph
    import networkx


def as_graph(graph: Any, *, symmetrise: Symmetrise = "max", weight: str | None = "weight") -> Graph:
    """The simple undirected graph that `graph` stands for.

    Parameters
    ----------
    graph
        A `Graph`; a scipy sparse or square NumPy adjacency matrix, or a data frame with one (entries of a sparse matrix
        that are stored more than once are added up); a networkx or igraph graph (node labels are kept); a pyarrow table
        of edges; a pair `(n, edges)` with `edges` of shape (m, 2), or (m, 3) with weights; a path.
    symmetrise
        The weight of an edge given by several arcs: `"max"`, `"sum"`, or `"error"` to refuse (see `read_graph`).
    weight
        The edge attribute with the weights in networkx and igraph graphs; None ignores weights.

    Examples
    --------
    >>> as_graph((4, [[0, 1], [1, 2], [2, 0]]))
    Graph(4 nodes, 3 edges, unweighted)
    """
    if isinstance(graph, Graph):
        return graph
    check_symmetrise(symmetrise)
    if isinstance(graph, str | os.PathLike):
        from flipwise.graphs.read import read_graph

        return read_graph(graph, symmetrise=symmetrise)
    if sp.issparse(graph):
        return _from_scipy(graph, symmetrise)
    if _is_instance(graph, "networkx", "Graph"):
        return _from_networkx(graph, symmetrise, weight)
    if _is_instance(graph, "igraph", "Graph"):
        return _from_igraph(graph, symmetrise, weight)
    if _is_instance(graph, "pyarrow", "Table"):
        from flipwise.graphs.formats.parquet import graph_from_batches

        return graph_from_batches(graph.schema, graph.to_batches(), "the table", InvalidInput, symmetrise=symmetrise)
    if isinstance(graph, tuple) and len(graph) == 2 and isinstance(graph[0], int | np.integer):
        return _from_edges(int(graph[0]), graph[1], symmetrise)
    if isinstance(graph, np.ndarray) or hasattr(graph, "to_numpy"):
        matrix = as_floats("graph", graph)
        if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1]:
            raise InvalidInput(
                f"`graph`: an adjacency matrix must be square, got shape {matrix.shape}. "
                "For an array of edges pass the pair (number of nodes, edges)."
            )
        return _from_scipy(sp.csr_array(matrix), symmetrise)
    raise InvalidInput(
        f"`graph` must be a flipwise.Graph, a scipy sparse matrix, a networkx or igraph graph, a pyarrow table, "
        f"a pair (n, edges) or a path, got {type(graph).__name__}."
    )


def _is_instance(value: Any, package: str, kind: str) -> bool:
    """Whether `value` is an instance of a class of a package that may not even be installed."""
    module = sys.modules.get(package)
    cls = getattr(module, kind, None)
    return cls is not None and isinstance(value, cls)


def _from_scipy(matrix: Any, symmetrise: Symmetrise) -> Graph:
    """The graph of a square sparse matrix; entries that are stored twice are added."""
    if len(matrix.shape) != 2 or matrix.shape[0] != matrix.shape[1]:
        raise InvalidInput(f"`graph`: an adjacency matrix must be square, got shape {matrix.shape}.")
    n = int(matrix.shape[0])
    csr = as_csr("graph", matrix)
    check_size("graph", csr.data)
    if (csr.data == 0.0).any():
        csr = csr.copy()
        csr.eliminate_zeros()
    # Copies: the new graph must not share memory that its owner may change.
    weights = None if (csr.data == 1.0).all() else csr.data.copy()
    indptr, indices = csr.indptr.astype(np.int64), csr.indices.astype(index_type(n))
    return graph_from_csr(indptr, indices, weights, symmetrise=symmetrise, what="`graph`")


def _from_edges(n: int, edges: Any, symmetrise: Symmetrise) -> Graph:
    """The graph of n nodes and a table of edges, or a tuple of its columns."""
    if n < 0:
        raise InvalidInput(f"`graph`: the number of nodes must be at least 0, got {n}.")
    if isinstance(edges, tuple) and len(edges) in (2, 3) and all(np.ndim(column) == 1 for column in edges):
        columns = [as_real("graph", column) for column in edges]
    else:
        table = as_real("graph", edges)
        if table.size == 0:
            table = np.empty((0, 2), dtype=np.int64)
        if table.ndim != 2 or table.shape[1] not in (2, 3):
            raise InvalidInput(f"`graph`: edges must have shape (m, 2) or (m, 3), got {table.shape}.")
        columns = list(table.T)
    if len({column.size for column in columns}) != 1:
        raise InvalidInput(f"`graph`: edge columns differ in length: {[c.size for c in columns]}.")
    weights = as_floats("graph", columns[2]) if len(columns) == 3 else None
    if weights is not None:
        check_size("graph", weights)
    arcs = ArcBlock(_node_column(columns[0]), _node_column(columns[1]), weights)
    return build_graph(n, [arcs], symmetrise=symmetrise, what="`graph`")


def _node_column(column: npt.NDArray[Any]) -> npt.NDArray[np.int64]:
    """A column of edges as node indices."""
    if column.dtype.kind == "f" and not (np.isfinite(column) & (column == np.floor(column))).all():
        raise InvalidInput("`graph`: node indices must be integers.")
    if column.size and max(float(column.max()), -float(column.min())) >= 2.0**63:
        raise InvalidInput(f"`graph`: node indices must be below the number of nodes, got {column.max()}.")
    if column.dtype.kind not in "iuf":
        raise InvalidInput(f"`graph`: node indices must be integers, got {column.dtype}.")
    return np.ascontiguousarray(column, dtype=np.int64)


def _from_networkx(graph: networkx.Graph[Any], symmetrise: Symmetrise, weight: str | None) -> Graph:
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


def _from_igraph(graph: igraph.Graph, symmetrise: Symmetrise, weight: str | None) -> Graph:
    """The graph of an igraph graph; names are those of its vertices, if they have any."""
    n = graph.vcount()
    names: Sequence[Any] = graph.vs["name"] if "name" in graph.vs.attributes() else range(n)
    edges = np.array(graph.get_edgelist(), dtype=np.int64).reshape(-1, 2)
    weights = np.ones(len(edges))
    if weight and weight in graph.es.attributes():
        for p, value in enumerate(graph.es[weight]):
            weights[p] = _as_weight(value, f"edge {tuple(edges[p].tolist())}")
    return _from_lists(names, edges[:, 0], edges[:, 1], weights, symmetrise)


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
