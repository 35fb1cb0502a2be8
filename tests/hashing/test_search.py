"""Search: both backends against brute force, the tie rule, asymmetric scores, re-ranking."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from flipwise.foundation.errors import InvalidInput
from flipwise.hashing import Codes, asymmetric_search, hamming_search, rerank
from flipwise.hashing.search import exact_search

pytestmark = pytest.mark.kernels


def brute_force(q: Codes, db: Codes, k: int) -> tuple[np.ndarray, np.ndarray]:
    """(ids, distances) by a full sort on (distance, id)."""
    distance = (q.bits()[:, None, :] != db.bits()[None, :, :]).sum(axis=2)
    ids = np.argsort(distance, axis=1, kind="stable")[:, :k]
    return ids, np.take_along_axis(distance, ids, axis=1)


@given(st.integers(1, 80), st.integers(1, 40), st.integers(1, 4), st.integers(0, 2**31))
def test_both_backends_equal_brute_force(n_bits: int, n: int, queries: int, seed: int) -> None:
    """faiss and the kernel return the same ids and distances, ties by id."""
    rng = np.random.default_rng(seed)
    db = Codes.from_bits(rng.random((n, n_bits)) < 0.3)
    q = Codes.from_bits(rng.random((queries, n_bits)) < 0.3, "little")
    k = int(rng.integers(1, n + 1))
    ids, distances = brute_force(q, db, k)
    for backend in ("compiled", "faiss"):
        if backend == "faiss":
            pytest.importorskip("faiss")
        found = hamming_search(q, db, k, backend=backend)  # type: ignore[arg-type]
        assert np.array_equal(found.ids, ids), backend
        assert np.array_equal(found.values, distances), backend


def test_ties_at_the_cut_go_to_the_lowest_ids() -> None:
    """With all distances equal the first ids are returned by every backend, also where faiss would not."""
    db = Codes.from_bits(np.ones((5000, 64), dtype=bool))
    for backend in ("auto", "compiled"):
        assert hamming_search(db[:2], db, 7, backend=backend).ids.tolist() == [list(range(7))] * 2  # type: ignore[arg-type]


def test_asymmetric_scores_are_inner_products() -> None:
    """The order is that of q'b, ties by id."""
    rng = np.random.default_rng(0)
    db = Codes.from_bits(rng.random((50, 12)) < 0.5)
    q = rng.integers(-2, 3, size=(4, 12)).astype(float)
    scores = q @ db.signs().T
    expected = np.argsort(-scores, axis=1, kind="stable")[:, :9]
    found = asymmetric_search(q, db, 9)
    assert np.array_equal(found.ids, expected)
    assert np.array_equal(found.values, np.take_along_axis(scores, expected, axis=1))


@pytest.mark.parametrize("metric", ["inner", "euclidean"])
def test_reranking_everything_is_exact_search(metric: str) -> None:
    """Re-ranking all items gives the exact neighbours."""
    rng = np.random.default_rng(1)
    x, q = rng.standard_normal((30, 5)), rng.standard_normal((3, 5))
    everything = np.tile(np.arange(30), (3, 1))
    found = rerank(q, x, everything, 4, metric=metric)  # type: ignore[arg-type]
    scores = q @ x.T if metric == "inner" else -((q[:, None] - x[None]) ** 2).sum(axis=2)
    assert np.array_equal(found.ids, np.argsort(-scores, axis=1, kind="stable")[:, :4])
    if metric == "inner":
        assert np.array_equal(found.ids, exact_search(q, x, 4).ids)


def test_wrong_input_is_refused() -> None:
    """Lengths, k and backends are checked."""
    a, b = Codes.from_bits(np.ones((2, 8))), Codes.from_bits(np.ones((2, 9)))
    with pytest.raises(InvalidInput, match="bits"):
        hamming_search(a, b, 1)
    with pytest.raises(InvalidInput, match="`k`"):
        hamming_search(a, a, 3)
    with pytest.raises(InvalidInput, match="backend"):
        hamming_search(a, a, 1, backend="annoy")  # type: ignore[arg-type]
    with pytest.raises(InvalidInput, match="Codes"):
        hamming_search(a.packed, a, 1)  # type: ignore[arg-type]
    with pytest.raises(InvalidInput, match="shape"):
        asymmetric_search(np.ones((1, 7)), a, 1)
    with pytest.raises(InvalidInput, match="shapes"):
        rerank(np.ones((1, 2)), np.ones((2, 3)), np.zeros((1, 1), dtype=int), 1)
    with pytest.raises(InvalidInput, match="metric"):
        rerank(np.ones((1, 2)), np.ones((2, 2)), np.zeros((1, 1), dtype=int), 1, metric="cosine")  # type: ignore[arg-type]
