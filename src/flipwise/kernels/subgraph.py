"""Kernels on a set S of nodes and the degrees into it: d_i = sum of w_ij over j in S.

A graph is `indptr, indices, weights`; `weights` holds one number for each arc, or a single 1 that stands for all, and
then every degree is an integer. With E(S) the weight of the edges inside S, adding i changes E by d_i, removing i by
-d_i, and exchanging u in S for v outside by d_v - d_u - w_uv. A clique outside S brings the edges inside it and its
ties to S.
"""

from __future__ import annotations

import numpy as np

from flipwise.kernels.blocks import block_kernel
from flipwise.kernels.jit import NUMPY, entries_in_rows, entries_two_steps, helper, kernel


@helper
def _arc_weight(weights, p):
    """The weight of arc p."""
    return weights[0] if weights.size == 1 else weights[p]


@helper
def _toggle_node(indptr, indices, weights, node, inside, degrees):
    """Move a node into S or out of it and bring the degrees along; return the change of E(S)."""
    sign = -1 if inside[node] else 1
    inside[node] = 1 - inside[node]
    if weights.size == 1:
        step = sign * weights[0]
        for p in range(indptr[node], indptr[node + 1]):
            degrees[indices[p]] += step
    else:
        for p in range(indptr[node], indptr[node + 1]):
            degrees[indices[p]] += sign * weights[p]
    return sign * degrees[node]


@helper
def _edge_weight(indptr, indices, weights, u, v):
    """w_uv, by bisection in the shorter of the two rows."""
    if indptr[u + 1] - indptr[u] > indptr[v + 1] - indptr[v]:
        u, v = v, u
    low = indptr[u]
    high = indptr[u + 1]
    while low < high:
        middle = (low + high) // 2
        if indices[middle] < v:
            low = middle + 1
        else:
            high = middle
    if low < indptr[u + 1] and indices[low] == v:
        return _arc_weight(weights, low)
    return weights[0] * 0


def _row_sums_vectorised(indptr, indices, weights, x, sums):
    """The sums of each row's weights times x, added up in the order of the row (as `np.bincount` does)."""
    rows = np.repeat(np.arange(sums.size), np.diff(indptr))
    sums[:] = np.bincount(rows, weights=weights * x[indices], minlength=sums.size)


@block_kernel(vectorised=_row_sums_vectorised, speed=NUMPY)
def degrees_into(start, stop, indptr, indices, weights, inside, degrees):
    """Write the degree of every node into S: one full gradient."""
    for i in range(start, stop):
        total = weights[0] * 0
        for p in range(indptr[i], indptr[i + 1]):
            total += _arc_weight(weights, p) * inside[indices[p]]
        degrees[i] = total


@block_kernel(vectorised=_row_sums_vectorised, speed=NUMPY)
def multiply(start, stop, indptr, indices, weights, x, product):
    """Write W x for a real vector x."""
    for i in range(start, stop):
        total = 0.0
        for p in range(indptr[i], indptr[i + 1]):
            total += _arc_weight(weights, p) * x[indices[p]]
        product[i] = total


@kernel(operations=lambda indptr, indices, weights, nodes, *_: nodes.size + entries_in_rows(indptr, nodes))
def add_rows(indptr, indices, weights, nodes, product):
    """Add W 1_S to `product`, for the set S = `nodes`: only the rows of S are touched."""
    for t in range(nodes.size):
        for p in range(indptr[nodes[t]], indptr[nodes[t] + 1]):
            product[indices[p]] += _arc_weight(weights, p)


@kernel(operations=lambda indptr, indices, weights, nodes, *_: nodes.size + entries_in_rows(indptr, nodes))
def inner_weight(indptr, indices, weights, nodes, inside):
    """x'Wx: twice the weight of the edges inside S, from scratch."""
    total = weights[0] * 0
    for t in range(nodes.size):
        for p in range(indptr[nodes[t]], indptr[nodes[t] + 1]):
            total += _arc_weight(weights, p) * inside[indices[p]]
    return total


@kernel(operations=lambda indptr, indices, weights, nodes, *_: nodes.size + entries_in_rows(indptr, nodes))
def toggle_all(indptr, indices, weights, nodes, inside, degrees):
    """Move every node of `nodes` into S or out of it; return the exact change of E(S)."""
    change = weights[0] * 0
    for t in range(nodes.size):
        change += _toggle_node(indptr, indices, weights, nodes[t], inside, degrees)
    return change


@kernel(
    operations=lambda indptr, indices, weights, leaving, entering, *_: (
        8 * leaving.size + entries_in_rows(indptr, leaving) + entries_in_rows(indptr, entering)
    )
)
def exchange_improving(indptr, indices, weights, leaving, entering, inside, degrees):
    """Exchange the paired nodes in their order where that improves at its turn; return (exchanges, change of E)."""
    made = 0
    change = weights[0] * 0
    for t in range(leaving.size):
        u = leaving[t]
        v = entering[t]
        if inside[u] and not inside[v]:
            gain = degrees[v] - degrees[u] - _edge_weight(indptr, indices, weights, u, v)
            if gain > 1e-12 * abs(degrees[v]):  # rounding must not make a cycle; exact for integers
                _toggle_node(indptr, indices, weights, u, inside, degrees)
                _toggle_node(indptr, indices, weights, v, inside, degrees)
                made += 1
                change += gain
    return made, change


@kernel
def best_swaps(indptr, indices, weights, least_weight, inside, degrees, members, low, tie, limit):
    """Make the best exchange again and again until none improves; return (exchanges, change of E).

    `members` lists S and is kept up to date; `low` is work space of its size, `tie` a work array of zeros. An exchange
    gains at most d_v - d_u - min(w, 0): only members below the largest degree outside are looked at, and a node v
    outside only when it may beat what is known, then against all of them at once, with its row spread out in `tie`.
    """
    made = 0
    change = weights[0] * 0
    slack = -least_weight if least_weight < 0 else weights[0] * 0
    while made < limit:
        most = weights[0] * 0
        found = False
        for v in range(inside.size):
            if not inside[v] and (not found or degrees[v] > most):
                most = degrees[v]
                found = True
        if not found:
            break
        least = degrees[members[0]]
        count = 0
        for m in range(members.size):
            d = degrees[members[m]]
            least = min(least, d)
            if d < most + slack:
                low[count] = m
                count += 1
        best = weights[0] * 0
        best_m = -1
        best_v = members[0]  # any node: `best_m` says whether one was found
        for v in range(inside.size):
            if inside[v] or degrees[v] - least + slack <= best:
                continue
            for p in range(indptr[v], indptr[v + 1]):
                tie[indices[p]] = _arc_weight(weights, p)
            for c in range(count):
                u = members[low[c]]
                gain = degrees[v] - degrees[u] - tie[u]
                if gain > best and gain > 1e-12 * abs(degrees[v]):
                    best = gain
                    best_m = low[c]
                    best_v = v
            for p in range(indptr[v], indptr[v + 1]):
                tie[indices[p]] = weights[0] * 0
        if best_m < 0:
            break
        _toggle_node(indptr, indices, weights, members[best_m], inside, degrees)
        _toggle_node(indptr, indices, weights, best_v, inside, degrees)
        members[best_m] = best_v
        change += best
        made += 1
    return made, change


@kernel(operations=lambda indptr, indices, weights, seed, size, *_: size * indptr.size)
def grow(indptr, indices, weights, seed, size, pull, inside, degrees, own, piece):
    """Add `size` nodes to S, beginning with `seed`, always one with the largest d_i + pull * (degree into the piece).

    `own` is a work array of zeros for the degrees into the piece, and is zero again afterwards; `piece` receives the
    nodes. Returns the change of E(S).
    """
    change = weights[0] * 0
    node = seed
    for t in range(size):
        if t > 0:
            node = -1
            most = degrees[0] + pull * own[0]
            for i in range(inside.size):
                if not inside[i] and (node < 0 or degrees[i] + pull * own[i] > most):
                    node = i
                    most = degrees[i] + pull * own[i]
        change += _toggle_node(indptr, indices, weights, node, inside, degrees)
        piece[t] = node
        for p in range(indptr[node], indptr[node + 1]):
            own[indices[p]] += _arc_weight(weights, p)
    for t in range(size):
        for p in range(indptr[piece[t]], indptr[piece[t] + 1]):
            own[indices[p]] = weights[0] * 0
    return change


@kernel(operations=lambda indptr, indices, weights, size, *_: size * indptr.size)
def shed(indptr, indices, weights, size, spared, inside, degrees):
    """Remove `size` nodes from S, always one of least degree that is not `spared`; return the change of E(S)."""
    change = weights[0] * 0
    for _ in range(size):
        node = inside.size  # none yet
        for i in range(inside.size):
            if inside[i] and not spared[i] and (node == inside.size or degrees[i] < degrees[node]):
                node = i
        change += _toggle_node(indptr, indices, weights, node, inside, degrees)
    return change


@kernel(
    operations=lambda indptr, indices, weights, inside, degrees, best_inside, free_at, noise, *_: (
        2 * noise.size * indptr.size
    )
)
def tabu_walk(
    indptr, indices, weights, inside, degrees, best_inside, free_at, noise, tenure, ties, first_move, value, best
):
    """Walk by best exchanges, better or worse, where a moved node rests for a while; return (value, best value).

    One exchange for each entry of `noise`, the random numbers that lengthen the rests and break ties. The best set on
    the way is kept in `best_inside`. `ties` is work space: two rows for nodes of equal merit on either side.
    """
    width = ties.shape[1]
    for t in range(noise.size):
        now = first_move + t
        u_count = 0
        v_count = 0
        least = degrees[0]
        most = degrees[0]
        for i in range(inside.size):
            if free_at[i] > now:
                continue
            if inside[i]:
                if u_count == 0 or degrees[i] < least:
                    least = degrees[i]
                    u_count = 0
                if degrees[i] == least:
                    ties[0, u_count % width] = i
                    u_count += 1
            else:
                if v_count == 0 or degrees[i] > most:
                    most = degrees[i]
                    v_count = 0
                if degrees[i] == most:
                    ties[1, v_count % width] = i
                    v_count += 1
        if u_count == 0 or v_count == 0:
            continue
        u_count = min(u_count, width)
        v_count = min(v_count, width)
        u = ties[0, noise[t] % u_count]
        v = ties[1, noise[t] // 64 % v_count]
        tied = _edge_weight(indptr, indices, weights, u, v)
        for a in range(u_count * v_count):  # among equals, a pair that shares no edge gains more
            if tied <= 0:
                break
            other_u = ties[0, (noise[t] + a) % u_count]
            other_v = ties[1, (noise[t] // 64 + a // u_count) % v_count]
            weight = _edge_weight(indptr, indices, weights, other_u, other_v)
            if weight < tied:
                u = other_u
                v = other_v
                tied = weight
        value += most - least - tied
        _toggle_node(indptr, indices, weights, u, inside, degrees)
        _toggle_node(indptr, indices, weights, v, inside, degrees)
        free_at[u] = now + 1 + tenure + noise[t] // 4096 % tenure
        free_at[v] = now + 1 + (tenure + noise[t] // 4096 % tenure) // 2
        if value > best:
            best = value
            for i in range(inside.size):
                best_inside[i] = inside[i]
    return value, best


@helper
def _grow_clique(indptr, indices, weights, seed, inside, degrees, near, common, own, piece, worth):
    """A clique through `seed` that avoids S, in the order in which it grows; returns its size, at most that of `piece`.

    The next node is the one with the largest tie to the seed's neighbours and to S among those joined to all so far:
    ties to S alone would lead away from the clique at the first step. `worth[t]` is what the first t nodes bring.
    `near`, `common` and `own` are work arrays, one zero for each node before and after: ties to the seed's neighbours,
    how many and how strong into the clique.
    """
    first, last = indptr[seed], indptr[seed + 1]
    for p in range(first, last):
        if not inside[indices[p]]:
            common[indices[p]] = 1
            own[indices[p]] = _arc_weight(weights, p)
    for p in range(first, last):
        j = indices[p]
        if common[j]:
            for q in range(indptr[j], indptr[j + 1]):
                if common[indices[q]]:
                    near[j] += _arc_weight(weights, q)
    piece[0] = seed
    worth[0] = weights[0] * 0
    worth[1] = degrees[seed]
    size = 1
    while size < piece.size:
        node = -1
        for p in range(first, last):
            j = indices[p]
            if common[j] == size and (node < 0 or near[j] + degrees[j] > near[node] + degrees[node]):
                node = j
        if node < 0:
            break
        piece[size] = node
        worth[size + 1] = worth[size] + degrees[node] + own[node]
        size += 1
        common[node] = 0
        for q in range(indptr[node], indptr[node + 1]):
            if common[indices[q]]:
                common[indices[q]] += 1
                own[indices[q]] += _arc_weight(weights, q)
    for p in range(first, last):
        common[indices[p]] = 0
        own[indices[p]] = weights[0] * 0
        near[indices[p]] = weights[0] * 0
    return size


@kernel(operations=lambda indptr, indices, weights, seed, *_: entries_two_steps(indptr, np.array([seed])))
def clique_through(indptr, indices, weights, seed, inside, degrees, near, common, own, piece, worth):
    """Write a clique through `seed` into `piece`; returns its size, at most that of `piece`."""
    return _grow_clique(indptr, indices, weights, seed, inside, degrees, near, common, own, piece, worth)


@kernel(operations=lambda indptr, indices, weights, seeds, *_: entries_two_steps(indptr, seeds))
def best_cliques(indptr, indices, weights, seeds, loss, inside, degrees, near, common, own, piece, worth, gains, sizes):
    """For each seed, how many nodes of its clique to take and what that gains, when q nodes of S can go for `loss[q]`.

    Ties to nodes that would have to go are counted as gained, so the true gain may be smaller.
    """
    for a in range(seeds.size):
        size = _grow_clique(indptr, indices, weights, seeds[a], inside, degrees, near, common, own, piece, worth)
        sizes[a] = 1
        for q in range(2, size + 1):
            if worth[q] - loss[q] > worth[sizes[a]] - loss[sizes[a]]:
                sizes[a] = q
        gains[a] = worth[sizes[a]] - loss[sizes[a]]
