"""The linearised programme: its optimum on known instances, and a dual bound that holds for any multipliers."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
import scipy.sparse as sp

from flipwise import Cardinality, Free, GroupCounts, LowRank, Quadratic
from flipwise.bounds.linearised import LinearProgram, dual_bound, linearise, solve_linearised


def random_quadratic(n: int, seed: int) -> Quadratic:
    """A quadratic with diagonal, linear part, constant and entries of either sign."""
    rng = np.random.default_rng(seed)
    A = np.triu(rng.integers(-3, 4, (n, n))).astype(float)
    return Quadratic(sp.csr_array(A + A.T), rng.integers(-4, 5, n), 0.75)


def least(f: Quadratic, constraint: Cardinality | Free | GroupCounts) -> float:
    """The minimum over the feasible points."""
    points = (np.array(x) for x in product([-1.0, 1.0], repeat=f.n))
    return min(f.value(x) for x in points if constraint.contains(x))


def exact_bound(program: LinearProgram, multipliers: np.ndarray, balance: np.ndarray) -> Fraction:
    """The Lagrangian at its least over 0 <= v <= 1, in rational numbers."""
    matrix = program.matrix.toarray()
    equal = np.zeros((0, program.cost.size)) if program.equal is None else program.equal.toarray()
    rows = [*zip(matrix, multipliers, program.right), *zip(equal, balance, program.sums)]
    total = Fraction(program.constant) + sum(Fraction(m) * Fraction(b) for _, m, b in rows)
    for j, cost in enumerate(program.cost):
        total += min(Fraction(0), Fraction(cost) - sum(Fraction(row[j]) * Fraction(m) for row, m, _ in rows))
    return total


@pytest.mark.parametrize("weight", [1.0, -1.0, 0.1])
def test_two_variables_by_hand(weight: float) -> None:
    """2 w x_1 x_2 has four vertices: the relaxation is exact, and z joins b_1 and b_2 the right way."""
    f = Quadratic(np.array([[0.0, weight], [weight, 0.0]]), d=5.0)
    program = linearise(f, Free())
    assert np.array_equal(program.cost, [-4.0 * weight, -4.0 * weight, 8.0 * weight])
    assert program.constant == 5.0 + 2.0 * weight and program.n == 2
    assert program.equal is None and program.sums.size == 0
    rows = {(tuple(row), right) for row, right in zip(program.matrix.toarray(), program.right)}
    assert rows == ({((1, 1, -1), 1)} if weight > 0 else {((-1, 0, 1), 0), ((0, -1, 1), 0)})
    x, bound = solve_linearised(f, Free(), math.inf)
    assert x is not None and bound is not None
    assert 5.0 - 2.0 * abs(weight) - 1e-12 <= bound <= 5.0 - 2.0 * abs(weight) and np.all(np.abs(x) <= 1.0)


def test_a_triangle_is_relaxed_to_halves() -> None:
    """Three spins that all want to differ: all b = 1/2 with z = 0 reaches -6, four below the optimum."""
    x, bound = solve_linearised(Quadratic(np.ones((3, 3)) - np.eye(3)), Free(), math.inf)
    assert bound == pytest.approx(-6.0, abs=1e-9) and x is not None and np.allclose(x, 0.0)


def test_linear_parts_and_diagonals_alone_are_solved() -> None:
    """Without products the programme has no rows and the optimum is that of each variable."""
    f = Quadratic(sp.csr_array(np.diag([1.5, -2.5, 0.0])), [1.0, -2.0, 0.5], 10.0)
    program = linearise(f, Free())
    assert program.matrix.shape == (0, 3) and program.right.size == 0
    x, bound = solve_linearised(f, Free(), math.inf)
    assert x is not None and bound is not None
    assert np.array_equal(np.sign(x), [-1.0, 1.0, -1.0]) and 5.5 - 1e-11 <= bound <= 5.5
    x, bound = solve_linearised(f, Cardinality(2), math.inf)
    assert x is not None and bound is not None
    assert np.allclose(x, [-1.0, 1.0, 1.0]) and 6.5 - 1e-11 <= bound <= 6.5


@pytest.mark.parametrize("seed", range(4))
def test_the_programme_has_the_values_of_the_objective(seed: int) -> None:
    """At binary points with z = b b' the cost is f; at any z that the rows forbid, only those rows are broken."""
    f = random_quadratic(4, seed)
    program = linearise(f, Free())
    upper = sp.triu(f.terms[0].A, k=1, format="coo")  # type: ignore[attr-defined]
    for x in product([-1.0, 1.0], repeat=4):
        b = (np.array(x) + 1.0) / 2.0
        v = np.concatenate([b, b[upper.row] * b[upper.col]])
        assert program.cost @ v + program.constant == f.value(np.array(x))
        for e, weight in enumerate(upper.data):
            worse = v.copy()
            worse[4 + e] -= np.sign(weight)  # towards a lower cost
            allowed = np.all(program.matrix @ worse <= program.right) and 0 <= worse[4 + e] <= 1
            assert not allowed


def test_low_rank_terms_are_written_out() -> None:
    """The same programme as of the matrix they stand for, also beside a sparse part."""
    U, s = np.array([[1.0, 2.0], [-1.0, 0.0], [3.0, 1.0]]), np.array([1.0, -2.0])
    S = np.array([[0.0, 1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 4.0]])
    for parts, whole in (([LowRank(U, s)], (U * s) @ U.T), ([sp.csr_array(S), LowRank(U, s)], S + (U * s) @ U.T)):
        one = linearise(Quadratic(parts, [1.0, 2.0, 3.0], 0.5), Free())
        two = linearise(Quadratic(whole, [1.0, 2.0, 3.0], 0.5), Free())
        assert np.array_equal(one.cost, two.cost) and one.constant == two.constant
        assert np.array_equal(one.matrix.toarray(), two.matrix.toarray()) and np.array_equal(one.right, two.right)


def test_counts_are_equations() -> None:
    """Every group has its own sum of ones over its own variables."""
    groups = GroupCounts([0, 1, 0, 1, 1], [2, 1])
    program = linearise(random_quadratic(5, 1), groups)
    assert program.equal is not None
    assert np.array_equal(program.equal.toarray()[:, :5], [[1, 0, 1, 0, 0], [0, 1, 0, 1, 1]])
    assert program.equal.shape[1] == program.cost.size and program.equal[:, 5:].nnz == 0
    assert np.array_equal(program.sums, [2.0, 1.0])


@pytest.mark.parametrize("constraint", [Free(), Cardinality(2), GroupCounts([0, 0, 1, 1, 1], [1, 2])])
@pytest.mark.parametrize("seed", range(4))
def test_the_bound_is_below_the_optimum_and_meets_the_relaxed_one(
    constraint: Cardinality | Free | GroupCounts, seed: int
) -> None:
    """The dual bound of HiGHS' multipliers is the relaxed value of its point, and never above a feasible value."""
    f = random_quadratic(5, seed)
    x, bound = solve_linearised(f, constraint, math.inf)
    assert x is not None and bound is not None and bound <= least(f, constraint)
    program, b = linearise(f, constraint), (x + 1.0) / 2.0
    upper = sp.triu(f.terms[0].A, k=1, format="coo")  # type: ignore[attr-defined]
    i, j = upper.row, upper.col
    z = np.where(upper.data > 0, np.maximum(b[i] + b[j] - 1.0, 0.0), np.minimum(b[i], b[j]))
    assert program.cost @ np.concatenate([b, z]) + program.constant == pytest.approx(bound, abs=1e-6)
    assert program.equal is None or np.allclose(program.equal[:, :5] @ b, program.sums)


@pytest.mark.parametrize("size", [1e-6, 1.0, 1e6])
@pytest.mark.parametrize("constraint", [Free(), Cardinality(2)])
def test_any_multipliers_prove_what_exact_arithmetic_says(constraint: Cardinality | Free, size: float) -> None:
    """The bound is that of rational arithmetic, rounded down, and not by more than a trillionth of the numbers."""
    rng = np.random.default_rng(6)
    A = np.triu(rng.standard_normal((5, 5)), 1)
    f = Quadratic((A + A.T) * size, rng.standard_normal(5) * size, 0.3 * size)
    program = linearise(f, constraint)
    for scale in (0.0, 0.3, 30.0):
        multipliers = -scale * size * rng.random(program.right.size)
        balance = scale * size * rng.standard_normal(program.sums.size)
        bound, exact = dual_bound(program, multipliers, balance), exact_bound(program, multipliers, balance)
        assert exact - Fraction(1e-11 * size * (1.0 + scale)) <= Fraction(bound) <= exact
        assert bound <= least(f, constraint)


@pytest.mark.parametrize("part", ["constant", "right", "matrix", "equal", "sums"])
def test_the_margin_follows_every_part_of_the_programme(part: str) -> None:
    """Numbers of 1e16 beside ones: what floats drop is covered, wherever the large number stands."""
    big = 1e16 + 2.0
    cost, entry, right, multiplier = np.array([1.0]), 1.0, 0.0, -1.0
    constant, equal, sums, balance = 0.0, None, np.zeros(0), np.zeros(0)
    if part == "constant":
        constant = big
    elif part == "right":
        right = big
    elif part == "matrix":
        entry, cost = big, np.array([-big])
    else:
        equal, sums, balance = sp.csr_array(np.array([[1.0]])), np.array([0.0]), np.array([big])
        cost = np.array([big])
        if part == "sums":
            sums = np.array([1.0])
    matrix = sp.csr_array(np.array([[entry], [1.0], [1.0], [1.0]]))
    program = LinearProgram(cost, matrix, np.array([right, 1.0, 1.0, 1.0]), equal, sums, constant, 1, 0.0)
    multipliers = np.array([multiplier, -1.0, -1.0, -1.0])
    exact = exact_bound(program, multipliers, balance)
    assert exact - 1000 <= Fraction(dual_bound(program, multipliers, balance)) <= exact


def test_multipliers_that_cancel_are_in_the_margin() -> None:
    """1e16 + 1 - 1e16 is 0 in floats: of the inequalities as of the equalities, the lost 1 is covered."""
    column = sp.csr_array(np.array([[1.0], [1.0], [1.0]]))
    signed = sp.csr_array(np.array([[-1.0], [-1.0], [1.0]]))
    balance, multipliers = np.array([1e16, 1.0, -1e16]), np.array([-1e16, -1.0, -1e16])
    none, three = np.zeros(0), np.zeros(3)
    equal = LinearProgram(np.array([0.5]), sp.csr_array((0, 1)), none, column, three, 0.0, 1, 0.0)
    assert exact_bound(equal, none, balance) == Fraction(-1, 2) and -1e3 <= dual_bound(equal, none, balance) <= -0.5
    below = LinearProgram(np.array([0.5]), signed, three, None, none, 0.0, 1, 0.0)
    assert exact_bound(below, multipliers, none) == Fraction(-1, 2)
    assert -1e3 <= dual_bound(below, multipliers, none) <= -0.5


def test_a_large_diagonal_does_not_take_digits_from_the_rest() -> None:
    """1e16 and -1e16 on the diagonal cancel in f; the product beside them must stay."""
    f = Quadratic(sp.csr_array(np.array([[1e16, 1.0], [1.0, -1e16]])))
    _, bound = solve_linearised(f, Free(), math.inf)
    assert bound is not None and bound <= -2.0


def test_too_little_time_gives_nothing() -> None:
    """A programme of thousands of rows is not solved in the least time; the deadline may have passed before."""
    rng = np.random.default_rng(7)
    A = np.triu(rng.standard_normal((90, 90)), 1)
    for seconds in (1e-3, -1.0):
        assert solve_linearised(Quadratic(A + A.T), Free(), seconds) == (None, None)


def test_a_limit_that_suffices_changes_nothing() -> None:
    """With time enough the answer is that without a limit."""
    f = random_quadratic(4, 9)
    (x, bound), (y, other) = (solve_linearised(f, Free(), seconds) for seconds in (math.inf, 60.0))
    assert x is not None and y is not None and np.array_equal(x, y) and bound == other


@pytest.mark.parametrize("seed", range(20))
def test_terms_that_cancel_leave_a_true_bound(seed: int) -> None:
    """Two variables, where the relaxation is exact: what writing out large terms lost must not lift the bound."""
    U = 1e8 * np.random.default_rng(seed).standard_normal((2, 1))
    both = np.hstack([U, U + 1e-3])
    f = Quadratic([LowRank(both, np.array([1.0, -1.0]))])
    u, w = ([Fraction(float(v)) for v in column] for column in both.T)
    truth = min((u[0] + sign * u[1]) ** 2 - (w[0] + sign * w[1]) ** 2 for sign in (-1, 1))
    _, bound = solve_linearised(f, Free(), math.inf)
    assert bound is not None and Fraction(bound) <= truth
    assert truth - Fraction(bound) < 1e-12 * float((both**2).sum())


def test_row_sums_that_cancel_leave_a_true_bound() -> None:
    """A star: beside 1e15 and -1e15 the many small weights of a row sum are lost, one after another."""
    weights = np.concatenate([[1e15], np.full(2000, 0.06), [-1e15]])
    n = weights.size + 1
    A = sp.coo_array((weights, (np.zeros(n - 1, dtype=int), np.arange(1, n))), shape=(n, n))
    c = np.zeros(n)
    c[0] = -50.0
    # every edge of a star can be satisfied, and the centre is +1
    truth = -50 - 2 * sum(abs(Fraction(float(w))) for w in weights)
    _, bound = solve_linearised(Quadratic(sp.csr_array(A + A.T), c), Free(), math.inf)
    assert bound is not None and Fraction(bound) <= truth
