"""Arcs as they are: directed graphs and tables with two kinds of nodes, where no arc is turned round.

The readers of this room make undirected graphs. Given the rule "arcs" they join a copy of every source to a copy of
every target instead: the bipartite double cover, in which no two arcs of different direction meet. Its upper half is
the matrix of the arcs. Arcs that are listed more than once count once, with the largest of their weights, as
everywhere; entries that a sparse matrix stores more than once are added up.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from flipwise.foundation.errors import InvalidFile, InvalidInput
from flipwise.foundation.numbers import as_csr, as_floats, check_size
from flipwise.graphs.convert import edges_graph
from flipwise.graphs.formats.edgelist import read_edge_list
from flipwise.graphs.formats.parquet import read_parquet
from flipwise.graphs.formats.tables import check_columns
from flipwise.graphs.frames import from_frame
from flipwise.graphs.graph import Graph
from flipwise.graphs.libraries import from_igraph, from_networkx, is_instance
from flipwise.graphs.read import detect_format

Names = Sequence[Any] | None


@dataclass(frozen=True, eq=False)
class ArcMatrix:
    """Weights of arcs from rows to columns, with the names of both; None stands for 0, 1, 2, ...

    Examples
    --------
    >>> read_arcs((3, [[0, 1], [0, 2]])).matrix.toarray().tolist()
    [[0.0, 1.0, 1.0], [0.0, 0.0, 0.0], [0.0, 0.0, 0.0]]
    """

    matrix: sp.csr_array
    rows: Names = None
    columns: Names = None
    notes: tuple[str, ...] = ()


def read_arcs(graph: Any, *, weight: str | None = "weight", columns: Sequence[str] | None = None) -> ArcMatrix:
    """The arcs of a directed graph: a square matrix with a row and a column for each node, self loops included.

    Parameters
    ----------
    graph
        A scipy sparse or NumPy matrix whose entry (i, j) is the weight of the arc from i to j; a networkx or igraph
        graph that is directed; a pandas, polars or pyarrow table; a pair (number of nodes, arcs); the path of an edge
        list, CSV, Parquet or MatrixMarket file, whose first column holds the sources.
    weight, columns
        As in `flipwise.graphs.convert.as_graph`.
    """
    if columns is not None:
        check_columns(columns)
    if isinstance(graph, str | os.PathLike):
        found = _from_file(Path(graph), columns)
        if isinstance(found, Graph):
            return _upper_half(found)
        return ArcMatrix(_checked_square(found, str(graph)))
    if is_matrix(graph):
        return ArcMatrix(_checked_square(weights_of("graph", graph), "`graph`"))
    for package, convert in (("networkx", from_networkx), ("igraph", from_igraph)):
        if is_instance(graph, package, "Graph"):
            if not graph.is_directed():
                raise InvalidInput(f"`graph` must be directed, got an undirected graph of {package}.")
            return _upper_half(convert(graph, "arcs", weight))
    table = _from_table(graph, columns)
    if table is not None:
        return _upper_half(table)
    if isinstance(graph, tuple) and len(graph) == 2 and isinstance(graph[0], int | np.integer):
        return _upper_half(edges_graph(int(graph[0]), graph[1], "arcs"))
    raise InvalidInput(
        "`graph` must be a square matrix, a directed networkx or igraph graph, a pandas, polars or pyarrow table, a "
        f"pair (n, arcs) or a path, got {type(graph).__name__}."
    )


def read_pairs(graph: Any, *, weight: str | None = "weight", columns: Sequence[str] | None = None) -> ArcMatrix:
    """What joins two kinds of nodes: a matrix with a row for each node of one kind, a column for each of the other.

    Parameters
    ----------
    graph
        A scipy sparse or NumPy matrix; a networkx graph with the node attribute `bipartite` (0: rows, 1: columns), an
        igraph graph with the vertex attribute `type` (False: rows); a pandas, polars or pyarrow table, or the path of
        an edge list, CSV or Parquet file, whose first column holds the rows and whose second the columns (a name may
        stand in both, for two nodes); the path of a MatrixMarket file.
    weight, columns
        As in `flipwise.graphs.convert.as_graph`.
    """
    if columns is not None:
        check_columns(columns)
    if isinstance(graph, str | os.PathLike):
        found = _from_file(Path(graph), columns)
        return _without_empty(_upper_half(found)) if isinstance(found, Graph) else ArcMatrix(found)
    if is_matrix(graph):
        return ArcMatrix(weights_of("graph", graph))
    for package, kind, convert in (("networkx", "bipartite", from_networkx), ("igraph", "type", from_igraph)):
        if is_instance(graph, package, "Graph"):
            return _two_sides(convert(graph, "max", weight), _sides_of_nodes(graph, package, kind), kind)
    table = _from_table(graph, columns)
    if table is not None:
        return _without_empty(_upper_half(table))
    raise InvalidInput(
        "`graph` must be a matrix, a networkx or igraph graph with two sides, a pandas, polars or pyarrow table or a "
        f"path, got {type(graph).__name__}."
    )


def is_matrix(graph: Any) -> bool:
    """Whether this is a matrix of weights, dense or sparse."""
    return sp.issparse(graph) or isinstance(graph, np.ndarray)


def weights_of(name: str, matrix: Any) -> sp.csr_array:
    """A matrix of weights in rows, without zeros, finite."""
    dense = None if sp.issparse(matrix) else as_floats(name, matrix)
    if len(matrix.shape) != 2:
        raise InvalidInput(f"`{name}` must be a matrix, got shape {matrix.shape}.")
    csr = as_csr(name, matrix) if dense is None else sp.csr_array(dense)
    check_size(name, csr.data)
    csr = csr.copy()
    csr.eliminate_zeros()
    csr.sort_indices()
    return csr


def _checked_square(matrix: sp.csr_array, what: str) -> sp.csr_array:
    """The same matrix, refused unless it is that of a directed graph."""
    if matrix.shape[0] != matrix.shape[1]:
        raise InvalidInput(f"{what}: the matrix of a directed graph must be square, got shape {matrix.shape}.")
    return matrix


def _from_table(table: Any, columns: Sequence[str] | None) -> Graph | None:
    """The double cover of a table of arcs; None where this is no table."""
    for package in ("pandas", "polars", "pyarrow"):
        if is_instance(table, package, "Table" if package == "pyarrow" else "DataFrame"):
            found = from_frame(table, "arcs", columns)
            if found is None:
                raise InvalidInput(
                    "`graph`: is the square table a list of arcs or a matrix? Pass columns=(source, target) or "
                    "columns=(source, target, weight) for arcs, table.to_numpy() for a matrix."
                )
            return found
    return None


def _from_file(path: Path, columns: Sequence[str] | None) -> Graph | sp.csr_array:
    """The double cover of the arcs in a file, or the matrix that it holds."""
    found = detect_format(path)
    if found in ("edgelist", "csv"):
        return read_edge_list(path, symmetrise="arcs", columns=columns)
    if found == "parquet":
        return read_parquet(path, symmetrise="arcs", columns=columns)
    if columns is not None:
        raise InvalidInput(f"`columns` is for tables, CSV and Parquet; {path} is read as {found}.")
    if found == "matrixmarket":
        return _matrix_market(path)
    raise InvalidFile(
        f"{path}: arcs are read from edge lists, CSV, Parquet and MatrixMarket files, this is one of {found}. Read it "
        "with networkx, for example networkx.read_graphml(path), and pass the graph."
    )


def _matrix_market(path: Path) -> sp.csr_array:
    """The matrix of a MatrixMarket file, by scipy's reader."""
    import scipy.io

    try:
        matrix = scipy.io.mmread(path)
    except (ValueError, OSError, OverflowError) as error:
        raise InvalidFile(f"{path}: not a MatrixMarket file ({error}).") from None
    return weights_of(str(path), matrix)


def _upper_half(cover: Graph) -> ArcMatrix:
    """The matrix of the arcs from the double cover: its first half of rows."""
    n = cover.n // 2
    last = int(cover.indptr[n])
    weights = np.ones(last) if cover.weights is None else cover.weights[:last]
    matrix = sp.csr_array((weights, cover.indices[:last] - n, cover.indptr[: n + 1]), shape=(n, n))
    return ArcMatrix(matrix, cover.names, cover.names, cover.notes)


def _without_empty(arcs: ArcMatrix) -> ArcMatrix:
    """Two kinds of nodes: those that have arcs are rows, those that arcs lead to are columns."""
    matrix = arcs.matrix
    sources = np.flatnonzero(np.diff(matrix.indptr))
    targets = np.flatnonzero(np.bincount(matrix.indices, minlength=matrix.shape[1]))
    names = range(matrix.shape[0]) if arcs.rows is None else arcs.rows
    both = np.intersect1d(sources, targets, assume_unique=True).size
    note = f"The first column has {sources.size:,} rows of the matrix, the second its {targets.size:,} columns"
    note += f"; {both:,} names stand in both, for two nodes each." if both else "."
    place = np.zeros(matrix.shape[1], dtype=matrix.indices.dtype)
    place[targets] = np.arange(targets.size)
    indptr = np.concatenate([[0], np.cumsum(np.diff(matrix.indptr)[sources])])
    inner = sp.csr_array((matrix.data, place[matrix.indices], indptr), shape=(sources.size, targets.size))
    return ArcMatrix(inner, _names_of(names, sources), _names_of(names, targets), (*arcs.notes, note))


def _names_of(names: Sequence[Any], nodes: np.ndarray) -> list[Any]:
    """The names of some nodes."""
    return [names[i] for i in nodes.tolist()]


def _sides_of_nodes(graph: Any, package: str, kind: str) -> np.ndarray:
    """The side of each node, by the library's own convention."""
    if package == "igraph":
        given = list(graph.vs[kind]) if kind in graph.vs.attributes() else [None]
    else:
        given = [data.get(kind) for _, data in graph.nodes(data=True)]
    if any(side not in (0, 1) for side in given):
        raise InvalidInput(
            f"`graph`: every node of {package} must say by its attribute {kind!r} whether it is a row (0) or a column "
            "(1). Or pass a matrix of weights, rows by columns."
        )
    return np.array(given, dtype=bool)


def _two_sides(graph: Graph, side: np.ndarray, kind: str) -> ArcMatrix:
    """The matrix between the two sides of a graph; edges inside a side are refused."""
    rows, columns = np.flatnonzero(~side), np.flatnonzero(side)
    names = range(graph.n) if graph.names is None else graph.names
    matrix = graph.to_scipy()
    between = sp.csr_array(matrix[rows][:, columns])
    if 2 * between.nnz != matrix.nnz:
        raise InvalidInput(f"`graph`: some edges join two nodes of one side, by the attribute {kind!r}.")
    return ArcMatrix(between, _names_of(names, rows), _names_of(names, columns), graph.notes)
