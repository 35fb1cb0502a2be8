"""Kernels on a low-rank matrix U diag(s) U', for f(x) = x'Ax + c'x on {-1,+1}^n."""

from __future__ import annotations

from flipwise.kernels.jit import kernel


@kernel
def lowrank_sweep(U, s, c, slack, start, count, inner, x):
    """Flip the bits start, ..., start + count - 1 in turn wherever f falls; `inner` = U'x is kept up to date.

    Returns (number of flips, change of f).
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
