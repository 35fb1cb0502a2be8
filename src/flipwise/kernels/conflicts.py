"""Walks for independent sets with the largest sum of gains: moves that cross a conflict, which single flips cannot.

`packing_walk` never has a conflict and takes the best of three moves, nodes that left lately being tabu: one in; one in
and its only neighbour out; one out (Wu, Hao, Glover: Multi-neighborhood tabu search for the maximum weight clique
problem, Annals of OR 196, 2012). `penalty_walk` prefers nodes that were seldom in a set it was stuck with, which finds
hidden sets that have nodes of many conflicts (Pullan, Hoos: Dynamic local search for the maximum clique problem, JAIR
25, 2006).

Graphs are CSR with both directions of each edge. Random numbers are xorshift64 on a state the caller owns.
"""

from __future__ import annotations

import numpy as np

from flipwise.kernels.jit import helper, kernel
from flipwise.kernels.random_numbers import next_random, random_below

SAMPLES = 64
"""Candidates that are looked at where there are many more."""
SCANNED = 512
"""Up to so many candidates of a list are all looked at."""
CHOSEN, FREE, TIGHT = 0, 1, 2
"""Lists of nodes: in the set; without a neighbour in it; with one."""


@helper
def _append_to_list(nodes, place, sizes, which, v):
    """Append v to one of the lists."""
    nodes[which, sizes[which]] = v
    place[which, v] = sizes[which]
    sizes[which] += 1


@helper
def _remove_from_list(nodes, place, sizes, which, v):
    """Remove v from one of the lists; the last takes its place."""
    sizes[which] -= 1
    last = nodes[which, sizes[which]]
    nodes[which, place[which, v]] = last
    place[which, last] = place[which, v]


@helper
def _add_to_set(indptr, indices, v, tight, blockers, nodes, place, sizes):
    """Put v, which has no neighbour in the set, into it."""
    _remove_from_list(nodes, place, sizes, FREE, v)
    _append_to_list(nodes, place, sizes, CHOSEN, v)
    tight[v] = -1
    for p in range(indptr[v], indptr[v + 1]):
        u = indices[p]
        if tight[u] == 0:
            _remove_from_list(nodes, place, sizes, FREE, u)
            _append_to_list(nodes, place, sizes, TIGHT, u)
        elif tight[u] == 1:
            _remove_from_list(nodes, place, sizes, TIGHT, u)
        tight[u] += 1
        blockers[u] += v


@helper
def _remove_from_set(indptr, indices, v, tight, blockers, nodes, place, sizes):
    """Take v out of the set."""
    _remove_from_list(nodes, place, sizes, CHOSEN, v)
    _append_to_list(nodes, place, sizes, FREE, v)
    tight[v] = 0
    for p in range(indptr[v], indptr[v + 1]):
        u = indices[p]
        tight[u] -= 1
        blockers[u] -= v
        if tight[u] == 0:
            _remove_from_list(nodes, place, sizes, TIGHT, u)
            _append_to_list(nodes, place, sizes, FREE, u)
        elif tight[u] == 1:
            _append_to_list(nodes, place, sizes, TIGHT, u)


@helper
def _best_of(which, gains, nodes, sizes, blockers, free_at, now, aspired, random):
    """The best node of a list to enter and what it gains: not tabu, or better than `aspired`."""
    size = sizes[which]
    found = np.int64(-1)
    best = -np.inf
    equal = 0
    looked = size if size <= SCANNED else SAMPLES
    for k in range(looked):
        if size > SCANNED:
            random = next_random(random)
            v = nodes[which, random_below(random, size)]
        else:
            v = nodes[which, k]
        gain = gains[v]
        if which == TIGHT:
            gain -= gains[blockers[v]]
        if gain < best or (free_at[v] > now and gain <= aspired):
            continue
        if gain > best:
            best, found, equal = gain, np.int64(v), 1
        else:
            equal += 1
            random = next_random(random)
            if random_below(random, equal) == 0:
                found = np.int64(v)
    return found, best, random


@helper
def _lightest_member(gains, nodes, sizes, random):
    """The node of the set that costs least to lose, of equal ones any."""
    size = sizes[CHOSEN]
    found = np.int64(-1)
    equal = 0
    looked = size if size <= SCANNED else SAMPLES
    for k in range(looked):
        if size > SCANNED:
            random = next_random(random)
            v = nodes[CHOSEN, random_below(random, size)]
        else:
            v = nodes[CHOSEN, k]
        if found < 0 or gains[v] < gains[found]:
            found, equal = np.int64(v), 1
        elif gains[v] == gains[found]:
            equal += 1
            random = next_random(random)
            if random_below(random, equal) == 0:
                found = np.int64(v)
    return found, random


@helper
def _copy_set(nodes, sizes, best):
    """Copy the set."""
    for v in range(best.size):
        best[v] = False
    for k in range(sizes[CHOSEN]):
        best[nodes[CHOSEN, k]] = True


@kernel(operations=lambda indptr, indices, gains, steps, *_: steps * (64 + indices.size // indptr.size))
def packing_walk(indptr, indices, gains, steps, patience, tight, blockers, nodes, place, sizes, memory, best, values,
                 counts, state):  # fmt: skip
    """`steps` steps of tabu search; `best` receives the set with the largest sum of gains. Returns that sum.

    After `patience` steps without a new best since the last start, the walk begins anew at a random node. `values`
    holds the sum of the set, of the best since the last start, and of the best of all; `counts` the step and that of
    the last success. `tight` counts each node's neighbours in the set (-1 inside it), `blockers` adds up their numbers,
    `nodes`, `place` and `sizes` are the three lists; `memory` holds the step at which a node may enter again. All go on
    in the next call.
    """
    random = state[0]
    free_at = memory[0]
    value, lately, best_value = values[0], values[1], values[2]
    now, since = counts[0], counts[1]
    for _ in range(steps):
        now += 1
        aspired = lately - value
        v, gain, random = _best_of(FREE, gains, nodes, sizes, blockers, free_at, now, aspired, random)
        if v >= 0:
            _add_to_set(indptr, indices, v, tight, blockers, nodes, place, sizes)
        else:
            v, gain, random = _best_of(TIGHT, gains, nodes, sizes, blockers, free_at, now, aspired, random)
            u, random = _lightest_member(gains, nodes, sizes, random)
            random = next_random(random)
            if u < 0:  # the set is empty, and all nodes are tabu
                continue
            if v >= 0 and gain >= -gains[u]:
                out = blockers[v]
                _remove_from_set(indptr, indices, out, tight, blockers, nodes, place, sizes)
                _add_to_set(indptr, indices, v, tight, blockers, nodes, place, sizes)
                free_at[out] = now + 7 + random_below(random, sizes[TIGHT] + 1)
            else:
                gain = -gains[u]
                _remove_from_set(indptr, indices, u, tight, blockers, nodes, place, sizes)
                free_at[u] = now + 7
        value += gain
        if value > lately:
            lately = value
            since = now
            if value > best_value:
                best_value = value
                _copy_set(nodes, sizes, best)
        elif now - since > patience:
            while sizes[CHOSEN] > 0:
                _remove_from_set(
                    indptr, indices, nodes[CHOSEN, sizes[CHOSEN] - 1], tight, blockers, nodes, place, sizes
                )
            random = next_random(random)
            v = random_below(random, tight.size)
            _add_to_set(indptr, indices, v, tight, blockers, nodes, place, sizes)
            value = gains[v]
            lately = value
            since = now
            for v in range(tight.size):
                free_at[v] = 0
    values[0], values[1], values[2] = value, lately, best_value
    counts[0], counts[1] = now, since
    state[0] = random
    return best_value


@kernel(operations=lambda indptr, indices, gains, steps, *_: steps * (64 + indices.size // indptr.size))
def penalty_walk(indptr, indices, gains, steps, delay, tight, blockers, nodes, place, sizes, memory, best, values,
                 counts, state):  # fmt: skip
    """As `packing_walk`, in phases: nodes enter by gain / (1 + penalty), each once in a phase, until no move is left.

    Then every node of the set gets a penalty, after each `delay` phases all penalties fall by one, and the next phase
    begins with the node that entered last alone. `memory` holds the penalties and the phase of each node's last entry,
    `counts` the phase, from 1 on, and the node that entered last.
    """
    random = state[0]
    penalty, used = memory[0], memory[1]
    value, best_value = values[0], values[2]
    phase, last = counts[0], counts[1]
    for _ in range(steps):
        which = FREE
        v, random = _least_punished(FREE, gains, nodes, sizes, penalty, used, phase, random)
        if v < 0:
            which = TIGHT
            v, random = _least_punished(TIGHT, gains, nodes, sizes, penalty, used, phase, random)
        if v >= 0:
            if which == TIGHT:
                out = blockers[v]
                value -= gains[out]
                _remove_from_set(indptr, indices, out, tight, blockers, nodes, place, sizes)
                used[out] = phase
            _add_to_set(indptr, indices, v, tight, blockers, nodes, place, sizes)
            value += gains[v]
            used[v] = phase
            last = v
            if value > best_value:
                best_value = value
                _copy_set(nodes, sizes, best)
            continue
        for k in range(sizes[CHOSEN]):
            penalty[nodes[CHOSEN, k]] += 1
        phase += 1
        if phase % delay == 0:
            for u in range(penalty.size):
                penalty[u] = max(penalty[u] - 1, 0)
        for k in range(sizes[CHOSEN] - 1, -1, -1):  # dropping moves the last node of the list, which stays, forward
            u = nodes[CHOSEN, k]
            if u != last:
                _remove_from_set(indptr, indices, u, tight, blockers, nodes, place, sizes)
                value -= gains[u]
        used[last] = phase
    values[0], values[2] = value, best_value
    counts[0], counts[1] = phase, last
    state[0] = random
    return best_value


@helper
def _least_punished(which, gains, nodes, sizes, penalty, used, phase, random):
    """The node of a list that was not yet used in this phase with the largest gain / (1 + penalty)."""
    size = sizes[which]
    found = np.int64(-1)
    best = -1.0
    equal = 0
    looked = size if size <= SCANNED else SAMPLES
    for k in range(looked):
        if size > SCANNED:
            random = next_random(random)
            v = nodes[which, random_below(random, size)]
        else:
            v = nodes[which, k]
        if used[v] == phase:
            continue
        key = gains[v] / (1.0 + penalty[v])
        if key > best:
            best, found, equal = key, np.int64(v), 1
        elif key == best:
            equal += 1
            random = next_random(random)
            if random_below(random, equal) == 0:
                found = np.int64(v)
    return found, random
