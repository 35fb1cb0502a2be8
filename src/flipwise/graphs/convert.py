"""`as_graph`: whatever holds a graph in Python becomes a `Graph`; other libraries are only touched when loaded."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from flipwise.foundation.errors import InvalidInput
from flipwise.foundation.numbers import as_csr, as_floats, as_real, check_size
from flipwise.graphs.csr import graph_from_csr
from flipwise.graphs.formats.tables import check_columns
from flipwise.graphs.frames import from_frame, matrix_names, renamed
from flipwise.graphs.graph import ArcBlock, Graph, Symmetrise, build_graph, check_symmetrise, index_type
from flipwise.graphs.libraries import from_graph_tool, from_igraph, from_networkit, from_networkx, is_instance

_LIBRARIES: list[tuple[str, str, Callable[[Any, Symmetrise, str | None], Graph]]] = [
    ("networkx", "Graph", from_networkx),
    ("igraph", "Graph", from_igraph),
    ("networkit", "Graph", from_networkit),
    ("graph_tool", "Graph", from_graph_tool),
]


def as_graph(
    graph: Any,
    *,
    symmetrise: Symmetrise = "max",
    weight: str | None = "weight",
    columns: Sequence[str] | None = None,
) -> Graph:
    """The simple undirected graph that `graph` stands for.

    Parameters
    ----------
    graph
        A `Graph`; a scipy sparse or square NumPy adjacency matrix (entries of a sparse matrix that are stored more than
        once are added up); a networkx, igraph, networkit or graph-tool graph (node labels are kept); a pandas, polars
        or pyarrow table of edges, or a data frame that is a square adjacency matrix; a pair `(n, edges)` with `edges`
        of shape (m, 2), or (m, 3) with weights; a path.
    symmetrise
        The weight of an edge given by several arcs: `"max"`, `"sum"`, or `"error"` to refuse (see `read_graph`).
    weight
        The edge attribute with the weights in networkx, igraph and graph-tool graphs; None ignores weights.
    columns
        Tables only: the names of the columns of the source, the target and, if wanted, the weight. None recognises
        usual names, such as source, target and weight.

    Examples
    --------
    >>> as_graph((4, [[0, 1], [1, 2], [2, 0]]))
    Graph(4 nodes, 3 edges, unweighted)
    """
    if isinstance(graph, Graph):
        return graph
    check_symmetrise(symmetrise)
    if columns is not None:
        check_columns(columns)
    if isinstance(graph, str | os.PathLike):
        from flipwise.graphs.read import read_graph

        return read_graph(graph, symmetrise=symmetrise, columns=columns)
    if sp.issparse(graph):
        return _from_scipy(graph, symmetrise)
    for package, kind, convert in _LIBRARIES:
        if is_instance(graph, package, kind):
            return convert(graph, symmetrise, weight)
    for package in ("pandas", "polars", "pyarrow"):
        if is_instance(graph, package, "Table" if package == "pyarrow" else "DataFrame"):
            found = from_frame(graph, symmetrise, columns)
            if found is not None:
                return found
    if columns is not None:
        raise InvalidInput(f"`columns` is for tables and files of them, not for {type(graph).__name__}.")
    if isinstance(graph, tuple) and len(graph) == 2 and isinstance(graph[0], int | np.integer):
        return edges_graph(int(graph[0]), graph[1], symmetrise)
    if isinstance(graph, np.ndarray) or hasattr(graph, "to_numpy"):
        matrix = as_floats("graph", graph)
        if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1]:
            raise InvalidInput(
                f"`graph`: an adjacency matrix must be square, got shape {matrix.shape}. "
                "For an array of edges pass the pair (number of nodes, edges)."
            )
        return renamed(_from_scipy(sp.csr_array(matrix), symmetrise), matrix_names(graph))
    raise InvalidInput(
        f"`graph` must be a flipwise.Graph, a scipy sparse matrix, a networkx, igraph, networkit or graph-tool "
        f"graph, a pandas, polars or pyarrow table, a pair (n, edges) or a path, got {type(graph).__name__}."
    )


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


def edges_graph(n: int, edges: Any, symmetrise: Symmetrise) -> Graph:
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
