"""Coarsening of a weighted graph: matching along heavy edges, contraction of the matched pairs.

Karypis, Kumar: A fast and high quality multilevel scheme for partitioning irregular graphs, SIAM J. Sci. Comput. 20,
1998; the rating w^2 / (c_u c_v) of an edge is from Holtgrewe, Sanders, Schulz: Engineering a scalable high quality
graph partitioner, IPDPS 2010. Only nodes of the same class are matched, so a partition that is constant on classes
survives.
"""

from __future__ import annotations

from flipwise.kernels.jit import kernel


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
