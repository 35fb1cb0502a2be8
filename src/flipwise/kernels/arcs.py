"""Kernels that turn arcs into the symmetric CSR structure of a simple graph.

Every arc i -> j is written into row i as the key 2j and into row j as the key 2i + 1, so that a sorted row shows its
neighbours in ascending order, each with the directions in which it was named. Merging then happens in place: besides
the arcs themselves nothing larger than the final arrays is ever held.
"""

from __future__ import annotations

import numpy as np

from flipwise.kernels.blocks import block_kernel
from flipwise.kernels.jit import NUMPY, helper, kernel


def _count_arcs_vectorised(sources, targets, counts):
    apart = sources != targets
    for ends in (sources[apart], targets[apart]):
        counts[1:] += np.bincount(ends, minlength=counts.size - 1)
    return sources.size - int(np.count_nonzero(apart))


@kernel(vectorised=_count_arcs_vectorised, speed=NUMPY)
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


def _fill_arcs_vectorised(sources, targets, indptr, cursor, keys):
    apart = sources != targets
    ends = np.stack([sources[apart], targets[apart]], axis=1).astype(np.int64)
    rows, others = ends.ravel(), (2 * ends[:, ::-1] + np.array([0, 1])).ravel()
    order = np.argsort(rows, kind="stable")
    more = np.bincount(rows, minlength=cursor.size)
    if (cursor + more > indptr[1:]).any():
        return False
    keys[np.repeat(cursor + more - np.cumsum(more), more) + np.arange(rows.size)] = others[order]
    cursor += more
    return True


@kernel(vectorised=_fill_arcs_vectorised, speed=NUMPY)
def fill_arcs(sources, targets, indptr, cursor, keys):
    """Write each arc's two keys at the rows' cursors; False when a row is full, that is, when the arcs have changed."""
    for p in range(sources.size):
        i = int(sources[p])
        j = int(targets[p])
        if i != j:
            if cursor[i] >= indptr[i + 1] or cursor[j] >= indptr[j + 1]:
                return False
            keys[cursor[i]] = 2 * j
            cursor[i] += 1
            keys[cursor[j]] = 2 * i + 1
            cursor[j] += 1
    return True


@kernel
def fill_weighted_arcs(sources, targets, weights, indptr, cursor, keys, values):
    """As `fill_arcs`, with the weights, both rows in the order of the input."""
    for p in range(sources.size):
        i = int(sources[p])
        j = int(targets[p])
        if i != j:
            if cursor[i] >= indptr[i + 1] or cursor[j] >= indptr[j + 1]:
                return False
            keys[cursor[i]] = 2 * j
            values[cursor[i]] = weights[p]
            cursor[i] += 1
            keys[cursor[j]] = 2 * i + 1
            values[cursor[j]] = weights[p]
            cursor[j] += 1
    return True


@helper
def _insertion_sort(keys, values, begin, end):
    """Sort a short row, stably, with its weights."""
    for p in range(begin + 1, end):
        key = keys[p]
        q = p
        while q > begin and keys[q - 1] >> 1 > key >> 1:
            keys[q] = keys[q - 1]
            q -= 1
        keys[q] = key
        if values.size > 0 and q < p:
            weight = values[p]
            for r in range(p, q, -1):
                values[r] = values[r - 1]
            values[q] = weight


@helper
def _end_of_run(keys, begin, end):
    """Where the ascending run that begins at `begin` ends."""
    p = begin + 1
    while p < end and keys[p - 1] >> 1 <= keys[p] >> 1:
        p += 1
    return p


@helper
def _merge_sort(keys, values, begin, end, spare_keys, spare_values):
    """Merge neighbouring ascending runs until there is one: a row filled from sorted arcs has three."""
    carry = values.size > 0
    left = begin
    while True:
        middle = _end_of_run(keys, left, end)
        if middle >= end:
            if left == begin:
                return
            left = begin  # the next pass
            continue
        last = _end_of_run(keys, middle, end)
        for p in range(left, middle):
            spare_keys[p - left] = keys[p]
            if carry:
                spare_values[p - left] = values[p]
        out = left
        a = 0
        size = middle - left
        b = middle
        while a < size:
            if b < last and keys[b] >> 1 < spare_keys[a] >> 1:
                keys[out] = keys[b]
                if carry:
                    values[out] = values[b]
                b += 1
            else:
                keys[out] = spare_keys[a]
                if carry:
                    values[out] = spare_values[a]
                a += 1
            out += 1
        left = last if last < end else begin


def _sort_rows_vectorised(indptr, keys, values):
    order = np.lexsort((keys >> 1, np.repeat(np.arange(indptr.size - 1), np.diff(indptr))))
    keys[:] = keys[order]
    if values.size > 0:
        values[:] = values[order]


@block_kernel(rows=lambda indptr, *_: indptr.size - 1, vectorised=_sort_rows_vectorised, speed=NUMPY)
def sort_rows(start, stop, indptr, keys, values):
    """Sort each row by neighbour, with its weights if there are any.

    Equal neighbours stay in the order of the input, so that both rows of an edge add its arcs alike.
    """
    longest = 0
    for i in range(start, stop):
        longest = max(longest, indptr[i + 1] - indptr[i])
    spare_keys = np.empty(longest, keys.dtype)
    spare_values = np.empty(longest if values.size > 0 else 0, values.dtype)
    for i in range(start, stop):
        if indptr[i + 1] - indptr[i] <= 16:
            _insertion_sort(keys, values, indptr[i], indptr[i + 1])
        else:
            _merge_sort(keys, values, indptr[i], indptr[i + 1], spare_keys, spare_values)


def _merge_rows_vectorised(indptr, keys, tally):
    rows, columns, inward = np.repeat(np.arange(indptr.size - 1), np.diff(indptr)), keys >> 1, (keys & 1).astype(bool)
    first = np.ones(keys.size, bool)
    first[1:] = (rows[1:] != rows[:-1]) | (columns[1:] != columns[:-1])
    begins = np.flatnonzero(first)
    if begins.size == 0:
        return 0
    arcs_in = np.add.reduceat(inward.astype(np.int64), begins)
    arcs_out = np.diff(begins, append=keys.size) - arcs_in
    tally[0] += np.maximum(arcs_out - 1, 0).sum()
    tally[1] += np.count_nonzero((rows[begins] < columns[begins]) & (arcs_out > 0) & (arcs_in > 0))
    keys[: begins.size] = columns[begins]
    indptr[1:] = np.cumsum(np.bincount(rows[begins], minlength=indptr.size - 1))
    return begins.size


@kernel(vectorised=_merge_rows_vectorised, speed=NUMPY)
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
def first_one_way_arc(indptr, indices, weights, cursor):
    """The first node with an arc whose reverse is missing or has another weight (unless `weights` is empty), or -1.

    For ascending rows without repeats. `cursor` starts as `indptr[:-1]`.
    """
    for i in range(cursor.size):
        for p in range(indptr[i], indptr[i + 1]):
            j = indices[p]
            q = cursor[j]
            if q >= indptr[j + 1] or indices[q] != i or (weights.size > 0 and weights[q] != weights[p]):
                return i
            cursor[j] = q + 1
    return -1


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


@block_kernel
def rows_are_simple(start, stop, indptr, indices, good):
    """Write whether each row is ascending, in range and without its own index into `good`."""
    n = indptr.size - 1
    for i in range(start, stop):
        fine = True
        previous = -1
        for p in range(indptr[i], indptr[i + 1]):
            j = indices[p]
            if j <= previous or j >= n or j == i:
                fine = False
            previous = j
        good[i] = fine
