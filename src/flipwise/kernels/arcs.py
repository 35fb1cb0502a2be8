"""Kernels that turn arcs into the symmetric CSR structure of a simple graph.

Every arc i -> j is written into row i as the key 2j and into row j as the key 2i + 1, so that a sorted row shows its
neighbours in ascending order, each with the directions in which it was named. Merging then happens in place: besides
the arcs themselves nothing larger than the final arrays is ever held.
"""

from __future__ import annotations

import numpy as np

from flipwise.kernels.jit import helper, kernel, parallel_kernel, prange


@kernel
def count_arcs(sources, targets, counts):
    """Add to `counts[i + 1]` the entries that row i will hold; return the number of self loops, which get none."""
    loops = 0
    for p in range(sources.size):
        i = sources[p]
        j = targets[p]
        if i == j:
            loops += 1
        else:
            counts[i + 1] += 1
            counts[j + 1] += 1
    return loops


@kernel
def fill_arcs(sources, targets, cursor, keys):
    """Write each arc's two keys at the rows' cursors."""
    for p in range(sources.size):
        i = int(sources[p])
        j = int(targets[p])
        if i != j:
            keys[cursor[i]] = 2 * j
            cursor[i] += 1
            keys[cursor[j]] = 2 * i + 1
            cursor[j] += 1


@kernel
def fill_weighted_arcs(sources, targets, weights, cursor, keys, values):
    """Write each arc's two keys and its weight at the rows' cursors, both rows in the order of the input."""
    for p in range(sources.size):
        i = int(sources[p])
        j = int(targets[p])
        if i != j:
            keys[cursor[i]] = 2 * j
            values[cursor[i]] = weights[p]
            cursor[i] += 1
            keys[cursor[j]] = 2 * i + 1
            values[cursor[j]] = weights[p]
            cursor[j] += 1


@helper
def _is_ascending(row):
    ascending = True
    for p in range(1, row.size):
        ascending = ascending and row[p] >= row[p - 1]
    return ascending


@parallel_kernel
def sort_rows(indptr, keys):
    """Sort the keys of each row."""
    for i in prange(indptr.size - 1):
        row = keys[indptr[i] : indptr[i + 1]]
        if not _is_ascending(row):
            row.sort()


@helper
def _merge_sort(row, heavy):
    """Sort by neighbour, stably, by merging runs of 1, 2, 4, ... entries."""
    spare_row = np.empty_like(row)
    spare_heavy = np.empty_like(heavy)
    width = 1
    while width < row.size:
        for start in range(0, row.size, 2 * width):
            middle = min(start + width, row.size)
            end = min(start + 2 * width, row.size)
            a = start
            b = middle
            for out in range(start, end):
                if a < middle and (b >= end or row[a] >> 1 <= row[b] >> 1):
                    spare_row[out] = row[a]
                    spare_heavy[out] = heavy[a]
                    a += 1
                else:
                    spare_row[out] = row[b]
                    spare_heavy[out] = heavy[b]
                    b += 1
        row[:] = spare_row
        heavy[:] = spare_heavy
        width *= 2


@parallel_kernel
def sort_weighted_rows(indptr, keys, values):
    """Sort each row by neighbour; equal neighbours stay in input order, so both rows of an edge add alike."""
    for i in prange(indptr.size - 1):
        row = keys[indptr[i] : indptr[i + 1]]
        if not _is_ascending(row):
            _merge_sort(row, values[indptr[i] : indptr[i + 1]])


@kernel
def merge_rows(indptr, keys, tally):
    """Replace the keys by neighbours, each once, moving the rows together in place; return the number of entries.

    `tally` receives: the arcs that repeat an earlier one, and the pairs of opposite arcs.
    """
    filled = 0
    begin = 0
    for i in range(indptr.size - 1):
        end = indptr[i + 1]
        p = begin
        while p < end:
            j = keys[p] >> 1
            outward = 0
            inward = 0
            while p < end and keys[p] >> 1 == j:
                if keys[p] & 1:
                    inward += 1
                else:
                    outward += 1
                p += 1
            if outward > 1:
                tally[0] += outward - 1
            if i < j and outward > 0 and inward > 0:
                tally[1] += 1
            keys[filled] = j
            filled += 1
        begin = end
        indptr[i + 1] = filled
    return filled


@kernel
def merge_weighted_rows(indptr, keys, values, add, tally):
    """As `merge_rows`, with the weight of an edge the sum (`add`) or the maximum over its arcs; weight 0 is no edge.

    `tally` also receives: the pairs of opposite arcs of different weight, and the edges dropped for weight 0.
    """
    filled = 0
    begin = 0
    for i in range(indptr.size - 1):
        end = indptr[i + 1]
        p = begin
        while p < end:
            j = keys[p] >> 1
            first = values[p]
            weight = values[p]
            outward = 0
            inward = 0
            unequal = False
            start = p
            while p < end and keys[p] >> 1 == j:
                if keys[p] & 1:
                    inward += 1
                else:
                    outward += 1
                if p > start:
                    if values[p] != first:
                        unequal = True
                    if add:
                        weight += values[p]
                    elif values[p] > weight:
                        weight = values[p]
                p += 1
            if outward > 1:
                tally[0] += outward - 1
            if i < j:
                if outward > 0 and inward > 0:
                    tally[1] += 1
                    if unequal:
                        tally[2] += 1
                if weight == 0.0:
                    tally[3] += 1
            if weight != 0.0:
                keys[filled] = j
                values[filled] = weight
                filled += 1
        begin = end
        indptr[i + 1] = filled
    return filled


@kernel
def rows_are_symmetric(indptr, indices, cursor):
    """Whether every arc has its reverse, for ascending rows without repeats. `cursor` starts as `indptr[:-1]`."""
    for i in range(cursor.size):
        for p in range(indptr[i], indptr[i + 1]):
            j = indices[p]
            q = cursor[j]
            if q >= indptr[j + 1] or indices[q] != i:
                return False
            cursor[j] = q + 1
    return True


@kernel
def drop_loops(indptr, indices):
    """Remove the diagonal, moving the rows together in place; return the number of entries left."""
    filled = 0
    begin = 0
    for i in range(indptr.size - 1):
        end = indptr[i + 1]
        for p in range(begin, end):
            if indices[p] != i:
                indices[filled] = indices[p]
                filled += 1
        begin = end
        indptr[i + 1] = filled
    return filled


@parallel_kernel
def rows_are_simple(indptr, indices, good):
    """Write whether each row is ascending, in range and without its own index into `good`."""
    n = indptr.size - 1
    for i in prange(n):
        fine = True
        previous = -1
        for p in range(indptr[i], indptr[i + 1]):
            j = indices[p]
            if j <= previous or j >= n or j == i:
                fine = False
            previous = j
        good[i] = fine


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
