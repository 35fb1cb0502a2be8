"""Linear constraints: what was said is kept, in any variables, beside counts and fixed ones; conflicts are named."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
import scipy.optimize
import scipy.sparse as sp

import flipwise
from flipwise.model.problem import as_problem


def drawn(seed: int) -> tuple[Any, Any, dict[str, Any], float, int]:
    """A small problem with rows around a known point: matrix, rows, further keywords, the least value, the low bit."""
    rng = np.random.default_rng(seed)
    n, m, low = int(rng.integers(1, 11)), int(rng.integers(1, 5)), int(rng.choice([-1, 0]))
    A = rng.integers(-3, 6, (m, n)) * (rng.random((m, n)) < 0.7)
    inside = np.where(rng.integers(0, 2, n) > 0, 1, low)
    lower = np.where(rng.random(m) < 0.5, A @ inside - rng.integers(0, 3, m), -np.inf)
    upper = np.where(np.isinf(lower) | (rng.random(m) < 0.5), A @ inside + rng.integers(0, 3, m), np.inf)
    Q = rng.integers(-9, 10, (n, n)).astype(float)
    more: dict[str, Any] = {}
    if rng.random() < 0.3:
        more["fixed"] = {0: int(inside[0])}
    if rng.random() < 0.4:
        ones = int((inside > 0).sum())
        more["count"] = (max(0, ones - 1), ones + 1)
    points = np.array(list(itertools.product((low, 1), repeat=n)))
    kept = ((points @ A.T >= lower) & (points @ A.T <= upper)).all(axis=1)
    if "fixed" in more:
        kept &= points[:, 0] == inside[0]
    if "count" in more:
        kept &= abs((points > 0).sum(axis=1) - ones) <= 1
    least = float(np.einsum("ki,ij,kj->k", points[kept], Q, points[kept]).min())
    return Q, (A, lower, upper), more, least, low


@pytest.mark.parametrize("seed", range(25))
def test_small_problems_are_solved_and_proven(seed: int) -> None:
    """By search and by proof, the optimum of brute force; the answer keeps every row."""
    Q, rows, more, least, low = drawn(seed)
    A, lower, upper = rows
    objective = flipwise.Quadratic((Q + Q.T) / 2, variables="spin" if low else "binary")
    for keywords in (
        {"method": "portfolio", "bound": "none", "max_iterations": 2},
        {"bound": "auto"},
        {"method": "exact"},
    ):
        result = flipwise.minimize(objective, rows=rows, seed=0, **more, **keywords)  # type: ignore[arg-type]
        assert (lower <= A @ result.x).all() and (A @ result.x <= upper).all()
        assert result.value == least
        assert result.optimal == ("max_iterations" not in keywords)
        assert result.info["rows"] in ("moves", "penalty", "enumeration")


def test_rows_can_be_given_in_many_ways() -> None:
    """A matrix, sparse or dense, scipy's own constraint, a list of terms by label."""
    Q, A = -np.diag([5.0, 6.0, 3.0]), np.array([[3.0, 4.0, 2.0]])
    given: list[Any] = [
        flipwise.LinearConstraints(A[0], upper=6),
        (sp.coo_array(A), None, 6),
        scipy.optimize.LinearConstraint(A, -np.inf, 6),
        [({0: 3, 1: 4, 2: 2}, "<=", 6)],
    ]
    for rows in given:
        assert flipwise.solve_qubo(Q, rows=rows, seed=0).x.tolist() == [0, 1, 1]
    assert flipwise.minimize(flipwise.Quadratic(Q, variables="binary"), constraint=given[0], seed=0).value == -9
    labelled = flipwise.solve_qubo(
        {("a",): -5.0, ("b",): -6.0, ("c",): -3.0}, rows=[({"a": 3, "b": 4, "c": 2}, "<=", 6)]
    )
    assert dict(zip(labelled.info["labels"], labelled.x.tolist(), strict=True)) == {"a": 0, "b": 1, "c": 1}


def test_rows_beside_other_objectives() -> None:
    """A polynomial and a function of one's own."""
    rows = (np.ones((1, 6)), None, -2)  # at most two at +1
    f = {(i, (i + 1) % 6, (i + 2) % 6): -1.0 for i in range(6)}
    result = flipwise.minimize(f, 6, rows=rows, seed=0)
    assert result.x.sum() <= -2 and result.optimal
    own = flipwise.minimize(lambda x: (-float(x @ np.arange(6)), -np.arange(6.0)), 6, rows=rows, seed=0)
    assert own.x.tolist() == [-1, -1, -1, -1, 1, 1]


def test_what_cannot_be_kept_is_named() -> None:
    """One hopeless row at once; of several rows those that conflict, and none else."""
    with pytest.raises(flipwise.InfeasibleModel, match=r"row 0.*at least 5.*between 0 and 2") as one:
        flipwise.solve_qubo(np.eye(2), rows=([[1, 1]], 5, None))
    assert one.value.rows == ["0"]
    A = [[1, 1, 0, 0], [0, 1, 1, 0], [1, 0, 1, 0], [0, 0, 1, 1]]
    rows = flipwise.LinearConstraints(A, [1, 1, 1, 0], [1, 1, 1, 2], names=["a", "b", "c", "spare"])
    with pytest.raises(flipwise.InfeasibleModel, match="every one of them is needed") as several:
        flipwise.solve_qubo(np.eye(4), rows=rows)
    assert several.value.rows == ["a", "b", "c"] and several.value.proven
    with pytest.raises(flipwise.InfeasibleModel, match="count"):
        flipwise.solve_qubo(np.eye(3), rows=([[1, 1, 1]], None, 1), count=2)


def test_messages_tell_the_rows_as_they_were_given() -> None:
    """With the fixed variables in the sums and the limits, and in spins where the objective has them."""
    weights = ([[3.0, 4.0, 2.0]], None, 6)
    with pytest.raises(flipwise.InfeasibleModel, match=r"at most 6, but lies between 7 and 9"):
        flipwise.solve_qubo(np.eye(3), rows=weights, fixed={0: 1, 1: 1})
    odd = ([[1, 1, 1], [0, 1, -1]], [2, 0], [2, 0])
    with pytest.raises(flipwise.InfeasibleModel, match=r"rows 0 \(exactly 2\), 1 \(exactly 0\) cannot"):
        flipwise.solve_qubo(np.eye(3), rows=odd, fixed={0: 1})
    with pytest.raises(flipwise.InfeasibleModel, match=r"at least 2, but lies between -3 and 1"):
        flipwise.solve_ising(np.zeros(4), np.ones((4, 4)) - np.eye(4), rows=([[1, 1, 1, 0]], 2, None), fixed={0: -1})
    problem = as_problem(np.eye(3), None, None, None, {0: 1}, weights)
    assert problem.constraint.violation(np.array([1.0, 1.0])) == "row 0 must be at most 6, it is 9"


def test_few_points_are_all_looked_at_without_a_proof_too() -> None:
    rng = np.random.default_rng(0)
    A, rows = rng.integers(-5, 6, (8, 8)).astype(float), (rng.integers(1, 9, 8), None, 24)
    result = flipwise.solve_qubo(A + A.T, rows=rows, seed=0, bound="none")
    assert result.info["rows"] == "enumeration" and result.iterations == 1 and result.bound is None
    assert result.value == flipwise.solve_qubo(A + A.T, rows=rows, seed=0).bound


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        (3, "`rows` must be"),
        (([[1, 2]], None, None), "both missing"),
        (([[1, 2, 3]], None, 1), "3 columns"),
        (([[1, 2]], 2, 1), "must not be above"),
        (([[1, np.nan]], None, 1), "NaN"),
        (([[1, 2]], [1, 2], None), "one for each of the 1 rows"),
        ([({5: 1.0}, "<=", 2)], "names the variable 5"),
        ([({0: 1.0}, "<", 2)], "row 0 of `rows`"),
    ],
)
def test_bad_rows_are_refused(rows: Any, message: str) -> None:
    with pytest.raises(flipwise.InvalidInput, match=message):
        flipwise.solve_qubo(np.eye(2), rows=rows)


def test_all_optima_and_a_pool_under_rows() -> None:
    at_most_one = (np.ones((1, 4)), None, 1)
    optima = flipwise.solve_qubo(-np.eye(4), rows=at_most_one, pool="optima", seed=0).pool
    assert optima is not None and len(optima) == 4
    pool = flipwise.solve_qubo(-np.diag([1.0, 2, 3, 4]), rows=at_most_one, pool=3, seed=0, max_iterations=3).pool
    assert pool is not None and all(x.sum() <= 1 for x, _ in pool)


def test_decimal_rows_are_kept_up_to_rounding() -> None:
    """0.1 + 0.2 is no more than 0.3 here; whole numbers have no tolerance."""
    assert flipwise.solve_qubo(-np.eye(2), rows=([[0.1, 0.2]], None, 0.3), seed=0).value == -2
    assert flipwise.solve_qubo(-np.eye(2), rows=([[2**40, 1]], None, 2**40), seed=0).value == -1


def test_larger_problems_are_proven_by_highs() -> None:
    """A knapsack and an assignment too large to be enumerated."""
    rng = np.random.default_rng(0)
    weights, values = rng.integers(5, 40, 60), rng.integers(5, 40, 60)
    result = flipwise.solve_qubo(-np.diag(values.astype(float)), rows=(weights, None, 500), seed=0, max_iterations=3)
    cost = rng.integers(1, 50, (6, 6))
    assert result.optimal and weights @ result.x <= 500
    both = np.concatenate([np.kron(np.eye(6), np.ones(6)), np.kron(np.ones(6), np.eye(6))])
    assigned = flipwise.solve_qubo(np.diag(cost.ravel().astype(float)), rows=(both, 1, 1), seed=0, max_iterations=3)
    best = cost[scipy.optimize.linear_sum_assignment(cost)].sum()
    assert assigned.optimal and assigned.value == best


def test_fixed_variables_are_taken_out_of_the_rows() -> None:
    problem = as_problem(np.eye(3), None, None, None, {0: 1}, ([[2.0, 1.0, 1.0]], None, 2.0))
    assert problem.n == 2
    with pytest.raises(flipwise.InfeasibleModel):
        as_problem(np.eye(3), None, None, None, {0: 1, 1: 1, 2: 1}, ([[2.0, 1.0, 1.0]], None, 2.0))
