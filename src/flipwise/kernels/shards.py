"""Kernels on one shard of a graph: the rows `first, first + 1, ...` of its CSR structure, with columns of all nodes.

`weights` holds one number for each arc, or a single 1 that stands for all; with `positive`, negative ones count as 0.
"""

from __future__ import annotations

from flipwise.kernels.blocks import block_kernel
from flipwise.kernels.jit import helper, kernel


@helper
def _arc_weight(weights, p, positive):
    """The weight of arc p, or its positive part."""
    weight = weights[0] if weights.size == 1 else weights[p]
    return weights[0] * 0 if positive and weight < 0 else weight


@block_kernel
def row_degrees(start, stop, indptr, indices, weights, mask, wanted, positive, degrees):
    """Write the degree of every wanted row into the set of `mask`."""
    for i in range(start, stop):
        total = weights[0] * 0
        if wanted[i]:
            for p in range(indptr[i], indptr[i + 1]):
                if mask[indices[p]]:
                    total += _arc_weight(weights, p, positive)
        degrees[i] = total


@kernel
def toggle_rows(indptr, indices, weights, rows, signs, first, positive, degrees):
    """Add to the degrees of the nodes from `first` on what some rows, of this or another shard, give them."""
    last = first + degrees.size
    for t in range(rows.size):
        low = indptr[rows[t]]
        end = indptr[rows[t] + 1]
        high = end
        while low < high:  # the first column that is not before `first`
            middle = (low + high) // 2
            if indices[middle] < first:
                low = middle + 1
            else:
                high = middle
        while low < end and indices[low] < last:
            degrees[indices[low] - first] += signs[t] * _arc_weight(weights, low, positive)
            low += 1


@block_kernel
def row_loads(start, stop, indptr, indices, weights, mask, loads, first, taken):
    """Write what every row of the set carries when each edge goes to its less loaded end, in halves between equals."""
    for i in range(start, stop):
        total = 0.0
        if mask[first + i]:
            mine = loads[first + i]
            for p in range(indptr[i], indptr[i + 1]):
                j = indices[p]
                if mask[j] and mine <= loads[j]:
                    total += _arc_weight(weights, p, True) * (1.0 if mine < loads[j] else 0.5)
        taken[i] = total
