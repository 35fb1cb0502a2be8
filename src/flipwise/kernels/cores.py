"""Kernels that cut a graph down: degrees among the nodes still alive, peeling, and the induced subgraph.

A graph is `indptr, indices, weights`. `weights` holds one number for each arc, or a single 1 that stands for all of
them: then every sum is an integer. Negative weights count as 0 here, because the proofs use the positive part only.
"""

from __future__ import annotations

from flipwise.kernels.jit import helper, kernel, parallel_kernel, prange

HANDS = 64
"""Nodes are dealt out one by one into so many hands: neighbouring numbers often have large degrees together."""


@helper
def _positive(weights, p):
    """The positive part of the weight of arc p."""
    weight = weights[0] if weights.size == 1 else weights[p]
    return weight if weight > 0 else weights[0] * 0


@parallel_kernel
def alive_degrees(indptr, indices, weights, nodes, alive, degrees):
    """Write the degree of each node of `nodes` among the alive nodes, into its place in `degrees`.

    `alive` is 0 or 1. Where all weights are one it is added up without a branch, which could not be predicted.
    """
    for hand in prange(HANDS):
        for t in range(hand, nodes.size, HANDS):
            i = nodes[t]
            total = weights[0] * 0
            if weights.size == 1:
                for p in range(indptr[i], indptr[i + 1]):
                    total += alive[indices[p]]
                total *= _positive(weights, 0)
            else:
                for p in range(indptr[i], indptr[i + 1]):
                    if alive[indices[p]]:
                        total += _positive(weights, p)
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
                degrees[j] -= _positive(weights, p)
                if degrees[j] <= cap:
                    alive[j] = 0
                    queue[tail] = j
                    tail += 1
    return tail


@parallel_kernel
def induced_arcs(indptr, indices, weights, nodes, alive, label, new_indptr, new_indices, new_weights):
    """Write the arcs of the subgraph on `nodes`, renamed by `label`; weights only where there are any."""
    for hand in prange(HANDS):
        for t in range(hand, nodes.size, HANDS):
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


@helper
def _sift_down(heap, place, key, at, size):
    node = heap[at]
    while True:
        child = 2 * at + 1
        if child >= size:
            break
        if child + 1 < size and key[heap[child + 1]] < key[heap[child]]:
            child += 1
        if key[heap[child]] >= key[node]:
            break
        heap[at] = heap[child]
        place[heap[at]] = at
        at = child
    heap[at] = node
    place[node] = at


@helper
def _sift_up(heap, place, key, at):
    node = heap[at]
    while at > 0:
        parent = (at - 1) // 2
        if key[heap[parent]] <= key[node]:
            break
        heap[at] = heap[parent]
        place[heap[at]] = at
        at = parent
    heap[at] = node
    place[node] = at


@kernel
def weighted_peeling_order(indptr, indices, weights, degrees, heap, place, nodes):
    """Order the nodes by repeated removal of one of least weighted degree, with an indexed heap."""
    n = degrees.size
    for i in range(n):
        heap[i] = i
        place[i] = i
    for at in range(n // 2 - 1, -1, -1):
        _sift_down(heap, place, degrees, at, n)
    for t in range(n):
        i = heap[0]
        nodes[t] = i
        place[i] = -1
        size = n - t - 1
        if size > 0:
            heap[0] = heap[size]
            place[heap[0]] = 0
            _sift_down(heap, place, degrees, 0, size)
        for p in range(indptr[i], indptr[i + 1]):
            j = indices[p]
            if place[j] >= 0:
                degrees[j] -= weights[p]
                if weights[p] >= 0:
                    _sift_up(heap, place, degrees, place[j])
                else:
                    _sift_down(heap, place, degrees, place[j], size)


@parallel_kernel
def later_neighbours(indptr, indices, place, later):
    """Write how many neighbours of each node come after it in an order, given by the `place` of each node."""
    for i in prange(later.size):
        count = 0
        for p in range(indptr[i], indptr[i + 1]):
            if place[indices[p]] > place[i]:
                count += 1
        later[i] = count
