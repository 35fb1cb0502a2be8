"""Codes of rows that are told as sums of entries: beam search and descents in inner products alone.

A code chooses one entry of each group; `first[g]` to `first[g + 1] - 1` are those of group g. What it gains is the sum
of what its entries gain `alone` (the product with the row, less half the square), less the products of all `pairs` of
them: half of what the squared error falls below that of no entry at all. No vector is looked at any more.
"""

from __future__ import annotations

import numpy as np

from flipwise.kernels.blocks import block_kernel
from flipwise.kernels.jit import helper


@helper
def _gains_of_entries(gain, alone, pairs, first, g, code, groups):
    """What each entry of group g gains beside the entries of a code in the first `groups` other groups."""
    own = alone[first[g] : first[g + 1]]
    for e in range(own.size):
        gain[e] = own[e]
    for h in range(groups):
        if h != g:
            row = pairs[first[h] + code[h], first[g] : first[g + 1]]
            for e in range(own.size):
                gain[e] -= row[e]


@helper
def _descend_by_groups(order, alone, pairs, first, code, gain):
    """Set each group in turn to the entry that gains most, the first of equal ones; returns by how much all gained."""
    rise = 0.0
    for at in range(order.size):
        g = order[at]
        _gains_of_entries(gain, alone, pairs, first, g, code, order.size)
        best = 0
        for e in range(1, first[g + 1] - first[g]):
            if gain[e] > gain[best]:
                best = e
        rise += gain[best] - gain[code[g]]
        code[g] = best
    return rise


@block_kernel(
    operations=lambda alone, pairs, first, orders, shifts, beams, codes: (
        alone.size * (codes.shape[1] * (0.5 * beams + len(orders)) + beams)
    )
)
def best_sums(start, stop, alone, pairs, first, orders, shifts, beams, codes):
    """The codes of rows: a beam search over the groups, then descents from its best code and from others near the best.

    `alone` has a row for each row of `codes`. A descent visits the groups as a row of `orders` says. Before each
    but the first, the entries of the best code so far are moved on by a row of `shifts`; the better code is kept.
    """
    groups = first.size - 1
    largest = 1
    for g in range(groups):
        largest = max(largest, first[g + 1] - first[g])
    gain = np.empty(largest, dtype=np.float32)
    held = np.zeros((beams, groups), dtype=np.int64)
    longer = np.zeros((beams, groups), dtype=np.int64)
    worth = np.zeros(beams, dtype=np.float32)
    best = np.empty(beams, dtype=np.float32)
    parent = np.zeros(beams, dtype=np.int64)
    chosen = np.zeros(beams, dtype=np.int64)
    other = np.zeros(groups, dtype=np.int64)
    for i in range(start, stop):
        count = 1
        worth[0] = 0.0
        for g in range(groups):
            found = 0
            for b in range(count):
                _gains_of_entries(gain, alone[i], pairs, first, g, held[b], g)
                limit = best[beams - 1] if found == beams else -np.inf
                for e in range(first[g + 1] - first[g]):
                    value = worth[b] + gain[e]
                    if value > limit:
                        at = min(found, beams - 1)
                        while at > 0 and best[at - 1] < value:
                            best[at], parent[at], chosen[at] = best[at - 1], parent[at - 1], chosen[at - 1]
                            at -= 1
                        best[at], parent[at], chosen[at] = value, b, e
                        found = min(found + 1, beams)
                        limit = best[beams - 1] if found == beams else -np.inf
            for b in range(found):
                for h in range(g):
                    longer[b, h] = held[parent[b], h]
                longer[b, g] = chosen[b]
            count = found
            for b in range(count):
                worth[b] = best[b]
                for h in range(g + 1):
                    held[b, h] = longer[b, h]
        code = held[0]
        _descend_by_groups(orders[0], alone[i], pairs, first, code, gain)
        for restart in range(1, len(orders)):
            for g in range(groups):
                other[g] = code[g]
            rise = 0.0
            for g in range(groups):
                if shifts[restart - 1, g] > 0:
                    _gains_of_entries(gain, alone[i], pairs, first, g, other, groups)
                    moved = (other[g] + shifts[restart - 1, g]) % (first[g + 1] - first[g])
                    rise += gain[moved] - gain[other[g]]
                    other[g] = moved
            rise += _descend_by_groups(orders[restart], alone[i], pairs, first, other, gain)
            if rise > 0.0:
                for g in range(groups):
                    code[g] = other[g]
        for g in range(groups):
            codes[i, g] = code[g]
