"""The one graph type: simple, undirected, as a symmetric CSR structure without self loops."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from flipwise.arrays import Floats, Ints


@dataclass(frozen=True, eq=False)
class Graph:
    """A simple undirected graph; every edge stands in both rows.

    Attributes
    ----------
    indptr, indices
        The CSR structure: the neighbours of i are `indices[indptr[i]:indptr[i + 1]]`, ascending. `indptr` is int64,
        `indices` int32 (int64 from 2^31 nodes on).
    weights
        The weight of each arc, or None when all are 1.
    names
        The nodes' own labels, or None when they are 0, 1, 2, ...
    notes
        What was done to make the input simple and undirected, one sentence each.

    Examples
    --------
    >>> from flipwise.graphs.convert import as_graph
    >>> graph = as_graph((4, [[0, 1], [1, 2], [2, 0]]))
    >>> graph, graph.degrees.tolist()
    (Graph(4 nodes, 3 edges, unweighted), [2, 2, 2, 0])
    """

    indptr: npt.NDArray[np.int64]
    indices: Ints
    weights: Floats | None = None
    names: Sequence[Any] | None = None
    notes: tuple[str, ...] = ()

    @property
    def n(self) -> int:
        """Number of nodes."""
        return self.indptr.size - 1

    @property
    def n_arcs(self) -> int:
        """Number of stored arcs, twice the number of edges."""
        return int(self.indptr[-1])

    @property
    def n_edges(self) -> int:
        """Number of edges."""
        return self.n_arcs // 2

    @property
    def degrees(self) -> npt.NDArray[np.int64]:
        """The number of neighbours of each node."""
        return np.diff(self.indptr)

    def to_scipy(self) -> sp.csr_array:
        """The symmetric adjacency matrix W."""
        weights = np.ones(self.n_arcs) if self.weights is None else self.weights
        return sp.csr_array((weights, self.indices, self.indptr), shape=(self.n, self.n))

    def __repr__(self) -> str:
        kind = "unweighted" if self.weights is None else "weighted"
        return f"Graph({self.n:,} nodes, {self.n_edges:,} edges, {kind})"
