"""Search by tables: the score of a code is the sum of what each of its bytes is worth to the query."""

from __future__ import annotations

import numpy as np

from flipwise.kernels.blocks import block_kernel
from flipwise.kernels.jit import helper

BLOCK_BYTES = 1 << 16
"""Bytes of codes that are scored for all queries before the next."""


@helper
def _is_worse(score, item, other_score, other_item):
    """Whether an item stands behind another by (-score, id)."""
    return score < other_score or (score == other_score and item > other_item)


@helper
def _sink_first(ids, scores, size):
    """Put the first item of a heap, whose first item is the worst of all, in its place."""
    at = 0
    item, score = ids[0], scores[0]
    while True:
        child = 2 * at + 1
        if child >= size:
            break
        if child + 1 < size and _is_worse(scores[child + 1], ids[child + 1], scores[child], ids[child]):
            child += 1
        if not _is_worse(scores[child], ids[child], score, item):
            break
        ids[at], scores[at] = ids[child], scores[child]
        at = child
    ids[at], scores[at] = item, score


@block_kernel(operations=lambda tables, offset, scale, shift, codes, *_: 4 * len(tables) * codes.size)
def best_by_tables(start, stop, tables, offset, scale, shift, codes, ids, scores):
    """The codes with the largest scores by (-score, id), as many as `ids` has columns; rows are queries.

    The score of code j is `(offset + sum of tables[byte, value]) * scale[j] + shift[j]`; one scale or shift is for all.
    """
    k = ids.shape[1]
    n, width = codes.shape
    own_scale = scale.size > 1
    own_shift = shift.size > 1
    for i in range(start, stop):
        for j in range(k):
            ids[i, j], scores[i, j] = n, -np.inf
    step = max(1, BLOCK_BYTES // width)
    for first in range(0, n, step):  # of codes that stay in the cache for all queries
        last = min(n, first + step)
        for i in range(start, stop):
            table = tables[i]
            limit = scores[i, 0]
            for j in range(first, last):
                total = offset[i]
                for m in range(width):
                    total += table[m, codes[j, m]]
                total = total * scale[j if own_scale else 0] + shift[j if own_shift else 0]
                if total > limit:  # of equal scores the later id stands behind
                    ids[i, 0], scores[i, 0] = j, total
                    _sink_first(ids[i], scores[i], k)
                    limit = scores[i, 0]
    for i in range(start, stop):
        for size in range(k - 1, 0, -1):
            ids[i, 0], ids[i, size] = ids[i, size], ids[i, 0]
            scores[i, 0], scores[i, size] = scores[i, size], scores[i, 0]
            _sink_first(ids[i], scores[i], size)
