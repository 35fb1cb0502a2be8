"""The kernels on packed codes against NumPy, in both tiers."""

from __future__ import annotations

import numpy as np
import pytest

from flipwise.kernels import hamming

pytestmark = pytest.mark.kernels


N_BITS = 70


def _codes(rows: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Random codes of 70 bits: as bits, and packed into two words."""
    bits = np.zeros((rows, 128), dtype=np.uint8)
    bits[:, :N_BITS] = np.random.default_rng(seed).integers(0, 2, (rows, N_BITS))
    return bits, np.packbits(bits, axis=1).view(np.uint64)


@pytest.mark.parametrize("tier", ["interpreted", "compiled"])
def test_distances_order_and_relevance(tier: str) -> None:
    """The nearest by (distance, id), ties settled by the lowest ids, and counts at every distance."""
    for kernel in (hamming.nearest, hamming.settle_ties, hamming.count_by_distance, hamming.ranked_relevance):
        kernel.compile()
    (q_bits, q), (db_bits, db) = _codes(5, 0), _codes(40, 1)
    distance = (q_bits[:, None, :] != db_bits[None, :, :]).sum(axis=2)
    order = np.argsort(distance, axis=1, kind="stable")
    ids, distances = np.empty((5, 12), np.int64), np.empty((5, 12), np.int32)
    getattr(hamming.nearest, tier)(q, db, N_BITS, ids, distances)
    assert np.array_equal(ids, order[:, :12])
    assert np.array_equal(distances, np.take_along_axis(distance, order[:, :12], axis=1))

    shuffled = ids.copy()
    for row in range(5):  # any ids at the last distance
        last = distances[row] == distances[row, -1]
        shuffled[row, last] = np.flatnonzero(distance[row] == distances[row, -1])[::-1][: last.sum()]
    getattr(hamming.settle_ties, tier)(q, db, distances, shuffled)
    assert np.array_equal(shuffled, ids)

    rng = np.random.default_rng(2)
    query_set, db_set, share = rng.integers(0, 3, 5), rng.integers(0, 4, 40), rng.random((3, 4)) < 0.5
    relevant = share[query_set[:, None], db_set[None, :]]
    counts, hits = np.zeros((5, N_BITS + 1), np.int64), np.zeros((5, N_BITS + 1), np.int64)
    getattr(hamming.count_by_distance, tier)(q, db, query_set, db_set, share, counts, hits)
    for row in range(5):
        assert np.array_equal(counts[row], np.bincount(distance[row], minlength=N_BITS + 1))
        assert np.array_equal(hits[row], np.bincount(distance[row], relevant[row], minlength=N_BITS + 1))
    ranked = np.empty((5, 20), np.bool_)
    getattr(hamming.ranked_relevance, tier)(q, db, query_set, db_set, share, N_BITS, ranked)
    assert np.array_equal(ranked, np.take_along_axis(relevant, order[:, :20], axis=1))
