"""DPCD on similarity losses: descent, a state that stays true, the end."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from flipwise.hashing.bstep import descend
from flipwise.hashing.gram_loss import GramMatch

pytestmark = pytest.mark.kernels


def problem(seed: int) -> tuple[GramMatch, np.ndarray]:
    rng = np.random.default_rng(seed)
    n, r, c = int(rng.integers(2, 8)), int(rng.integers(1, 6)), int(rng.integers(1, 5))
    Z = rng.standard_normal((n, c)) * (rng.random((n, c)) < 0.7)
    factors = sp.csr_array(Z) if seed % 2 else Z
    loss = GramMatch(factors, r * rng.random(c), r, rng.integers(1, 4, size=n))
    return loss, np.where(rng.random((n, r)) < 0.5, -1.0, 1.0)


@settings(max_examples=40)
@given(st.integers(0, 2**31))
def test_the_loss_falls_to_where_no_flip_improves(seed: int) -> None:
    """With updates enough the end is a point that no single flip improves, not above the start."""
    loss, B = problem(seed)
    before = loss.value(B)
    x = descend(loss, B.copy(), 200, (1.0, 1.0))
    assert set(np.unique(x)) <= {-1.0, 1.0}
    assert loss.value(x) <= before + 1e-9 * abs(before)
    scale = 1e-9 * float(np.abs(loss.gradient(x)).max(initial=1.0))
    assert (-2.0 * x * loss.flip_gradient(x, loss.gradient(x)) >= -scale).all()


@settings(max_examples=40)
@given(st.integers(0, 2**31))
def test_the_state_follows_the_flips(seed: int) -> None:
    """After flips the kept state, the gradient made from it and the change agree with fresh ones."""
    loss, x = problem(seed)
    before, state = loss.value(x), loss.state(x)
    _, change = loss.flip_state(x, state, np.arange(x.size))
    assert np.isclose(loss.value(x), before + change)
    for kept, fresh in zip(state, loss.state(x), strict=True):
        assert np.allclose(kept, fresh)
    assert np.allclose(4.0 * loss.flip_gradient_of(x, state), loss.flip_gradient(x, loss.gradient(x)))
