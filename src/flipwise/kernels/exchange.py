"""Descent by exchanges of a +1 with a -1 under one exact count; notation as in `kernels.sparse`.

`gain_i` is how much f falls when i alone flips. Exchanging i and j lowers f by `gain_i + gain_j + 8 A_ij`. The best
candidates of both sides wait in two heaps, ordered by gain; an entry whose gain has changed since is stale and dropped.
"""

from __future__ import annotations

import numpy as np

from flipwise.kernels.jit import helper, kernel


@helper
def _gain(diag, i, x, g):
    return 2.0 * x[i] * g[i] - 4.0 * diag[i]


@helper
def _push(keys, members, size, key, member):
    """Add to a max-heap; returns the new size."""
    at = size
    while at > 0:
        up = (at - 1) // 2
        if keys[up] >= key:
            break
        keys[at] = keys[up]
        members[at] = members[up]
        at = up
    keys[at] = key
    members[at] = member
    return size + 1


@helper
def _pop(keys, members, size):
    """Remove the top of a max-heap; returns the new size. The caller reads the top before."""
    size -= 1
    key = keys[size]
    member = members[size]
    at = 0
    while True:
        down = 2 * at + 1
        if down >= size:
            break
        if down + 1 < size and keys[down + 1] > keys[down]:
            down += 1
        if key >= keys[down]:
            break
        keys[at] = keys[down]
        members[at] = members[down]
        at = down
    keys[at] = key
    members[at] = member
    return size


@helper
def _clean(keys, members, size, diag, side, x, g):
    """Drop stale entries from the top: those that changed sides or whose gain is another now."""
    while size > 0:
        i = members[0]
        if x[i] * side > 0.0 and _gain(diag, i, x, g) == keys[0]:
            break
        size = _pop(keys, members, size)
    return size


@helper
def _entry(indptr, indices, data, i, j):
    """A_ij, by scanning the shorter of the two rows."""
    if indptr[i + 1] - indptr[i] > indptr[j + 1] - indptr[j]:
        i, j = j, i
    total = 0.0
    for p in range(indptr[i], indptr[i + 1]):
        if indices[p] == j:
            total += data[p]
    return total


@helper
def _flip(indptr, indices, data, i, x, g):
    step = -4.0 * x[i]
    for p in range(indptr[i], indptr[i + 1]):
        g[indices[p]] += step * data[p]
    x[i] = -x[i]


@kernel
def csr_exchange(indptr, indices, data, diag, slack, up_keys, up, down_keys, down, x, g):
    """Exchange the best pair again and again until the best of both sides no longer improves.

    `up_keys, up` and `down_keys, down` are room for the two heaps. The kernel also ends when a heap is full; it may
    then be called again. Pairs that improve only because they are joined are left to the search over all pairs.
    Returns (number of swaps, change of f).
    """
    n = x.size
    capacity = up.size
    best_up = -np.inf
    best_down = -np.inf
    for i in range(n):
        gain = _gain(diag, i, x, g)
        if x[i] > 0.0:
            best_up = max(best_up, gain)
        else:
            best_down = max(best_down, gain)
    ups = 0
    downs = 0
    for i in range(n):
        gain = _gain(diag, i, x, g)
        if x[i] > 0.0:
            if gain + best_down > 0.0:
                ups = _push(up_keys, up, ups, gain, i)
        elif gain + best_up > 0.0:
            downs = _push(down_keys, down, downs, gain, i)
    swaps = 0
    change = 0.0
    while True:
        ups = _clean(up_keys, up, ups, diag, 1.0, x, g)
        downs = _clean(down_keys, down, downs, diag, -1.0, x, g)
        if ups == 0 or downs == 0:
            break
        i = up[0]
        j = down[0]
        total = up_keys[0] + down_keys[0]
        if total <= slack[i] + slack[j]:
            break
        gain = total + 8.0 * _entry(indptr, indices, data, i, j)
        if gain <= slack[i] + slack[j]:
            # joined in a way that spoils the exchange: set aside the end that has less to offer
            if up_keys[0] < down_keys[0]:
                ups = _pop(up_keys, up, ups)
            else:
                downs = _pop(down_keys, down, downs)
            continue
        room = indptr[i + 1] - indptr[i] + indptr[j + 1] - indptr[j] + 2
        if ups + room > capacity or downs + room > capacity:
            break
        best_up = up_keys[0]
        best_down = down_keys[0]
        _flip(indptr, indices, data, i, x, g)
        _flip(indptr, indices, data, j, x, g)
        swaps += 1
        change -= gain
        for end in range(2):
            a = i if end == 0 else j
            for p in range(indptr[a], indptr[a + 1]):
                b = indices[p]
                fresh = _gain(diag, b, x, g)
                if x[b] > 0.0:
                    if fresh + best_down > 0.0:
                        ups = _push(up_keys, up, ups, fresh, b)
                elif fresh + best_up > 0.0:
                    downs = _push(down_keys, down, downs, fresh, b)
    return swaps, change


@kernel
def dense_exchange(A, diag, slack, x, g):
    """The same on a dense matrix, where every gain changes at every exchange and the best are found by looking.

    Returns (number of swaps, change of f).
    """
    swaps = 0
    change = 0.0
    while True:
        i = -1
        j = -1
        up_gain = -np.inf
        down_gain = -np.inf
        for a in range(x.size):
            gain = _gain(diag, a, x, g)
            if x[a] > 0.0:
                if gain > up_gain:
                    up_gain = gain
                    i = a
            elif gain > down_gain:
                down_gain = gain
                j = a
        if i < 0 or j < 0:
            break
        total = up_gain + down_gain + 8.0 * A[i, j]
        if total <= slack[i] + slack[j]:
            break
        g += -4.0 * A[i]
        g += 4.0 * A[j]
        x[i] = -1.0
        x[j] = 1.0
        swaps += 1
        change -= total
    return swaps, change
