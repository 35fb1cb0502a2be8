"""Search by tables in lists of codes: each query looks only at the lists whose centres are nearest to it."""

from __future__ import annotations

import numpy as np

from flipwise.kernels.blocks import block_kernel
from flipwise.kernels.jit import helper


@helper
def _is_worse(score, name, other_score, other_name):
    """Whether an item stands behind another by (-score, name)."""
    return score < other_score or (score == other_score and name > other_name)


@helper
def _sink_first(names, places, scores, size):
    """Put the first item of a heap, whose first item is the worst of all, in its place."""
    at = 0
    name, place, score = names[0], places[0], scores[0]
    while True:
        child = 2 * at + 1
        if child >= size:
            break
        if child + 1 < size and _is_worse(scores[child + 1], names[child + 1], scores[child], names[child]):
            child += 1
        if not _is_worse(scores[child], names[child], score, name):
            break
        names[at], places[at], scores[at] = names[child], places[child], scores[child]
        at = child
    names[at], places[at], scores[at] = name, place, score


@block_kernel(
    operations=lambda tables, offset, scale, shift, codes, names, starts, order, probes, *_: (
        4 * len(tables) * codes.size * (probes / max(1, starts.size - 1))
    )
)
def best_in_lists(
    start, stop, tables, offset, scale, shift, codes, names, starts, order, probes, found, places, scores
):
    """The codes with the largest scores by (-score, name) in the first lists of each query's `order`; rows are queries.

    List l holds the codes from `starts[l]` to `starts[l + 1] - 1`. After `probes` lists more are looked at only until
    there are as many codes as `found` has columns. `found` takes the names, `places` the rows of the codes; a name
    that stays at the largest integer is an item that was not found. Scores are as in `best_by_tables`.
    """
    k = found.shape[1]
    width = codes.shape[1]
    own_scale = scale.size > 1
    own_shift = shift.size > 1
    for i in range(start, stop):
        for j in range(k):
            found[i, j], places[i, j], scores[i, j] = np.iinfo(np.int64).max, -1, -np.inf
        table = tables[i]
        limit = scores[i, 0]
        seen = 0
        for at in range(order.shape[1]):
            if at >= probes and seen >= k:
                break
            first, last = starts[order[i, at]], starts[order[i, at] + 1]
            seen += last - first
            for j in range(first, last):
                total = offset[i]
                for m in range(width):
                    total += table[m, codes[j, m]]
                total = total * scale[j if own_scale else 0] + shift[j if own_shift else 0]
                if total > limit or (total == limit and names[j] < found[i, 0]):
                    found[i, 0], places[i, 0], scores[i, 0] = names[j], j, total
                    _sink_first(found[i], places[i], scores[i], k)
                    limit = scores[i, 0]
        for size in range(k - 1, 0, -1):
            found[i, 0], found[i, size] = found[i, size], found[i, 0]
            places[i, 0], places[i, size] = places[i, size], places[i, 0]
            scores[i, 0], scores[i, size] = scores[i, size], scores[i, 0]
            _sink_first(found[i], places[i], scores[i], size)
