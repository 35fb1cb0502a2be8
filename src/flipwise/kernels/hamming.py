"""Kernels on packed codes: `q` and `db` hold 64-bit words, one row a code; distances are Hamming distances.

Labels enter as `share[a, b]`, whether an item of label set a is relevant to a query of label set b's row, so that
single and multiple labels are one case: `query_set` and `db_set` hold the label set of each row.
"""

from __future__ import annotations

import numpy as np

from flipwise.kernels.blocks import block_kernel
from flipwise.kernels.jit import helper

_PAIRS = np.uint64(0x5555555555555555)
_QUADS = np.uint64(0x3333333333333333)
_NIBBLES = np.uint64(0x0F0F0F0F0F0F0F0F)
_LOW = np.uint64(0x7F)
_ONES = np.uint64(0x0101010101010101)
_S56 = np.uint64(56)
_S1 = np.uint64(1)
_S2 = np.uint64(2)
_S4 = np.uint64(4)
_S8 = np.uint64(8)
_S16 = np.uint64(16)
_S32 = np.uint64(32)


INTERPRETED_PAIRS = 50_000
"""Pairs of codes that may be compared without compiling: the arrays are small where the number of pairs is not."""


BLOCK_WORDS = 1 << 13
"""Words of codes that are compared with all queries before the next: 64 kB."""


def compile_for(pairs: int) -> None:
    """Move the kernels to the compiled tier when so many pairs of codes are to be compared."""
    if pairs > INTERPRETED_PAIRS:
        for kernel in (nearest, settle_ties, count_by_distance, ranked_relevance):
            kernel.compile()


def _popcount_by_product(v):
    """The number of ones, as compilers know it: it becomes one instruction."""
    v = v - ((v >> _S1) & _PAIRS)
    v = (v & _QUADS) + ((v >> _S2) & _QUADS)
    v = (v + (v >> _S4)) & _NIBBLES
    return np.int64((v * _ONES) >> _S56)


@helper(compiled_form=_popcount_by_product)
def _popcount(v):
    """The number of ones; adds only, because a product would overflow in the interpreted tier."""
    v = v - ((v >> _S1) & _PAIRS)
    v = (v & _QUADS) + ((v >> _S2) & _QUADS)
    v = (v + (v >> _S4)) & _NIBBLES
    v = v + (v >> _S8)
    v = v + (v >> _S16)
    v = v + (v >> _S32)
    return np.int64(v & _LOW)


@helper
def _hamming_distance(a, i, b, j):
    """The Hamming distance of row i of a and row j of b."""
    total = 0
    for w in range(a.shape[1]):
        total += _popcount(a[i, w] ^ b[j, w])
    return total


@helper
def _nearest_first(distance, n_bits, keep, order):
    """The first `keep` items by (distance, id) into `order`: a counting sort, which is stable."""
    start = np.zeros(n_bits + 2, dtype=np.int64)
    for j in range(distance.size):
        start[distance[j] + 1] += 1
    for d in range(n_bits + 1):
        start[d + 1] += start[d]
    for j in range(distance.size):
        at = start[distance[j]]
        start[distance[j]] = at + 1
        if at < keep:
            order[at] = j


@helper
def _is_further(distance, item, other_distance, other_item):
    """Whether an item stands behind another by (distance, id)."""
    return distance > other_distance or (distance == other_distance and item > other_item)


@helper
def _sink_first(ids, distances, size):
    """Put the first item of a heap, whose first item is the furthest of all, in its place."""
    at = 0
    item, distance = ids[0], distances[0]
    while True:
        child = 2 * at + 1
        if child >= size:
            break
        if child + 1 < size and _is_further(distances[child + 1], ids[child + 1], distances[child], ids[child]):
            child += 1
        if not _is_further(distances[child], ids[child], distance, item):
            break
        ids[at], distances[at] = ids[child], distances[child]
        at = child
    ids[at], distances[at] = item, distance


@block_kernel(operations=lambda q, db, *_: 8 * len(q) * db.size)
def nearest(start, stop, q, db, n_bits, ids, distances):
    """The nearest codes of each query by (distance, id), as many as `ids` has columns.

    A heap keeps the nearest so far. It begins full of what is further than any code, which is replaced.
    """
    k = ids.shape[1]
    n = db.shape[0]
    for i in range(start, stop):
        for j in range(k):
            ids[i, j] = n
            distances[i, j] = n_bits + 1
    step = max(1, BLOCK_WORDS // db.shape[1])
    for first in range(0, n, step):  # of codes that stay in the cache for all queries
        last = min(n, first + step)
        for i in range(start, stop):
            limit = distances[i, 0]
            for j in range(first, last):
                d = _hamming_distance(q, i, db, j)
                if d < limit:  # of equal distances the later id stands behind
                    ids[i, 0], distances[i, 0] = j, d
                    _sink_first(ids[i], distances[i], k)
                    limit = distances[i, 0]
    for i in range(start, stop):
        for size in range(k - 1, 0, -1):
            ids[i, 0], ids[i, size] = ids[i, size], ids[i, 0]
            distances[i, 0], distances[i, size] = distances[i, size], distances[i, 0]
            _sink_first(ids[i], distances[i], size)


@block_kernel(operations=lambda q, db, *_: 8 * len(q) * db.size)
def settle_ties(start, stop, q, db, distances, ids):
    """Rewrite the ids at each query's last distance as the lowest ids at that distance, given right distances."""
    for i in range(start, stop):
        k = ids.shape[1]
        last = distances[i, k - 1]
        at = k
        while at > 0 and distances[i, at - 1] == last:
            at -= 1
        j = 0
        while at < k:
            if _hamming_distance(q, i, db, j) == last:
                ids[i, at] = j
                at += 1
            j += 1


@block_kernel(operations=lambda q, db, *_: 8 * len(q) * db.size)
def count_by_distance(start, stop, q, db, query_set, db_set, share, counts, hits):
    """For each query, the items (`counts`) and the relevant items (`hits`) at each distance."""
    for i in range(start, stop):
        for j in range(db.shape[0]):
            d = _hamming_distance(q, i, db, j)
            counts[i, d] += 1
            if share[query_set[i], db_set[j]]:
                hits[i, d] += 1


@block_kernel(operations=lambda q, db, *_: 8 * len(q) * db.size)
def ranked_relevance(start, stop, q, db, query_set, db_set, share, n_bits, relevant):
    """Whether the first items by (distance, id) are relevant, as many as `relevant` has columns."""
    for i in range(start, stop):
        distance = np.empty(db.shape[0], dtype=np.int32)
        for j in range(db.shape[0]):
            distance[j] = _hamming_distance(q, i, db, j)
        order = np.empty(relevant.shape[1], dtype=np.int64)
        _nearest_first(distance, n_bits, relevant.shape[1], order)
        for k in range(relevant.shape[1]):
            relevant[i, k] = share[query_set[i], db_set[order[k]]]
