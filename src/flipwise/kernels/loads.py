"""Kernels of the load bound: every edge's weight is split between its ends so that no end carries too much.

Edges are `first, second, weight` with `share[e]` on the first end and the rest on the second. The nodes are dealt into
`BLOCKS` blocks, and the edges stand sorted by the pair of blocks they join. In one round every block meets at most one
other, so the pairs of a round touch disjoint nodes: threads cannot collide, and any number of them gives the same bits.
"""

from __future__ import annotations

from flipwise.kernels.jit import helper, kernel, parallel_kernel, prange

BLOCKS = 16


@helper
def _even_out_one(first, second, weight, share, loads, e):
    """Let edge e move weight to its less loaded end, as far as it has any."""
    i = first[e]
    j = second[e]
    whole = weight[0] if weight.size == 1 else weight[e]
    moved = share[e] + 0.5 * (loads[j] - loads[i])
    moved = min(max(moved, 0.0), whole)
    change = moved - share[e]
    share[e] = moved
    loads[i] += change
    loads[j] -= change


@helper
def _even_out(first, second, weight, share, loads, start, stop):
    """One turn for every edge of a group.

    The edges of one node stand together, and each would wait for the load that the one before it leaves behind. So
    four places of the group take turns: a processor works on all four at once.
    """
    step = (stop - start) // 4
    for e in range(start, start + step):
        _even_out_one(first, second, weight, share, loads, e)
        _even_out_one(first, second, weight, share, loads, e + step)
        _even_out_one(first, second, weight, share, loads, e + 2 * step)
        _even_out_one(first, second, weight, share, loads, e + 3 * step)
    for e in range(start + 4 * step, stop):
        _even_out_one(first, second, weight, share, loads, e)


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


@parallel_kernel
def carried(first, second, weight, share, loads, group_start, rounds):
    """Add up from scratch what every node carries; the caller accounts for the rounding of these sums."""
    for r in range(rounds.shape[0]):
        for slot in prange(rounds.shape[1]):
            g = rounds[r, slot]
            if g >= 0:
                for e in range(group_start[g], group_start[g + 1]):
                    whole = weight[0] if weight.size == 1 else weight[e]
                    loads[first[e]] += share[e]
                    loads[second[e]] += whole - share[e]


@parallel_kernel
def deal_edges(indptr, indices, weights, cursor, first, second, weight, fill):
    """Count the edges of positive weight from a node of block a to a later one of block b, or put them in place.

    Without `fill`, `cursor[a, b]` counts. With it, `cursor[a, b]` is where the next of these edges goes, and `weight`
    receives the weights unless there is only one for all.
    """
    for a in prange(BLOCKS):
        for i in range(a, indptr.size - 1, BLOCKS):
            for p in range(indptr[i], indptr[i + 1]):
                j = indices[p]
                if j <= i or (weights.size > 1 and weights[p] <= 0):
                    continue
                b = j % BLOCKS
                e = cursor[a, b]
                cursor[a, b] += 1
                if fill:
                    first[e] = i
                    second[e] = j
                    if weights.size > 1:
                        weight[e] = weights[p]
