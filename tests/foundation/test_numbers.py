"""Weights of any size: the right answer or a clear error, never a silent infinity."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

import flipwise
from tests.reference import brute_force, random_symmetric


@pytest.mark.parametrize("exponent", [-300, -150, -20, 0, 20, 150, 300])
@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("counted", [False, True])
def test_scaling_all_weights_changes_nothing_but_the_scale(exponent: int, sparse: bool, counted: bool) -> None:
    """From 1e-300 to 1e300 the point found is the same and the value scales along."""
    A = random_symmetric(np.random.default_rng(0), 30)
    scale = 2.0 ** (exponent * 3.3219280948873626 // 1)
    constraint = flipwise.Cardinality(12) if counted else None
    make = sp.csr_array if sparse else np.asarray
    plain = flipwise.minimize(make(A), seed=2, constraint=constraint)
    scaled = flipwise.minimize(make(A * scale), seed=2, constraint=constraint)
    assert np.array_equal(plain.x, scaled.x)
    assert scaled.value == pytest.approx(plain.value * scale, rel=1e-12)


@given(st.integers(2, 8), st.integers(0, 2**31), st.sampled_from([-300, -30, 0, 30, 290]))
def test_mixed_magnitudes_end_at_an_optimum_of_the_large_ones(n: int, seed: int, small: int) -> None:
    """With weights of very different size in one matrix the result is finite, feasible and near the optimum."""
    rng = np.random.default_rng(seed)
    A = random_symmetric(rng, n) * 10.0 ** rng.choice([small, 0, 5], (n, n))
    A = (A + A.T) / 2
    f = flipwise.Quadratic(A)
    best = brute_force(f.value, n)
    result = flipwise.minimize(f, seed=seed, restarts=30)
    assert np.isfinite(result.value)
    assert result.value == pytest.approx(best, rel=1e-9)


def test_huge_integers_are_exact() -> None:
    """Integer weights up to 2^40 lose nothing."""
    rng = np.random.default_rng(1)
    A = rng.integers(-(2**40), 2**40, (12, 12))
    A = A + A.T
    f = flipwise.Quadratic(A, variables="binary")
    result = flipwise.minimize(f, seed=0, restarts=30)
    bits = [int(b) for b in result.x]
    exact = sum(int(A[i, j]) * bits[i] * bits[j] for i in range(12) for j in range(12))
    assert int(result.value) == exact


def test_zeros_and_negative_zero() -> None:
    """A zero matrix and -0.0 are ordinary weights."""
    for A in (np.zeros((4, 4)), -np.zeros((4, 4))):
        result = flipwise.minimize(A, seed=0)
        assert result.success and result.value == 0.0


def test_the_final_value_is_a_compensated_sum() -> None:
    """A thousand small terms beside one of 1e16, which a plain sum would lose one after another."""
    c = np.concatenate([[1e16], np.ones(1000)])
    result = flipwise.minimize(flipwise.Quadratic(sp.csr_array((1001, 1001)), c), seed=0)
    assert result.value == -(1e16 + 1000.0)


@pytest.mark.parametrize("exponent", [-960, -30, 0, 30, 960])
@pytest.mark.parametrize("bound", ["sdp", "spectral", "simple"])
def test_bounds_are_rounded_outward_at_any_scale(exponent: int, bound: str) -> None:
    """Scaled by a power of two, from 1e-289 to 1e289, no bound exceeds the exact optimum."""
    A = np.round(8 * random_symmetric(np.random.default_rng(5), 7))
    np.fill_diagonal(A, 0.0)
    least = brute_force(flipwise.Quadratic(A).value, 7) * 2.0**exponent
    result = flipwise.solve_ising(np.zeros(7), A * 2.0**exponent, seed=0, bound=bound, effort=2 / 30)  # type: ignore[arg-type]
    assert result.bound is not None
    assert result.bound <= least <= result.value


@pytest.mark.parametrize("matrix", [np.full((4, 4), 1e308), np.array([[0.0, 1.7e308], [1.7e308, 0.0]])])
def test_sums_past_the_largest_number_are_refused(matrix: np.ndarray) -> None:
    """Weights whose sum float64 cannot hold get an error, not an infinite value."""
    with pytest.raises(flipwise.InvalidInput, match="large"):
        flipwise.minimize(matrix, seed=0)
