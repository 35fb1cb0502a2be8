"""The kernels of the search: exact bookkeeping, agreement with plain NumPy, and equal bits in both tiers."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from flipwise.kernels import annealing, multilevel, tabu

pytestmark = pytest.mark.kernels


def couplings(n: int, density: float, seed: int, dtype: type = np.int32) -> tuple[sp.csr_array, np.ndarray]:
    """A random symmetric integer matrix without diagonal, and a linear part."""
    rng = np.random.default_rng(seed)
    upper = np.triu(rng.integers(-90, 91, (n, n)) * (rng.random((n, n)) < density), 1)
    return sp.csr_array((upper + upper.T).astype(dtype)), rng.integers(-50, 51, n).astype(dtype)


def spins(n: int, seed: int) -> np.ndarray:
    """Random spins."""
    return (2 * np.random.default_rng(seed).integers(0, 2, n) - 1).astype(np.int8)


def energy(J: np.ndarray, h: np.ndarray, s: np.ndarray) -> float:
    """The energy from its definition."""
    x = s.astype(np.float64)
    return float(x @ J @ x / 2 + h @ x)


def parts(A: sp.csr_array) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The arrays of a CSR matrix in the kernels' types."""
    return A.indptr.astype(np.int64), A.indices, A.data


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
            annealing.dense_fields(J, h, s, f)
            annealing.dense_anneal(J, schedule, quantiles, s, f, state)
            annealing.dense_quench(J, 0.0, s, f)
        else:
            annealing.csr_fields(*parts(A), h, s, f)
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


def test_tabu_reports_what_it_did() -> None:
    """The best and last changes of energy and the costs are those of the points it returns."""
    A, h = couplings(40, 0.8, 7)
    J = A.toarray().astype(np.int8)
    s = spins(40, 8)
    before = energy(A.toarray(), h, s)
    d = (-2 * s * (h + A @ s)).astype(np.int32)
    best_s = s.copy()
    state = np.array([3], dtype=np.uint64)
    best, last = tabu.dense_tabu(J, 200, 5, 5, np.int32(2**29), s, d, np.zeros(40, dtype=np.int64), best_s, state)
    assert energy(A.toarray(), h, best_s) == before + best
    assert energy(A.toarray(), h, s) == before + last
    assert np.array_equal(d, -2 * s * (h + A @ s))
    assert best <= 0


def test_relinking_ends_between_its_parents() -> None:
    """The point lies on a path between the two: it differs from the start only where the goal does."""
    A, h = couplings(40, 0.8, 9)
    J = A.toarray().astype(np.int8)
    start, goal = spins(40, 10), spins(40, 11)
    d = (-2 * start * (h + A @ start)).astype(np.int32)
    found = start.copy()
    differing = np.flatnonzero(start != goal)
    best = tabu.dense_relink(J, np.int32(2**29), start.copy(), d, differing.copy(), found)
    assert energy(A.toarray(), h, found) == energy(A.toarray(), h, start) + best
    assert set(np.flatnonzero(found != start)) <= set(differing)
    assert 0 < np.count_nonzero(found != start) < differing.size


def test_components_are_taken_exactly_where_they_help() -> None:
    """The child equals the best choice over all subsets of components."""
    A, h = couplings(24, 0.08, 12)
    J = A.toarray()
    s, other = spins(24, 13), spins(24, 14)
    graph = A.copy()
    inside = s != other
    mask = np.outer(inside, inside)
    count, labels = sp.csgraph.connected_components(sp.csr_array((graph.toarray() != 0) & mask))
    groups = [np.flatnonzero((labels == k) & inside) for k in range(count)]
    groups = [g for g in groups if g.size]
    best = min(
        energy(J, h, np.where(np.isin(np.arange(24), np.concatenate([np.array([], int), *chosen])), other, s))
        for bits in range(2 ** min(len(groups), 10))
        for chosen in [[g for k, g in enumerate(groups[:10]) if bits >> k & 1]]
    )
    before = energy(J, h, s)
    f = (h + A @ s).astype(np.int32)
    child = s.copy()
    change, found = tabu.csr_take_components(
        *parts(A), 0, True, child, f, other, np.empty(24, dtype=np.int64), np.zeros(24, dtype=np.bool_)
    )
    assert found == len(groups)
    assert energy(J, h, child) == before + change <= best
    assert np.array_equal(f, h + A @ child)


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


def grid(side: int) -> sp.csr_array:
    """A square grid graph."""
    line = sp.diags_array([np.ones(side - 1), np.ones(side - 1)], offsets=[-1, 1])
    eye = sp.eye_array(side)
    return sp.csr_array(sp.kron(line, eye) + sp.kron(eye, line)).astype(np.int64)


def test_contraction_keeps_every_cut() -> None:
    """A cut of the coarse graph weighs the same on the fine one."""
    A = grid(6)
    rng = np.random.default_rng(17)
    n = 36
    partner = np.empty(n, dtype=np.int64)
    sizes = np.ones(n, dtype=np.int64)
    count = multilevel.csr_heavy_matching(
        *parts(A), sizes, 10, rng.permutation(n), np.zeros(n, dtype=np.int64), partner
    )
    assert np.array_equal(partner[partner], np.arange(n))
    coarse = np.full(n, -1, dtype=np.int64)
    indptr, c_sizes = np.empty(count + 1, dtype=np.int64), np.empty(count, dtype=np.int64)
    indices, w = np.empty(A.nnz, dtype=np.int32), np.empty(A.nnz, dtype=np.int64)
    place = np.full(count, -1, dtype=np.int64)
    arcs = multilevel.csr_contract(*parts(A), sizes, partner, coarse, place, indptr, indices, w, c_sizes)
    B = sp.csr_array((w[:arcs], indices[:arcs], indptr), shape=(count, count)).toarray()
    assert c_sizes.sum() == n
    assert np.array_equal(B, B.T)
    s = (2 * rng.integers(0, 2, count) - 1).astype(np.int64)
    fine = s[coarse]
    assert (np.outer(s, s) < 0)[B != 0].dot(B[B != 0]) == A.toarray()[np.outer(fine, fine) < 0].sum()


def test_gains_do_not_depend_on_what_the_array_held() -> None:
    """An uninitialised array may hold anything, also numbers that are none."""
    A = grid(3)
    indptr, indices, w = parts(A)
    gain = np.full(9, np.nan)
    s = np.where(np.arange(9) < 4, 1, -1).astype(np.int8)
    cut = multilevel.csr_gains(indptr, indices, w.astype(np.float64), s, gain)
    assert cut == A.toarray()[np.outer(s, s) < 0].sum() and np.isfinite(gain).all()


def test_pass_decreases_the_cut_by_what_it_says() -> None:
    """The decrease, the gains and the balance a pass reports are those of the point it leaves."""
    A = grid(8)
    n = 64
    rng = np.random.default_rng(18)
    s = np.where(rng.permutation(n) < n // 2, 1, -1).astype(np.int8)
    gain = np.empty(n, dtype=np.int64)
    before = multilevel.csr_gains(*parts(A), s, gain)
    scratch = (
        np.full((2, 10), -1, dtype=np.int64),
        np.empty(n, dtype=np.int64),
        np.empty(n, dtype=np.int64),
        np.full(n, -1, dtype=np.int64),
        np.zeros(n, dtype=np.bool_),
        np.empty(n, dtype=np.int64),
    )
    sizes = np.ones(n, dtype=np.int64)
    decrease, off = multilevel.csr_pass(*parts(A), sizes, 4.0, 1.0, 0, 0, 2, n, 3, s, gain, *scratch)
    again = np.empty(n, dtype=np.int64)
    after = multilevel.csr_gains(*parts(A), s, again)
    assert off == 0
    assert np.count_nonzero(s > 0) == n // 2
    assert after == before - 2 * decrease < before
    assert np.array_equal(gain, again)


def test_growth_reaches_its_goal() -> None:
    """The side grown from a seed has at least the goal and is connected on a connected graph."""
    A = grid(6)
    s = np.empty(36, dtype=np.int8)
    sizes = np.ones(36, dtype=np.int64)
    order = np.random.default_rng(19).permutation(36)
    reached = multilevel.csr_grow(*parts(A)[:2], sizes, 18, order, s, np.empty(36, dtype=np.int64))
    assert reached == np.count_nonzero(s > 0) == 18
    inside = np.flatnonzero(s > 0)
    assert sp.csgraph.connected_components(A[inside][:, inside])[0] == 1
