"""The semidefinite relaxation: known optima, its dual variables, its limits, and the terms that counts add."""

from __future__ import annotations

import math
from itertools import product

import numpy as np
import pytest
import scipy.sparse as sp

from flipwise import Cardinality, Free, GroupCounts, LowRank, Quadratic
from flipwise.bounds.sdp import MOST_RANK, LowRankSolution, random_rows, sdp_bound, solve_sdp, with_counts
from flipwise.kernels.compile_time import working_time

SIDES = np.kron(np.array([[0.0, 1.0], [1.0, 0.0]]), np.ones((3, 3)))  # K_{3,3}


def solved(f: Quadratic, **changes: object) -> LowRankSolution:
    """The relaxation, solved well unless something is said otherwise."""
    settings: dict[str, object] = {
        "constraint": None, "rank": None, "max_sweeps": 2000, "tolerance": 1e-9,
        "rng": np.random.default_rng(0), "deadline": math.inf,
    }  # fmt: skip
    return solve_sdp(f, **(settings | changes))  # type: ignore[arg-type]


def points(n: int) -> list[np.ndarray]:
    """All binary points."""
    return [np.array(x) for x in product([-1.0, 1.0], repeat=n)]


def random_quadratic(n: int, seed: int) -> Quadratic:
    """A sparse and a low-rank term, a linear part and a constant."""
    rng = np.random.default_rng(seed)
    A = rng.standard_normal((n, n)) * (rng.random((n, n)) < 0.5)
    return Quadratic(
        [sp.csr_array(A + A.T), LowRank(rng.standard_normal((n, 2)), [1.0, -0.5])], rng.standard_normal(n), 0.7
    )


KNOWN = {
    "pentagon": (np.roll(np.eye(5), 1, axis=0) + np.roll(np.eye(5), -1, axis=0), 10.0 * math.cos(0.8 * math.pi)),
    "triangle": (np.ones((3, 3)) - np.eye(3), -3.0),
    "clique": (np.ones((6, 6)) - np.eye(6), -6.0),
    "sides": (SIDES, -18.0),
    "diagonal": (np.diag([1.0, -2.0, 4.5]), 3.5),
    "zero": (np.zeros((2, 2)), 0.0),
}


@pytest.mark.parametrize("name", KNOWN)
@pytest.mark.parametrize("kind", [np.array, sp.csr_array])
@pytest.mark.parametrize("size", [1e-6, 1.0, 1e6])
def test_known_optima(name: str, kind: type, size: float) -> None:
    """Cycles, cliques and bipartite graphs: the bound is the optimum of the relaxation and not above it."""
    A, optimum = KNOWN[name]
    bound = sdp_bound(Quadratic(kind(A * size), d=2.0 * size))
    assert (optimum + 2.0 - 1e-3) * size <= bound <= (optimum + 2.0 + 1e-12) * size


def test_linear_parts_are_met_exactly() -> None:
    """Without products the relaxation is exact, also as a low-rank term of one variable each."""
    c = np.array([1.5, -2.0, 0.25, 3.0])
    assert -6.75 - 1e-3 <= sdp_bound(Quadratic(sp.csr_array((4, 4)), c)) <= -6.75
    assert -5.75 - 1e-3 <= sdp_bound(Quadratic(LowRank(np.eye(4)[:, :1]), c)) <= -5.75


@pytest.mark.parametrize("seed", range(3))
def test_primal_and_dual_meet(seed: int) -> None:
    """Unit rows whose value is that of <H, VV'>, dual variables H_ii - |g_i|, and a bound just below the value."""
    f = random_quadratic(7, seed)
    answer = solved(f)
    H = answer.form.to_dense()
    assert np.allclose(np.linalg.norm(answer.V, axis=1), 1.0)
    assert answer.value == pytest.approx(float(np.sum(H * (answer.V @ answer.V.T))) + 0.7, abs=1e-9)
    g = (H - np.diag(np.diag(H))) @ answer.V
    assert np.allclose(answer.u, np.diag(H) - np.linalg.norm(g, axis=1), atol=1e-9)
    assert answer.bound() <= answer.value + 1e-9 and answer.bound() == pytest.approx(answer.value, abs=1e-3)
    assert answer.value <= min(f.value(x) for x in points(7)) + 1e-6
    assert answer.bound() == pytest.approx(sdp_bound(f, tolerance=1e-9), abs=1e-9)


def test_directions_leave_out_the_constant() -> None:
    """One row for each variable: the last row of a lifted form stands for 1."""
    lifted, plain = solved(random_quadratic(5, 0)), solved(Quadratic(SIDES))
    assert lifted.V.shape[0] == 6 and np.array_equal(lifted.directions(), lifted.V[:5])
    assert plain.V.shape[0] == 6 and np.array_equal(plain.directions(), plain.V)


def test_limits_end_the_sweeps() -> None:
    """The number of sweeps, the tolerance and the deadline; what is left is still a bound."""
    f = random_quadratic(12, 1)
    full = solved(f)
    assert 5 < full.sweeps < 2000
    assert solved(f, max_sweeps=3).sweeps == 3 and solved(f, max_sweeps=0).sweeps == 0
    assert solved(f, tolerance=1e9).sweeps == 1
    assert solved(f, deadline=working_time() - 1.0).sweeps == 1
    assert solved(f, tolerance=1e-2).sweeps < full.sweeps
    least = min(f.value(x) for x in points(12)[:: 2**4])
    for hurried in (solved(f, max_sweeps=1), solved(f, tolerance=1e9)):
        assert hurried.bound() <= full.value + 1e-9 and full.value <= hurried.value and full.value <= least
    assert sdp_bound(f, time_limit=0.0) < sdp_bound(f, max_sweeps=3) < full.bound()
    zero = solved(Quadratic(np.zeros((3, 3))))
    assert zero.sweeps == 1 and zero.value == 0.0


def test_the_tolerance_is_relative_to_the_size_of_the_numbers() -> None:
    """Scaling the objective by a power of two changes neither the sweeps nor the directions."""
    rng = np.random.default_rng(2)
    A = rng.standard_normal((10, 10))
    for parts in ([A + A.T], [sp.csr_array(A + A.T)], [LowRank(A[:, :3])], [A + A.T, LowRank(A[:, :3])]):
        one = solved(Quadratic(parts), tolerance=1e-6)
        for factor in (2.0**-40, 2.0**40):
            other = solved(Quadratic([term.scaled(factor) for term in Quadratic(parts).terms]), tolerance=1e-6)
            assert other.sweeps == one.sweeps and np.allclose(other.V, one.V, atol=1e-6)


@pytest.mark.parametrize("tolerance", [1e-2, 1e-3])
def test_the_sweeps_end_at_the_first_that_gains_too_little(tolerance: float) -> None:
    """Not before a sweep lowers the value by less than `tolerance` of its size, and not after."""
    rng = np.random.default_rng(5)
    A = rng.standard_normal((12, 12))
    for parts in ([A + A.T], [sp.csr_array(A + A.T), LowRank(A[:, :2], [1.0, -1.0])]):
        f = Quadratic(parts)
        ended = solved(f, tolerance=tolerance)
        values = [solved(f, tolerance=0.0, max_sweeps=sweeps).value for sweeps in range(ended.sweeps + 1)]
        gains = -np.diff(values) / np.abs(values[1:])
        assert ended.sweeps > 2 and gains[-1] <= tolerance and np.all(gains[:-1] > tolerance)


def test_a_value_near_zero_does_not_keep_the_sweeps_going() -> None:
    """Where the optimum is zero, progress is measured by the entries instead."""
    U = np.random.default_rng(3).standard_normal((30, 4))
    for f in (Quadratic(LowRank(U)), Quadratic(U @ U.T)):
        loose, exact = (solved(f, rank=5, tolerance=tolerance).sweeps for tolerance in (1e-2, 0.0))
        assert loose < exact / 2


@pytest.mark.parametrize("N", [1, 2, 7, 100, 1500, 3000])
def test_columns_suffice_for_every_optimum(N: int) -> None:
    """r (r + 1) / 2 > N columns have no spurious optima; never more than the limit, and at least one."""
    rows = random_rows(N, None, np.random.default_rng(0))
    r = rows.shape[1]
    assert rows.shape == (N, r) and r <= MOST_RANK and (r == MOST_RANK or r * (r + 1) / 2 > N)
    assert r <= math.sqrt(2 * N) + 2.0
    assert np.allclose(np.linalg.norm(rows, axis=1), 1.0)
    for rank, columns in ((1, 1), (5, 5), (0, 1), (90, 90)):
        assert random_rows(3, rank, np.random.default_rng(0)).shape == (3, columns)


def test_rank_one_is_a_local_search() -> None:
    """With a single column the rows are signs, and the bound is true nonetheless."""
    f = random_quadratic(6, 4)
    answer = solved(f, rank=1)
    assert np.allclose(np.abs(answer.V), 1.0) and answer.bound() <= min(f.value(x) for x in points(6))


def test_counts_vanish_on_feasible_points() -> None:
    """The added terms are lambda_q (1_q'x - m_q) + mu (1_q'x - m_q)^2, on every point."""
    f = random_quadratic(5, 5)
    labels = np.array([0, 1, 0, 1, 1])
    indicator = np.eye(2)[labels]
    m, multipliers, mu = np.array([2.0, -1.0]), np.array([0.3, -1.7]), 0.6
    form = with_counts(f, labels, indicator, m, multipliers, mu)
    assert form.lifted and form.N == 6
    for x in points(5):
        y, off = np.append(x, 1.0), indicator.T @ x - m
        added = float(multipliers @ off) + mu * float(off @ off)
        assert float(y @ form.times(y)) + form.constant == pytest.approx(f.value(x) + added, abs=1e-9)


@pytest.mark.parametrize("r", [0, 1, 2, 5, 6])
def test_counts_on_known_instances(r: int) -> None:
    """With r of 6 ones a clique has one value, and a linear objective its r smallest coefficients: both are met."""
    m = 2.0 * r - 6.0
    assert solved(Quadratic(np.eye(6)), constraint=Cardinality(r), max_sweeps=1).form.U.shape == (7, 1)
    clique = Quadratic(np.ones((6, 6)) - np.eye(6), d=0.5)
    assert m * m - 5.5 - 0.02 <= sdp_bound(clique, constraint=Cardinality(r)) <= m * m - 5.5
    c = np.array([3.0, -1.0, 4.0, 1.5, -5.0, 9.0])
    ordered = np.sort(c)
    optimum = float(ordered[:r].sum() - ordered[r:].sum())
    bound = sdp_bound(Quadratic(sp.csr_array((6, 6)), c), constraint=Cardinality(r))
    assert optimum - 0.02 * np.abs(c).sum() <= bound <= optimum


def test_counts_of_groups() -> None:
    """Each group has its own count: a linear objective is met group by group, and the free bound is lower."""
    c = np.array([3.0, -1.0, 4.0, 1.5, -5.0, 9.0])
    groups = GroupCounts([0, 1, 0, 1, 1, 0], [2, 1])
    f = Quadratic(sp.csr_array((6, 6)), c, -1.0)
    optimum = min(f.value(x) for x in points(6) if groups.contains(x))
    bound = sdp_bound(f, constraint=groups)
    assert optimum - 0.3 <= bound <= optimum and sdp_bound(f) < optimum - 1.0
    assert sdp_bound(f, constraint=Free()) == sdp_bound(f)


@pytest.mark.parametrize("seed", range(3))
def test_the_terms_of_the_counts_are_met_at_the_end(seed: int) -> None:
    """The method of multipliers brings the sums of the directions along the constant to the counts."""
    f = random_quadratic(8, seed)
    labels = np.array([0, 0, 0, 1, 1, 1, 1, 1])
    answer = solved(f, constraint=GroupCounts(labels, [1, 3]))
    assert answer.form.U.shape == (9, 4)  # two columns of f, one for each group
    along = answer.V[:-1] @ answer.V[-1]
    assert np.allclose(np.bincount(labels, along), [-1.0, 1.0], atol=0.02)
    feasible = [x for x in points(8) if GroupCounts(labels, [1, 3]).contains(x)]
    optimum = min(f.value(x) for x in feasible)
    assert answer.bound() <= min(optimum, answer.value + 1e-9) and answer.value <= optimum + 0.05
    assert answer.bound() >= solved(f).bound() - 0.05


def test_the_last_round_of_the_counts_may_take_all_sweeps() -> None:
    """Earlier rounds take their share only, and where the counts are met before, none is the last."""
    unmet, met = random_quadratic(12, 3), random_quadratic(12, 0)
    assert solved(unmet, constraint=Cardinality(4), max_sweeps=25, tolerance=-1.0).sweeps == 25
    assert solved(met, constraint=Cardinality(4), max_sweeps=25, tolerance=-1.0).sweeps == 2


def test_the_rounds_go_on_until_every_group_has_its_count() -> None:
    """A group that has its count from the first round does not end them for the other."""
    rng = np.random.default_rng(8)
    A = np.triu(rng.standard_normal((6, 6)), 1)
    labels = np.array([0, 0, 0, 1, 1, 1, 1, 1, 1])
    parts = np.zeros((9, 9))
    parts[3:, 3:] = A + A.T
    c = np.concatenate([np.full(3, 50.0), 3.0 * rng.standard_normal(6)])
    groups = GroupCounts(labels, [0, 3])
    f = Quadratic(parts, c)
    answer = solved(f, constraint=groups)
    along = answer.V[:-1] @ answer.V[-1]
    assert np.allclose(np.bincount(labels, along), [-3.0, 0.0], atol=0.02)
    optimum = min(f.value(x) for x in points(9) if groups.contains(x))
    assert optimum - 3.0 <= answer.bound() <= optimum


def test_a_deadline_ends_the_rounds_of_the_counts() -> None:
    """After the deadline one sweep of one round is left, which is still a bound."""
    f = random_quadratic(8, 6)
    late = solved(f, constraint=Cardinality(3), deadline=working_time() - 1.0)
    full = solved(f, constraint=Cardinality(3))
    optimum = min(f.value(x) for x in points(8) if Cardinality(3).contains(x))
    assert late.sweeps == 1 and late.bound() < full.bound() <= optimum
    x = np.array([1.0, 1.0, -1.0, -1.0, -1.0, -1.0, -1.0, -1.0])  # two and four ones: off by 2 on either side of three
    added = []
    for each in (x, np.roll(x, 2) + x + 1.0):
        y = np.append(each, 1.0)
        added.append(float(y @ late.form.times(y)) + late.form.constant - f.value(each))
    assert added[0] == pytest.approx(added[1]) and added[0] > 0.0  # no multipliers yet, only the square
