"""Annealing under linear rows lower <= A b <= upper of bits b, by chains of flips that break rows and put them right.

A move begins with one flip. While a row is broken, a variable of it is flipped that puts it right at the least cost,
and what this breaks is put right in turn: in a knapsack that is an exchange, with exactly one in each row and column
the exchange of two assignments, and for other rows whatever they need (ejection chains: Glover, Discrete Applied
Mathematics 65, 1996). A flip that breaks nothing but costs something may be made up for in the same way. The whole
chain is accepted or taken back by Metropolis' rule.

    HARD    only chains whose end keeps all rows are accepted, so every point does
    SOFT    broken rows cost `weight` for each unit, which grows while a row is broken and falls while it is kept
    FIRST   as SOFT, until a point keeps all rows

Spins are s = 2b - 1, energies sum_{i<j} J_ij s_i s_j + sum_i h_i s_i, couplings CSR with ascending indices. Rows come
twice: by row and by variable. Random numbers are xorshift64 on a state the caller owns.
"""

from __future__ import annotations

import numpy as np

from flipwise.kernels.jit import helper, kernel
from flipwise.kernels.random_numbers import next_random, random_below

HARD, SOFT, FIRST = 0, 1, 2
SCANNED = 24
"""Candidates that are compared when a row is put right."""
GROWTH, DECAY = 1.15, 0.97
"""What the weight of a row is multiplied by after a sweep that leaves it broken, or kept."""


@helper
def _excess(activity, lower, upper):
    """How far a row is broken."""
    if activity > upper:
        return activity - upper
    if activity < lower:
        return lower - activity
    return 0.0


@helper
def _flip_cost(indptr, indices, data, s, f, chain, length, j):
    """What flipping j costs after the flips of the chain."""
    field = f[j]
    for k in range(length):
        i = chain[k]
        low, high = indptr[j], indptr[j + 1]
        while low < high:
            middle = (low + high) // 2
            if indices[middle] < i:
                low = middle + 1
            else:
                high = middle
        if low < indptr[j + 1] and indices[low] == i:
            field -= 2.0 * s[i] * data[low]
    return -2.0 * s[j] * field


@helper
def _strain_change(col_ptr, col_rows, col_values, lower, upper, activity, weight, s, j):
    """How flipping j changes the weighted sum of what is broken."""
    change = 0.0
    for p in range(col_ptr[j], col_ptr[j + 1]):
        r = col_rows[p]
        before = activity[r]
        after = before - s[j] * col_values[p]
        change += weight[r] * (_excess(after, lower[r], upper[r]) - _excess(before, lower[r], upper[r]))
    return change


@helper
def _shift_bit(col_ptr, col_rows, col_values, lower, upper, activity, broken, place, count, j, step):
    """Let bit j change by `step`; keeps the list of broken rows and returns its length."""
    for p in range(col_ptr[j], col_ptr[j + 1]):
        r = col_rows[p]
        activity[r] += step * col_values[p]
        is_broken = activity[r] > upper[r] or activity[r] < lower[r]
        if is_broken and place[r] < 0:
            broken[count] = r
            place[r] = count
            count += 1
        elif not is_broken and place[r] >= 0:
            count -= 1
            last = broken[count]
            broken[place[r]] = last
            place[last] = place[r]
            place[r] = -1
    return count


@helper
def _best_repair(indptr, indices, data, s, f, chain, length, inside, row_ptr, row_vars, row_values, col_ptr, col_rows,
                 col_values, lower, upper, activity, weight, r, over, heat, quantiles, random):  # fmt: skip
    """The variable of row r, outside the chain, that lowers it (`over`) or raises it at the least cost; -1: none."""
    begin, size = row_ptr[r], row_ptr[r + 1] - row_ptr[r]
    found = np.int64(-1)
    if size == 0:
        return found, random
    best = np.inf
    looked = 0
    random = next_random(random)
    p = begin + random_below(random, size)
    for _ in range(size):
        p += 1
        if p == begin + size:
            p = begin
        j = row_vars[p]
        if inside[j] or (-s[j] * row_values[p] < 0.0) != over:
            continue
        random = next_random(random)
        key = _strain_change(col_ptr, col_rows, col_values, lower, upper, activity, weight, s, j)
        key += _flip_cost(indptr, indices, data, s, f, chain, length, j)
        key += heat * quantiles[np.int64(random >> np.uint64(54))]
        if key < best:
            best, found = key, np.int64(j)
        looked += 1
        if looked == SCANNED:
            break
    return found, random


@kernel(
    operations=lambda indptr, indices, data, f, s, row_ptr, row_vars, *rest: (
        rest[7].size * s.size * (20 + 4 * (indices.size + 8 * row_vars.size) // max(1, s.size))
    )
)
def anneal_by_chains(indptr, indices, data, f, s, row_ptr, row_vars, row_values, col_ptr, col_rows, col_values, lower,
                     upper, weight, schedule, quantiles, mode, depth, activity, best, totals, counts,
                     state):  # fmt: skip
    """A chain for each variable at each temperature of the schedule.

    `s`, its fields `f` and the rows' `activity` go on in the next call; `best` receives the best point that keeps all
    rows. `totals` holds the energy of `s`, that of `best` (inf before there is one), and the sum of the sizes of the
    costs of chains that ended with all rows kept; `counts` how many these were and how many chains there were.
    """
    n, rows = s.size, lower.size
    random = state[0]
    chain = np.empty(depth, np.int64)
    inside = np.zeros(n, np.bool_)
    broken = np.empty(rows, np.int64)
    place = np.full(rows, -1, np.int64)
    count = 0
    for r in range(rows):
        if activity[r] > upper[r] or activity[r] < lower[r]:
            broken[count] = r
            place[r] = count
            count += 1
    energy, lowest = totals[0], totals[1]
    for t in range(schedule.size):
        heat = schedule[t]
        for _ in range(n):
            if mode == FIRST and count == 0:
                break
            random = next_random(random)
            j = random_below(random, n)
            if count > 0 and random & np.uint64(1):
                random = next_random(random)
                r = broken[random_below(random, count)]
                over = activity[r] > upper[r]
                found, random = _best_repair(indptr, indices, data, s, f, chain, 0, inside, row_ptr, row_vars,
                                             row_values, col_ptr, col_rows, col_values, lower, upper, activity, weight,
                                             r, over, heat, quantiles, random)  # fmt: skip
                if found >= 0:
                    j = found
            length = 0
            cost = 0.0
            strain = 0.0
            while True:
                cost += _flip_cost(indptr, indices, data, s, f, chain, length, j)
                strain += _strain_change(col_ptr, col_rows, col_values, lower, upper, activity, weight, s, j)
                count = _shift_bit(
                    col_ptr, col_rows, col_values, lower, upper, activity, broken, place, count, j, -s[j]
                )
                inside[j] = True
                chain[length] = j
                length += 1
                if length == depth:
                    break
                random = next_random(random)
                if count > 0:
                    if mode != HARD and random & np.uint64(3) == np.uint64(0):
                        break  # a point that breaks a row may be one on the way
                    r = broken[random_below(random, count)]
                    over = activity[r] > upper[r]
                else:  # there may be room for something better in the same row
                    size = col_ptr[j + 1] - col_ptr[j]
                    if cost <= 0.0 or size == 0 or random & np.uint64(1):
                        break
                    p = col_ptr[j] + random_below(random, size)
                    r = col_rows[p]
                    over = -s[j] * col_values[p] > 0.0
                j, random = _best_repair(indptr, indices, data, s, f, chain, length, inside, row_ptr, row_vars,
                                         row_values, col_ptr, col_rows, col_values, lower, upper, activity, weight,
                                         r, over, heat, quantiles, random)  # fmt: skip
                if j < 0:
                    break
            counts[1] += 1
            if count == 0:
                counts[0] += 1
                totals[2] += abs(cost)
            accepted = count == 0 or mode != HARD
            if accepted:
                change = cost if mode == HARD else cost + strain
                if change > 0.0:
                    random = next_random(random)
                    accepted = change < heat * quantiles[np.int64(random >> np.uint64(54))]
            if accepted:
                energy += cost
                for k in range(length):
                    i = chain[k]
                    inside[i] = False
                    change = 2.0 * s[i]
                    s[i] = -s[i]
                    for p in range(indptr[i], indptr[i + 1]):
                        f[indices[p]] -= change * data[p]
                if count == 0 and energy < lowest:
                    lowest = energy
                    for i in range(n):
                        best[i] = s[i]
            else:
                for k in range(length - 1, -1, -1):
                    i = chain[k]
                    inside[i] = False
                    count = _shift_bit(
                        col_ptr, col_rows, col_values, lower, upper, activity, broken, place, count, i, s[i]
                    )
        if mode == FIRST and count == 0:
            break
        if mode != HARD:
            for r in range(rows):
                weight[r] *= GROWTH if place[r] >= 0 else DECAY
    totals[0], totals[1] = energy, lowest
    state[0] = random
