"""Small problems are solved exactly by every function's default: the value of brute force in fractions, and a proof."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import flipwise
from flipwise import Quadratic, Status
from tests.bounds.exact_cases import exact_minimum, exact_value, quadratics


@settings(max_examples=40, deadline=None)
@given(quadratics(most=7), st.data())
def test_minimize_proves_small_quadratics(case: Quadratic, data: st.DataObject) -> None:
    """With and without a count the point is a minimum in fractions, and is called one."""
    count = data.draw(st.none() | st.integers(0, case.n))
    found = flipwise.minimize(case, count=count, seed=0)
    assert exact_value(case, found.spins) == exact_minimum(case, count)
    assert found.status is Status.OPTIMAL and found.bound == found.value


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 10**6))
def test_twelve_variables_are_always_proven(seed: int) -> None:
    """QUBO and Ising models of twelve variables, whatever the weights."""
    rng = np.random.default_rng(seed)
    Q = rng.standard_normal((12, 12)) * 10.0 ** rng.integers(-6, 12, (12, 12))
    for found in (flipwise.solve_qubo(Q, seed=0), flipwise.solve_ising(Q[0], np.triu(Q, 1), seed=0)):
        assert found.status is Status.OPTIMAL and found.gap == 0.0


def test_cuts_of_small_graphs_are_proven() -> None:
    """Max-Cut and bisection of a graph of fourteen nodes, by their defaults."""
    rng = np.random.default_rng(2)
    W = np.triu(rng.integers(0, 2, (14, 14)), 1)
    cut = flipwise.maxcut(W + W.T, seed=0)
    halves = flipwise.bisect(W + W.T, seed=0)
    assert cut.optimal and halves.optimal and cut.status is halves.status is Status.OPTIMAL


def test_polynomials_are_proven() -> None:
    """A cubic of ten spins, by the default of minimize."""
    rng = np.random.default_rng(4)
    f = flipwise.Polynomial(
        {tuple(rng.choice(10, 3, replace=False).tolist()): float(rng.integers(-5, 6)) for _ in range(30)}, 10
    )
    found = flipwise.minimize(f, seed=0)
    assert found.status is Status.OPTIMAL and found.value == flipwise.minimize(f, method="exact", seed=0).value


def test_a_named_method_is_left_alone() -> None:
    """Who names a method gets its own answer, without a bound."""
    A = np.triu(np.random.default_rng(0).standard_normal((10, 10)), 1)
    found = flipwise.minimize(A + A.T, method="dpcd", seed=0)
    assert found.bound is None and found.status is not Status.OPTIMAL


def test_the_presolve_is_reported() -> None:
    """A tree is solved without any search worth the name, and the report says by which rule."""
    edges = [(i, (i - 1) // 2) for i in range(1, 500)]
    found = flipwise.maxcut((500, edges), seed=0)
    assert found.value == 499 and found.status is Status.OPTIMAL
    report = found.info["presolve"]
    assert report["degree 1"] + report["heavy edge"] == 499 and report["left"] == 0


@pytest.mark.parametrize("count", [None, 3])
def test_no_time_no_claim(count: int | None) -> None:
    """Without any time nothing is enumerated."""
    A = np.triu(np.random.default_rng(1).standard_normal((8, 8)), 1)
    found = flipwise.minimize(A + A.T, count=count, time_limit=0.0, seed=0)
    assert found.bound is None and Fraction(found.value) >= exact_minimum(Quadratic(A + A.T), count)


@pytest.mark.parametrize(("n", "density"), [(40, 1.0), (60, 0.05), (30, 0.4)])
def test_larger_problems_are_closed_after_the_search(n: int, density: float) -> None:
    """Dense and sparse problems beyond enumeration: proven, and the same value as by the other proof of the two."""
    rng = np.random.default_rng(n)
    Q = np.triu((rng.random((n, n)) < density) * rng.integers(-50, 51, (n, n))).astype(float)
    found = flipwise.solve_qubo(Q, seed=0, time_limit=60.0)
    assert found.status is Status.OPTIMAL and found.bound == found.value
    assert "presolve" in found.info


def test_a_bound_that_is_not_met_is_still_one(monkeypatch: pytest.MonkeyPatch) -> None:
    """Stopped at once, the proof of a problem of 14 variables is below its minimum in fractions."""
    from flipwise.bounds import closing

    monkeypatch.setattr(closing, "POINTS", 4.0)
    monkeypatch.setattr(closing, "prove_part", lambda part, left: part.raise_bound(part.lift(-sum(map(abs, part.J)))))
    rng = np.random.default_rng(5)
    for scale in (1.0, 0.3, 1e12):
        A = np.triu(rng.integers(-9, 10, (9, 9)) * scale, 1)
        f = Quadratic(A + A.T, rng.integers(-3, 4, 9) * scale, 0.1)
        found = flipwise.minimize(f, bound="auto", seed=0)
        assert found.bound is not None and Fraction(found.bound) <= exact_minimum(f)


def test_a_proven_point_is_not_exchanged_for_one_of_the_same_rounded_value() -> None:
    """Differences far below the last digit of the value decide, as they do in fractions."""
    A = np.zeros((4, 4))
    A[0, 3], A[1, 3], A[2, 3] = -2.8175999459842363, -2.3754832726391214e-45, 1e12
    for seed in range(5):
        found = flipwise.minimize(Quadratic(A + A.T, variables="binary"), seed=seed)
        assert found.spins.tolist() == [1, 1, -1, 1] and found.status is Status.OPTIMAL
