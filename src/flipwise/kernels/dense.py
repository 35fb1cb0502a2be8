"""Kernels on a dense symmetric matrix, or its factors, for f(x) = x'Ax + c'x + d; notation as in `kernels.sparse`."""

from __future__ import annotations

import numpy as np

from flipwise.kernels.jit import helper, kernel


@helper
def _add_row(A, i, step, g):
    """Add `step` times row i to the gradient."""
    row = A[i]
    for j in range(g.size):
        g[j] += step * row[j]


@kernel(operations=lambda A, diag, slack, queue, waiting, count, *_: diag.size * (1 + count // 4))
def dense_flip_improving(A, diag, slack, queue, waiting, count, follow, x, g):
    """Flip the queued indices one after another wherever the exact change is still below `-slack`.

    With `follow`, coordinates that a flip has made improving join the queue. Returns (number of flips, change of f).
    """
    head = 0
    flips = 0
    change = 0.0
    capacity = queue.size
    while count > 0:
        i = queue[head]
        head += 1
        if head == capacity:
            head = 0
        count -= 1
        waiting[i] = False
        gain = 2.0 * x[i] * g[i] - 4.0 * diag[i]
        if gain <= slack[i]:
            continue
        _add_row(A, i, -4.0 * x[i], g)
        x[i] = -x[i]
        flips += 1
        change -= gain
        if not follow:
            continue
        for j in range(x.size):
            if not waiting[j] and 2.0 * x[j] * g[j] - 4.0 * diag[j] > slack[j]:
                tail = head + count
                if tail >= capacity:
                    tail -= capacity
                queue[tail] = j
                waiting[j] = True
                count += 1
    return flips, change


@kernel(operations=lambda A, diag, slack, pairs, *_: diag.size * (1 + len(pairs) // 4))
def dense_swap_improving(A, diag, slack, pairs, x, g):
    """Carry out the listed swaps (i: +1 to -1, j: -1 to +1) one after another wherever the exact change is below zero.

    Returns (number of swaps, change of f).
    """
    swaps = 0
    change = 0.0
    for b in range(pairs.shape[0]):
        i = pairs[b, 0]
        j = pairs[b, 1]
        if x[i] < 0.0 or x[j] > 0.0:
            continue
        gain = 2.0 * (g[i] - g[j]) - 4.0 * (diag[i] + diag[j]) + 8.0 * A[i, j]
        if gain <= slack[i] + slack[j]:
            continue
        _add_row(A, i, -4.0, g)
        _add_row(A, j, 4.0, g)
        x[i] = -1.0
        x[j] = 1.0
        swaps += 1
        change -= gain
    return swaps, change


@kernel(operations=lambda A, *_: len(A) + A.size // 8)
def dense_exchange(A, diag, slack, x, g):
    """Exchange the best +1 and the best -1 again and again, under one exact count, until that no longer improves.

    Every gain changes at every exchange, so the best are found by looking. Returns (number of swaps, change of f).
    """
    swaps = 0
    change = 0.0
    while True:
        i = -1
        j = -1
        up_gain = -np.inf
        down_gain = -np.inf
        for a in range(x.size):
            gain = 2.0 * x[a] * g[a] - 4.0 * diag[a]
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
        _add_row(A, i, -4.0, g)
        _add_row(A, j, 4.0, g)
        x[i] = -1.0
        x[j] = 1.0
        swaps += 1
        change -= total
    return swaps, change


@kernel(operations=lambda U, s, c, slack, start, count, *_: 2 * count * U.shape[1])
def lowrank_sweep(U, s, c, slack, start, count, inner, x):
    """Flip the bits start, ..., start + count - 1 in turn wherever f(x) = x'U diag(s) U'x + c'x falls.

    `inner` = U'x is kept up to date. Returns (number of flips, change of f).
    """
    flips = 0
    change = 0.0
    rank = U.shape[1]
    for i in range(start, start + count):
        slope = 0.0
        own = 0.0
        for a in range(rank):
            slope += U[i, a] * s[a] * inner[a]
            own += U[i, a] * s[a] * U[i, a]
        gain = 2.0 * x[i] * (2.0 * slope + c[i]) - 4.0 * own
        if gain <= slack[i]:
            continue
        for a in range(rank):
            inner[a] -= 2.0 * x[i] * U[i, a]
        x[i] = -x[i]
        flips += 1
        change -= gain
    return flips, change


@kernel
def dense_fields(J, h, s, f):
    """f = h + J s, for a dense J."""
    n = s.size
    for j in range(n):
        f[j] = h[j]
    for i in range(n):
        row = J[i]
        if s[i] > 0:
            for j in range(n):
                f[j] += row[j]
        else:
            for j in range(n):
                f[j] -= row[j]
