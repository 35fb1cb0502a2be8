"""Kernels on connected sets: pieces of growing sets, nodes that hold a set together, and moves that keep it in one.

A graph is `indptr, indices, weights` as in `kernels.subgraph`. `degrees[i]` is what node i adds to the set, its own
weight included; `ties[i]` is how many neighbours it has there.
"""

from __future__ import annotations

from flipwise.kernels.jit import helper, kernel


@helper
def _weight_of(weights, p):
    """The weight of arc p."""
    return weights[0] if weights.size == 1 else weights[p]


@helper
def _toggle_node(indptr, indices, weights, node, inside, degrees, ties):
    """Move a node into the set or out of it; return the change of the set's weight."""
    sign = -1 if inside[node] else 1
    inside[node] = 1 - inside[node]
    for p in range(indptr[node], indptr[node + 1]):
        degrees[indices[p]] += sign * _weight_of(weights, p)
        ties[indices[p]] += sign
    return sign * degrees[node]


@kernel
def add_nodes(indptr, indices, weights, nodes, inside, degrees, ties):
    """Add nodes to a set; return the change of its weight."""
    change = 0.0
    for t in range(nodes.size):
        if not inside[nodes[t]]:
            change += _toggle_node(indptr, indices, weights, nodes[t], inside, degrees, ties)
    return change


@kernel
def best_piece(indptr, indices, weights, bonus, order, pinned, least, most, by_weight, parent, sizes, sums, held):
    """Add the nodes in their order, and look at every connected piece on the way that holds all pinned nodes.

    Returns the number of nodes added and one node of the piece of `least` to `most` nodes with the largest weight for
    its size (`by_weight`: with the largest weight), or (-1, -1). `parent`, `sizes`, `sums`, `held` are work arrays.
    """
    wanted = 0
    for i in range(order.size):
        parent[i] = -1
        wanted += pinned[i]
    found = -1
    found_at = -1
    found_sum = 0.0
    found_size = 1
    for t in range(order.size):
        node = order[t]
        parent[node] = node
        sizes[node] = 1
        sums[node] = bonus[node]
        held[node] = pinned[node]
        root = node
        for p in range(indptr[node], indptr[node + 1]):
            other = indices[p]
            if parent[other] < 0:
                continue
            while parent[other] != other:
                parent[other] = parent[parent[other]]
                other = parent[other]
            sums[root] += _weight_of(weights, p)
            if other == root:
                continue
            if sizes[other] > sizes[root]:
                root, other = other, root
            parent[other] = root
            sizes[root] += sizes[other]
            sums[root] += sums[other]
            held[root] += held[other]
        if held[root] < wanted or sizes[root] < least or sizes[root] > most:
            continue
        if by_weight:
            better = sums[root] > found_sum
        else:
            better = sums[root] * found_size > found_sum * sizes[root]
        if found < 0 or better:
            found = node
            found_at = t + 1
            found_sum = sums[root]
            found_size = sizes[root]
    return found_at, found


@helper
def _mark_cuts(indptr, indices, inside, depth, low, at, stack, above, cut):
    """Mark the members without which a connected set falls apart (Hopcroft and Tarjan 1973)."""
    n = inside.size
    root = -1
    for i in range(n):
        depth[i] = -1
        cut[i] = 0
        if inside[i]:
            root = i
    if root < 0:
        return
    depth[root] = 0
    low[root] = 0
    at[root] = indptr[root]
    stack[0] = root
    above[root] = root
    count = 1
    branches = 0
    while count > 0:
        i = stack[count - 1]
        if at[i] < indptr[i + 1]:
            j = indices[at[i]]
            at[i] += 1
            if not inside[j]:
                continue
            if depth[j] < 0:
                depth[j] = depth[i] + 1
                low[j] = depth[j]
                at[j] = indptr[j]
                above[j] = i
                stack[count] = j
                count += 1
                if i == root:
                    branches += 1
            elif j != above[i]:
                low[i] = min(low[i], depth[j])
        else:
            count -= 1
            if i != root:
                parent = above[i]
                low[parent] = min(low[parent], low[i])
                if parent != root and low[i] >= depth[parent]:
                    cut[parent] = 1
    if branches > 1:
        cut[root] = 1


@kernel
def grow_connected(indptr, indices, weights, noise, inside, degrees, ties, count):
    """Add `count` nodes, always one with a neighbour in the set and the largest degree + noise; return what was added.

    The change of the set's weight, and how many nodes were added: fewer where nothing more is joined to the set.
    """
    change = 0.0
    for t in range(count):
        node = -1
        for i in range(inside.size):
            if not inside[i] and ties[i] > 0 and (node < 0 or degrees[i] + noise[i] > degrees[node] + noise[node]):
                node = i
        if node < 0:
            return change, t
        change += _toggle_node(indptr, indices, weights, node, inside, degrees, ties)
    return change, count


@kernel
def shed_connected(
    indptr, indices, weights, noise, pinned, inside, degrees, ties, count, depth, low, at, stack, above, cut
):
    """Remove `count` nodes, always that of least degree + noise without which the set is still connected.

    Returns the change of the set's weight and how many were removed.
    """
    change = 0.0
    for t in range(count):
        _mark_cuts(indptr, indices, inside, depth, low, at, stack, above, cut)
        node = -1
        for i in range(inside.size):
            loose = inside[i] and not cut[i] and not pinned[i]
            if loose and (node < 0 or degrees[i] + noise[i] < degrees[node] + noise[node]):
                node = i
        if node < 0:
            return change, t
        change += _toggle_node(indptr, indices, weights, node, inside, degrees, ties)
    return change, count


@kernel
def improve_connected(
    indptr, indices, weights, pinned, inside, degrees, ties, tie, joined, size, weight, least, most, limit,
    depth, low, at, stack, above, cut,
):  # fmt: skip
    """Make the best move again and again: exchange two nodes, add one, or remove one; return (size, weight).

    The set stays connected, holds the pinned nodes, and has `least` to `most` nodes. A set is better when it weighs
    more for its size. `tie` and `joined` are work arrays of zeros: the row of the node that might enter.
    """
    for _ in range(limit):
        _mark_cuts(indptr, indices, inside, depth, low, at, stack, above, cut)
        mean = weight / max(size, 1)
        leaving = -1
        entering = -1
        best = 0.0
        weakest = -1
        for i in range(inside.size):
            if inside[i] and not cut[i] and not pinned[i] and (weakest < 0 or degrees[i] < degrees[weakest]):
                weakest = i
        if weakest >= 0 and size > least and size > 1:
            gain = mean - degrees[weakest]
            if gain > 1e-12 * abs(mean):
                best = gain
                leaving = weakest
        for v in range(inside.size):
            if inside[v] or ties[v] == 0:
                continue
            if size < most and degrees[v] - mean > best and degrees[v] - mean > 1e-12 * abs(mean):
                best = degrees[v] - mean
                entering = v
                leaving = -1
            if weakest < 0:
                continue
            lowest = 0.0
            for p in range(indptr[v], indptr[v + 1]):
                tie[indices[p]] = _weight_of(weights, p)
                joined[indices[p]] = 1
                lowest = min(lowest, tie[indices[p]])
            if degrees[v] - degrees[weakest] - lowest > best:
                for u in range(inside.size):
                    if not inside[u] or cut[u] or pinned[u] or ties[v] <= joined[u]:
                        continue
                    gain = degrees[v] - degrees[u] - tie[u]
                    if gain > best and gain > 1e-12 * abs(degrees[v]):
                        best = gain
                        entering = v
                        leaving = u
            for p in range(indptr[v], indptr[v + 1]):
                tie[indices[p]] = 0.0
                joined[indices[p]] = 0
        if leaving < 0 and entering < 0:
            break
        if leaving >= 0:
            weight += _toggle_node(indptr, indices, weights, leaving, inside, degrees, ties)
            size -= 1
        if entering >= 0:
            weight += _toggle_node(indptr, indices, weights, entering, inside, degrees, ties)
            size += 1
    return size, weight
