"""Kernels on dense matrices and their factors against NumPy; equal bits in both tiers."""

from __future__ import annotations

import numpy as np
import pytest

from flipwise.kernels import dense
from tests.kernels.spins import couplings, spins
from tests.reference import random_symmetric

pytestmark = pytest.mark.kernels


@pytest.mark.parametrize("follow", [False, True])
def test_both_tiers_give_the_same_bits(follow: bool) -> None:
    """The interpreted and the compiled form of a descent agree to the last bit."""
    n = 60
    for seed in range(3):
        rng = np.random.default_rng(seed)
        A = random_symmetric(rng, n, density=0.3)
        x = np.where(rng.random(n) < 0.5, 1.0, -1.0)
        g = 2 * A @ x + rng.standard_normal(n)
        outcomes = []
        for tier in ("interpreted", "compiled"):
            dense.dense_flip_improving.compile()
            own_x, own_g = x.copy(), g.copy()
            queue, waiting = np.arange(n), np.ones(n, dtype=np.bool_)
            flips, change = getattr(dense.dense_flip_improving, tier)(
                A, A.diagonal().copy(), np.full(n, 1e-12), queue, waiting, n, follow, own_x, own_g
            )
            outcomes.append((flips, change, own_x.tobytes(), own_g.tobytes()))
        assert outcomes[0] == outcomes[1]


def test_lowrank_sweep() -> None:
    """A sweep flips a bit exactly where its own change, given the earlier ones, is below zero."""
    rng = np.random.default_rng(1)
    U, s, c = rng.standard_normal((9, 2)), np.array([1.0, -2.0]), rng.standard_normal(9)
    A = (U * s) @ U.T

    def value(x: np.ndarray) -> float:
        return float(x @ A @ x + c @ x)

    x = np.where(rng.random(9) < 0.5, 1.0, -1.0)
    expected, flips = x.copy(), 0
    for i in range(2, 8):
        other = expected.copy()
        other[i] *= -1.0
        if value(other) < value(expected):
            expected, flips = other, flips + 1
    before = value(x)
    made, change = dense.lowrank_sweep(U, s, c, np.zeros(9), 2, 6, U.T @ x, x)
    assert made == flips
    assert np.array_equal(x, expected)
    assert change == pytest.approx(value(x) - before)


@pytest.mark.parametrize("dtype", [np.int32, np.float64])
def test_fields_are_those_of_the_matrix(dtype: type) -> None:
    """h + J s, in the type of h, also for rows of small integers."""
    A, h = couplings(20, 0.5, 4, dtype)
    s, f = spins(20, 5), np.empty(20, dtype=dtype)
    dense.dense_fields(A.toarray().astype(np.int8) if dtype is np.int32 else A.toarray(), h, s, f)
    assert np.array_equal(f, h + A @ s)
