"""Kernels that split every edge between its ends in whole units, until no node carries more than its room.

A graph is `indptr, indices`, rows ascending, with `twin[p]` the arc opposite to arc p. `own[p]` units of an edge are
carried by the node whose row p is in, `own[twin[p]]` by the other end; a node may hand its share over, so arc p has
room for a flow of `own[p]`. `loads` is what every node carries, `room` what it may. From nodes with too much to nodes
with room left goes a maximum flow in layers (Dinic 1970). All numbers are integers: what is proven is exact.
"""

from __future__ import annotations

from flipwise.kernels.jit import kernel


@kernel
def opposite_arcs(indptr, indices, cursor, twin):
    """Find the arc opposite to each; `cursor` begins as the start of each row and is used up."""
    for i in range(indptr.size - 1):
        for p in range(indptr[i], indptr[i + 1]):
            j = indices[p]
            if j > i:  # the rows ascend, so the opposite arcs of row j come in the order of these i
                q = cursor[j]
                cursor[j] += 1
                twin[p] = q
                twin[q] = p


@kernel(operations=lambda indptr, indices, *more: 2 * more[-1] * indices.size)
def even_out(indptr, indices, twin, price, own, loads, passes):
    """Let every edge move units to the end that carries less for its price, `passes` times."""
    same = True
    for i in range(price.size):
        same = same and price[i] == price[0]
    for _ in range(passes):
        for i in range(indptr.size - 1):
            load = loads[i]
            for p in range(indptr[i], indptr[i + 1]):
                j = indices[p]
                if j < i:
                    continue
                if same:
                    moved = (load - loads[j]) >> 1
                else:
                    moved = int((1.0 * load * price[j] - 1.0 * loads[j] * price[i]) / (price[i] + price[j]))
                if moved == 0:
                    continue
                q = twin[p]
                moved = max(min(moved, own[p]), -own[q])
                own[p] -= moved
                own[q] += moved
                load -= moved
                loads[j] += moved
            loads[i] = load


@kernel
def layers(indptr, indices, own, loads, room, level, queue):
    """Number the nodes by their distance from those with too much, up to the first with room left.

    Returns how many nodes were met (they begin `queue`) and whether one of them has room left. Where none has, nothing
    can leave the nodes met: they carry all of the edges among themselves, none of the others, and more than their room.
    """
    n = indptr.size - 1
    tail = 0
    for i in range(n):
        level[i] = -1
        if loads[i] > room[i]:
            level[i] = 0
            queue[tail] = i
            tail += 1
    head = 0
    last = n
    while head < tail:
        i = queue[head]
        head += 1
        if level[i] >= last:
            break
        for p in range(indptr[i], indptr[i + 1]):
            j = indices[p]
            if own[p] > 0 and level[j] < 0:
                level[j] = level[i] + 1
                queue[tail] = j
                tail += 1
                if loads[j] < room[j]:
                    last = level[j]
    return tail, last < n


@kernel
def relieve(indptr, indices, twin, own, loads, room, level, queue, met, at, path):
    """Hand units down the layers, from every node with too much, until no more can go that way; returns how many.

    `at` begins as the start of each row: the arc by which a node hands on next.
    """
    total = 0
    for t in range(met):
        source = queue[t]
        if level[source] > 0:
            break
        i = source
        depth = 0
        while loads[source] > room[source]:
            if depth > 0 and loads[i] < room[i]:
                moved = min(loads[source] - room[source], room[i] - loads[i])
                for d in range(depth):
                    moved = min(moved, own[path[d]])
                start = 0
                for d in range(depth - 1, -1, -1):
                    p = path[d]
                    own[p] -= moved
                    own[twin[p]] += moved
                    if own[p] == 0:
                        start = d  # the first arc that has nothing left: go on from there
                loads[source] -= moved
                loads[i] += moved
                total += moved
                i = indices[twin[path[start]]]
                depth = start
                continue
            p = at[i]
            if p < indptr[i + 1]:
                j = indices[p]
                if own[p] > 0 and level[j] == level[i] + 1:
                    path[depth] = p
                    depth += 1
                    i = j
                else:
                    at[i] += 1
            elif depth > 0:
                depth -= 1
                i = indices[twin[path[depth]]]
                at[i] += 1
            else:
                break
    return total


@kernel
def with_way_out(indptr, indices, twin, own, loads, room, out, queue):
    """Mark the nodes from which units can get to a node with room left; `out` begins as zeros."""
    tail = 0
    for i in range(indptr.size - 1):
        if loads[i] < room[i]:
            out[i] = 1
            queue[tail] = i
            tail += 1
    head = 0
    while head < tail:
        j = queue[head]
        head += 1
        for p in range(indptr[j], indptr[j + 1]):
            i = indices[p]
            if not out[i] and own[twin[p]] > 0:
                out[i] = 1
                queue[tail] = i
                tail += 1


@kernel
def gains_in_order(indptr, indices, weights, bonus, place, gains):
    """Write what each node adds to those before it in an order: its bonus, and its edges to them."""
    for i in range(indptr.size - 1):
        total = bonus[i]
        for p in range(indptr[i], indptr[i + 1]):
            if place[indices[p]] < place[i]:
                total += weights[0] if weights.size == 1 else weights[p]
        gains[i] = total


@kernel
def fall_below(indptr, indices, weights, alive, degrees, least, queue):
    """Remove nodes whose degree among the alive is below their own least, again and again; return how many are left.

    `degrees` is what each node has at the beginning, and is kept up to date for those that stay.
    """
    tail = 0
    for i in range(indptr.size - 1):
        if alive[i] and degrees[i] < least[i]:
            alive[i] = 0
            queue[tail] = i
            tail += 1
    head = 0
    while head < tail:
        i = queue[head]
        head += 1
        for p in range(indptr[i], indptr[i + 1]):
            j = indices[p]
            if alive[j]:
                degrees[j] -= weights[0] if weights.size == 1 else weights[p]
                if degrees[j] < least[j]:
                    alive[j] = 0
                    queue[tail] = j
                    tail += 1
    return indptr.size - 1 - tail
