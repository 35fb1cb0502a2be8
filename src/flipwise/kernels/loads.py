"""Kernels of the load bound: every edge's weight is split between its ends so that no end carries too much.

Edges are `first, second, weight` with `share[e]` on the first end and the rest on the second. The nodes are dealt into
`BLOCKS` blocks, and the edges stand sorted by the pair of blocks they join. In one round every block meets at most one
other, so the pairs of a round touch disjoint nodes: threads cannot collide, and any number of them gives the same bits.
"""

from __future__ import annotations

from flipwise.kernels.jit import helper, kernel, parallel_kernel, prange

BLOCKS = 16


@helper
def _even_out(first, second, weight, share, loads, start, stop):
    """Let each edge move weight to its less loaded end, as far as it has any."""
    for e in range(start, stop):
        i = first[e]
        j = second[e]
        whole = weight[0] if weight.size == 1 else weight[e]
        moved = share[e] + 0.5 * (loads[j] - loads[i])
        moved = min(max(moved, 0.0), whole)
        change = moved - share[e]
        share[e] = moved
        loads[i] += change
        loads[j] -= change


@parallel_kernel
def balance(first, second, weight, share, loads, group_start, rounds, passes):
    """Pass over the edges `passes` times.

    `rounds[r]` lists the groups of round r, padded with -1; group g is `group_start[g] : group_start[g + 1]`.
    """
    for _ in range(passes):
        for r in range(rounds.shape[0]):
            for slot in prange(rounds.shape[1]):
                g = rounds[r, slot]
                if g >= 0:
                    _even_out(first, second, weight, share, loads, group_start[g], group_start[g + 1])


@kernel
def balance_serially(first, second, weight, share, loads, group_start, rounds, passes):
    """The same, to the bit, on one thread: for so few edges that starting threads costs more than the work."""
    for _ in range(passes):
        for r in range(rounds.shape[0]):
            for slot in range(rounds.shape[1]):
                g = rounds[r, slot]
                if g >= 0:
                    _even_out(first, second, weight, share, loads, group_start[g], group_start[g + 1])


@kernel
def carried(first, second, weight, share, loads):
    """Add up from scratch what every node carries; the caller accounts for the rounding of these sums."""
    for e in range(first.size):
        whole = weight[0] if weight.size == 1 else weight[e]
        loads[first[e]] += share[e]
        loads[second[e]] += whole - share[e]


@kernel
def deal_edges(indptr, indices, weights, cursor, first, second, weight, fill):
    """Count the edges of positive weight in each group, or put them there, in the order of the rows.

    Without `fill`, `cursor[g + 1]` counts group g. With it, `cursor[g]` is where the next edge of group g goes, and
    `weight` receives the weights unless there is only one for all.
    """
    for i in range(indptr.size - 1):
        for p in range(indptr[i], indptr[i + 1]):
            j = indices[p]
            if j <= i or (weights.size > 1 and weights[p] <= 0):
                continue
            a = i % BLOCKS
            b = j % BLOCKS
            g = a * BLOCKS + b if a <= b else b * BLOCKS + a
            if not fill:
                cursor[g + 1] += 1
                continue
            e = cursor[g]
            cursor[g] += 1
            first[e] = i
            second[e] = j
            if weights.size > 1:
                weight[e] = weights[p]
