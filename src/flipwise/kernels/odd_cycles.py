"""Cycles that a fractional cut breaks: the separation of odd-cycle inequalities (see `bounds.odd_cycles`).

In the doubled graph every node v is there as 2v and 2v + 1; an edge e joins copies of the same kind at length x_e and
of different kinds at length 1 - x_e. A path from 2v to 2v + 1 that is shorter than 1 is a closed walk that changes
sides an odd number of times, and holds a cycle whose inequality x violates.
"""

from __future__ import annotations

from flipwise.kernels.heaps import push, sift
from flipwise.kernels.jit import kernel


@kernel(operations=lambda indptr, neighbours, edges, x, starts, *_: 4 * starts.size * min(neighbours.size, 2000))
def odd_walks(
    indptr, neighbours, edges, x, starts, reach, most, distance, before, parent, touched, keys, items, walks, ends
):
    """A shortest odd closed walk from each of `starts` that is below `reach`, of at most `most` states looked at.

    `walks` gets 2e + (1 where it changes sides) for each step, one walk after the other, `ends[k]` where that from the
    k-th start ends (nothing is written where there is none, or no room); the steps written are counted. `distance` is 2
    for all states before and after.
    """
    used = 0
    for k in range(starts.size):
        v = starts[k]
        distance[2 * v] = 0.0
        touched[0] = 2 * v
        count = 1
        size = 1
        keys[0] = 0.0
        items[0] = 2 * v
        taken = 0
        found = False
        while size > 0 and taken < most:
            key = keys[0]
            state = items[0]
            sift(keys, items, size)
            size -= 1
            if key > distance[state]:
                continue
            if state == 2 * v + 1:
                found = True
                break
            taken += 1
            layer = state & 1
            u = state >> 1
            for p in range(indptr[u], indptr[u + 1]):
                e = edges[p]
                for crossing in range(2):
                    far = key + (1.0 - x[e] if crossing else x[e])
                    other = 2 * neighbours[p] + (layer ^ crossing)
                    if far < reach and far < distance[other]:
                        if distance[other] == 2.0:
                            touched[count] = other
                            count += 1
                        distance[other] = far
                        before[other] = 2 * e + crossing
                        parent[other] = state
                        push(keys, items, size, far, other)
                        size += 1
        if found:
            state = 2 * v + 1
            length = 0
            while state != 2 * v:
                length += 1
                state = parent[state]
            if used + length <= walks.size:
                state = 2 * v + 1
                while state != 2 * v:
                    walks[used] = before[state]
                    used += 1
                    state = parent[state]
        ends[k] = used
        for i in range(count):
            distance[touched[i]] = 2.0
    return used
