"""DPCD on similarity losses: the iterates of the algorithm, descent, the end, and starts of its own."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

import flipwise
from flipwise import Status
from flipwise.engine.limits import Clock, Limits
from flipwise.engine.run import Run
from flipwise.foundation.errors import InvalidInput
from flipwise.hashing import similarity_descent as module
from flipwise.hashing.alternation import FitContext
from flipwise.hashing.gram_loss import GramMatch
from flipwise.hashing.similarity_descent import SimilarityDescent, principal_coordinates, similarity_solver
from flipwise.model.constraints import Free
from flipwise.model.problem import Problem
from flipwise.solvers.dpcd.steps import mean_thresholds

pytestmark = pytest.mark.kernels

ALPHAS = [1.0, 0.0, 0.3, 3.0, (0.5, 2.0)]


def problem(seed: int, largest: int = 8) -> tuple[GramMatch, np.ndarray]:
    """A loss of small integers, so that sums are exact and in no order better than in another."""
    rng = np.random.default_rng(seed)
    n, r, c = int(rng.integers(2, largest)), int(rng.integers(1, 6)), int(rng.integers(1, 5))
    Z = rng.integers(-3, 4, (n, c)) * (rng.random((n, c)) < 0.7).astype(float)
    factors = sp.csr_array(Z) if seed % 2 else Z
    loss = GramMatch(factors, r * rng.integers(-1, 4, c), r, rng.integers(1, 4, size=n))
    return loss, np.where(rng.random((n, r)) < 0.5, -1.0, 1.0)


def context() -> FitContext:
    return FitContext(np.random.default_rng(0), Clock())


def descend(loss: GramMatch, B: np.ndarray, alpha: Any = 1.0, updates: int = 200) -> tuple[list[np.ndarray], Run]:
    """The codes after each update, and the run."""
    points: list[np.ndarray] = []
    whole = Problem(loss, Free())
    run = Run(whole, Limits(max_iterations=updates), callback=lambda progress: points.append(progress.x))
    SimilarityDescent(alpha, loss, context()).solve(whole, B.copy(), np.random.default_rng(0), run)
    return points, run


def distinct(points: list[np.ndarray]) -> list[np.ndarray]:
    """The points without those that repeat the one before."""
    return [p for i, p in enumerate(points) if i == 0 or not np.array_equal(p, points[i - 1])]


@settings(max_examples=80)
@given(st.integers(0, 2**31), st.sampled_from(ALPHAS))
def test_the_iterates_are_those_of_the_algorithm(seed: int, alpha: Any) -> None:
    """Update by update the codes are those of `solvers/dpcd/algorithm.py` without its neighbourhood search."""
    loss, B = problem(seed, largest=30)
    points, _ = descend(loss, B, alpha)
    iterates: list[np.ndarray] = []
    method = flipwise.DPCD(alpha=alpha, neighbourhood=0)
    flipwise.minimize(loss, method=method, start=B, seed=0, callback=lambda progress: iterates.append(progress.x))
    ours, theirs = distinct([B, *points]), distinct([B, *iterates])
    assert len(ours) == len(theirs)
    for one, other in zip(ours, theirs, strict=True):
        assert np.array_equal(one, other)


@settings(max_examples=60)
@given(st.integers(0, 2**31), st.sampled_from(ALPHAS))
def test_the_chosen_coordinates_are_s_plus_and_s_minus(seed: int, alpha: Any) -> None:
    """The positions are those that pass the thresholds of Eq. (6), which the algorithm has from the same gradient."""
    loss, x = problem(seed, largest=30)
    a1, a2 = flipwise.DPCD(alpha=alpha).alphas
    d = loss.flip_gradient_from(x, loss.products(x))
    L1, L2 = mean_thresholds(d)
    S_plus = np.flatnonzero((d > a1 * L1) & (x > 0))
    S_minus = np.flatnonzero((d < -a2 * L2) & (x < 0))
    assert np.array_equal(principal_coordinates(d, x, (a1, a2)), np.sort(np.concatenate([S_plus, S_minus])))


@settings(max_examples=40)
@given(st.integers(0, 2**31))
def test_the_loss_falls_to_where_no_flip_improves(seed: int) -> None:
    """With updates enough the end is a point that no single flip improves, not above the start."""
    loss, B = problem(seed)
    before = loss.value(B)
    points, run = descend(loss, B)
    x = points[-1].astype(float)
    assert set(np.unique(x)) <= {-1.0, 1.0}
    assert loss.value(x) <= before + 1e-9 * abs(before)
    assert np.isclose(run.trace.records[-1].value, loss.value(x))
    scale = 1e-9 * float(np.abs(loss.gradient(x)).max(initial=1.0))
    assert (-2.0 * x * loss.flip_gradient(x, loss.gradient(x)) >= -scale).all()


def test_a_large_descent_ends_when_little_is_gained(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the problem counts as large, the last update is the first at alpha 0 that gains less than a hundredth."""
    loss, B = problem(11, largest=30)
    everything, _ = descend(loss, B)
    monkeypatch.setattr(module, "LARGE", 0)
    monkeypatch.setattr(module, "LITTLE", 0.5)
    some, run = descend(loss, B)
    values = [loss.value(B), *(record.value for record in run.trace.records)]
    gains = -np.diff(values)
    assert len(some) <= len(everything) and gains[-1] <= 0.5 * gains.sum()
    for one, other in zip(some, everything, strict=False):
        assert np.array_equal(one, other)


def test_updates_are_limited_by_the_run() -> None:
    """With a limit of one update there is one, and the status says so."""
    loss, B = problem(5, largest=30)
    points, run = descend(loss, B, updates=1)
    assert len(points) == 1 and run.iterations == 1
    whole = Problem(loss, Free())
    one = SimilarityDescent(1.0, loss, context())
    assert one.solve(whole, B.copy(), context().rng, Run(whole, Limits(max_iterations=1))) is Status.ITERATION_LIMIT


def test_an_optimizer_is_found_by_its_name() -> None:
    """DPCD, the original of the loss, or a method of the library; others are refused."""
    loss, B = problem(0)
    original = SimilarityDescent(0.0, loss, context())
    for name, solver in (("dpcd", "dpcd"), ("sgm", "sgm")):
        made = similarity_solver(loss, name, 1.0, original, lambda rng, run: B.astype(np.int8), context())
        assert made.name == solver
        run = Run(Problem(loss, Free()), Limits(max_iterations=3))
        made.solve(run.problem, B, np.random.default_rng(0), run)
        assert run.best_x is not None and run.best_value <= loss.value(B) + 1e-9
    with pytest.raises(InvalidInput, match="method"):
        similarity_solver(loss, "none", 1.0, original, lambda rng, run: B.astype(np.int8), context())
