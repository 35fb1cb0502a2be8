"""Kernels on packed codes: both tiers against counting bits one by one."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from flipwise.hashing import Codes
from flipwise.kernels import hamming as kernels

pytestmark = pytest.mark.kernels


def codes(seed: int = 0) -> tuple[Codes, Codes, np.ndarray]:
    """Queries, a database with many ties, and all distances."""
    rng = np.random.default_rng(seed)
    queries, database = Codes.from_bits(rng.random((4, 70)) < 0.5), Codes.from_bits(rng.random((25, 70)) < 0.5)
    database = Codes.from_bits(np.concatenate([database.bits(), database.bits()]))
    return queries, database, (queries.bits()[:, None, :] != database.bits()[None, :, :]).sum(axis=2)


def tier(kernel: Any, name: str) -> Any:
    kernel.compile()
    return getattr(kernel, name)


@pytest.mark.parametrize("name", ["interpreted", "compiled"])
def test_the_nearest_are_ordered_by_distance_and_id(name: str) -> None:
    """As a stable sort of all distances orders them; ids that another backend gave in any order are settled."""
    queries, database, distance = codes()
    ids, distances = np.empty((4, 9), dtype=np.int64), np.empty((4, 9), dtype=np.int32)
    tier(kernels.nearest, name)(queries.words(), database.words(), 70, ids, distances)
    order = np.argsort(distance, axis=1, kind="stable")[:, :9]
    assert np.array_equal(ids, order) and np.array_equal(distances, np.take_along_axis(distance, order, axis=1))
    last = distances == distances[:, -1:]
    mixed = np.where(last, np.max(ids) + 1, ids)
    tier(kernels.settle_ties, name)(queries.words(), database.words(), distances, mixed)
    assert np.array_equal(mixed, ids)


@pytest.mark.parametrize("name", ["interpreted", "compiled"])
def test_relevance_is_counted_at_each_distance_and_ranked(name: str) -> None:
    """Items and relevant items at each distance, and relevance in the order of (distance, id)."""
    queries, database, distance = codes(1)
    rng = np.random.default_rng(1)
    query_set, database_set, share = rng.integers(0, 3, 4), rng.integers(0, 3, 50), rng.random((3, 3)) < 0.5
    counts, hits = np.zeros((4, 71), dtype=np.int64), np.zeros((4, 71), dtype=np.int64)
    words = queries.words(), database.words()
    tier(kernels.count_by_distance, name)(*words, query_set, database_set, share, counts, hits)
    relevant = share[query_set[:, None], database_set[None, :]]
    for i in range(4):
        assert np.array_equal(counts[i], np.bincount(distance[i], minlength=71))
        assert np.array_equal(hits[i], np.bincount(distance[i][relevant[i]], minlength=71))
    ranked = np.zeros((4, 20), dtype=np.bool_)
    tier(kernels.ranked_relevance, name)(*words, query_set, database_set, share, 70, ranked)
    order = np.argsort(distance, axis=1, kind="stable")[:, :20]
    assert np.array_equal(ranked, np.take_along_axis(relevant, order, axis=1))
