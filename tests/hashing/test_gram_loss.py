"""The similarity loss: value against the formula, gradient and flips against recomputation, products kept true."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from flipwise.foundation.errors import InvalidInput
from flipwise.hashing.gram_loss import GramMatch
from flipwise.model.objective import SupportsFlips
from tests.hashing.losses import check_flips, check_gradient, check_lipschitz, check_minimised, spins

pytestmark = pytest.mark.kernels


def make(seed: int) -> tuple[GramMatch, np.random.Generator]:
    rng = np.random.default_rng(seed)
    n, r, c = (int(v) for v in rng.integers(1, 6, 3))
    weights = rng.integers(1, 4, n).astype(float)
    Z = rng.standard_normal((n, c)) * (rng.random((n, c)) < 0.7)
    return GramMatch(sp.csr_array(Z) if seed % 2 else Z, rng.standard_normal(c), r, weights, 0.5), rng


def test_the_value_is_the_formula() -> None:
    """The value equals ||BB' - rS||^2 with the weights of the rows, written out, for floats and for int8."""
    rng = np.random.default_rng(0)
    n, r, c = 7, 4, 3
    B, Y = spins(rng, (n, r)), rng.integers(0, 2, (n, c)) * 1.0
    m = rng.integers(1, 4, n).astype(float)
    S = Y @ Y.T
    root = np.sqrt(m)
    gram = GramMatch(Y, np.full(c, float(r)), r, m, constant=(np.outer(m, m) * (r * S) ** 2).sum())
    assert np.isclose(gram.value(B), ((root[:, None] * (B @ B.T - r * S) * root) ** 2).sum())
    assert gram.value(B.astype(np.int8)) == gram.value(B)


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
def test_the_products_follow_the_flips(seed: int) -> None:
    """After flips the kept products, the gradient and the value made from them and the change agree with fresh ones."""
    loss, rng = make(seed)
    x = spins(rng, loss.shape)
    before, products = loss.value(x), loss.products(x)
    _, change = loss.flip_with(x, products, np.arange(x.size))
    assert np.isclose(loss.value(x), before + change)
    assert np.isclose(loss.value_from(products), loss.value(x))
    for kept, fresh in zip(products, loss.products(x), strict=True):
        assert np.allclose(kept, fresh)
    assert np.allclose(4.0 * loss.flip_gradient_from(x, products), loss.flip_gradient(x, loss.gradient(x)))


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
    """Shapes and weights are checked."""
    with pytest.raises(InvalidInput, match="`Z`"):
        GramMatch(np.zeros((2, 1)), np.zeros(2), 3)
    with pytest.raises(InvalidInput, match="weights"):
        GramMatch(np.zeros((2, 1)), np.zeros(1), 3, weights=[1.0])
