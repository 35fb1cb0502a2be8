"""CSR structures: a directed one made into a graph, and one cut into blocks of arcs."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from flipwise.foundation.arrays import Floats, Ints
from flipwise.graphs.graph import (
    ArcBlock,
    ArcCounts,
    Graph,
    GraphBuilder,
    Symmetrise,
    check_symmetrise,
    refuse_repairs,
    repairs_note,
    shrunk,
)
from flipwise.kernels import arcs as kernels

BLOCK_ARCS = 1 << 20
"""Arcs that are expanded at a time."""


def graph_from_csr(
    indptr: npt.NDArray[np.int64],
    indices: Ints,
    weights: Floats | None = None,
    *,
    symmetrise: Symmetrise = "max",
    what: str = "the arcs",
) -> Graph:
    """The graph of a directed CSR structure with ascending rows without repeats.

    The arrays belong to the new graph: they are changed in place, or become its own when they are symmetric.
    """
    check_symmetrise(symmetrise)
    if weights is None and symmetrise != "sum":
        arcs = int(indptr[-1])
        if kernels.first_one_way_arc(indptr, indices, np.ones(0), indptr[:-1].copy()) < 0:
            left = kernels.drop_loops(indptr, indices)
            counts = ArcCounts(arcs, loops=arcs - left, mutual=left // 2)
            if symmetrise == "error":
                refuse_repairs(counts, what)
            return Graph(indptr, shrunk(indices, left), notes=(repairs_note(counts),))
    builder = GraphBuilder(indptr.size - 1, weighted=weights is not None, symmetrise=symmetrise, what=what)
    for block in csr_blocks(indptr, indices, weights):
        builder.count(block)
    for block in csr_blocks(indptr, indices, weights):
        builder.store(block)
    return builder.graph()


def csr_blocks(indptr: npt.NDArray[np.int64], indices: Ints, weights: Floats | None) -> Iterator[ArcBlock]:
    """The arcs of a CSR structure in blocks of whole rows, made as they are needed."""
    n = indptr.size - 1
    row = 0
    while row < n:
        last = int(np.searchsorted(indptr, indptr[row] + BLOCK_ARCS, side="right")) - 1
        last = min(max(last, row + 1), n)
        begin, end = int(indptr[row]), int(indptr[last])
        rows = np.arange(row, last, dtype=indices.dtype)
        sources = np.repeat(rows, np.diff(indptr[row : last + 1]))
        yield ArcBlock(sources, indices[begin:end], None if weights is None else weights[begin:end])
        row = last
