"""Cycles that a fractional cut breaks: the separation of odd-cycle inequalities (see `bounds.odd_cycles`).

In the doubled graph every node v is there as 2v and 2v + 1; an edge e joins copies of the same kind at length x_e and
of different kinds at length 1 - x_e. A path from 2v to 2v + 1 that is shorter than 1 is a closed walk that changes
sides an odd number of times, and holds a cycle whose inequality x violates. The doubled graph is its own mirror image:
what is d away from 2v has its other copy d away from 2v + 1. One search from 2v is therefore both halves of a search
from both ends, and looks no further than half of the shortest walk.
"""

from __future__ import annotations

from flipwise.kernels.heaps import push, sift
from flipwise.kernels.jit import kernel


@kernel(operations=lambda indptr, neighbours, edges, x, starts, *_: 4 * starts.size * min(neighbours.size, 2000))
def odd_walks(
    indptr,
    neighbours,
    edges,
    x,
    starts,
    reach,
    most,
    same,
    distance,
    before,
    parent,
    touched,
    keys,
    items,
    clear,
    walks,
    ends,
):
    """A shortest odd closed walk from each of `starts` that is below `reach`, of at most `most` states looked at.

    `walks` gets 2e + (1 where it changes sides) for each step, one walk after the other, `ends[k]` where that from the
    k-th start ends (nothing is written where there is none, or no room); the steps written are counted. A node with no
    such walk, and all nodes within `same` of it, are marked in `clear` and left out from then on, as starts and as
    nodes of walks: a walk through them is no shorter than reach - 2 same. `distance` is 2 for all states before and
    after.
    """
    used = 0
    for k in range(starts.size):
        v = starts[k]
        ends[k] = used
        if clear[v]:
            continue
        distance[2 * v] = 0.0
        touched[0] = 2 * v
        count = 1
        size = 1
        keys[0] = 0.0
        items[0] = 2 * v
        taken = 0
        shortest = reach
        meeting = -1
        last = 0
        step = 0
        while size > 0 and taken < most:
            key = keys[0]
            state = items[0]
            if 2.0 * key >= shortest:
                break
            sift(keys, items, size)
            size -= 1
            if key > distance[state]:
                continue
            taken += 1
            layer = state & 1
            u = state >> 1
            for p in range(indptr[u], indptr[u + 1]):
                if clear[neighbours[p]]:
                    continue
                e = edges[p]
                for crossing in range(2):
                    far = key + (1.0 - x[e] if crossing else x[e])
                    other = 2 * neighbours[p] + (layer ^ crossing)
                    if far + distance[other ^ 1] < shortest:  # 2 where the other half has not been
                        shortest = far + distance[other ^ 1]
                        meeting = state
                        step = 2 * e + crossing
                        last = other ^ 1
                    if 2.0 * far < shortest and far < distance[other]:
                        if distance[other] == 2.0:
                            touched[count] = other
                            count += 1
                        distance[other] = far
                        before[other] = 2 * e + crossing
                        parent[other] = state
                        push(keys, items, size, far, other)
                        size += 1
        if meeting >= 0:
            there = 0
            state = meeting
            while state != 2 * v:
                there += 1
                state = parent[state]
            back = 0
            state = last
            while state != 2 * v:
                back += 1
                state = parent[state]
            if used + there + 1 + back <= walks.size:
                state = meeting
                for at in range(used + there - 1, used - 1, -1):
                    walks[at] = before[state]
                    state = parent[state]
                walks[used + there] = step
                used += there + 1
                state = last
                for at in range(used, used + back):
                    walks[at] = before[state]
                    state = parent[state]
                used += back
                ends[k] = used
        elif taken < most:
            for i in range(count):
                if distance[touched[i]] <= same:
                    clear[touched[i] >> 1] = 1
        for i in range(count):
            distance[touched[i]] = 2.0
    return used
