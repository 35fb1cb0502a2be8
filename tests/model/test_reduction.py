"""Ranges of counts and fixed variables: what is searched in their place, and what comes back, against brute force."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

import flipwise
from flipwise.model.problem import as_problem

RANGES: dict[str, Any] = {
    "free": None,
    "at most": flipwise.at_most(2),
    "at least": flipwise.at_least(3),
    "between": flipwise.Cardinality(at_least=2, at_most=4),
    "groups": flipwise.GroupCounts([0, 0, 1, 1, 1, -1], at_least=[1, 0], at_most=[1, 2]),
    "exact beside free": flipwise.GroupCounts([0, 0, 0, -1, -1, -1], [2]),
}
FIXED: tuple[Any, ...] = (None, {0: 1}, {1: "low", 4: 1}, dict.fromkeys(range(6), "low"))
N = 6


def _objective(kind: str, variables: Any) -> Any:
    rng = np.random.default_rng(3)
    A = rng.integers(-4, 5, (N, N)).astype(float) if kind == "integer" else rng.standard_normal((N, N))
    A, c = A + A.T, rng.standard_normal(N) if kind != "integer" else rng.integers(-4, 5, N).astype(float)
    if kind == "low rank":
        return flipwise.Quadratic([flipwise.LowRank(A[:, :2])], c, 0.5, variables=variables)
    if kind == "polynomial":
        return flipwise.Polynomial(
            {(0, 1, 2): 3.0, (2, 3): -2.0, (4, 5, 1): 2.0, (0,): 1.0, (): 4.0}, variables=variables
        )
    if kind == "smooth":
        return flipwise.Smooth(lambda x: (float(x @ A @ x + c @ x), 2 * A @ x + c), N, variables=variables)
    return flipwise.Quadratic(sp.csr_array(A) if kind == "sparse" else A, c, 0.1, variables=variables)


def _points(constraint: Any, fixed: dict[int, int], low: int) -> list[np.ndarray]:
    every = (np.array(x) for x in product((low, 1), repeat=N))
    return [
        x
        for x in every
        if (constraint is None or constraint.violation(x) is None) and all(x[i] == v for i, v in fixed.items())
    ]


@pytest.mark.parametrize("name", RANGES)
@pytest.mark.parametrize("kind", ["integer", "dense", "sparse", "low rank", "polynomial", "smooth"])
def test_the_best_of_all_points_is_found(kind: str, name: str) -> None:
    """Feasible, least and, of what is exact, proven; in spins and in bits, with nothing, some or all fixed."""
    constraint = RANGES[name]
    for variables, low in (("spin", -1), ("binary", 0)):
        objective = _objective(kind, variables)
        for given in FIXED:
            fixed = {i: low if value == "low" else value for i, value in (given or {}).items()}
            points = _points(constraint, fixed, low)
            if not points:
                with pytest.raises(flipwise.InvalidInput, match="fixed"):
                    flipwise.minimize(objective, constraint=constraint, fixed=fixed)
                continue
            values = [objective.value(np.where(x > 0, 1.0, -1.0)) for x in points]
            result = flipwise.minimize(objective, constraint=constraint, fixed=fixed, seed=1)
            assert any(np.array_equal(result.x, x) for x in points)
            assert result.value == pytest.approx(min(values), abs=1e-12)
            if kind not in ("low rank", "smooth"):
                assert result.optimal and result.value == min(values)
            elif result.bound is not None:
                assert Fraction(result.bound) <= Fraction(min(values)) + Fraction(1, 10**12)


def test_a_reduced_problem_translates_at_both_ends() -> None:
    """Every feasible point has a reduced one that stands for it, with the same value."""
    f = _objective("integer", "binary")
    problem = as_problem(f, None, RANGES["groups"], None, {2: 1})
    assert problem.variables == "binary" and problem.given.n == N
    for x in _points(RANGES["groups"], {2: 1}, 0):
        reduced = problem.start(x)
        assert problem.violation(reduced) is None and np.array_equal(problem.to_user(reduced), x)
        assert problem.objective.value(reduced) == problem.value(reduced) == f.value(2.0 * x - 1.0)
    with pytest.raises(flipwise.InvalidInput, match="fixed"):
        problem.start([1, 0, 0, 1, 0, 0])
    with pytest.raises(flipwise.InvalidInput, match="group 1"):
        problem.start([1, 0, 1, 1, 1, 0])


def test_a_run_speaks_in_the_users_variables(tmp_path: Path) -> None:
    """Start, callback, checkpoint and evaluations: nobody sees a dummy."""
    A = np.random.default_rng(5).standard_normal((12, 12))
    seen: list[np.ndarray] = []
    calls: list[int] = []

    def f(x: np.ndarray) -> tuple[float, np.ndarray]:
        calls.append(x.size)
        return float(x @ A @ x), (A + A.T) @ x

    start = np.array([1, 1, 0, 1, *[0] * 8])
    shared: dict[str, Any] = {"count": (2, 4), "fixed": {0: 1}, "start": start, "seed": 0, "method": "dpcd"}
    smooth = flipwise.Smooth(f, 12, variables="binary")
    result = flipwise.minimize(
        smooth, callback=lambda now: seen.append(now.x), checkpoint=tmp_path / "run.npz", **shared
    )
    assert set(calls) == {12} and result.evaluations == len(calls)
    assert seen and all(x.shape == (12,) and x[0] == 1 and 2 <= x.sum() <= 4 for x in seen)


def test_matrices_have_ranges_in_columns() -> None:
    """A column's range holds in that column; the answer has the user's shape."""
    f = flipwise.Smooth(lambda x: (float(-x.sum()), -np.ones((5, 2))), (5, 2), variables="binary")
    constraint = flipwise.ColumnCounts(at_most=[2, 3])
    result = flipwise.minimize(f, constraint=constraint, fixed={(4, 1): 0}, seed=0)
    assert result.x.shape == (5, 2) and result.x.sum(axis=0).tolist() == [2, 3] and result.x[4, 1] == 0


def test_ranges_project_to_the_nearest_point() -> None:
    """The nearest of all feasible points, and random ones are feasible."""
    rng = np.random.default_rng(0)
    for name, constraint in RANGES.items():
        if constraint is None:
            continue
        y = rng.standard_normal(N)
        best = min(float(((x - y) ** 2).sum()) for x in _points(constraint, {}, -1))
        assert float(((constraint.project(y) - y) ** 2).sum()) == pytest.approx(best), name
        assert all(constraint.contains(constraint.random((N,), rng)) for _ in range(20))


def test_many_variables_keep_their_structure() -> None:
    """A sparse matrix stays sparse, and what is left free is free."""
    n = 3000
    rng = np.random.default_rng(1)
    A = sp.coo_array((rng.random(9000), rng.integers(0, n, (2, 9000))), shape=(n, n)).tocsr()
    free = as_problem(flipwise.Quadratic(A + A.T), None, None, None, {0: 1, 7: -1})
    assert isinstance(free.constraint, flipwise.Free) and free.n == n - 2
    ranged = as_problem(flipwise.Quadratic(A + A.T), None, flipwise.at_most(10))
    assert ranged.n == n + 10 and ranged.objective.matrix.A.nnz == (A + A.T).nnz  # type: ignore[attr-defined]


def test_labels_name_what_is_fixed() -> None:
    """By the names of variables and nodes."""
    Q = {("a", "a"): -1.0, ("b", "b"): -2.0, ("a", "b"): 3.0}
    result = flipwise.solve_qubo(Q, fixed={"a": 1})
    assert dict(zip(result.info["labels"], result.x.tolist(), strict=True)) == {"a": 1, "b": 0}
    ising = flipwise.solve_ising({}, {("a", "b"): -1.0, ("b", "c"): -1.0}, fixed={"a": -1}, count=(0, 1))
    assert ising.x.tolist() == [-1, -1, -1] and ising.optimal
    path = (6, [[0, 1], [1, 2], [2, 3], [3, 4], [4, 5]])
    cut = flipwise.maxcut(path, fixed={0: 1, 1: 1})
    assert cut.value == 4.0 and cut.x[0] == cut.x[1] == 1 and cut.optimal
    halves = flipwise.bisect(path, fixed={0: 1, 5: 1}, seed=0)
    assert halves.value == 2.0 and halves.sizes.tolist() == [3, 3] and halves.x[0] == halves.x[5] == 1


@pytest.mark.parametrize("kind", ["integer", "polynomial"])
def test_a_pool_holds_no_point_twice(kind: str) -> None:
    """All optima, each once, and distinct good points: dummies make no difference."""
    f = _objective(kind, "binary")
    points = _points(RANGES["groups"], {2: 0}, 0)
    values = [f.value(2.0 * x - 1.0) for x in points]
    best = {tuple(x.tolist()) for x, value in zip(points, values, strict=True) if value == min(values)}
    shared: dict[str, Any] = {"constraint": RANGES["groups"], "fixed": {2: 0}, "seed": 0}
    optima = flipwise.minimize(f, pool="optima", **shared).pool
    assert optima is not None and sorted(map(tuple, optima.points.tolist())) == sorted(best)
    pool = flipwise.minimize(f, method="portfolio", effort=0.1, pool=5, distance=2, **shared).pool
    assert pool is not None and len(pool) > 1 and int((pool.distances + 9 * np.eye(len(pool), dtype=int)).min()) >= 2
    for x, value in pool:
        assert any(np.array_equal(x, point) for point in points) and f.value(2.0 * x - 1.0) == value
