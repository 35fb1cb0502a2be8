"""Retrieval metrics against definitions written out, and against averages over all orders of ties."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from flipwise.foundation.errors import InvalidInput
from flipwise.hashing import (
    Codes,
    mean_average_precision,
    neighbour_recall,
    precision_at,
    precision_within_radius,
    recall_at,
)

pytestmark = pytest.mark.kernels


def average_precision(relevant: list[bool], top: int) -> tuple[float, int]:
    """(sum of precisions at relevant positions, relevant items) of the first `top` of a ranking."""
    total, hits = 0.0, 0
    for position, hit in enumerate(relevant[:top], 1):
        if hit:
            hits += 1
            total += hits / position
    return total, hits


def orders(distance: np.ndarray) -> list[tuple[int, ...]]:
    """All rankings that agree with the distances."""
    return [p for p in permutations(range(distance.size)) if (np.diff(distance[list(p)]) >= 0).all()]


@given(st.integers(1, 6), st.integers(1, 3), st.integers(1, 7), st.booleans(), st.integers(0, 2**31))
def test_expected_metrics_average_over_all_orders(n: int, bits: int, top: int, multi: bool, seed: int) -> None:
    """Tie-aware MAP, precision and recall equal the mean over every order of tied items."""
    rng = np.random.default_rng(seed)
    db, q = Codes.from_bits(rng.random((n, bits)) < 0.5), Codes.from_bits(rng.random((2, bits)) < 0.5)
    if multi:
        ql, dl = rng.integers(0, 2, (2, 3)), rng.integers(0, 2, (n, 3))
        relevant = ql @ dl.T > 0
    else:
        ql, dl = rng.integers(0, 2, 2), rng.integers(0, 2, n)
        relevant = ql[:, None] == dl[None, :]
    distance = (q.bits()[:, None] != db.bits()[None]).sum(axis=2)
    ap, ap_top, precision, recall = [], [], [], []
    for d, hit in zip(distance, relevant, strict=True):
        ranked = [[bool(hit[i]) for i in p] for p in orders(d)]
        whole = [average_precision(r, n) for r in ranked]
        cut = [average_precision(r, top) for r in ranked]
        ap.append(np.mean([total for total, _ in whole]) / max(1, int(hit.sum())))
        found = np.mean([hits for _, hits in cut])
        ap_top.append(np.mean([total for total, _ in cut]) / (found if found > 0 else 1.0))
        precision.append(found / top)
        recall.append(found / max(1, int(hit.sum())))
    assert np.isclose(mean_average_precision(q, db, ql, dl), np.mean(ap))
    assert np.isclose(mean_average_precision(q, db, ql, dl, top=top), np.mean(ap_top))
    assert np.isclose(precision_at(q, db, ql, dl, top), np.mean(precision))
    assert np.isclose(recall_at(q, db, ql, dl, top), np.mean(recall))


@given(st.integers(1, 12), st.integers(1, 14), st.integers(0, 2**31))
def test_stable_metrics_follow_the_order_of_the_database(n: int, top: int, seed: int) -> None:
    """`ties="stable"` equals a stable sort by distance."""
    rng = np.random.default_rng(seed)
    db, q = Codes.from_bits(rng.random((n, 4)) < 0.5), Codes.from_bits(rng.random((3, 4)) < 0.5)
    ql, dl = rng.integers(0, 3, 3), rng.integers(0, 3, n)
    distance = (q.bits()[:, None] != db.bits()[None]).sum(axis=2)
    ap, precision = [], []
    for i in range(3):
        ranked = [bool(ql[i] == dl[j]) for j in np.argsort(distance[i], kind="stable")]
        total, hits = average_precision(ranked, top)
        ap.append(total / max(1, hits))
        precision.append(sum(ranked[:top]) / top)
    assert np.isclose(mean_average_precision(q, db, ql, dl, top=top, ties="stable"), np.mean(ap))
    assert np.isclose(precision_at(q, db, ql, dl, top, ties="stable"), np.mean(precision))


def test_sorted_database_inflates_the_stable_figure_only() -> None:
    """With one code for all items, stable MAP is 1 for the class that comes first; the expected one is not."""
    db = Codes.from_bits(np.ones((20, 8)))
    labels = np.repeat([0, 1], 10)
    assert mean_average_precision(db[:1], db, [0], labels, ties="stable") == 1.0
    expected = mean_average_precision(db[:1], db, [0], labels)
    assert np.isclose(expected, mean_average_precision(db[:1], db, [1], labels)) and expected < 0.65


def test_radius_counts_empty_balls_as_zero() -> None:
    """A query without neighbours in the ball has precision 0."""
    db = Codes.from_bits([[1, 1, 1, 1], [1, 1, 1, 0]])
    q = Codes.from_bits([[1, 1, 1, 1], [0, 0, 0, 0]])
    assert precision_within_radius(q, db, [0, 0], [0, 1], radius=0) == 0.5
    assert precision_within_radius(q, db, [0, 0], [0, 1], radius=2) == 0.25


def test_wrong_input_is_refused() -> None:
    """Labels must fit the codes and each other."""
    db = Codes.from_bits(np.ones((3, 4)))
    with pytest.raises(InvalidInput, match="labels"):
        mean_average_precision(db, db, [0, 1], [0, 1, 2])
    with pytest.raises(InvalidInput, match="one kind"):
        mean_average_precision(db, db, [0, 1, 2], np.ones((3, 2)))
    with pytest.raises(InvalidInput, match="ties"):
        mean_average_precision(db, db, [0] * 3, [0] * 3, ties="random")  # type: ignore[arg-type]
    with pytest.raises(InvalidInput, match="at least 1"):
        mean_average_precision(db, db, [0] * 3, [0] * 3, top=0)
    with pytest.raises(InvalidInput, match="row for each query"):
        neighbour_recall(np.zeros((2, 3)), np.zeros((1, 3)))
