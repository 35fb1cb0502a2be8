"""Tabu search on a dense problem, and path relinking between two of its points.

Glover, Lu, Hao: Diversification-driven tabu search for unconstrained binary quadratic problems, 4OR 8, 2010; Wang, Lu,
Glover, Hao: Path relinking for unconstrained binary quadratic programming, EJOR 223, 2012. Each step flips the best
spin that is not tabu, or a tabu spin when that gives a new best point; a flipped spin is tabu for `tenure` steps and
a few more, drawn at random.

The cost of every flip, d_i = -2 s_i f_i, is kept up to date by adding one row of J, which the compiler vectorises; the
least cost of each block of `BLOCK` spins is computed in the same pass over memory, so that finding the step costs
little.
"""

from __future__ import annotations

import numpy as np

from flipwise.kernels.jit import helper, kernel
from flipwise.kernels.random_numbers import next_random

BLOCK = 128
"""Spins in a block."""


@helper
def _copy_spins(s, copy):
    """Copy a point, entry by entry: an assignment of whole arrays takes two seconds to compile."""
    for i in range(s.size):
        copy[i] = s[i]


@helper
def _add_row_to_costs(row, sign, s, d):
    """d_j += 4 J_ij s_i s_j for a block of j; `sign` is s_i before its flip."""
    four = d[0] - d[0] + 4  # of the costs' type: the product below must not be an int8
    if sign > 0:
        for j in range(s.size):
            d[j] += four * (row[j] * s[j])
    else:
        for j in range(s.size):
            d[j] -= four * (row[j] * s[j])


@helper
def _least_free_cost(d, free_at, step, huge):
    """The least cost of a block among the spins that are not tabu at `step`."""
    least = huge
    for j in range(d.size):
        value = d[j]
        if free_at[j] > step:
            value = huge
        if value < least:
            least = value
    return least


@helper
def _least_cost(d, huge):
    """The least cost of a block."""
    least = huge
    for j in range(d.size):
        if d[j] < least:
            least = d[j]
    return least


@helper
def _position_of(d, free_at, step, wanted, start, any_spin):
    """Where in a block the cost `wanted` stands, looking from `start` on and around."""
    size = d.size
    at = start % size
    for _ in range(size):
        if d[at] == wanted and (any_spin or free_at[at] <= step):
            return at
        at += 1
        if at == size:
            at = 0
    return -1


@kernel(operations=lambda J, steps, *_: 4 * steps * len(J))
def dense_tabu(J, steps, tenure, spread, huge, s, d, free_at, best_s, state):
    """`steps` steps of tabu search from `s` with flip costs `d`; both are changed in place.

    `free_at` (int64) holds the step at which a spin may be flipped again, all 0 at the start; `huge` is larger than any
    cost and of the costs' own type. `best_s` receives the best point met. Returns (best change of E, last change of E).
    """
    n = s.size
    blocks = (n + BLOCK - 1) // BLOCK
    random = state[0]
    change = huge - huge
    best = change
    flipped = -1  # the spin whose row is still to be added to the costs
    sign = 1
    _copy_spins(s, best_s)
    improved = False
    for step in range(1, steps + 1):
        random = next_random(random)
        first = np.int64(random >> np.uint64(40)) % blocks
        free_cost = huge
        free_block = -1
        any_cost = huge
        any_block = -1
        for b in range(blocks):
            block = first + b
            if block >= blocks:
                block -= blocks
            low = block * BLOCK
            high = min(n, low + BLOCK)
            costs = d[low:high]
            if flipped >= 0:
                _add_row_to_costs(J[flipped, low:high], sign, s[low:high], costs)
            least = _least_free_cost(costs, free_at[low:high], step, huge)
            if least < free_cost:
                free_cost = least
                free_block = block
            least = _least_cost(costs, huge)
            if least < any_cost:
                any_cost = least
                any_block = block
        aspires = change + any_cost < best and any_cost < free_cost
        block = any_block if aspires or free_block < 0 else free_block
        cost = any_cost if aspires or free_block < 0 else free_cost
        if cost > 0 and improved:  # leaving the best point so far
            improved = False
            _copy_spins(s, best_s)
        low = block * BLOCK
        high = min(n, low + BLOCK)
        start = np.int64((random >> np.uint64(20)) & np.uint64(65535))
        i = low + _position_of(d[low:high], free_at[low:high], step, cost, start, aspires or free_block < 0)
        flipped = i
        sign = s[i]
        s[i] = -sign
        d[i] = -cost
        change += cost
        free_at[i] = step + tenure + np.int64(random & np.uint64(65535)) % spread
        if change < best:
            best = change
            improved = True
    if improved and change == best:
        _copy_spins(s, best_s)
    if flipped >= 0:
        for b in range(blocks):
            low = b * BLOCK
            high = min(n, low + BLOCK)
            _add_row_to_costs(J[flipped, low:high], sign, s[low:high], d[low:high])
    state[0] = random
    return best, change


@kernel(operations=lambda J, huge, s, d, differing, *_: differing.size * (len(J) + differing.size))
def dense_relink(J, huge, s, d, differing, best_s):
    """Walk from `s` to the point that differs from it in `differing`, always by the cheapest remaining flip.

    `best_s` receives the best point at least a tenth of the way from both ends. Returns its change of E.
    """
    count = differing.size
    margin = count // 10
    change = huge - huge
    best = huge
    _copy_spins(s, best_s)
    for step in range(count):
        at = step
        for k in range(step + 1, count):
            if d[differing[k]] < d[differing[at]]:
                at = k
        i = differing[at]
        differing[at] = differing[step]
        differing[step] = i
        cost = d[i]
        sign = s[i]
        s[i] = -sign
        _add_row_to_costs(J[i], sign, s, d)
        d[i] = -cost
        change += cost
        if change < best and margin <= step < count - margin:
            best = change
            _copy_spins(s, best_s)
    return best
