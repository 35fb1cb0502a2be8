"""The loss of independent rows: value against the formula, gradient, flips and swaps against recomputation."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from flipwise.foundation.errors import InvalidInput
from flipwise.hashing.row_loss import RowQuadratic
from flipwise.model.objective import SupportsFlips
from tests.hashing.losses import check_flips, check_gradient, check_lipschitz, check_minimised, spins

pytestmark = pytest.mark.kernels


def make(seed: int) -> tuple[RowQuadratic, np.random.Generator]:
    rng = np.random.default_rng(seed)
    n, r, c = (int(v) for v in rng.integers(1, 6, 3))
    weights = rng.integers(1, 4, n).astype(float)
    which = rng.integers(0, 2, n)
    return RowQuadratic(rng.standard_normal((r, c)), rng.standard_normal((2, r)), which, weights, 1.5), rng


def test_the_value_is_the_formula() -> None:
    """The value equals the loss of SDH given W, written out with full matrices."""
    rng = np.random.default_rng(0)
    n, r, c = 7, 4, 3
    B, Y, W, F = spins(rng, (n, r)), rng.integers(0, 2, (n, c)) * 1.0, rng.standard_normal((r, c)), rng.random((n, r))
    nu = 0.3
    f = RowQuadratic(W, Y @ W.T + nu * F, constant=(Y * Y).sum() + nu * ((F * F).sum() + n * r))
    assert np.isclose(f.value(B), ((Y - B @ W) ** 2).sum() + nu * ((B - F) ** 2).sum())


@settings(max_examples=40)
@given(st.integers(0, 2**31))
def test_the_gradient_agrees_with_differences(seed: int) -> None:
    """The gradient is the derivative of the value."""
    check_gradient(*make(seed))


@settings(max_examples=60)
@given(st.integers(0, 2**31))
def test_flips_are_exact(seed: int) -> None:
    """Changes, updated gradients and the flip gauge equal recomputation from scratch."""
    check_flips(*make(seed))


@settings(max_examples=40)
@given(st.integers(0, 2**31))
def test_no_swap_is_missed(seed: int) -> None:
    """Where `improving_swaps` finds nothing, no exchange of a +1 with a -1 improves."""
    f, rng = make(seed)
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


def test_curvature_is_the_difference_of_gradients() -> None:
    """The Hessian product is what the gradient changes by."""
    rng = np.random.default_rng(4)
    loss = RowQuadratic(rng.standard_normal((5, 2)), rng.standard_normal((3, 5)), weights=[1.0, 2.0, 3.0])
    x, d = rng.standard_normal((2, 3, 5))
    assert np.allclose(loss.hessian_times(d), loss.gradient(x + d) - loss.gradient(x))


def test_minimize_takes_the_loss() -> None:
    """Small losses are solved to optimality, by exact flips and not by evaluations."""
    for seed in range(6):
        check_minimised(make(seed)[0])
    assert isinstance(make(0)[0], SupportsFlips)


def test_lipschitz_bounds_the_gradient() -> None:
    """The stated constant bounds the change of the gradient."""
    for seed in range(10):
        check_lipschitz(*make(seed))


def test_wrong_shapes_are_refused() -> None:
    """Shapes, weights and row numbers are checked."""
    with pytest.raises(InvalidInput, match="`W`"):
        RowQuadratic(np.zeros((2, 1)), np.zeros((1, 3)))
    with pytest.raises(InvalidInput, match="which"):
        RowQuadratic(np.zeros((2, 1)), np.zeros((1, 2)), which=[1])
    with pytest.raises(InvalidInput, match="weights"):
        RowQuadratic(np.zeros((2, 1)), np.zeros((1, 2)), weights=[0.0])
