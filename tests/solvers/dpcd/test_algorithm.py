"""The loop itself: feasible, monotone, locally optimal, equal to the paper's pseudocode in literal mode."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

import flipwise
from flipwise.solvers.dpcd import algorithm
from tests.reference import brute_force, is_flip_optimal, is_swap_optimal, literal_dpcd, random_symmetric


def _instance(kind: str, n: int, rng: np.random.Generator) -> tuple[Any, Callable[[np.ndarray], float]]:
    """A random objective of a kind, and its value as an independent function."""
    A = random_symmetric(rng, n, density=0.4 if kind == "sparse" else 1.0, integer=bool(rng.integers(2)))
    c = rng.standard_normal(n)
    if kind in ("dense", "sparse"):
        f = flipwise.Quadratic(A if kind == "dense" else sp.csr_array(A), c, 0.5)
        return f, lambda x: float(x @ A @ x + c @ x + 0.5)
    if kind == "quartic":
        B = rng.standard_normal((n, 3))

        def quartic(x: np.ndarray) -> tuple[float, np.ndarray]:
            y = B.T @ x
            return float((y**4).sum() / n + c @ x), B @ (4 * y**3) / n + c

        return flipwise.Smooth(quartic, n), lambda x: quartic(x)[0]
    X = rng.standard_normal((20, n))
    labels = np.where(rng.random(20) < 0.5, 1.0, -1.0)

    def logistic(x: np.ndarray) -> tuple[float, np.ndarray]:
        margin = labels * (X @ x)
        return float(np.logaddexp(0, -margin).sum()), -X.T @ (labels / (1 + np.exp(margin)))

    return flipwise.Smooth(logistic, n), lambda x: logistic(x)[0]


@pytest.mark.parametrize("kind", ["dense", "sparse", "quartic", "logistic"])
@pytest.mark.parametrize("counted", [False, True])
def test_results_are_feasible_locally_optimal_and_with_restarts_nearly_always_optimal(kind: str, counted: bool) -> None:
    """500 random instances in all, n <= 16: feasible, flip/swap-optimal; 20 restarts find >= 98 % of the optima."""
    instances, found = 63, 0
    for seed in range(instances):
        rng = np.random.default_rng(seed)
        n = int(rng.integers(2, 13 if kind in ("quartic", "logistic") else 15))
        objective, value = _instance(kind, n, rng)
        ones = int(rng.integers(0, n + 1)) if counted else None
        constraint = flipwise.Free() if ones is None else flipwise.Cardinality(ones)
        single = flipwise.minimize(objective, constraint=constraint, seed=seed)
        assert constraint.contains(single.x)
        assert single.value == pytest.approx(value(single.x.astype(float)), rel=1e-12, abs=1e-12)
        check = is_swap_optimal if counted else is_flip_optimal
        assert check(value, single.x.astype(float))
        best = flipwise.minimize(objective, constraint=constraint, seed=seed, restarts=20)
        optimum = brute_force(value, n, ones)
        assert best.value >= optimum - 1e-9 * max(1.0, abs(optimum))
        found += best.value <= optimum + 1e-9 * max(1.0, abs(optimum))
    assert found >= 0.98 * instances


@given(st.integers(1, 12), st.integers(0, 2**31), st.booleans(), st.floats(0.1, 3.0))
def test_literal_mode_equals_the_pseudocode(n: int, seed: int, counted: bool, alpha: float) -> None:
    """`literal=True` visits the same points as Algorithm 1 written in plain loops."""
    rng = np.random.default_rng(seed)
    A, c = random_symmetric(rng, n), rng.standard_normal(n)
    constraint = flipwise.Cardinality(n // 2) if counted else flipwise.Free()
    x0 = constraint.random((n,), rng)
    points = literal_dpcd(lambda x: 2 * A @ x + c, x0, alpha, None, counted, 20)
    visited: list[np.ndarray] = []
    f = flipwise.Quadratic(A, c)
    flipwise.minimize(
        f, constraint=constraint, start=x0, literal=True, alpha=alpha, neighbourhood=0, max_iterations=len(points) - 1,
        callback=lambda p: visited.append(p.value),
    )  # fmt: skip
    assert visited == pytest.approx([f.value(x) for x in points[1:]], rel=1e-9, abs=1e-9)


@given(st.integers(2, 25), st.integers(0, 2**31), st.sampled_from(["plain", "momentum", "adam", "adagrad"]))
def test_accepted_steps_never_increase_f_and_iterates_stay_feasible(n: int, seed: int, variant: str) -> None:
    """The improved algorithm is monotone and feasible at every iteration, in every variant and with groups."""
    rng = np.random.default_rng(seed)
    f = flipwise.Quadratic(random_symmetric(rng, n), rng.standard_normal(n))
    groups = rng.integers(0, 2, n)
    groups[:2] = [0, 1]
    sizes = np.bincount(groups)
    constraint = flipwise.GroupCounts(groups, [int(rng.integers(0, s + 1)) for s in sizes])
    seen: list[tuple[float, np.ndarray]] = []
    result = flipwise.minimize(
        f, constraint=constraint, seed=seed, variant=variant, callback=lambda p: seen.append((p.value, p.x))
    )
    values = [value for value, _ in seen]
    assert all(b <= a + 1e-9 * max(1.0, abs(a)) for a, b in pairwise(values))
    assert all(constraint.contains(x) for _, x in seen)
    assert is_swap_optimal(f.value, result.x.astype(float), groups)


def test_the_algorithm_file_stays_short() -> None:
    """algorithm.py reads like Algorithm 1: under 150 lines."""
    assert len(inspect.getsource(algorithm).splitlines()) < 150


@pytest.mark.parametrize("threads", [1, 2])
def test_same_seed_same_bits_on_any_number_of_threads(threads: int) -> None:
    """A seed fixes the result, whatever the number of threads."""
    rng = np.random.default_rng(5)
    A = sp.random_array((30_000, 30_000), density=3e-4, rng=rng, format="csr")
    f = flipwise.Quadratic(A + A.T, rng.standard_normal(30_000))
    one = flipwise.minimize(f, seed=11, threads=1)
    other = flipwise.minimize(f, seed=11, threads=threads)
    assert np.array_equal(one.x, other.x)
    assert one.value == other.value
    assert [r.value for r in one.trace.records] == [r.value for r in other.trace.records]


def test_matrix_variable_with_balanced_columns() -> None:
    """A matrix-shaped variable keeps its shape and one count for each column."""
    rng = np.random.default_rng(0)
    target = rng.standard_normal((20, 4))
    f = flipwise.Smooth(lambda B: (float(((B - target) ** 2).sum()), 2 * (B - target)), (20, 4))
    result = flipwise.minimize(f, constraint=flipwise.ColumnCounts(10), seed=0)
    assert result.x.shape == (20, 4)
    assert (result.x.sum(axis=0) == 0).all()
    # the loss is separable, so the nearest feasible point is the optimum
    best = flipwise.ColumnCounts(10).project(target)
    assert result.value == pytest.approx(f.value(best))


def test_the_literal_mode_also_gives_the_papers_last_iterate() -> None:
    """The best point is the answer; the last iterate, which the paper returns, stands beside it when it is worse."""
    worse = 0
    for seed in range(20):
        rng = np.random.default_rng(seed)
        A = random_symmetric(rng, 12)
        f = flipwise.Quadratic(A)
        found = flipwise.minimize(f, literal=True, alpha=0.1, neighbourhood=0, seed=seed)
        if "last_x" in found.info:
            worse += 1
            last = found.info["last_x"].astype(float)
            assert found.info["last_value"] == pytest.approx(f.value(last)) and f.value(last) > found.value
        assert found.trace.records[-1].value == pytest.approx(found.info.get("last_value", found.value))
    assert worse > 0


def test_when_time_is_up_no_costly_iteration_follows(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of a small problem one iteration is made, of a large one the start is the answer."""
    f, x = flipwise.Quadratic(-np.ones((6, 6))), np.array([1, -1, 1, -1, 1, -1])
    assert flipwise.minimize(f, method="dpcd", start=x, time_limit=0).iterations == 1
    monkeypatch.setattr(algorithm, "LARGE", 10)
    late = flipwise.minimize(f, method="dpcd", start=x, time_limit=0)
    assert late.status is flipwise.Status.TIME_LIMIT and late.iterations == 0
    assert np.array_equal(late.x, x) and late.value == 0.0
