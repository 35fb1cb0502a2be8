"""Kernels of the load bound and of the pair bound on the density of a subgraph.

The load bound (see `densest.bounds`) splits every edge's weight between its ends so that no end carries too much. Edges
are `first, second, weight` with `share[e]` on the first end and the rest on the second. The nodes are dealt into
`BLOCKS` blocks, and the edges stand sorted by the pair of blocks they join. In one round every block meets at most one
other, so the pairs of a round touch disjoint nodes: threads cannot collide, and any number of them gives the same bits.

The pair bound is a linear programme (see `densest.pairs`), solved by a primal-dual method. Pairs are `first, second,
weight`; row i of `indptr, pair_of, is_first` lists the pairs at node i and which end of the pair i is. All sums run in
a fixed order, each owned by one iteration: here too any number of threads gives the same bits.
"""

from __future__ import annotations

from flipwise.kernels.blocks import block_kernel
from flipwise.kernels.jit import helper, kernel

BLOCKS = 16


@helper
def _even_out_edge(first, second, weight, share, loads, e):
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
def _even_out_group(first, second, weight, share, loads, start, stop):
    """One turn for every edge of a group.

    The edges of one node stand together, and each would wait for the load that the one before it leaves behind. So
    four places of the group take turns: a processor works on all four at once.
    """
    step = (stop - start) // 4
    for e in range(start, start + step):
        _even_out_edge(first, second, weight, share, loads, e)
        _even_out_edge(first, second, weight, share, loads, e + step)
        _even_out_edge(first, second, weight, share, loads, e + 2 * step)
        _even_out_edge(first, second, weight, share, loads, e + 3 * step)
    for e in range(start + 4 * step, stop):
        _even_out_edge(first, second, weight, share, loads, e)


def _slots_of_rounds(*arguments):
    """Groups that stand side by side in a round, some of them empty: the rows of the two kernels below."""
    return arguments[-1].shape[1]


@block_kernel(rows=_slots_of_rounds, operations=lambda first, *rest: 4 * rest[-2] * first.size)
def even_out_groups(start, stop, first, second, weight, share, loads, group_start, passes, rounds):
    """Let every edge of the groups at some places of the rounds have its turn, `passes` times."""
    for _ in range(passes):
        for r in range(rounds.shape[0]):
            for slot in range(start, stop):
                g = rounds[r, slot]
                if g >= 0:
                    _even_out_group(first, second, weight, share, loads, group_start[g], group_start[g + 1])


@block_kernel(rows=_slots_of_rounds, operations=lambda first, *_: 4 * first.size)
def add_up_groups(start, stop, first, second, weight, share, loads, group_start, rounds):
    """Add the shares of the groups at some places of the rounds to the loads."""
    for r in range(rounds.shape[0]):
        for slot in range(start, stop):
            g = rounds[r, slot]
            if g >= 0:
                for e in range(group_start[g], group_start[g + 1]):
                    whole = weight[0] if weight.size == 1 else weight[e]
                    loads[first[e]] += share[e]
                    loads[second[e]] += whole - share[e]


@block_kernel(rows=lambda *_: BLOCKS)
def deal_edges(start, stop, indptr, indices, weights, cursor, first, second, weight, fill):
    """Count the edges of positive weight from a node of block a to a later one of block b, or put them in place.

    Without `fill`, `cursor[a, b]` counts. With it, `cursor[a, b]` is where the next of these edges goes, and `weight`
    receives the weights unless there is only one for all.
    """
    for a in range(start, stop):
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


@helper
def _level_for_sum(x, step, gain, outer, outer_gain, k):
    """The multiplier m for which the nodes clip(x + step * (gain - m), 0, 1) and what is outside add up to k."""
    low = outer_gain - (k - outer) - 1.0
    high = outer_gain + outer + 1.0
    for i in range(x.size):
        low = min(low, gain[i] + (x[i] - 1.0) / step[i] - 1.0)
        high = max(high, gain[i] + x[i] / step[i] + 1.0)
    for _ in range(45):
        middle = 0.5 * (low + high)
        total = max(0.0, outer + (outer_gain - middle))
        for i in range(x.size):
            total += min(1.0, max(0.0, x[i] + step[i] * (gain[i] - middle)))
        if total > k:
            low = middle
        else:
            high = middle
    return high


@block_kernel
def add_up_gains(start, stop, indptr, pair_of, is_first, k, v, r1, r2, p, gain):
    """What each node is worth at the present prices of it and its pairs."""
    for i in range(start, stop):
        total = (k - 1.0) * v[i]
        for a in range(indptr[i], indptr[i + 1]):
            e = pair_of[a]
            total += (r1[e] if is_first[a] else r2[e]) - p[e]
        gain[i] = total


@kernel(operations=lambda x_step, *_: 50 * x_step.size)
def take_nodes(x_step, gain, cap, k, outer, x, ahead):
    """A step of how much of each node is taken, k in all; `outer[0]` nodes from outside, which gain `cap` each."""
    m = _level_for_sum(x, x_step, gain, outer[0], cap, k)
    outer[0] = max(0.0, outer[0] + (cap - m))
    for i in range(x.size):
        new = min(1.0, max(0.0, x[i] + x_step[i] * (gain[i] - m)))
        ahead[i] = 2.0 * new - x[i]
        x[i] = new


@block_kernel
def step_pairs(start, stop, first, second, weight, steps, v, ahead, y, y_ahead, r1, r2, p, mean_p):
    """A step of how much of each pair is taken, and of the prices of its limits."""
    y_step = 0.2
    r_step = 0.5
    p_step = 1.0 / 3.0
    for e in range(start, stop):
        i = first[e]
        j = second[e]
        new = max(0.0, y[e] + y_step * (weight[e] - r1[e] - r2[e] + p[e] - v[i] - v[j]))
        further = 2.0 * new - y[e]
        y[e] = new
        y_ahead[e] = further
        r1[e] = max(0.0, r1[e] + r_step * (further - ahead[i]))
        r2[e] = max(0.0, r2[e] + r_step * (further - ahead[j]))
        p[e] = max(0.0, p[e] + p_step * (ahead[i] + ahead[j] - 1.0 - further))
        mean_p[e] += p[e] / steps


@block_kernel
def step_prices(start, stop, indptr, pair_of, k, steps, v_step, ahead, y_ahead, v, mean_v):
    """A step of the price of each node."""
    for i in range(start, stop):
        total = -(k - 1.0) * ahead[i]
        for a in range(indptr[i], indptr[i + 1]):
            total += y_ahead[pair_of[a]]
        v[i] = max(0.0, v[i] + v_step[i] * total)
        mean_v[i] += v[i] / steps
