"""The losses: value against the formula, gradient against differences, flips against recomputation."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import flipwise
from flipwise.foundation.errors import InvalidInput
from flipwise.hashing.gram_loss import GramMatch
from flipwise.hashing.label_losses import ProjectedLabels, RowQuadratic
from flipwise.model.objective import SupportsFlips

pytestmark = pytest.mark.kernels


def spins(rng: np.random.Generator, shape: tuple[int, int]) -> np.ndarray:
    return np.where(rng.random(shape) < 0.5, -1.0, 1.0)


def make(kind: str, seed: int):  # type: ignore[no-untyped-def]
    rng = np.random.default_rng(seed)
    n, r, c = (int(v) for v in rng.integers(1, 6, 3))
    weights = rng.integers(1, 4, n).astype(float)
    if kind == "rows":
        which = rng.integers(0, 2, n)
        return RowQuadratic(rng.standard_normal((r, c)), rng.standard_normal((2, r)), which, weights, 1.5), rng
    if kind == "gram":
        return GramMatch(rng.standard_normal((n, c)), rng.standard_normal(c), r, weights, 0.5), rng
    Y = rng.integers(0, 2, (n, c)).astype(float)
    return ProjectedLabels(Y, r, weights, 0.3), rng


def test_values_are_the_formulas() -> None:
    """Each value equals the loss written out with full matrices."""
    rng = np.random.default_rng(0)
    n, r, c = 7, 4, 3
    B, Y, W, F = spins(rng, (n, r)), rng.integers(0, 2, (n, c)) * 1.0, rng.standard_normal((r, c)), rng.random((n, r))
    nu = 0.3
    f = RowQuadratic(W, Y @ W.T + nu * F, constant=(Y * Y).sum() + nu * ((F * F).sum() + n * r))
    assert np.isclose(f.value(B), ((Y - B @ W) ** 2).sum() + nu * ((B - F) ** 2).sum())
    m = rng.integers(1, 4, n).astype(float)
    S = Y @ Y.T
    root = np.sqrt(m)
    gram = GramMatch(Y, np.full(c, float(r)), r, m, constant=(np.outer(m, m) * (r * S) ** 2).sum())
    assert np.isclose(gram.value(B), ((root[:, None] * (B @ B.T - r * S) * root) ** 2).sum())
    p = ProjectedLabels(Y, r, m, 0.2)
    W = p.best_W(B)
    assert np.isclose(p.value(B), (m[:, None] * (Y - B @ W) ** 2).sum() + 0.2 * (W * W).sum())


@settings(max_examples=40)
@given(st.sampled_from(["rows", "gram", "projected"]), st.integers(0, 2**31))
def test_gradients_agree_with_differences(kind: str, seed: int) -> None:
    """The gradient is the derivative of the value at any point of the box."""
    f, rng = make(kind, seed)
    x = rng.uniform(-1, 1, f.shape)
    direction = rng.standard_normal(f.shape)
    h = 1e-5
    slope = (f.value(x + h * direction) - f.value(x - h * direction)) / (2 * h)
    assert np.isclose(slope, (f.gradient(x) * direction).sum(), rtol=1e-5, atol=1e-5)


@settings(max_examples=60)
@given(st.sampled_from(["rows", "gram"]), st.integers(0, 2**31))
def test_flips_are_exact(kind: str, seed: int) -> None:
    """Changes, updated gradients and the flip gauge equal recomputation from scratch."""
    f, rng = make(kind, seed)
    x = spins(rng, f.shape)
    g = f.gradient(x)
    before = f.value(x)
    gauge = -2.0 * x * f.flip_gradient(x, g)
    for i in range(x.size):
        y = x.copy()
        y.reshape(-1)[i] *= -1
        assert np.isclose(f.value(y) - before, gauge.reshape(-1)[i], atol=1e-8)
    batch = rng.permutation(x.size)[: int(rng.integers(1, x.size + 1))]
    y = x.copy()
    y.reshape(-1)[batch] *= -1
    assert np.isclose(f.flip_change(x, g, batch), f.value(y) - before, atol=1e-8)
    assert np.isclose(f.flip(x, g, batch), f.value(y) - before, atol=1e-8)
    assert np.array_equal(x, y) and np.allclose(g, f.gradient(y), atol=1e-8)
    after = f.value(x)
    flips, change = f.flip_improving(x, g, np.arange(x.size), follow=True)
    assert change <= 0 and np.isclose(f.value(x) - after, change, atol=1e-8)
    assert np.allclose(g, f.gradient(x), atol=1e-8) and (flips == 0) == (change == 0)


@settings(max_examples=40)
@given(st.integers(0, 2**31))
def test_no_swap_is_missed_in_rows(seed: int) -> None:
    """Where `improving_swaps` of independent rows finds nothing, no exchange of a +1 with a -1 improves."""
    f, rng = make("rows", seed)
    x = spins(rng, f.shape)
    g = f.gradient(x)
    pairs = f.improving_swaps(x, g, np.zeros(x.size, dtype=int))
    flat = x.reshape(-1)
    best = min(
        (f.flip_change(x, g, np.array([i, j])) for i in np.flatnonzero(flat > 0) for j in np.flatnonzero(flat < 0)),
        default=0.0,
    )
    assert (best < -1e-9) <= bool(pairs.size)
    for pair in pairs:
        assert f.flip_change(x, g, pair) < 1e-9


@pytest.mark.parametrize("kind", ["rows", "gram", "projected"])
def test_dpcd_reaches_a_point_no_flip_improves(kind: str) -> None:
    """`minimize` takes the losses like any objective; small ones are solved to optimality by restarts."""
    for seed in range(6):
        f, _ = make(kind, seed)
        if np.prod(f.shape) > 12:
            continue
        best = min(f.value(np.array(p).reshape(f.shape)) for p in product([-1.0, 1.0], repeat=int(np.prod(f.shape))))
        found = flipwise.minimize(f, seed=0, restarts=20)
        assert np.isclose(found.value, best, atol=1e-8)


@pytest.mark.parametrize("kind", ["rows", "gram"])
def test_descent_uses_the_exact_flips(kind: str) -> None:
    """The losses satisfy the protocol of exact flips, so that DPCD does not fall back on evaluations."""
    assert isinstance(make(kind, 0)[0], SupportsFlips)


def test_lipschitz_bounds_the_gradient() -> None:
    """The stated constants bound the change of the gradient."""
    for kind in ("rows", "gram"):
        for seed in range(10):
            f, rng = make(kind, seed)
            L = f.lipschitz().value
            for _ in range(10):
                x, y = rng.uniform(-1, 1, f.shape), rng.uniform(-1, 1, f.shape)
                assert np.linalg.norm(f.gradient(x) - f.gradient(y)) <= L * np.linalg.norm(x - y) + 1e-9


def test_wrong_shapes_are_refused() -> None:
    """Shapes, weights and row numbers are checked."""
    with pytest.raises(InvalidInput, match="`W`"):
        RowQuadratic(np.zeros((2, 1)), np.zeros((1, 3)))
    with pytest.raises(InvalidInput, match="which"):
        RowQuadratic(np.zeros((2, 1)), np.zeros((1, 2)), which=[1])
    with pytest.raises(InvalidInput, match="weights"):
        RowQuadratic(np.zeros((2, 1)), np.zeros((1, 2)), weights=[0.0])
    with pytest.raises(InvalidInput, match="`Z`"):
        GramMatch(np.zeros((2, 1)), np.zeros(2), 3)
    with pytest.raises(InvalidInput, match="weights"):
        GramMatch(np.zeros((2, 1)), np.zeros(1), 3, weights=[1.0])
