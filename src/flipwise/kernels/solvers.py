"""Kernels of the methods in `flipwise.solvers`: dense subgraphs, a low-rank sweep, a projection, the mixing method.

A graph is `indptr, indices, weights`; `weights` holds one number for each arc, or a single 1 that stands for all.

The mixing method works on H = (sparse or dense part) + U diag(s) U', for the vectors V of a semidefinite relaxation
(see `certify.sdp`). Row i of V is replaced by the unit vector opposite to g_i = sum over j != i of H_ij V_j, which
minimises sum_ij H_ij <V_i, V_j> over V_i. `M` = U'V is kept up to date. `norms` receives |g_i|, the dual variables. Its
sweeps return the decrease of the sum.
"""

from __future__ import annotations

import math

from flipwise.kernels.jit import helper, kernel


@helper
def _weight(weights, p):
    return weights[0] if weights.size == 1 else weights[p]


@helper
def _before(a, b, score, tie):
    """Whether node a is taken before node b: larger score, then larger tie, then smaller number."""
    if score[a] != score[b]:
        return score[a] > score[b]
    if tie[a] != tie[b]:
        return tie[a] > tie[b]
    return a < b


@helper
def _rise(heap, place, at, score, tie):
    node = heap[at]
    while at > 0:
        parent = (at - 1) // 2
        if not _before(node, heap[parent], score, tie):
            break
        heap[at] = heap[parent]
        place[heap[at]] = at
        at = parent
    heap[at] = node
    place[node] = at


@helper
def _sink(heap, place, at, size, score, tie):
    node = heap[at]
    while True:
        child = 2 * at + 1
        if child >= size:
            break
        if child + 1 < size and _before(heap[child + 1], heap[child], score, tie):
            child += 1
        if not _before(heap[child], node, score, tie):
            break
        heap[at] = heap[child]
        place[heap[at]] = at
        at = child
    heap[at] = node
    place[node] = at


@kernel
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
            weight = _weight(weights, p)
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
                _sink(heap, place, at, size, score, tie)
                _rise(heap, place, place[moved], score, tie)
        place[node] = -2
        chosen[count] = node
        count += 1
        for p in range(indptr[node], indptr[node + 1]):
            j = indices[p]
            if place[j] == -2:
                continue
            score[j] += _weight(weights, p)
            if place[j] == -1:
                heap[size] = j
                place[j] = size
                size += 1
            _rise(heap, place, place[j], score, tie)


@kernel
def add_rows(indptr, indices, weights, nodes, product):
    """Add W 1_S to `product`, for the set S = `nodes`: only the rows of S are touched."""
    for t in range(nodes.size):
        for p in range(indptr[nodes[t]], indptr[nodes[t] + 1]):
            product[indices[p]] += _weight(weights, p)


@kernel
def peel_least(indptr, indices, degrees, head, following, preceding, nodes):
    """Order all nodes by removing, again and again, one of least degree among those left; for integer degrees.

    `head[d]` is the first of the nodes of degree d, linked by `following` and `preceding` (-1: none). A removal lowers
    the least degree by one at most, so the pointer to it moves O(n + arcs) times in all. `degrees` is used up.
    """
    n = degrees.size
    head[:] = -1
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


@kernel
def lowrank_sweep(U, s, c, slack, start, count, inner, x):
    """Flip the bits start, ..., start + count - 1 in turn wherever f(x) = x'U diag(s) U'x + c'x falls.

    `inner` = U'x is kept up to date. Returns (number of flips, change of f).
    """
    flips = 0
    change = 0.0
    rank = U.shape[1]
    for i in range(start, start + count):
        slope = 0.0
        own = 0.0
        for a in range(rank):
            slope += U[i, a] * s[a] * inner[a]
            own += U[i, a] * s[a] * U[i, a]
        gain = 2.0 * x[i] * (2.0 * slope + c[i]) - 4.0 * own
        if gain <= slack[i]:
            continue
        for a in range(rank):
            inner[a] -= 2.0 * x[i] * U[i, a]
        x[i] = -x[i]
        flips += 1
        change -= gain
    return flips, change


@kernel
def clipped_counts(y, t):
    """For clip(y - t, -1, 1): entries at +1 minus entries at -1, how many lie between, and the sum of y over those.

    The projection of y onto {-1 <= x <= 1, sum x = s} is of this form.
    """
    bound = 0
    between = 0
    total = 0.0
    for i in range(y.size):
        z = y[i] - t
        if z >= 1.0:
            bound += 1
        elif z <= -1.0:
            bound -= 1
        else:
            between += 1
            total += y[i]
    return bound, between, total


@helper
def _replace_vector(i, U, s, M, V, g):
    """Add the low-rank part to `g`, turn V_i against it; return (|g|, decrease)."""
    rank = V.shape[1]
    for b in range(U.shape[1]):
        w = U[i, b] * s[b]
        if w != 0.0:
            for a in range(rank):
                g[a] += w * (M[b, a] - U[i, b] * V[i, a])
    square = 0.0
    along = 0.0
    for a in range(rank):
        square += g[a] * g[a]
        along += g[a] * V[i, a]
    norm = math.sqrt(square)
    if norm <= 1e-300:
        return norm, 0.0
    for a in range(rank):
        g[a] = -g[a] / norm
    for b in range(U.shape[1]):
        if U[i, b] != 0.0:
            for a in range(rank):
                M[b, a] += U[i, b] * (g[a] - V[i, a])
    for a in range(rank):
        V[i, a] = g[a]
    return norm, 2.0 * (norm + along)


@kernel
def mixing_sweep_csr(indptr, indices, data, U, s, M, V, g, norms):
    """A sweep with the first part in CSR form."""
    decrease = 0.0
    rank = V.shape[1]
    for i in range(V.shape[0]):
        for a in range(rank):
            g[a] = 0.0
        for p in range(indptr[i], indptr[i + 1]):
            j = indices[p]
            if j != i:
                w = data[p]
                for a in range(rank):
                    g[a] += w * V[j, a]
        norms[i], gain = _replace_vector(i, U, s, M, V, g)
        decrease += gain
    return decrease


@kernel
def mixing_sweep_dense(H, U, s, M, V, g, norms):
    """A sweep with the first part dense."""
    decrease = 0.0
    rank = V.shape[1]
    for i in range(V.shape[0]):
        for a in range(rank):
            g[a] = 0.0
        for j in range(V.shape[0]):
            w = H[i, j]
            if j != i and w != 0.0:
                for a in range(rank):
                    g[a] += w * V[j, a]
        norms[i], gain = _replace_vector(i, U, s, M, V, g)
        decrease += gain
    return decrease
