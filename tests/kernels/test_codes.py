"""Kernels of independent rows: DPCD held to the parts of the algorithm, DCC to its twin, both tiers, signs followed."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import flipwise
from flipwise.hashing.row_loss import RowQuadratic
from flipwise.kernels import codes as kernels
from flipwise.model.constraints import Free
from flipwise.solvers.dpcd.steps import ImprovingUpdate, mean_thresholds

pytestmark = pytest.mark.kernels

ALPHAS = [1.0, 0.0, 0.3, 3.0, (0.5, 2.0)]
NONE = np.empty((0, 1), dtype=np.int64)
"""No candidates: there is no neighbourhood search."""


def problem(seed: int, interacting: bool = True) -> tuple[RowQuadratic, np.ndarray]:
    """Rows whose numbers are small integers, so that sums are exact and in no order better than in another."""
    rng = np.random.default_rng(seed)
    n, r, c = int(rng.integers(1, 5)), int(rng.integers(2, 12)), int(rng.integers(1, 5))
    W = rng.integers(-3, 4, (r, c)).astype(float) if interacting else np.diag(rng.integers(0, 4, r).astype(float))
    loss = RowQuadratic(W, rng.integers(-9, 10, (n, r)).astype(float))
    return loss, np.where(rng.random((n, r)) < 0.5, -1, 1).astype(np.int8)


def by_kernel(loss: RowQuadratic, B: np.ndarray, alpha: Any, updates: int, every: int, candidates: Any) -> np.ndarray:
    new, flips = B.copy(), np.zeros(len(B), dtype=np.int64)
    alphas = flipwise.DPCD(alpha=alpha).alphas
    kernels.dpcd_rows(
        loss.W, loss.Q, loss.P, loss.which, *alphas, updates, every, candidates, loss.slack, new, flips
    )  # fmt: skip
    return new


def by_parts(loss: RowQuadratic, b: np.ndarray, alpha: Any, updates: int, every: int, candidates: Any) -> list[Any]:
    """One row after each update, by the parts of the algorithm in the order that the kernel states."""
    update = ImprovingUpdate(loss, Free())
    x = b.astype(float)[None, :]
    g = loss.gradient(x)
    a1, a2 = flipwise.DPCD(alpha=alpha).alphas
    points = []

    def searched() -> int:
        """The best of the candidates, if it improves."""
        changes = [loss.flip_change(x, g, batch) for batch in candidates]
        if not changes or min(changes) >= -loss.slack:
            return 0
        loss.flip(x, g, candidates[int(np.argmin(changes))])
        return len(candidates[0])

    for k in range(1, updates + 1):
        d = update.gauge(x, g)
        rest = not (2.0 * (x * d) > loss.slack).any()
        L1, L2 = mean_thresholds(d)
        flips = 0
        for j in range(x.shape[1]):
            d = update.gauge(x, g)
            S_plus = np.flatnonzero((d > a1 * L1) & (x > 0))
            S_minus = np.flatnonzero((d < -a2 * L2) & (x < 0))
            if not rest and j in (*S_plus, *S_minus):
                flips += update.make(x, g, np.array([j]), follow=False)[0]
        if flips == 0:
            a1, a2 = update.lower((a1, a2), flips)
        if k % every == 0:
            flips += searched()
        over = flips == 0 and rest and not searched()
        points.append(x[0].copy())
        if over:
            break
    return points


@settings(max_examples=60)
@given(st.integers(0, 2**31), st.sampled_from(ALPHAS))
def test_every_update_is_made_of_the_parts_of_the_algorithm(seed: int, alpha: Any) -> None:
    """After each update the rows are where the algorithm's gauge, thresholds, sets, flips and levels lead."""
    loss, B = problem(seed)
    rng = np.random.default_rng(seed)
    r = B.shape[1]
    candidates = np.array([rng.choice(r, size=min(3, r), replace=False) for _ in range(4)])
    for some in (NONE, candidates):
        rows = [RowQuadratic(loss.W, p[None, :]) for p in loss.P]
        expected = [by_parts(one, b, alpha, 12, 3, some) for one, b in zip(rows, B, strict=True)]
        for k in range(1, 13):
            found = by_kernel(loss, B, alpha, k, 3, some)
            # the tolerance of a loss depends on its largest number, and so might differ between one row and all
            for i, points in enumerate(expected):
                assert np.array_equal(found[i], points[min(k, len(points)) - 1]), (k, i)


@settings(max_examples=60)
@given(st.integers(0, 2**31), st.sampled_from(ALPHAS))
def test_without_interaction_the_iterates_are_those_of_the_algorithm(seed: int, alpha: Any) -> None:
    """Where bits do not interact, the points that a row comes through are those of `solvers/dpcd/algorithm.py`."""
    loss, B = problem(seed, interacting=False)
    for p, b in zip(loss.P, B, strict=True):
        row = RowQuadratic(loss.W, p[None, :])
        start = b[None, :]
        ours = [start, *(by_kernel(row, start, alpha, k, 99, NONE) for k in range(1, 20))]
        theirs = [start]
        method = flipwise.DPCD(alpha=alpha, neighbourhood=0)
        flipwise.minimize(row, method=method, start=start, callback=lambda progress, to=theirs: to.append(progress.x))
        assert np.array_equal(distinct(ours), distinct(theirs))


def distinct(points: list[np.ndarray]) -> np.ndarray:
    """The points without those that repeat the one before."""
    return np.array([p for i, p in enumerate(points) if i == 0 or not np.array_equal(p, points[i - 1])])


@settings(max_examples=60)
@given(st.integers(0, 2**31))
def test_at_alpha_0_the_end_is_that_of_the_algorithm(seed: int) -> None:
    """Going through the row once an update, or until nothing improves in one: the same flips, the same end."""
    loss, B = problem(seed)
    method = flipwise.DPCD(alpha=0.0, neighbourhood=0)
    assert np.array_equal(
        by_kernel(loss, B, 0.0, 200, 999, NONE), flipwise.minimize(loss, method=method, start=B, seed=0).x
    )


def test_a_linear_row_is_solved_by_one_update_of_the_lipschitz_rule() -> None:
    """Lemma 1: with L_0 = 0 the literal algorithm makes the signs in one update, and so does the closed form."""
    rng = np.random.default_rng(0)
    loss = RowQuadratic(np.zeros((6, 0)), rng.standard_normal((5, 6)))
    B = np.where(rng.random((5, 6)) < 0.5, -1, 1)
    method = flipwise.DPCD(literal=True, thresholds="lipschitz")
    found = flipwise.minimize(loss, method=method, start=B, max_iterations=1)
    assert np.array_equal(found.x, np.sign(loss.P))


def dcc_by_columns(loss: RowQuadratic, B: np.ndarray) -> np.ndarray:
    """A sweep of the authors' code in NumPy: a bit for all rows at a time."""
    B = B.astype(float)
    for k in range(B.shape[1]):
        others = np.arange(B.shape[1]) != k
        z = loss.P[loss.which][:, k] - B[:, others] @ loss.Q[others, k]
        B[:, k] = np.where(z > 0, 1.0, np.where(z < 0, -1.0, B[:, k]))
    return B


@settings(max_examples=40)
@given(st.integers(0, 2**31))
def test_dcc_equals_its_numpy_twin(seed: int) -> None:
    """The kernel makes the sweep of the authors' column-wise code."""
    loss, B = problem(seed)
    new, changed = B.copy(), np.zeros(len(B), dtype=np.int64)
    kernels.dcc_sweep_rows(loss.Q, loss.P, loss.which, new, changed)
    assert np.array_equal(new, dcc_by_columns(loss, B))
    assert np.array_equal(changed, (new != B).sum(axis=1))


def test_both_tiers_of_the_row_kernels_give_the_same_bits() -> None:
    """Interpreted and compiled, DPCD and DCC in rows return equal codes."""
    rng = np.random.default_rng(5)
    loss = RowQuadratic(rng.standard_normal((9, 4)), rng.standard_normal((6, 9)))
    start = np.where(rng.random((6, 9)) < 0.5, -1, 1).astype(np.int8)
    candidates = np.array([rng.choice(9, size=5, replace=False) for _ in range(4)])
    results = []
    for kernel in (kernels.dpcd_rows, kernels.dcc_sweep_rows):
        kernel.compile()
        for run in (kernel.interpreted, kernel.compiled):
            assert run is not None
            B, counts = start.copy(), np.zeros(6, dtype=np.int64)
            if kernel is kernels.dpcd_rows:
                run(loss.W, loss.Q, loss.P, loss.which, 1.0, 1.0, 20, 10, candidates, loss.slack, B, counts)
            else:
                run(loss.Q, loss.P, loss.which, B, counts)
            results.append((B, counts))
    for one, other in (results[:2], results[2:]):
        assert np.array_equal(one[0], other[0]) and np.array_equal(one[1], other[1])


@pytest.mark.parametrize("tier", ["interpreted", "compiled"])
def test_signs_are_followed_and_the_cross_product_with_them(tier: str) -> None:
    """Codes become the signs (a zero counts as plus), and B'V, kept flip by flip, is that of the new codes."""
    kernels.follow_signs.compile()
    follow = getattr(kernels.follow_signs, tier)
    rng = np.random.default_rng(9)
    V, B = rng.standard_normal((30, 5)), np.zeros((30, 7), dtype=np.int8)
    cross, before = np.zeros((7, 5)), B.copy()
    for _ in range(4):
        T = np.round(rng.standard_normal((30, 7)), 1)
        moved = follow(T, V, B, cross)
        assert np.array_equal(B, np.where(T >= 0.0, 1, -1))
        assert moved == np.count_nonzero(before != B)
        np.testing.assert_allclose(cross, B.T.astype(float) @ V, atol=1e-12)
        before = B.copy()
