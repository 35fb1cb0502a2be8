"""A walk through all sets of a few nodes, one node at a time: what a set weighs for its size, in whole numbers.

Sets follow each other in Gray code, so each costs one row of the matrix. Nodes have bonuses; `extra` is what is chosen
anyway, `paid` nodes. Where sets are to be connected, those that would be kept are followed from node to node, as bits.
"""

from __future__ import annotations

from flipwise.kernels.jit import helper, kernel

INDEX, WEIGHT, SIZE, MASK, BEST, BEST_SIZE, FOUND = 0, 1, 2, 3, 4, 5, 6
"""Where the walk keeps its place: the number of the set, the set, the best one so far, and how many are kept."""


@helper
def _is_connected(mask, touching):
    """Whether the nodes of a mask are one piece; `touching` has the neighbours of each."""
    reached = mask & -mask
    ahead = reached
    while ahead != 0:
        near = ahead & 0
        for i in range(touching.size):
            if (ahead >> i) & 1:
                near |= touching[i]
        ahead = near & mask & ~reached
        reached |= ahead
    return reached == mask


@helper
def _drop_worse(found, count, weight, size, slack):
    """Keep of the sets found those that may be as good as the best one; returns how many."""
    kept = 0
    for a in range(count):
        if found[a, 1] * size >= (weight - slack) * found[a, 2]:
            for c in range(3):
                found[kept, c] = found[a, c]
            kept += 1
    return kept


@kernel(operations=lambda W, *more: W.shape[0] * float(min(more[-1], 2 ** W.shape[0])))
def walk_subsets(W, bonus, paid, least, most, slack, touching, degrees, place, found, steps):
    """Go on for so many sets; True when all were seen. Every set has `least` to `most` of the nodes.

    With slack 0 the first best set is kept, otherwise all whose weight, less the slack, is no worse than the best.
    A row of `found` is a set as bits, its weight and its size; when there are too many, `place[FOUND]` is above that.
    """
    n = W.shape[0]
    fixed = ((1 << paid) - 1) << n
    for _ in range(steps):
        index = place[INDEX]
        if index >= 1 << n:
            return True
        if index > 0:
            node = 0
            while (index >> node) & 1 == 0:
                node += 1
            sign = -1 if (place[MASK] >> node) & 1 else 1
            place[WEIGHT] += sign * (degrees[node] + bonus[node])
            place[SIZE] += sign
            place[MASK] ^= 1 << node
            for i in range(n):
                degrees[i] += sign * W[node, i]
        place[INDEX] = index + 1
        size = place[SIZE]
        if size < least or size > most or paid + size == 0 or place[FOUND] > found.shape[0]:
            continue
        size += paid
        better = place[WEIGHT] * place[BEST_SIZE] - place[BEST] * size
        if place[FOUND] > 0 and (better < -slack * size or (better <= 0 and slack == 0)):
            continue
        if touching.size > 0 and not _is_connected(place[MASK] | fixed, touching):
            continue
        if place[FOUND] == 0 or better > 0:
            place[BEST] = place[WEIGHT]
            place[BEST_SIZE] = size
            if slack == 0:
                place[FOUND] = 0
        if place[FOUND] == found.shape[0]:
            place[FOUND] = _drop_worse(found, place[FOUND], place[BEST], place[BEST_SIZE], slack)
        if place[FOUND] < found.shape[0]:
            row = place[FOUND]
            found[row, 0] = place[MASK]
            found[row, 1] = place[WEIGHT]
            found[row, 2] = size
        place[FOUND] += 1
    return place[INDEX] >= 1 << n
