"""Kernels of the loss of codes B whose rows b_i in {-1,+1}^r, of multiplicity m_i, are independent.

f(B) = sum_i m_i (b_i'Q b_i - 2 p_i'b_i), with `Q` (r x r, = WW'), `P` the distinct p, `which[i]` the p of row i, `g`
the gradient 2 m_i (Q b_i - p_i). Flipping b_ij alone changes f by `4 m_i Q_jj - 2 b_ij g_ij`.
"""

from __future__ import annotations

import numpy as np

from flipwise.kernels.blocks import block_kernel
from flipwise.kernels.jit import helper, kernel


@block_kernel(
    operations=lambda Q, weights, slack, chosen, follow, x, *_: (
        x.size + (x.size if follow else int(chosen.sum())) * len(Q) // 2
    )
)
def rows_flip_improving(start, stop, Q, weights, slack, chosen, follow, x, g, flips, change):
    """In every row, flip the `chosen` entries in their order wherever the exact change is below `-slack`.

    With `follow`, go round the row until no single flip improves. Writes flips and change of each row.
    """
    for i in range(start, stop):
        r = x.shape[1]
        m = weights[i]
        count = 0
        total = 0.0
        again = False
        for j in range(r):
            again = again or chosen[i, j]
        first = True
        while again:
            again = False
            for j in range(r):
                if first and not follow and not chosen[i, j]:
                    continue
                gain = 2.0 * x[i, j] * g[i, j] - 4.0 * m * Q[j, j]
                if gain > m * slack:
                    step = -4.0 * m * x[i, j]
                    for k in range(r):
                        g[i, k] += step * Q[j, k]
                    x[i, j] = -x[i, j]
                    count += 1
                    total -= gain
                    again = follow
            first = False
        flips[i] = count
        change[i] = total


INTERPRETED_WORK = 200_000
"""Products that may be made without compiling: rows x bits x bits."""


def compile_for(n: int, r: int) -> None:
    """Move the kernels to the compiled tier when the rows are many or long."""
    if n * r * r > INTERPRETED_WORK:
        for each in (rows_flip_improving, dpcd_rows, dcc_sweep_rows, follow_signs):
            each.compile()


@helper
def _principal_update(Q, b, g, alpha1, alpha2, slack):
    """One update of Algorithm 1 in a row: Eq. (6), S_plus and S_minus, and of these the flips that improve exactly.

    Returns the number of flips, -1 where no flip improves, so that lowering alpha would be in vain.
    """
    r = b.size
    above = 0.0
    below = 0.0
    n1 = 0
    n2 = 0
    best = 0.0
    for j in range(r):
        d = g[j] - 2.0 * Q[j, j] * b[j]
        best = max(best, b[j] * d)
        above += max(d, 0.0)  # no branches: which entries are positive cannot be foreseen
        below += max(-d, 0.0)
        n1 += d > 0.0
        n2 += d < 0.0
    if 2.0 * best <= slack:
        return -1
    L1 = above / n1 if n1 > 0 else 0.0
    L2 = below / n2 if n2 > 0 else 0.0
    flips = 0
    for j in range(r):
        d = g[j] - 2.0 * Q[j, j] * b[j]
        up = b[j] > 0
        if (up and d > alpha1 * L1 and 2.0 * d > slack) or (not up and d < -alpha2 * L2 and -2.0 * d > slack):
            step = -4.0 * b[j]
            for k in range(r):
                g[k] += step * Q[j, k]
            b[j] = -b[j]
            flips += 1
    return flips


@helper
def _neighbourhood_move(Q, b, g, candidates, slack):
    """Move to the best of the candidate sets of flips, if it improves; returns the number of flips."""
    best = -slack
    at = -1
    for c in range(candidates.shape[0]):
        change = 0.0
        for s in range(candidates.shape[1]):
            j = candidates[c, s]
            others = 0.0
            for t in range(s):
                others += b[candidates[c, t]] * Q[j, candidates[c, t]]
            change += 4.0 * Q[j, j] + b[j] * (8.0 * others - 2.0 * g[j])
        if change < best:
            best = change
            at = c
    if at < 0:
        return 0
    for s in range(candidates.shape[1]):
        j = candidates[at, s]
        step = -4.0 * b[j]
        for k in range(b.size):
            g[k] += step * Q[j, k]
        b[j] = -b[j]
    return candidates.shape[1]


@block_kernel(
    operations=lambda W, Q, P, which, alpha1, alpha2, updates, every, candidates, slack, B, *_: (
        2 * B.size * (W.shape[1] + len(Q))
    )
)
def dpcd_rows(start, stop, W, Q, P, which, alpha1, alpha2, updates, every, candidates, slack, B, flips):
    """Algorithm 1 in each row of the int8 matrix `B`: at most `updates` principal coordinate updates.

    A second form of `solvers/dpcd/algorithm.py` for many short rows, held to its parts by tests. The gauge, the
    thresholds of Eq. (6), the rule that only improving flips are made and the levels of alpha are the same. It departs
    from it where a row is too short for the difference to matter:

    - an entry is judged by the gradient when its turn comes, after the flips before it in the same update, not by the
      gradient at the beginning of the update; where the bits do not interact both make the same flips;
    - alpha is lowered after an update without flips, not already after one with few;
    - at alpha = 0 an update goes once through the row, not until nothing improves; both end at the same point;
    - a neighbourhood search looks at the given `candidates` (sets of m columns), which all rows share. It is made after
      every `every` updates and at the end, which is where no flip improves.
    """
    for i in range(start, stop):
        r = B.shape[1]
        b = np.empty(r)
        g = np.empty(r)
        u = np.zeros(W.shape[1])
        for j in range(r):
            b[j] = B[i, j]
            for c in range(W.shape[1]):
                u[c] += W[j, c] * b[j]
        for j in range(r):
            total = -P[which[i], j]
            for c in range(W.shape[1]):
                total += W[j, c] * u[c]
            g[j] = 2.0 * total
        a1 = alpha1
        a2 = alpha2
        count = 0
        k = 0
        while k < updates:
            k += 1
            moved = _principal_update(Q, b, g, a1, a2, slack)
            rest = moved < 0
            moved = max(moved, 0)
            if moved == 0:
                a1 = a1 / 4.0 if a1 > 0.4 else 0.0
                a2 = a2 / 4.0 if a2 > 0.4 else 0.0
            if k % every == 0 and candidates.shape[0] > 0:
                moved += _neighbourhood_move(Q, b, g, candidates, slack)
            count += moved
            if moved == 0 and rest:
                moved = _neighbourhood_move(Q, b, g, candidates, slack)
                count += moved
                if moved == 0:
                    break
        if count > 0:
            for j in range(r):
                B[i, j] = 1 if b[j] > 0.0 else -1
        flips[i] = count


@block_kernel(operations=lambda Q, P, which, B, *_: B.size * len(Q))
def dcc_sweep_rows(start, stop, Q, P, which, B, changed):
    """One sweep of discrete cyclic coordinate descent: bit after bit, b_k = sgn(p_k - sum_{j != k} Q_kj b_j).

    The sum is made anew for every bit, as the authors do (a matrix-vector product a bit); a zero keeps the bit.
    """
    for i in range(start, stop):
        count = 0
        for k in range(B.shape[1]):
            total = P[which[i], k] + Q[k, k] * B[i, k]
            for j in range(B.shape[1]):
                total -= Q[k, j] * B[i, j]
            sign = B[i, k]
            if total > 0.0:
                sign = 1
            elif total < 0.0:
                sign = -1
            if sign != B[i, k]:
                B[i, k] = sign
                count += 1
        changed[i] = count


@kernel(operations=lambda T, V, *_: 2 * T.size + T.size * V.shape[1] // 8)
def follow_signs(T, V, B, cross):
    """Flip the entries of `B` that differ from the signs of `T` and keep `cross` = B'V; returns how many.

    A flip costs one row of V, so `cross` is paid for by what moves, not by all of B.
    """
    moved = 0
    for i in range(B.shape[0]):
        for j in range(B.shape[1]):
            step = (1 if T[i, j] >= 0.0 else -1) - B[i, j]
            if step != 0:
                B[i, j] += step
                moved += 1
                for k in range(V.shape[1]):
                    cross[j, k] += step * V[i, k]
    return moved
