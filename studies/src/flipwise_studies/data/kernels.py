"""Kernels of generated and projected graphs.

The random numbers come in as arrays: each R-MAT arc is a pure function of its own ones.
"""

from __future__ import annotations

from flipwise.kernels.blocks import block_kernel
from flipwise.kernels.jit import kernel


@kernel
def project_columns(indptr, columns, column_starts, column_rows, seen, graph_starts, indices):
    """Join the columns of an incidence that share a row: first call counts into `graph_starts`, second one fills.

    `indices` empty: write the rows' starts. Otherwise `graph_starts` is known and the sorted neighbours are written.
    `seen` starts at -1 everywhere.
    """
    counting = indices.size == 0
    for i in range(column_starts.size - 1):
        filled = graph_starts[i]
        seen[i] = i
        for q in range(column_starts[i], column_starts[i + 1]):
            row = column_rows[q]
            for p in range(indptr[row], indptr[row + 1]):
                j = columns[p]
                if seen[j] != i:
                    seen[j] = i
                    if not counting:
                        indices[filled] = j
                    filled += 1
        if counting:
            graph_starts[i + 1] = filled
        else:
            indices[graph_starts[i] : filled].sort()


@block_kernel
def rmat_arcs(start, stop, draws, n, first, second, third, sources, targets):
    """Drop each arc into the adjacency matrix by halving its rows and columns until one cell is left.

    `draws[p, level]` (16 bits) chooses the quadrant: below `first` the upper left, below `second` the upper right,
    below `third` the lower left. An odd range gives its middle to the upper or left half.
    """
    for p in range(start, stop):
        row = 0
        rows = n
        column = 0
        columns = n
        level = 0
        while rows > 1 or columns > 1:
            draw = draws[p, level]
            lower = draw >= second
            right = draw >= third or (draw >= first and not lower)
            half = (rows + 1) >> 1
            if rows > 1:
                if lower:
                    row += half
                    rows -= half
                else:
                    rows = half
            half = (columns + 1) >> 1
            if columns > 1:
                if right:
                    column += half
                    columns -= half
                else:
                    columns = half
            level += 1
        sources[p] = row
        targets[p] = column
