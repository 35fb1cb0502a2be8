"""Kernel of the pair bound: a primal-dual method for its linear programme (see `certify.pairs` for the programme).

Pairs are `first, second, weight`; row i of `indptr, pair_of, is_first` lists the pairs at node i and which end of the
pair i is. All sums run in a fixed order, each owned by one iteration, so any number of threads gives the same bits.
"""

from __future__ import annotations

from flipwise.kernels.jit import helper, parallel_kernel, prange


@helper
def _level(x, step, gain, outer, outer_step, outer_gain, k):
    """The multiplier m for which the nodes clip(x + step * (gain - m), 0, 1) and what is outside add up to k."""
    low = outer_gain - (k - outer) / outer_step - 1.0
    high = outer_gain + outer / outer_step + 1.0
    for i in range(x.size):
        low = min(low, gain[i] + (x[i] - 1.0) / step[i] - 1.0)
        high = max(high, gain[i] + x[i] / step[i] + 1.0)
    for _ in range(45):
        middle = 0.5 * (low + high)
        total = max(0.0, outer + outer_step * (outer_gain - middle))
        for i in range(x.size):
            total += min(1.0, max(0.0, x[i] + step[i] * (gain[i] - middle)))
        if total > k:
            low = middle
        else:
            high = middle
    return high


@parallel_kernel
def primal_dual(
    first, second, weight, indptr, pair_of, is_first, k, cap, balance, x, outer, y, v, r1, r2, p, mean_v, mean_p, gain,
    x_step, v_step, ahead, y_ahead, steps,
):  # fmt: skip
    """Make `steps` steps of the preconditioned method of Pock and Chambolle (2011); everything is changed in place.

    `outer[0]` is how many nodes outside the core the relaxed solution takes, at `cap` each. `mean_v, mean_p` become
    the averages over these steps; `gain, ahead, y_ahead` are work space.
    """
    n = x.size
    y_step = 0.2 * balance
    r_step = 0.5 / balance
    p_step = 1.0 / 3.0 / balance
    outer_step = balance
    for i in prange(n):
        mean_v[i] = 0.0
    for e in prange(first.size):
        mean_p[e] = 0.0
    for _ in range(steps):
        for i in prange(n):
            total = (k - 1.0) * v[i]
            for a in range(indptr[i], indptr[i + 1]):
                e = pair_of[a]
                total += (r1[e] if is_first[a] else r2[e]) - p[e]
            gain[i] = total
        m = _level(x, x_step, gain, outer[0], outer_step, cap, k)
        outer[0] = max(0.0, outer[0] + outer_step * (cap - m))
        for i in prange(n):
            new = min(1.0, max(0.0, x[i] + x_step[i] * (gain[i] - m)))
            ahead[i] = 2.0 * new - x[i]
            x[i] = new
        for e in prange(first.size):
            i = first[e]
            j = second[e]
            new = max(0.0, y[e] + y_step * (weight[e] - r1[e] - r2[e] + p[e] - v[i] - v[j]))
            further = 2.0 * new - y[e]
            y[e] = new
            y_ahead[e] = further
            r1[e] = max(0.0, r1[e] + r_step * (further - ahead[i]))
            r2[e] = max(0.0, r2[e] + r_step * (further - ahead[j]))
            p[e] = max(0.0, p[e] + p_step * (ahead[i] + ahead[j] - 1.0 - further))
            mean_p[e] += p[e] / steps
        for i in prange(n):
            total = -(k - 1.0) * ahead[i]
            for a in range(indptr[i], indptr[i + 1]):
                total += y_ahead[pair_of[a]]
            v[i] = max(0.0, v[i] + v_step[i] * total)
            mean_v[i] += v[i] / steps
