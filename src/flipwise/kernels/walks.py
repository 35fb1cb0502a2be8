"""Walks past a local optimum of f(x) = x'Ax + c'x + d: the best move is made though f may rise, the best point kept.

Notation: `d` holds the change of f when one coordinate flips, d_i = 4 A_ii - 2 x_i g_i, and is kept up to date:
flipping i, from the sign x_i, changes d_j by 8 A_ij x_i x_j and turns d_i into -d_i.

Dense problems are walked as tabu search does (Glover 1989): a coordinate that has flipped rests for some steps. The
least change of each block of `BLOCK` coordinates is found in the same pass over memory that updates it. Sparse problems
are walked locally: a chain begins at one coordinate and goes on among the neighbours of those that it has flipped, each
at most once (the chains of Kernighan and Lin, 1970, kept local).
"""

from __future__ import annotations

import numpy as np

from flipwise.kernels.jit import helper, kernel
from flipwise.kernels.random_numbers import next_random

BLOCK = 128
"""Coordinates in a block."""
HUGE = 1e300
"""More than any change."""


@helper
def _add_row(row, factor, x, d):
    """d_j += factor A_ij x_j for a block of j."""
    for j in range(x.size):
        d[j] += factor * row[j] * x[j]


@helper
def _least_rested(d, free_at, step):
    """The least change of a block among the coordinates that do not rest at `step`."""
    least = HUGE
    for j in range(d.size):
        value = d[j]
        if free_at[j] > step:
            value = HUGE
        if value < least:
            least = value
    return least


@helper
def _least_change(d):
    """The least change of a block."""
    least = HUGE
    for j in range(d.size):
        if d[j] < least:
            least = d[j]
    return least


@helper
def _copy_point(source, target):
    """Entry by entry: an assignment of arrays takes seconds to compile."""
    for j in range(source.size):
        target[j] = source[j]


STEP_OPERATIONS = 6
"""What a step of a walk in NumPy costs, in elements that an interpreted loop looks at (2 microseconds each)."""
_BITS = (1 << 64) - 1


def _next_whole(state: int) -> int:
    """`next_random` on Python's integers."""
    state ^= (state << 13) & _BITS
    state ^= state >> 7
    return state ^ ((state << 17) & _BITS)


def _dense_walk_vectorised(A, steps, tenure, slack, x, d, free_at, best_x, since, best_at, state):
    """`dense_walk` in NumPy, for small problems in a process that has not compiled it."""
    n = x.size
    blocks = (n + BLOCK - 1) // BLOCK
    random = int(state[0])
    change = 0.0
    best = best_at
    at_best = False
    for step in range(since + 1, since + steps + 1):
        random = _next_whole(random)
        begin = (random >> 40) % blocks * BLOCK
        turned = np.roll(d, -begin)
        rested = np.where(np.roll(free_at, -begin) > step, HUGE, turned)
        i = int(rested.argmin())
        least = int(turned.argmin())
        if turned[least] < rested[i] and (rested[i] >= HUGE or change + turned[least] < best - slack):
            i = least
        i = (i + begin) % n
        cost = float(d[i])
        if at_best and cost > 0.0:
            at_best = False
            best_x[:] = x
        factor = 8.0 * x[i]
        x[i] = -x[i]
        d += factor * A[i] * x
        d[i] = -cost
        change += cost
        free_at[i] = step + tenure + (random & 65535) % 10
        if change < best - slack:
            best = change
            at_best = True
    if at_best:
        best_x[:] = x
    state[0] = random
    return change, best


def _dense_swap_walk_vectorised(A, labels, steps, tenure, slack, x, d, free_at, best_x, since, best_at, state):
    """`dense_swap_walk` in NumPy, likewise."""
    random = int(state[0])
    change = 0.0
    best = best_at
    at_best = False
    for step in range(since + 1, since + steps + 1):
        resting = free_at > step
        first = int(np.where(resting | (labels < 0), HUGE, d).argmin())
        if resting[first] or labels[first] < 0:
            break
        cost = float(d[first])
        sign = float(x[first])
        x[first] = -sign
        d += 8.0 * sign * A[first] * x
        d[first] = -cost
        partners = (x != sign) & (labels == labels[first]) & ~resting
        partners[first] = False
        second = int(np.where(partners, d, HUGE).argmin())
        random = _next_whole(random)
        free_at[first] = step + tenure + (random & 65535) % 10
        if not partners[second]:
            x[first] = sign
            d += -8.0 * sign * A[first] * x
            d[first] = cost
            continue
        further = float(d[second])
        if at_best and cost + further > 0.0:
            at_best = False
            best_x[:] = x
            best_x[first] = sign
        x[second] = sign
        d += -8.0 * sign * A[second] * x
        d[second] = -further
        free_at[second] = step + tenure + ((random >> 16) & 65535) % 10
        change += cost + further
        if change < best - slack:
            best = change
            at_best = True
    if at_best:
        best_x[:] = x
    state[0] = random
    return change, best


@kernel(operations=lambda A, steps, *rest: STEP_OPERATIONS * steps, vectorised=_dense_walk_vectorised)
def dense_walk(A, steps, tenure, slack, x, d, free_at, best_x, since, best_at, state):
    """Up to `steps` steps of tabu search by single flips; `x` and `d` in place.

    A step flips the best coordinate that does not rest, or any that gives a new best point. `free_at` holds the step
    from which a coordinate may flip again. The walk goes on over several calls: `since` is how many steps it has taken,
    `best_at` how far the best change lies below the current point's (both of one walk), and `best_x` is the best point.
    Returns (change of f, change of f down to the best point of this call or `best_at`).
    """
    n = x.size
    blocks = (n + BLOCK - 1) // BLOCK
    random = state[0]
    change = 0.0
    best = best_at
    pending = -1  # the coordinate whose row is still to be added
    factor = 0.0
    own = 0.0
    at_best = False
    for k in range(1, steps + 1):
        step = since + k
        random = next_random(random)
        first = np.int64(random >> np.uint64(40)) % blocks
        rested = HUGE
        rested_block = -1
        least = HUGE
        least_block = -1
        for b in range(blocks):
            block = first + b
            if block >= blocks:
                block -= blocks
            low = block * BLOCK
            high = min(n, low + BLOCK)
            part = d[low:high]
            if pending >= 0:
                _add_row(A[pending, low:high], factor, x[low:high], part)
                if low <= pending < high:
                    d[pending] = own
            value = _least_rested(part, free_at[low:high], step)
            if value < rested:
                rested = value
                rested_block = block
            value = _least_change(part)
            if value < least:
                least = value
                least_block = block
        aspires = least < rested and (rested_block < 0 or change + least < best - slack)
        block = least_block if aspires else rested_block
        cost = least if aspires else rested
        if at_best and cost > 0.0:  # leaving the best point so far
            at_best = False
            _copy_point(x, best_x)
        i = -1
        for j in range(block * BLOCK, min(n, block * BLOCK + BLOCK)):
            if d[j] == cost and (aspires or free_at[j] <= step):
                i = j
                break
        pending = i
        factor = 8.0 * x[i]
        own = -cost
        x[i] = -x[i]
        change += cost
        free_at[i] = step + tenure + np.int64(random & np.uint64(65535)) % 10
        if change < best - slack:
            best = change
            at_best = True
    if pending >= 0:
        _add_row(A[pending], factor, x, d)
        d[pending] = own
    if at_best:
        _copy_point(x, best_x)
    state[0] = random
    return change, best


@kernel(operations=lambda A, labels, steps, *rest: STEP_OPERATIONS * steps, vectorised=_dense_swap_walk_vectorised)
def dense_swap_walk(A, labels, steps, tenure, slack, x, d, free_at, best_x, since, best_at, state):
    """The same by swaps, which keep the number of ones of every group of `labels` (-1: the coordinate stays).

    A step flips the best coordinate that does not rest, then the best of the opposite sign in its group.
    """
    n = x.size
    random = state[0]
    change = 0.0
    best = best_at
    at_best = False
    for k in range(1, steps + 1):
        step = since + k
        first = -1
        cost = HUGE
        for j in range(n):
            if d[j] < cost and free_at[j] <= step and labels[j] >= 0:
                cost = d[j]
                first = j
        if first < 0:
            break
        sign = x[first]
        group = labels[first]
        x[first] = -sign
        _add_row(A[first], 8.0 * sign, x, d)
        d[first] = -cost
        second = -1
        further = HUGE
        for j in range(n):
            if x[j] != sign and j != first and d[j] < further and labels[j] == group and free_at[j] <= step:
                further = d[j]
                second = j
        random = next_random(random)
        free_at[first] = step + tenure + np.int64(random & np.uint64(65535)) % 10
        if second < 0:  # no partner is rested: the first goes back
            x[first] = sign
            _add_row(A[first], -8.0 * sign, x, d)
            d[first] = cost
            continue
        if at_best and cost + further > 0.0:  # leaving the best point so far
            at_best = False
            _copy_point(x, best_x)
            best_x[first] = sign
        x[second] = sign
        _add_row(A[second], -8.0 * sign, x, d)
        d[second] = -further
        free_at[second] = step + tenure + np.int64((random >> np.uint64(16)) & np.uint64(65535)) % 10
        change += cost + further
        if change < best - slack:
            best = change
            at_best = True
    if at_best:
        _copy_point(x, best_x)
    state[0] = random
    return change, best


@helper
def _flip_and_update(indptr, indices, data, i, x, d):
    """Flip i and bring the changes along."""
    own = d[i]
    factor = 8.0 * x[i]
    x[i] = -x[i]
    for p in range(indptr[i], indptr[i + 1]):
        j = indices[p]
        d[j] += factor * data[p] * x[j]
    d[i] = -own


@kernel
def csr_chains(indptr, indices, data, slack, depth, patience, seeds, due, touched, mark, chain, x, d):
    """Follow a chain from each of `seeds` that is `due`; `x` and `d` in place.

    A chain flips its seed, then again and again the best neighbour of what it has flipped, and ends after `depth`
    flips or `patience` of them without a new least f; it is undone back to its best point. Where that lowers f by more
    than `slack`, all that it touched is due again. `mark` tells who is in the chain (2c + 1) or beside it (2c), where
    mark[n] counts the chains c. Returns (flips, change of f).
    """
    n = x.size
    flips = 0
    change = 0.0
    room = touched.size
    for k in range(seeds.size):
        seed = seeds[k]
        if not due[seed]:
            continue
        due[seed] = False
        mark[n] += 1
        beside = 2 * mark[n]
        inside = beside + 1
        waiting = 0
        total = 0.0
        best = 0.0
        best_length = 0
        length = 0
        i = seed
        while True:
            total += d[i]
            _flip_and_update(indptr, indices, data, i, x, d)
            chain[length] = i
            length += 1
            mark[i] = inside
            if total < best - slack:
                best = total
                best_length = length
            if length == depth or length - best_length >= patience:
                break
            for p in range(indptr[i], indptr[i + 1]):
                j = indices[p]
                if mark[j] < beside and waiting < room:
                    mark[j] = beside
                    touched[waiting] = j
                    waiting += 1
            i = -1
            least = HUGE
            q = 0
            while q < waiting:
                j = touched[q]
                if mark[j] == inside:
                    waiting -= 1
                    touched[q] = touched[waiting]
                    continue
                if d[j] < least:
                    least = d[j]
                    i = j
                q += 1
            if i < 0:
                break
        for q in range(length - 1, best_length - 1, -1):
            _flip_and_update(indptr, indices, data, chain[q], x, d)
        for q in range(best_length):
            i = chain[q]
            due[i] = True
            for p in range(indptr[i], indptr[i + 1]):
                due[indices[p]] = True
        flips += best_length
        change += best
    return flips, change
