"""Some nodes of a graph: the graph they make, a table of them, and marks on them for programs that draw graphs."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from flipwise.foundation.arrays import Ints
from flipwise.foundation.errors import InvalidInput
from flipwise.graphs.graph import Graph


def core_numbers(graph: Graph) -> npt.NDArray[np.int64]:
    """The largest k for which each node is in the k-core, by repeated peeling (Matula and Beck 1983)."""
    from flipwise.kernels.peeling import peeling_order

    degrees = graph.degrees.copy()
    order, place, cores = np.empty(graph.n, np.int64), np.empty(graph.n, np.int64), np.empty(graph.n, np.int64)
    start = np.zeros(int(degrees.max(initial=0)) + 2, np.int64)
    peeling_order(graph.indptr, graph.indices, degrees, start, order, place, cores)
    return cores


def induced_subgraph(graph: Graph, nodes: Ints) -> Graph:
    """The graph of some nodes, given by their numbers in ascending order, and of all edges among them, named as before.

    Examples
    --------
    >>> from flipwise.graphs.convert import as_graph
    >>> graph = induced_subgraph(as_graph((4, [[0, 1], [1, 2], [2, 3]])), [1, 2])
    >>> graph, graph.names
    (Graph(2 nodes, 1 edges, unweighted), [1, 2])
    """
    chosen = _checked_numbers(graph, nodes)
    place = np.full(graph.n, -1, dtype=np.int64)
    place[chosen] = np.arange(chosen.size)
    lengths = graph.degrees[chosen]
    rows = np.repeat(np.arange(chosen.size), lengths)
    starts = np.concatenate([[0], np.cumsum(lengths)[:-1]]).astype(np.int64)
    arcs = np.arange(rows.size) - np.repeat(starts - graph.indptr[chosen], lengths)
    inside = place[graph.indices[arcs]] >= 0
    kept = arcs[inside]
    indptr = np.concatenate([[0], np.cumsum(np.bincount(rows[inside], minlength=chosen.size))]).astype(np.int64)
    indices = place[graph.indices[kept]].astype(graph.indices.dtype)
    weights = None if graph.weights is None else graph.weights[kept]
    return Graph(indptr, indices, weights, _names_of(graph, chosen), graph.notes)


def node_table(graph: Graph, nodes: Ints) -> dict[str, list[Any]]:
    """A row for each of some nodes: its name, its degree and weight among them, its core number in the whole graph.

    Examples
    --------
    >>> from flipwise.graphs.convert import as_graph
    >>> node_table(as_graph((4, [[0, 1], [1, 2], [2, 0], [2, 3]])), [1, 2])
    {'node': [1, 2], 'degree': [1, 1], 'weight': [1.0, 1.0], 'core': [2, 2]}
    """
    chosen = _checked_numbers(graph, nodes)
    inner = induced_subgraph(graph, chosen)
    return {
        "node": _names_of(graph, chosen),
        "degree": inner.degrees.tolist(),
        "weight": np.asarray(inner.to_scipy().sum(axis=1)).ravel().tolist(),
        "core": core_numbers(graph)[chosen].tolist(),
    }


def node_marks(graph: Graph, nodes: Ints) -> dict[str, npt.NDArray[Any]]:
    """Attributes for `write_graph`: whether each node of the graph is among some nodes, and its core number.

    Examples
    --------
    >>> from flipwise.graphs.convert import as_graph
    >>> node_marks(as_graph((3, [[0, 1]])), [0, 1])
    {'inside': array([ True,  True, False]), 'core': array([1, 1, 0])}
    """
    inside = np.zeros(graph.n, dtype=np.bool_)
    inside[_checked_numbers(graph, nodes)] = True
    return {"inside": inside, "core": core_numbers(graph)}


def _checked_numbers(graph: Graph, nodes: Ints) -> npt.NDArray[np.int64]:
    """Numbers of nodes, ascending and in range."""
    chosen = np.asarray(nodes)
    if chosen.ndim != 1 or (chosen.size and chosen.dtype.kind not in "iu"):
        raise InvalidInput(f"`nodes` must be the numbers of nodes, got {chosen.dtype} of shape {chosen.shape}.")
    if chosen.size and (chosen[0] < 0 or chosen[-1] >= graph.n or (np.diff(chosen.astype(np.int64)) <= 0).any()):
        raise InvalidInput(f"`nodes` must ascend from 0 on, below the {graph.n:,} nodes of the graph.")
    return chosen.astype(np.int64)


def _names_of(graph: Graph, chosen: npt.NDArray[np.int64]) -> list[Any]:
    """The names of some nodes, their numbers where they have none."""
    return chosen.tolist() if graph.names is None else [graph.names[i] for i in chosen.tolist()]
