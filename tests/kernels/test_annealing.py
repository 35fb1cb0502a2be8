"""Annealing of spins: exact fields, equal paths dense and sparse, counts restored, equal bits in both tiers."""

from __future__ import annotations

import numpy as np
import pytest

from flipwise.kernels import annealing
from flipwise.kernels.dense import dense_fields
from flipwise.kernels.sparse import csr_fields
from tests.kernels.spins import couplings, parts, spins

pytestmark = pytest.mark.kernels


@pytest.mark.parametrize("dtype", [np.int32, np.float64])
def test_annealing_keeps_the_fields_exact(dtype: type) -> None:
    """After sweeps and descent the fields are those of the point, and no flip improves it."""
    A, h = couplings(25, 0.4, 1, dtype)
    J = A.toarray()
    for dense in (False, True):
        s = spins(25, 2)
        f = np.empty(25, dtype=dtype)
        state = np.array([12345], dtype=np.uint64)
        schedule = np.linspace(200.0, 5.0, 8)
        quantiles = annealing.exponential_quantiles()
        if dense:
            dense_fields(J, h, s, f)
            annealing.dense_anneal(J, schedule, quantiles, s, f, state)
            annealing.dense_quench(J, 0.0, s, f)
        else:
            csr_fields(*parts(A), h, s, f)
            annealing.csr_anneal(*parts(A), schedule, quantiles, s, f, state)
            annealing.csr_quench(*parts(A), 0.0, s, f)
        assert np.allclose(f, h + J @ s)
        assert (s * f <= 0).all()


def test_dense_and_sparse_annealing_walk_the_same_path() -> None:
    """For the same random state both kernels visit the same points, int8 rows included."""
    A, h = couplings(30, 0.3, 3)
    narrow = A.toarray().astype(np.int8)
    points = []
    for kind in range(3):
        s = spins(30, 4)
        f = (h + A @ s).astype(np.int32)
        state = np.array([99], dtype=np.uint64)
        schedule = np.linspace(150.0, 10.0, 5)
        quantiles = annealing.exponential_quantiles()
        if kind == 0:
            annealing.csr_anneal(*parts(A), schedule, quantiles, s, f, state)
        elif kind == 1:
            annealing.dense_anneal(narrow, schedule, quantiles, s, f, state)
        else:
            annealing.csr_anneal_part(*parts(A), schedule, quantiles, np.arange(30), s, f, state)
        points.append((s, f, int(state[0])))
    for s, f, state_after in points[1:]:
        assert np.array_equal(points[0][0], s)
        assert np.array_equal(points[0][1], f)
        assert points[0][2] == state_after


def test_annealing_of_a_part_leaves_the_other_spins_alone() -> None:
    """Only spins of the part change, and all fields stay exact."""
    A, h = couplings(30, 0.3, 8)
    start = spins(30, 9)
    s = start.copy()
    f = (h + A @ s).astype(np.int32)
    part = np.array([3, 4, 11, 17, 29])
    state = np.array([5], dtype=np.uint64)
    schedule = np.linspace(300.0, 10.0, 8)
    annealing.csr_anneal_part(*parts(A), schedule, annealing.exponential_quantiles(), part, s, f, state)
    assert (s != start).any()
    assert set(np.flatnonzero(s != start)) <= set(part)
    assert np.array_equal(f, h + A @ s)


def test_interpreted_and_compiled_annealing_agree() -> None:
    """Both tiers give the same bits."""
    A, h = couplings(20, 0.5, 5)
    results = []
    for compiled in (False, True):
        annealing.csr_anneal.compiled = None
        if compiled:
            annealing.csr_anneal.compile()
        run = annealing.csr_anneal.compiled if compiled else annealing.csr_anneal.interpreted
        s = spins(20, 6)
        f = (h + A @ s).astype(np.int32)
        state = np.array([7], dtype=np.uint64)
        run(*parts(A), np.linspace(150.0, 10.0, 6), annealing.exponential_quantiles(), s, f, state)
        results.append((s.copy(), f.copy(), int(state[0])))
    assert np.array_equal(results[0][0], results[1][0])
    assert results[0][2] == results[1][2]


@pytest.mark.parametrize("dense", [False, True])
def test_counted_annealing_restores_the_counts(dense: bool) -> None:
    """After annealing by single flips each group has the number of ones it must have."""
    A, h = couplings(30, 0.4, 15)
    labels = np.arange(30) % 2
    s = spins(30, 16)
    f = (h + A @ s).astype(np.int32)
    excess = np.bincount(labels, weights=s) - np.array([5.0, -3.0])
    level = np.zeros(2)
    state = np.array([11], dtype=np.uint64)
    J = A.toarray().astype(np.int8)
    shared = (np.linspace(200.0, 5.0, 10), annealing.exponential_quantiles(), 0.05, labels, excess, level, s, f, state)
    if dense:
        annealing.dense_anneal_counts(J, *shared)
    else:
        annealing.csr_anneal_counts(*parts(A), *shared)
    assert np.array_equal(excess, np.bincount(labels, weights=s) - np.array([5.0, -3.0]))
    for group in range(2):
        inside = np.flatnonzero(labels == group)
        missing = -int(excess[group]) // 2
        if dense:
            annealing.dense_restore_count(J, 0.0, inside, missing, s, f)
        else:
            annealing.csr_restore_count(*parts(A), 0.0, inside, missing, s, f)
    assert np.array_equal(np.bincount(labels, weights=s), [5.0, -3.0])
    assert np.array_equal(f, h + A @ s)
