"""Search on a polynomial of spins or bits: annealing, tabu search, enumeration; notation as in `kernels.polynomial`.

A point is `s` (int8, -1 and +1) with the cost of every flip, `d` (float64). For each term is held what a flip needs:
`held` (int32) is the product of its spins, or the number of its bits at 0, and `zeros` (int64) the sum of the indices
of these bits, which names the last one. A flip costs one step for each term of the variable, and one for each member of
those whose value, or whose number of zeros from one to none or back, changes.

The annealing is that of `kernels.annealing`, counts included; the tabu search flips the cheapest spin that was not
flipped lately (Glover 1989), with short memories as in Gallardo, Cotta, Fernandez: Finding low autocorrelation binary
sequences with memetic algorithms, Applied Soft Computing 9, 2009.
"""

from __future__ import annotations

import numpy as np

from flipwise.kernels.jit import helper, kernel
from flipwise.kernels.random_numbers import next_random


@kernel
def flip_costs(offsets, members, c, binary, s, held, zeros, d):
    """Fill `held`, `zeros` and the cost of every flip for the point `s`."""
    for i in range(s.size):
        d[i] = 0.0
    for t in range(c.size):
        if binary:
            missing = 0
            which = 0
            for k in range(offsets[t], offsets[t + 1]):
                if s[members[k]] < 0:
                    missing += 1
                    which += members[k]
            held[t] = missing
            zeros[t] = which
            if missing == 0:
                for k in range(offsets[t], offsets[t + 1]):
                    d[members[k]] -= c[t]
            elif missing == 1:
                d[which] += c[t]
        else:
            sign = 1
            for k in range(offsets[t], offsets[t + 1]):
                if s[members[k]] < 0:
                    sign = -sign
            held[t] = sign
            for k in range(offsets[t], offsets[t + 1]):
                d[members[k]] -= 2.0 * sign * c[t]


@helper
def _flip_costs(offsets, members, c, starts, incident, binary, i, s, held, zeros, d):
    """Flip s_i and bring along the costs of all flips and what is held."""
    cost = d[i]
    if not binary:
        for e in range(starts[i], starts[i + 1]):
            t = incident[e]
            sign = held[t]
            held[t] = -sign
            step = 4.0 * c[t] * sign
            for k in range(offsets[t], offsets[t + 1]):
                d[members[k]] += step
    elif s[i] > 0:
        for e in range(starts[i], starts[i + 1]):
            t = incident[e]
            missing = held[t]
            if missing == 0:
                for k in range(offsets[t], offsets[t + 1]):
                    d[members[k]] += c[t]
            elif missing == 1:
                d[zeros[t]] -= c[t]
            held[t] = missing + 1
            zeros[t] += i
    else:
        for e in range(starts[i], starts[i + 1]):
            t = incident[e]
            missing = held[t]
            held[t] = missing - 1
            zeros[t] -= i
            if missing == 1:
                for k in range(offsets[t], offsets[t + 1]):
                    d[members[k]] -= c[t]
            elif missing == 2:
                d[zeros[t]] += c[t]
    d[i] = -cost
    s[i] = -s[i]


@kernel
def anneal_terms(
    offsets, members, c, starts, incident, binary, temperatures, quantiles, stiffness, labels, excess, level,
    s, held, zeros, d, state,
):  # fmt: skip
    """One sweep over all spins at each temperature, as `annealing.csr_anneal_counts`; returns the change of f.

    Without counts `stiffness` and `level` are 0 and hold nobody back.
    """
    random = state[0]
    change = 0.0
    for step in range(temperatures.size):
        T = temperatures[step]
        a = stiffness * T
        limit = T * quantiles[0]
        for i in range(s.size):
            q = labels[i]
            spin = s[i]
            cost = d[i] - 2.0 * spin * (level[q] + 2.0 * a * excess[q]) + 4.0 * a
            if cost >= limit:
                continue
            if cost >= 0.0:
                random = next_random(random)
                if cost >= T * quantiles[np.int64(random >> np.uint64(54))]:
                    continue
            change += d[i]
            excess[q] -= 2.0 * spin
            _flip_costs(offsets, members, c, starts, incident, binary, i, s, held, zeros, d)
        for q in range(level.size):
            level[q] += 2.0 * a * excess[q]
    state[0] = random
    return change


@kernel
def quench_terms(offsets, members, c, starts, incident, binary, slack, s, held, zeros, d):
    """Flip improving spins in index order until none is left; returns the change of f."""
    change = 0.0
    found = True
    while found:
        found = False
        for i in range(s.size):
            if d[i] < -slack:
                change += d[i]
                _flip_costs(offsets, members, c, starts, incident, binary, i, s, held, zeros, d)
                found = True
    return change


@helper
def _cheapest_of_group(group, s, d, sign):
    """The spin of `group` at `sign` whose flip costs least, or -1."""
    found = -1
    for k in range(group.size):
        i = group[k]
        if s[i] == sign and (found < 0 or d[i] < d[found]):
            found = i
    return found


@kernel
def restore_count_terms(
    offsets, members, c, starts, incident, binary, slack, group, missing, s, held, zeros, d
):  # fmt: skip
    """Flip the cheapest spins of a group until `missing` more of them are +1, then swap while that improves.

    The pair is the cheapest +1 and then, with the costs after its flip, the cheapest -1. Returns the change of f.
    """
    change = 0.0
    while missing != 0:
        sign = -1 if missing > 0 else 1
        i = _cheapest_of_group(group, s, d, sign)
        change += d[i]
        _flip_costs(offsets, members, c, starts, incident, binary, i, s, held, zeros, d)
        missing += sign
    while True:
        i = _cheapest_of_group(group, s, d, 1)
        if i < 0:
            return change
        cost = d[i]
        _flip_costs(offsets, members, c, starts, incident, binary, i, s, held, zeros, d)
        j = _cheapest_of_group(group, s, d, -1)
        cost += d[j]
        _flip_costs(offsets, members, c, starts, incident, binary, j, s, held, zeros, d)
        if cost >= -slack:  # this pair does not improve: put it back
            _flip_costs(offsets, members, c, starts, incident, binary, j, s, held, zeros, d)
            _flip_costs(offsets, members, c, starts, incident, binary, i, s, held, zeros, d)
            return change
        change += cost


@helper
def _best_step(s, d, labels, free_at, step, aspired, sign, group, start):
    """The cheapest flip that is not tabu, or that would end below `aspired`; of equal ones the first from `start` on.

    With `sign` not 0 only spins at `sign`, with `group` not negative only those of that group. -1 when all are tabu.
    """
    n = s.size
    found = -1
    least = np.inf
    for half in range(2):
        for i in range(start if half == 0 else 0, n if half == 0 else start):
            cost = d[i]
            if cost >= least or (free_at[i] > step and cost >= aspired):
                continue
            if (sign == 0 or s[i] == sign) and (group < 0 or labels[i] == group):
                least = cost
                found = i
    return found


@kernel
def tabu_terms(
    offsets, members, c, starts, incident, binary, swaps, labels, steps, tenure, spread, s, held, zeros, d, free_at,
    best_s, state,
):  # fmt: skip
    """`steps` steps of tabu search from `s`: the cheapest flip that is not tabu; with `swaps`, and then another back.

    `free_at` (int64) holds the step from which on a spin may flip again. `best_s` receives the best point met. Returns
    (best change of f, last change of f).
    """
    n = s.size
    random = state[0]
    change = 0.0
    best = 0.0
    best_s[:] = s
    for step in range(1, steps + 1):
        random = next_random(random)
        start = np.int64(random >> np.uint64(33)) % n
        if swaps:
            i = _best_step(s, d, labels, free_at, step, -np.inf, 1, -1, start)
        else:
            i = _best_step(s, d, labels, free_at, step, best - change, 0, -1, start)
        if i < 0:
            continue  # all are tabu: the next steps free some
        cost = d[i]
        _flip_costs(offsets, members, c, starts, incident, binary, i, s, held, zeros, d)
        free_at[i] = step + tenure + np.int64(random & np.uint64(65535)) % spread
        if swaps:
            j = _best_step(s, d, labels, free_at, step, best - change - cost, -1, labels[i], start)
            if j < 0:  # nothing may come in: take it back
                _flip_costs(offsets, members, c, starts, incident, binary, i, s, held, zeros, d)
                continue
            cost += d[j]
            _flip_costs(offsets, members, c, starts, incident, binary, j, s, held, zeros, d)
            free_at[j] = step + tenure + np.int64((random >> np.uint64(16)) & np.uint64(65535)) % spread
        change += cost
        if change < best:
            best = change
            best_s[:] = s
    state[0] = random
    return best, change


@kernel
def list_terms(
    offsets, members, c, starts, incident, binary, first, last, value, best, slack, labels, excess, width, s, held,
    zeros, d, numbers,
):  # fmt: skip
    """Walk through the points `first` ... `last` - 1 of the Gray code, from that of number `first`, which is `s`.

    `numbers` receives those of them that are below `best`, or within `slack` (if not 0) of it or of one met before, and
    whose groups have no `excess` of ones, nor `width` too few (int64; empty without counts). `value` is that of `s`.
    Returns how many.
    """
    size = 0
    off = 0
    for q in range(excess.size):
        if excess[q] > 0 or excess[q] < -width[q]:
            off += 1
    for number in range(first, last):
        if number > first:
            i = 0
            rest = number
            while rest & 1 == 0:  # the Gray code turns the bit of the lowest one
                rest >>= 1
                i += 1
            value += d[i]
            if excess.size > 0:
                q = labels[i]
                if -width[q] <= excess[q] <= 0:
                    off += 1
                excess[q] -= s[i]
                if -width[q] <= excess[q] <= 0:
                    off -= 1
            _flip_costs(offsets, members, c, starts, incident, binary, i, s, held, zeros, d)
        if off == 0 and (value < best or (slack > 0.0 and value <= best + slack)):
            numbers[size] = number
            size += 1
            if value < best:
                best = value
    return size
