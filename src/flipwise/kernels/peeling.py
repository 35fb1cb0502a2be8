"""Kernels that take nodes out of a graph or into a set one after another: peeling, cores, greedy growth.

A graph is `indptr, indices, weights`. `weights` holds one number for each arc, or a single 1 that stands for all of
them: then every sum is an integer. Degrees among the alive nodes, `peel_below` and `induced_arcs` serve proofs, which
use the positive part of the weights only: there, negative weights count as 0.

Three orders of peeling remain because they differ among nodes of equal degree, and their users' results with them:
`peeling_order` (bins, with core numbers), `peel_least` (lists, the true degree at every step) and
`weighted_peeling_order` (a heap, for real weights).
"""

from __future__ import annotations

import numpy as np

from flipwise.kernels.blocks import block_kernel
from flipwise.kernels.jit import NUMPY, helper, kernel


@helper
def _arc_weight(weights, p):
    """The weight of arc p."""
    return weights[0] if weights.size == 1 else weights[p]


@helper
def _positive_weight(weights, p):
    """The positive part of the weight of arc p."""
    weight = weights[0] if weights.size == 1 else weights[p]
    return weight if weight > 0 else weights[0] * 0


@block_kernel(rows=lambda indptr, indices, weights, nodes, *_: nodes.size)
def alive_degrees(start, stop, indptr, indices, weights, nodes, alive, degrees):
    """Write the degree of each node of `nodes` among the alive nodes, into its place in `degrees`.

    `alive` is 0 or 1. Where all weights are one it is added up without a branch, which could not be predicted.
    """
    for t in range(start, stop):
        i = nodes[t]
        total = weights[0] * 0
        if weights.size == 1:
            for p in range(indptr[i], indptr[i + 1]):
                total += alive[indices[p]]
            total *= max(weights[0], weights[0] * 0)
        else:
            for p in range(indptr[i], indptr[i + 1]):
                if alive[indices[p]]:
                    total += _positive_weight(weights, p)
        degrees[i] = total


@kernel
def peel_below(indptr, indices, weights, alive, degrees, cap, queue, most):
    """Remove nodes whose degree among the alive is at most `cap` until none is left; return how many went.

    At the moment a node goes, what ties it to the others still there is at most `cap`. Stops early once more than
    `most` have gone.
    """
    head = 0
    tail = 0
    for i in range(alive.size):
        if alive[i] and degrees[i] <= cap:
            alive[i] = 0
            queue[tail] = i
            tail += 1
    while head < tail and tail <= most:
        i = queue[head]
        head += 1
        for p in range(indptr[i], indptr[i + 1]):
            j = indices[p]
            if alive[j]:
                degrees[j] -= _positive_weight(weights, p)
                if degrees[j] <= cap:
                    alive[j] = 0
                    queue[tail] = j
                    tail += 1
    return tail


@block_kernel(rows=lambda indptr, indices, weights, nodes, *_: nodes.size)
def induced_arcs(start, stop, indptr, indices, weights, nodes, alive, label, new_indptr, new_indices, new_weights):
    """Write the arcs of the subgraph on `nodes`, renamed by `label`; weights only where there are any."""
    for t in range(start, stop):
        i = nodes[t]
        q = new_indptr[t]
        for p in range(indptr[i], indptr[i + 1]):
            if q == new_indptr[t + 1]:
                break
            j = indices[p]
            new_indices[q] = label[j]  # written over by the next one where j is not alive
            if weights.size > 1:
                new_weights[q] = weights[p]
            q += alive[j]


def _later_neighbours_vectorised(indptr, indices, place, later):
    rows = np.repeat(np.arange(indptr.size - 1), np.diff(indptr))
    later[:] = np.bincount(rows[place[indices] > place[rows]], minlength=later.size)


@block_kernel(vectorised=_later_neighbours_vectorised, speed=NUMPY)
def later_neighbours(start, stop, indptr, indices, place, later):
    """Write how many neighbours of each node come after it in an order, given by the `place` of each node."""
    for i in range(start, stop):
        count = 0
        for p in range(indptr[i], indptr[i + 1]):
            if place[indices[p]] > place[i]:
                count += 1
        later[i] = count


@kernel
def peeling_order(indptr, indices, degrees, start, nodes, place, cores):
    """Order the nodes by repeated removal of one of least degree (Batagelj and Zaversnik 2003), for integer degrees.

    `degrees` is used up; `start` has room for the largest degree plus two; `nodes` becomes the order, `place` its
    inverse, and `cores[i]` the core number of i.
    """
    n = degrees.size
    for i in range(n):
        start[degrees[i] + 1] += 1
    for d in range(1, start.size):
        start[d] += start[d - 1]
    for i in range(n):  # a counting sort; afterwards start[d] is the end of the bin of degree d
        place[i] = start[degrees[i]]
        nodes[place[i]] = i
        start[degrees[i]] += 1
    for d in range(start.size - 1, 0, -1):
        start[d] = start[d - 1]
    start[0] = 0
    for t in range(n):
        i = nodes[t]
        cores[i] = degrees[i]
        for p in range(indptr[i], indptr[i + 1]):
            j = indices[p]
            if degrees[j] > degrees[i]:
                first = nodes[start[degrees[j]]]
                if first != j:  # j changes places with the first of its bin, which then begins one later
                    nodes[place[j]] = first
                    nodes[start[degrees[j]]] = j
                    place[first] = place[j]
                    place[j] = start[degrees[j]]
                start[degrees[j]] += 1
                degrees[j] -= 1


@kernel
def peel_least(indptr, indices, degrees, head, following, preceding, nodes):
    """Order all nodes by removing, again and again, one of least degree among those left; for integer degrees.

    `head[d]` is the first of the nodes of degree d, linked by `following` and `preceding` (-1: none). A removal lowers
    the least degree by one at most, so the pointer to it moves O(n + arcs) times in all. `degrees` is used up.
    """
    n = degrees.size
    for d in range(head.size):
        head[d] = -1
    for i in range(n - 1, -1, -1):
        d = degrees[i]
        following[i] = head[d]
        preceding[i] = -1
        if head[d] >= 0:
            preceding[head[d]] = i
        head[d] = i
    least = 0
    for t in range(n):
        while head[least] < 0:
            least += 1
        i = head[least]
        head[least] = following[i]
        if following[i] >= 0:
            preceding[following[i]] = -1
        nodes[t] = i
        degrees[i] = -1
        for p in range(indptr[i], indptr[i + 1]):
            j = indices[p]
            d = degrees[j]
            if d < 0:
                continue
            before = preceding[j]
            after = following[j]
            if before >= 0:
                following[before] = after
            else:
                head[d] = after
            if after >= 0:
                preceding[after] = before
            d -= 1
            degrees[j] = d
            following[j] = head[d]
            preceding[j] = -1
            if head[d] >= 0:
                preceding[head[d]] = j
            head[d] = j
            if d < least:
                least = d


@helper
def _wins_tie(a, b, tie):
    """Whether node a stands above node b of the same score: larger tie, then smaller number.

    Without ties (None) neither does, and both keep the places that the heap gave them.
    """
    if tie is None:
        return False
    if tie[a] != tie[b]:
        return tie[a] > tie[b]
    return a < b


@helper
def _sift_up(heap, place, at, score, tie):
    """Move the node at position `at` of the heap, whose largest score is on top, up to where it belongs."""
    node = heap[at]
    own = score[node]
    while at > 0:
        parent = (at - 1) // 2
        above = heap[parent]
        other = score[above]
        if other > own or (other == own and not _wins_tie(node, above, tie)):
            break
        heap[at] = above
        place[above] = at
        at = parent
    heap[at] = node
    place[node] = at


@helper
def _sift_down(heap, place, at, size, score, tie):
    """Move the node at position `at` of the heap down to where it belongs."""
    node = heap[at]
    own = score[node]
    while True:
        child = 2 * at + 1
        if child >= size:
            break
        below = heap[child]
        best = score[below]
        if child + 1 < size:
            second = heap[child + 1]
            other = score[second]
            if other > best or (other == best and _wins_tie(second, below, tie)):
                child += 1
                below = second
                best = other
        if own > best or (own == best and not _wins_tie(below, node, tie)):
            break
        heap[at] = below
        place[below] = at
        at = child
    heap[at] = node
    place[node] = at


@kernel
def weighted_peeling_order(indptr, indices, weights, degrees, heap, place, nodes):
    """Order the nodes by repeated removal of one of least weighted degree, with the heap.

    `degrees` is used up: the heap has the largest score on top, so they are turned into their negatives.
    """
    n = degrees.size
    for i in range(n):
        degrees[i] = -degrees[i]
        heap[i] = i
        place[i] = i
    for at in range(n // 2 - 1, -1, -1):
        _sift_down(heap, place, at, n, degrees, None)
    for t in range(n):
        i = heap[0]
        nodes[t] = i
        place[i] = -1
        size = n - t - 1
        if size > 0:
            heap[0] = heap[size]
            place[heap[0]] = 0
            _sift_down(heap, place, 0, size, degrees, None)
        for p in range(indptr[i], indptr[i + 1]):
            j = indices[p]
            if place[j] >= 0:
                degrees[j] += weights[p]
                if weights[p] >= 0:
                    _sift_up(heap, place, place[j], degrees, None)
                else:
                    _sift_down(heap, place, place[j], size, degrees, None)


def _heaviest_edge_vectorised(indptr, indices, weights, tie):
    rows = np.repeat(np.arange(tie.size), np.diff(indptr))
    places = np.flatnonzero(indices > rows)
    if places.size == 0:
        return -1, -1
    if weights.size > 1:
        places = places[weights[places] == weights[places].max()]
    best = places[np.argmax(tie[rows[places]] + tie[indices[places]])]
    return int(rows[best]), int(indices[best])


@kernel(vectorised=_heaviest_edge_vectorised, speed=NUMPY)
def heaviest_edge(indptr, indices, weights, tie):
    """The ends of an edge of largest weight; among equals, of largest sum of ties, then the first. (-1, -1): none."""
    first = -1
    second = -1
    heaviest = 0.0
    sum_of_ties = 0.0
    for i in range(tie.size):
        for p in range(indptr[i], indptr[i + 1]):
            j = indices[p]
            if j <= i:
                continue
            weight = _arc_weight(weights, p)
            better = weight > heaviest or (weight == heaviest and tie[i] + tie[j] > sum_of_ties)
            if first < 0 or better:
                first, second = i, j
                heaviest = weight
                sum_of_ties = tie[i] + tie[j]
    return first, second


@kernel
def greedy_growth(indptr, indices, weights, tie, by_tie, first, second, chosen, place, heap, score):
    """Grow from two nodes by the node with the largest total weight to those chosen, until `chosen` is full.

    `by_tie` lists all nodes, largest tie first: from it come nodes when none is joined to the set. `place` starts at
    -1 (untouched), is -2 for chosen nodes and a heap position for the others. `score` is scratch, all 0.
    """
    count = 0
    size = 0
    cursor = 0
    while count < chosen.size:
        if count == 0 and first >= 0:
            node = first
        elif count == 1 and second >= 0:
            node = second
        elif size > 0:
            node = heap[0]
        else:
            while place[by_tie[cursor]] == -2:
                cursor += 1
            node = by_tie[cursor]
        at = place[node]
        if at >= 0:  # take it out of the heap
            size -= 1
            if at < size:
                moved = heap[size]
                heap[at] = moved
                place[moved] = at
                _sift_down(heap, place, at, size, score, tie)
                _sift_up(heap, place, place[moved], score, tie)
        place[node] = -2
        chosen[count] = node
        count += 1
        for p in range(indptr[node], indptr[node + 1]):
            j = indices[p]
            if place[j] == -2:
                continue
            score[j] += _arc_weight(weights, p)
            if place[j] == -1:
                heap[size] = j
                place[j] = size
                size += 1
            _sift_up(heap, place, place[j], score, tie)
