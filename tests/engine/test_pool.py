"""Several answers: distinct, feasible, with exact values, the best first; all optima of small problems."""

from __future__ import annotations

from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

import flipwise
from flipwise.engine.pool import Collector, Wanted
from flipwise.engine.result import Result

RNG = np.random.default_rng(11)
A = RNG.integers(-3, 4, (24, 24)).astype(float)
A = A + A.T
GRAPH = sp.triu(sp.random_array((30, 30), density=0.3, rng=np.random.default_rng(4)), 1)


def checked(result: Result, size: int, distance: int, value: Any) -> None:
    """The pool is what it promises; `value` computes one from a point."""
    pool = result.pool
    assert pool is not None and 1 < len(pool) <= size
    assert (pool[0].x == result.x).all() and pool[0].value == result.value
    better = np.diff(pool.values) <= 0 if isinstance(result, flipwise.CutResult) and result.sense == "max" else None
    assert (np.diff(pool.values) >= 0).all() if better is None else better.all()
    apart = pool.distances[~np.eye(len(pool), dtype=bool)]
    assert apart.min() >= distance
    for x, found in pool:
        assert found == pytest.approx(value(x), rel=1e-12)


@pytest.mark.parametrize("count", [None, 9])
@pytest.mark.parametrize("limits", [{"effort": 0.1}, {"time_limit": 1.0}])
@pytest.mark.parametrize("distance", [1, 4])
def test_points_of_a_pool_are_apart_and_feasible(count: int | None, limits: dict[str, Any], distance: int) -> None:
    result = flipwise.solve_qubo(A, count=count, pool=6, distance=distance, bound="none", seed=0, **limits)
    checked(result, 6, distance, lambda x: x @ A @ x)
    assert "time_limit" in limits or len(result.pool or ()) == 6
    assert count is None or all(x.sum() == count for x, _ in result.pool or ())


def test_every_function_has_a_pool() -> None:
    symmetric = GRAPH + GRAPH.T

    def cut(x: np.ndarray) -> float:
        return float(symmetric[x > 0][:, x <= 0].sum())

    checked(flipwise.maxcut(GRAPH, pool=5, distance=2, effort=0.1, bound="none", seed=0), 5, 2, cut)
    halves = flipwise.bisect(GRAPH, pool=5, distance=2, bound="none", effort=0.1, seed=0)
    checked(halves, 5, 2, cut)
    assert all(x.sum() == 0 for x, _ in halves.pool or ())
    checked(flipwise.minimize(A, pool=5, seed=0), 5, 1, lambda x: x @ A @ x)
    checked(flipwise.minimize(A, pool=3, method="dpcd", restarts=9, neighbourhood=0, seed=0), 3, 1, lambda x: x @ A @ x)
    checked(
        flipwise.solve_ising(A[0], A, pool=5, effort=0.1, bound="none", seed=0), 5, 1, lambda x: A[0] @ x + x @ A @ x
    )
    terms = {(0, 1, 2): 1.0, (2, 3, 4): -2.0, (1, 4): 1.0}
    cubic = flipwise.minimize(terms, method="portfolio", pool=4, seed=0)
    checked(cubic, 4, 1, lambda x: sum(c * x[list(t)].prod() for t, c in terms.items()))


def test_the_same_seed_gives_the_same_pool_and_no_other_answer() -> None:
    one, again = (flipwise.solve_qubo(A, pool=6, distance=2, effort=0.1, seed=3) for _ in range(2))
    assert one.pool is not None and again.pool is not None and (one.pool.points == again.pool.points).all()
    assert one.value == flipwise.solve_qubo(A, effort=0.1, seed=3).value


def all_optima(value: Any, points: list[np.ndarray]) -> set[bytes]:
    """By brute force."""
    values = [value(x) for x in points]
    return {x.astype(np.int8).tobytes() for x, v in zip(points, values, strict=True) if v == min(values)}


@pytest.mark.parametrize("seed", range(30))
def test_all_optima_are_found(seed: int) -> None:
    """Against brute force: free, with a count, of polynomials; of mirrored points one of each pair."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 9))
    Q = rng.integers(-1, 2, (n, n)).astype(float)
    bits = [np.array(x) for x in product((0, 1), repeat=n)]
    free = flipwise.solve_qubo(Q, pool="optima", seed=0)
    assert free.optimal and free.pool is not None
    both = [free.pool.points, 1 - free.pool.points] if free.pool.mirrored else [free.pool.points]
    assert {x.tobytes() for points in both for x in points} == all_optima(lambda x: x @ Q @ x, bits)
    assert len(free.pool) == len({x.tobytes() for x in free.pool.points})
    few = [x for x in bits if x.sum() == n // 2]
    counted = flipwise.solve_qubo(Q, count=n // 2, pool="optima", seed=0)
    assert counted.pool is not None
    both = [counted.pool.points, 1 - counted.pool.points] if counted.pool.mirrored else [counted.pool.points]
    assert {x.tobytes() for points in both for x in points} == all_optima(lambda x: x @ Q @ x, few)
    spins = [2 * x - 1 for x in bits]
    mirrored = flipwise.minimize(Q + Q.T, pool="optima", seed=0)
    found = {s.tobytes() for x, _ in mirrored.pool or () for s in (x, -x)}
    assert found == all_optima(lambda x: x @ (Q + Q.T) @ x, spins) and len(found) == 2 * len(mirrored.pool or ())
    terms = {(0, 1): 1.0, tuple(range(min(3, n))): float(rng.integers(-2, 3)), (n - 1,): 0.1}
    cubic = flipwise.minimize(terms, n, pool="optima", seed=0)
    wanted = all_optima(lambda x: flipwise.Polynomial(terms, n).value(x.astype(float)), spins)
    assert {x.tobytes() for x, _ in cubic.pool or ()} == wanted


def test_a_pool_is_kept_in_files_and_shown(tmp_path: Path) -> None:
    result = flipwise.maxcut(GRAPH, pool=5, effort=0.1, bound="none", seed=0)
    result.save(tmp_path / "cut.fwr")
    pool = flipwise.CutResult.load(tmp_path / "cut.fwr").pool
    assert pool is not None and result.pool is not None
    assert (pool.points == result.pool.points).all() and (pool.values == result.pool.values).all() and pool.mirrored
    assert str(pool) == str(result.pool) and len(str(pool).splitlines()) == 6
    assert pool._repr_html_().count("<tr>") == 6 and "5 answers" in str(result)
    assert repr(pool[:2][1].value) == repr(pool[1].value)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"pool": 0}, "`pool` must be an integer of at least 1"),
        ({"pool": "best"}, '`pool` must be a number of points or "optima"'),
        ({"pool": 3, "distance": 0}, "`distance` must be an integer of at least 1"),
        ({"distance": 2}, "without `pool`"),
        ({"pool": "optima", "distance": 2}, "`distance` must be left out"),
        ({"pool": "optima", "method": "dpcd"}, "`method` must be left out"),
    ],
)
def test_what_makes_no_sense_is_refused(wrong: dict[str, Any], message: str) -> None:
    with pytest.raises(flipwise.InvalidInput, match=message):
        flipwise.solve_qubo(A, **wrong)


def test_optima_of_a_large_problem_are_refused() -> None:
    with pytest.raises(flipwise.InvalidInput, match="enumerates all points"):
        flipwise.solve_qubo(np.eye(40), pool="optima")


def test_a_better_point_ousts_worse_ones_nearby() -> None:
    """Points come in any order; at the end the better of any two that are near is kept."""
    collected = Collector(Wanted(2, 2), mirrored=False)
    for point, value in [("0000", 3.0), ("0001", 2.0), ("0111", 1.0), ("1111", 2.5), ("0011", 5.0), ("1010", 1.5)]:
        collected.offer(np.array([letter == "1" for letter in point]), value)
    assert collected.values == [1.0, 1.5]
