"""A walk for maximum independent sets that keeps the number of nodes and mends conflicts.

It is NuMVC (Cai, Su, Luo, Sattar: NuMVC, an efficient local search algorithm for minimum vertex cover, JAIR 46, 2013)
seen from the complement of a cover. A conflict that nobody mends grows heavier, so the walk leaves every local optimum
by itself.

Graphs are CSR with both directions of each edge. Random numbers are xorshift64 on a state the caller owns.
"""

from __future__ import annotations

import numpy as np

from flipwise.kernels.jit import helper, kernel
from flipwise.kernels.random_numbers import next_random, random_below

SAMPLES = 64
"""Candidates that are looked at where there are many more."""
NODES_SCANNED = 4096
"""Up to so many nodes are all looked at."""
INSIDE = 2**30
"""How far the scores of nodes inside lie below the others."""


@helper
def _add_to_set(indptr, indices, edge_of, weight, v, inside, score, ready, open_edges, place, count):
    """Put v into the set: edges to nodes of the set become conflicts. Returns the number of conflicts."""
    for p in range(indptr[v], indptr[v + 1]):
        u = indices[p]
        if inside[u]:  # both ends inside: in conflict from now on
            e = edge_of[p]
            open_edges[count] = e
            place[e] = count
            count += 1
            score[u] += weight[p]
        else:  # the other end alone keeps it from being one
            score[u] -= weight[p]
        ready[u] = True
    inside[v] = True
    score[v] = -score[v] - INSIDE
    return count


@helper
def _remove_from_set(indptr, indices, edge_of, weight, v, inside, score, ready, open_edges, place, count):
    """Take v out of the set: its conflicts end. Returns the number of conflicts."""
    for p in range(indptr[v], indptr[v + 1]):
        u = indices[p]
        if inside[u]:
            e = edge_of[p]
            count -= 1
            last = open_edges[count]
            open_edges[place[e]] = last
            place[last] = place[e]
            score[u] -= weight[p]
        else:
            score[u] += weight[p]
        ready[u] = True
    inside[v] = False
    score[v] = -(score[v] + INSIDE)
    return count


@helper
def _copy_set(inside, best):
    """Copy a set."""
    for v in range(inside.size):
        best[v] = inside[v]


@helper
def _cheapest_outside(inside, score, age, last, random):
    """The node outside the set whose entry makes the lightest conflicts; of equal ones the one that rested longest.

    Not the one that left `last`, if any did (-1: none).
    """
    n = inside.size
    found = np.int64(-1)
    best = np.int32(-INSIDE // 2)
    if n <= NODES_SCANNED:
        held = score[last]
        if last >= 0:
            score[last] = -INSIDE
        for v in range(n):
            best = max(best, score[v])
        for v in range(n):
            if score[v] == best and (found < 0 or age[v] < age[found]):
                found = np.int64(v)
        score[last] = held
        return found, random
    for _ in range(SAMPLES):
        random = next_random(random)
        v = random_below(random, n)
        if v != last and (score[v] > best or (score[v] == best and age[v] < age[found])):
            best = score[v]
            found = v
    return found, random


@kernel(operations=lambda indptr, indices, *rest: rest[4] * (64 + indices.size // indptr.size))
def cover_walk(indptr, indices, edge_of, entries, first, second, steps, weight, inside, score, age, ready, open_edges,
               place, best, counts, state):  # fmt: skip
    """`steps` steps; `best` receives the largest set without conflicts. Returns its size.

    `counts` (int64) holds the conflicts, the size of the set and of the best, the step, the total weight and the node
    that left last; it and the arrays go on in the next call. `score` (int32) is minus the weight of the conflicts that
    a node outside would make, and the weight of the conflicts that a node inside has, less `INSIDE`. At the start
    `inside` is a set without conflicts, `weight` (of both CSR entries of each edge, whose places are in `entries`) is
    1, `ready` is all True.
    """
    n = inside.size
    random = state[0]
    open_count, size, best_size, now, total, last = counts[0], counts[1], counts[2], counts[3], counts[4], counts[5]
    limit = min(np.int64(n) * first.size // 2, INSIDE // 4)
    for _ in range(steps):
        while open_count == 0 and size < n:
            v, random = _cheapest_outside(inside, score, age, last, random)
            if size > best_size and (v < 0 or score[v] < 0):
                best_size = size
                _copy_set(inside, best)
            if v < 0:
                break
            open_count = _add_to_set(
                indptr, indices, edge_of, weight, v, inside, score, ready, open_edges, place, open_count
            )
            size += 1
        if open_count == 0:
            last = np.int64(-1)  # only the node that left last is outside, or no sample was
            continue
        now += 1
        v, random = _cheapest_outside(inside, score, age, last, random)
        if v >= 0:
            size += 1
            open_count = _add_to_set(
                indptr, indices, edge_of, weight, v, inside, score, ready, open_edges, place, open_count
            )
            ready[v] = False
            age[v] = now
        random = next_random(random)
        e = open_edges[random_below(random, open_count)]
        one, other = first[e], second[e]
        if not ready[other]:
            u = one
        elif not ready[one]:
            u = other
        elif score[one] > score[other] or (score[one] == score[other] and age[one] < age[other]):
            u = one
        else:
            u = other
        open_count = _remove_from_set(
            indptr, indices, edge_of, weight, u, inside, score, ready, open_edges, place, open_count
        )
        size -= 1
        age[u] = now
        last = np.int64(u)
        for k in range(open_count):
            e = open_edges[k]
            weight[entries[0, e]] += 1
            weight[entries[1, e]] += 1
            score[first[e]] += 1
            score[second[e]] += 1
        total += open_count
        if total > limit:
            total = _lower_weights(entries, first, second, weight, inside, score)
    if open_count == 0 and size > best_size:
        best_size = size
        _copy_set(inside, best)
    counts[0], counts[1], counts[2], counts[3], counts[4], counts[5] = open_count, size, best_size, now, total, last
    state[0] = random
    return best_size


@helper
def _lower_weights(entries, first, second, weight, inside, score):
    """Let the weights fall to three tenths and count the scores anew; returns the total weight."""
    total = np.int64(0)
    for v in range(inside.size):
        score[v] = -INSIDE if inside[v] else 0
    for e in range(first.size):
        lower = 3 * weight[entries[0, e]] // 10
        weight[entries[0, e]] = lower
        weight[entries[1, e]] = lower
        total += lower
        u, v = first[e], second[e]
        if inside[u] and inside[v]:
            score[u] += lower
            score[v] += lower
        elif inside[u]:
            score[v] -= lower
        elif inside[v]:
            score[u] -= lower
    return total
