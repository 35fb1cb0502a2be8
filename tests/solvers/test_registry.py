"""Every method on every kind of problem: feasible, recomputed, repeatable, in time, or refused with a clear error."""

from __future__ import annotations

import time
from dataclasses import fields
from functools import lru_cache
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

import flipwise
from flipwise import Cardinality, ColumnCounts, Free, GroupCounts, IncompatibleObjective, InvalidInput, LowRank
from flipwise.model.problem import as_problem
from flipwise.solvers.registry import Method

METHODS = [m for m in flipwise.methods() if m.solver.startswith("solvers.")]
KINDS = ("sparse", "dense", "low-rank", "smooth", "densest")
N = 12


def _objective(kind: str, n: int = N) -> Any:
    rng = np.random.default_rng(5)
    A = rng.standard_normal((n, n))
    A = A + A.T
    c = rng.standard_normal(n)
    if kind == "dense":
        return flipwise.Quadratic(A, c, 0.5)
    if kind == "low-rank":
        return flipwise.Quadratic(LowRank(rng.standard_normal((n, 3)), [1.0, -1.0, 0.5]), c)
    if kind == "smooth":
        return flipwise.Smooth(lambda x: (float(np.exp(0.2 * x @ c) + 0.1 * x @ A @ x), _slope(x, A, c)), n)
    mask = np.triu(rng.random((n, n)) < 0.4, 1)
    W = sp.csr_array((mask | mask.T).astype(float))
    return flipwise.Quadratic(-W, variables="binary") if kind == "densest" else flipwise.Quadratic(W * A, c)


def _slope(x: np.ndarray, A: np.ndarray, c: np.ndarray) -> np.ndarray:
    return 0.2 * c * np.exp(0.2 * x @ c) + 0.2 * A @ x


@lru_cache
def _minimum(kind: str, counts: bool) -> float:
    constraint = Cardinality(4) if counts else Free()
    best = flipwise.minimize(_objective(kind), constraint=constraint, method="exact")
    assert best.status is flipwise.Status.OPTIMAL and best.bound == best.value
    return best.value


def _applies(method: Method, kind: str, constraint: Any) -> bool:
    if not (method.counts if constraint.swaps else method.free):
        return False
    if method.needs == "densest":
        return kind == "densest" and isinstance(constraint, Cardinality)
    return method.needs == "any" or kind != "smooth"


@pytest.mark.parametrize("constraint", [Free(), Cardinality(4)], ids=["free", "count"])
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("method", METHODS, ids=lambda m: m.name)
def test_method_on_problem(method: Method, kind: str, constraint: Any) -> None:
    """The answer is feasible, recomputed, bounded truly and the same for the same seed; or the method refuses."""
    objective = _objective(kind)
    if not _applies(method, kind, constraint):
        with pytest.raises(IncompatibleObjective, match=method.name):
            flipwise.minimize(objective, constraint=constraint, method=method.name, seed=1)
        return
    first = flipwise.minimize(objective, constraint=constraint, method=method.name, seed=1)
    second = flipwise.minimize(objective, constraint=constraint, method=method.name, seed=1, threads=1)
    assert first.x.dtype == np.int8
    assert constraint.contains(first.x)
    assert first.value == objective.value(first.spins.astype(float))
    assert first.method == method.name
    assert np.array_equal(first.x, second.x)
    best = _minimum(kind, constraint.swaps)
    assert first.value >= best - 1e-9
    if first.bound is not None:
        assert first.bound <= best + 1e-9


@pytest.mark.parametrize(
    "constraint", [GroupCounts([0] * 5 + [1] * 7, [2, 3]), ColumnCounts([2, 3])], ids=["groups", "columns"]
)
@pytest.mark.parametrize("method", [m for m in METHODS if m.counts], ids=lambda m: m.name)
def test_counts_in_groups(method: Method, constraint: Any) -> None:
    """Counts in groups and columns hold exactly; methods for one count refuse them."""
    rng = np.random.default_rng(2)
    A = rng.standard_normal((12, 12))
    shape = (6, 2) if isinstance(constraint, ColumnCounts) else (12,)
    objective = flipwise.Quadratic(A + A.T, shape=shape)
    if method.needs == "densest":
        with pytest.raises(IncompatibleObjective):
            flipwise.minimize(objective, constraint=constraint, method=method.name)
        return
    result = flipwise.minimize(objective, constraint=constraint, method=method.name, seed=0)
    assert result.x.shape == shape
    assert constraint.contains(result.x)
    assert result.value >= flipwise.minimize(objective, constraint=constraint, method="exact").value - 1e-9


@pytest.mark.parametrize("r", [0, 1, N - 1, N])
@pytest.mark.parametrize("method", [m for m in METHODS if m.counts], ids=lambda m: m.name)
def test_extreme_counts(method: Method, r: int) -> None:
    """No ones, one, all but one, all: every method copes."""
    result = flipwise.minimize(_objective("densest"), constraint=Cardinality(r), method=method.name, seed=0)
    assert int(result.bits.sum()) == r


@pytest.mark.parametrize("n", [1, 2, 3])
@pytest.mark.parametrize("method", [m for m in METHODS if m.free], ids=lambda m: m.name)
def test_tiny_problems(method: Method, n: int) -> None:
    """One, two or three variables are enough for every method, also without any coefficient."""
    for A in (np.zeros((n, n)), np.ones((n, n))):
        assert flipwise.minimize(A, method=method.name, seed=0).x.shape == (n,)


@pytest.mark.parametrize("kind", ["sparse", "smooth"])
@pytest.mark.parametrize(
    "method", [m for m in METHODS if m.needs != "densest" and m.name != "exact"], ids=lambda m: m.name
)
def test_time_limit(method: Method, kind: str) -> None:
    """With no time left a method returns at once with a feasible point and says so."""
    objective = _objective(kind, 300)
    constraint = Cardinality(40) if method.counts else Free()
    if not _applies(method, kind, constraint):
        return
    start = time.perf_counter()
    result = flipwise.minimize(objective, constraint=constraint, method=method.name, seed=0, time_limit=0.0)
    assert time.perf_counter() - start < 5.0
    assert constraint.contains(result.x)
    assert result.status is flipwise.Status.TIME_LIMIT


@pytest.mark.parametrize("method", METHODS, ids=lambda m: m.name)
def test_shared_options(method: Method) -> None:
    """Iteration limits, callbacks and restarts work in every method."""
    constraint = Cardinality(4) if method.counts else Free()
    kind = "densest" if method.needs == "densest" else "dense"
    seen = []
    result = flipwise.minimize(
        _objective(kind),
        constraint=constraint,
        method=method.name,
        seed=0,
        restarts=2,
        max_iterations=3,
        callback=lambda progress: seen.append(progress.best),
    )
    assert constraint.contains(result.x)
    assert seen and seen[-1] == pytest.approx(result.value)


def test_unit_and_weighted_graphs_need_no_diagonal_and_no_linear_terms() -> None:
    """What the dense-subgraph methods refuse, they name."""
    W = -sp.csr_array(np.ones((4, 4)) - np.eye(4))
    cases = {
        "diagonal": flipwise.Quadratic(W - sp.eye_array(4), variables="binary"),
        "negative weight": flipwise.Quadratic(-W, variables="binary"),
        "linear terms": flipwise.Quadratic(W, [1.0, 0.0, 0.0, 0.0], variables="binary"),
        "single sparse matrix": flipwise.Quadratic(W.todense(), variables="binary"),
    }
    for why, objective in cases.items():
        with pytest.raises(IncompatibleObjective, match=why):
            flipwise.minimize(objective, constraint=Cardinality(2), method="ravi")
    constant = flipwise.Quadratic(W, np.full(4, 3.0), variables="binary")
    assert flipwise.minimize(constant, constraint=Cardinality(2), method="ravi").value == -2.0 + 6.0


@pytest.mark.parametrize("method", [m for m in METHODS if m.name != "dpcd"], ids=lambda m: m.name)
def test_options_are_validated(method: Method) -> None:
    """Every option of every method refuses a value of the wrong kind, naming the option."""
    options = method.load()
    options()
    for field in fields(options):
        with pytest.raises(InvalidInput, match=field.name):
            options(**{field.name: "nonsense"})
        if field.type in ("int", "float", "int | None", "float | None"):
            with pytest.raises(InvalidInput, match=field.name):
                options(**{field.name: -1})


def test_unknown_option_is_named() -> None:
    """A misspelt option is refused with the known ones."""
    with pytest.raises(InvalidInput, match="tolerance"):
        flipwise.minimize(np.ones((2, 2)), method="lp", tolerence=1)


def test_exact_refuses_what_is_too_large() -> None:
    """The oracle says how large a problem it takes."""
    with pytest.raises(InvalidInput, match="small problems"):
        flipwise.minimize(np.ones((300, 300)), method="exact")
    with pytest.raises(InvalidInput, match="small problems"):
        flipwise.minimize(lambda x: (float(x.sum()), np.ones(40)), 40, method="exact")


def test_as_problem_and_check_agree() -> None:
    """A method that the registry says applies passes its own check."""
    problem = as_problem(_objective("sparse"), None, None)
    for method in METHODS:
        if _applies(method, "sparse", Free()):
            method.check(problem, {m.name: m for m in METHODS})
