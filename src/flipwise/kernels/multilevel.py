"""Multilevel bisection of a weighted graph: coarsening, a first cut, and its refinement.

Coarsening matches nodes along heavy edges and contracts the pairs: Karypis, Kumar: A fast and high quality multilevel
scheme for partitioning irregular graphs, SIAM J. Sci. Comput. 20, 1998; the rating w^2 / (c_u c_v) of an edge is from
Holtgrewe, Sanders, Schulz: Engineering a scalable high quality graph partitioner, IPDPS 2010. Only nodes of the same
class are matched, so a partition that is constant on classes survives.

Refinement makes passes with bucket queues: Fiduccia, Mattheyses: A linear-time heuristic for improving network
partitions, DAC 1982. A pass moves nodes one at a time, best gain first, each at most once, downhill too, and then
returns to the best balanced state it met. The balance may be off by `slack` during the pass; only states off by at
most `tolerance` count.
"""

from __future__ import annotations

import numpy as np

from flipwise.kernels.jit import helper, kernel


@kernel
def csr_heavy_matching(indptr, indices, w, sizes, largest, order, classes, partner):
    """Match nodes in the given order with their best rated free neighbour; `partner[v] = v` where none is free.

    A pair may not be larger than `largest`. Returns the number of pairs and single nodes together.
    """
    count = 0
    for v in range(partner.size):
        partner[v] = -1
    for k in range(order.size):
        v = order[k]
        if partner[v] >= 0:
            continue
        best = v
        rating = 0.0
        for p in range(indptr[v], indptr[v + 1]):
            u = indices[p]
            if u == v or partner[u] >= 0 or classes[u] != classes[v] or sizes[u] + sizes[v] > largest:
                continue
            score = float(w[p]) * float(w[p]) / (float(sizes[u]) * float(sizes[v]))
            if score > rating:
                rating = score
                best = u
        partner[v] = best
        partner[best] = v
        count += 1
    return count


@kernel
def csr_contract(indptr, indices, w, sizes, partner, coarse, place, c_indptr, c_indices, c_w, c_sizes):
    """The graph in which matched nodes are one: weights of parallel edges are added, loops dropped.

    Writes the coarse node of each node into `coarse` (all -1 at the start), and the coarse graph. `place` is scratch,
    one entry for each coarse node, all -1. Returns the number of coarse arcs.
    """
    n = partner.size
    count = 0
    for v in range(n):
        if coarse[v] < 0:
            coarse[v] = count
            coarse[partner[v]] = count
            count += 1
    arcs = 0
    c_indptr[0] = 0
    node = 0
    for v in range(n):
        u = partner[v]
        if u < v:
            continue
        start = arcs
        c_sizes[node] = sizes[v] if u == v else sizes[v] + sizes[u]
        for side in range(2 if u != v else 1):
            x = v if side == 0 else u
            for p in range(indptr[x], indptr[x + 1]):
                to = coarse[indices[p]]
                if to == node:
                    continue
                at = place[to]
                if at < start:
                    place[to] = arcs
                    c_indices[arcs] = to
                    c_w[arcs] = w[p]
                    arcs += 1
                else:
                    c_w[at] += w[p]
        node += 1
        c_indptr[node] = arcs
    return arcs


@kernel
def csr_grow(indptr, indices, sizes, goal, order, s, queue):
    """A side (+1) of size at least `goal`, grown breadth first from the first nodes of `order`; all others are -1."""
    n = s.size
    for v in range(n):
        s[v] = -1
    reached = sizes[0] - sizes[0]
    head = 0
    tail = 0
    for k in range(n):
        if reached >= goal:
            break
        if s[order[k]] > 0:
            continue
        s[order[k]] = 1
        reached += sizes[order[k]]
        queue[tail] = order[k]
        tail += 1
        while head < tail and reached < goal:
            v = queue[head]
            head += 1
            for p in range(indptr[v], indptr[v + 1]):
                u = indices[p]
                if s[u] < 0 and reached < goal:
                    s[u] = 1
                    reached += sizes[u]
                    queue[tail] = u
                    tail += 1
    return reached


@helper
def _insert_node(side, b, v, head, following, previous, bucket):
    """Put v at the front of bucket b of a side."""
    first = head[side, b]
    following[v] = first
    previous[v] = -1
    if first >= 0:
        previous[first] = v
    head[side, b] = v
    bucket[v] = b


@helper
def _remove_node(side, v, head, following, previous, bucket):
    """Take v out of its bucket."""
    before = previous[v]
    after = following[v]
    if before >= 0:
        following[before] = after
    else:
        head[side, bucket[v]] = after
    if after >= 0:
        previous[after] = before
    bucket[v] = -1


@helper
def _bucket_of(gain, reach, steps):
    """The bucket of a gain between -reach and reach; `steps` buckets for one unit."""
    return np.int64((gain + reach) * steps)


@helper
def _best_movable(side, sizes, highest, head, following, room):
    """The best node of a side that fits into `room` (of the first few of the highest buckets), or -1."""
    b = highest[side]
    while b >= 0 and head[side, b] < 0:
        b -= 1
    highest[side] = b
    looked = 0
    while b >= 0 and looked < 16:
        v = head[side, b]
        while v >= 0 and looked < 16:
            if sizes[v] <= room:
                return v
            looked += 1
            v = following[v]
        b -= 1
    return -1


@kernel
def csr_gains(indptr, indices, w, s, gain):
    """gain_v: what the cut loses when v changes sides. Returns the weight of the cut (each edge counted twice)."""
    gain[0] = 0  # what it held before may be anything, also no number
    cut = gain[0]
    for v in range(s.size):
        total = cut - cut
        for p in range(indptr[v], indptr[v + 1]):
            if s[indices[p]] == s[v]:
                total -= w[p]
            else:
                total += w[p]
                cut += w[p]
        gain[v] = total
    return cut


@kernel
def csr_pass(
    indptr, indices, w, sizes, reach, steps, off, tolerance, slack, patience, random, s, gain, head, following,
    previous, bucket, locked, moves,
):  # fmt: skip
    """One pass. `off` is (size of the +1 side) - (its goal); returns (decrease of the cut, new off).

    `head` (2 x buckets, all -1), `following`, `previous`, `bucket` (all -1), `locked` (all False), `moves` are
    scratch of the right size; `s` and `gain` are changed in place. A state less off than the start's counts as better
    when the start is off by more than `tolerance`.
    """
    n = s.size
    buckets = head.shape[1]
    highest = np.empty(2, dtype=np.int64)
    highest[0] = -1
    highest[1] = -1
    minus, plus = np.int64(0), np.int64(1)  # no literals: helpers would be compiled for each by itself
    for k in range(n):
        v = (k + random) % n  # so that ties fall differently in each pass
        for p in range(indptr[v], indptr[v + 1]):
            if s[indices[p]] != s[v]:
                side = 1 if s[v] > 0 else 0
                b = _bucket_of(gain[v], reach, steps)
                _insert_node(side, b, v, head, following, previous, bucket)
                highest[side] = max(highest[side], b)
                break
    zero = gain[0] - gain[0]
    decrease = zero
    best = zero
    best_off = off
    kept = 0
    count = 0
    while count < n and count - kept < patience:
        give = _best_movable(plus, sizes, highest, head, following, off + slack)  # +1 -> -1
        take = _best_movable(minus, sizes, highest, head, following, slack - off)
        if off > tolerance and off > 0:
            take = -1
        elif off < -tolerance:
            give = -1
        if give < 0 and take < 0:
            give = _best_movable(plus, sizes, highest, head, following, n + 2 * slack + abs(off)) if off > 0 else -1
            take = _best_movable(minus, sizes, highest, head, following, n + 2 * slack + abs(off)) if off < 0 else -1
            if give < 0 and take < 0:
                break
        if give >= 0 and take >= 0:
            if gain[give] > gain[take] or (gain[give] == gain[take] and off > 0):
                take = -1
            else:
                give = -1
        v = give if give >= 0 else take
        side = 1 if s[v] > 0 else 0
        _remove_node(side, v, head, following, previous, bucket)
        locked[v] = True
        moves[count] = v
        count += 1
        decrease += gain[v]
        if side == 1:
            off -= sizes[v]
        else:
            off += sizes[v]
        s[v] = -s[v]
        gain[v] = -gain[v]
        for p in range(indptr[v], indptr[v + 1]):
            u = np.int64(indices[p])
            # the edge is inside now where the ends agree: u gains less by leaving
            if s[u] == s[v]:
                gain[u] -= 2 * w[p]
            else:
                gain[u] += 2 * w[p]
            if locked[u]:
                continue
            side = 1 if s[u] > 0 else 0
            if bucket[u] >= 0:
                _remove_node(side, u, head, following, previous, bucket)
            b = min(buckets - 1, max(0, _bucket_of(gain[u], reach, steps)))
            _insert_node(side, b, u, head, following, previous, bucket)
            highest[side] = max(highest[side], b)
        if abs(best_off) > tolerance:
            better = abs(off) < abs(best_off)
        else:
            better = abs(off) <= tolerance and (decrease > best or (decrease == best and abs(off) < abs(best_off)))
        if better:
            best = decrease
            best_off = off
            kept = count
    for k in range(count - 1, kept - 1, -1):
        v = moves[k]
        s[v] = -s[v]
        gain[v] = -gain[v]
        for p in range(indptr[v], indptr[v + 1]):
            if s[indices[p]] == s[v]:
                gain[indices[p]] -= 2 * w[p]
            else:
                gain[indices[p]] += 2 * w[p]
    return best, best_off
