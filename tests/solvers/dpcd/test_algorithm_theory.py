"""The paper's lemma, theorem and corollary, as tests."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import flipwise
from tests.reference import all_spins, random_symmetric


@pytest.mark.parametrize("n", [2, 50, 100_000])
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_lemma_1_dpcd_reaches_the_optimum_in_one_update(n: int, seed: int) -> None:
    """With the Lipschitz rule and epsilon < beta, one update reaches (-1, ..., -1) from any start; SGM alternates."""
    rng = np.random.default_rng(seed)
    beta = rng.uniform(0.05, 0.95, n)
    x0 = np.where(rng.random(n) < 0.5, 1, -1)
    f = flipwise.Smooth(lambda x: (0.5 * ((x + beta) ** 2).sum(), x + beta), n, lipschitz=1.0)
    options = {"literal": True, "thresholds": "lipschitz", "epsilon": 0.9 * beta.min(), "neighbourhood": 0}
    result = flipwise.minimize(f, start=x0, **options)
    assert (result.x == -1).all()
    assert result.trace.records[0].value == pytest.approx(0.5 * ((beta - 1) ** 2).sum())
    assert result.iterations <= 2  # the update, and the one that finds nothing left

    signed = flipwise.minimize(f, start=x0, method="sgm")
    assert signed.status is flipwise.Status.CYCLE
    assert {record.flips for record in signed.trace.records} == {n}  # x, -x, x, -x, ...


@given(st.integers(2, 9), st.integers(0, 2**31), st.floats(0.01, 5.0), st.booleans())
def test_theorem_1_every_step_lowers_f_by_more_than_two_epsilon(
    n: int, seed: int, epsilon: float, counted: bool
) -> None:
    """With L_0 + epsilon every step lowers f by more than 2*epsilon, so steps never exceed the theorem's bound.

    The proof adds up one inequality for each flipped coordinate, so it covers an exact count as well.
    """
    rng = np.random.default_rng(seed)
    f = flipwise.Quadratic(random_symmetric(rng, n) / 4, 6 * rng.standard_normal(n))
    constraint = flipwise.Cardinality(int(rng.integers(0, n + 1))) if counted else flipwise.Free()
    x0 = constraint.random((n,), rng)
    start = f.value(x0)
    result = flipwise.minimize(
        f, constraint=constraint, start=x0, literal=True, thresholds="lipschitz", epsilon=epsilon, neighbourhood=0
    )
    values = [start, *(record.value for record in result.trace.records)]
    for before, record in zip(values, result.trace.records, strict=False):
        assert record.flips == 0 or record.value < before - 2 * epsilon * (1 - 1e-9)
    steps = sum(record.flips > 0 for record in result.trace.records)
    every = [f.value(x) for x in all_spins(n)]
    assert steps <= (max(every) - min(every)) / (2 * epsilon)


@given(st.integers(2, 9), st.integers(0, 2**31), st.floats(0.01, 5.0))
def test_corollary_1_bounds_the_steps_by_the_norms(n: int, seed: int, epsilon: float) -> None:
    """For a quadratic, steps <= (||A||_1 + ||c||_1) / epsilon."""
    rng = np.random.default_rng(seed)
    A, c = random_symmetric(rng, n), 10 * rng.standard_normal(n)
    result = flipwise.minimize(
        flipwise.Quadratic(A, c), seed=seed, literal=True, thresholds="lipschitz", epsilon=epsilon, neighbourhood=0
    )
    steps = sum(record.flips > 0 for record in result.trace.records)
    assert steps <= (np.abs(A).sum() + np.abs(c).sum()) / epsilon
    assert result.status is flipwise.Status.CONVERGED


def test_the_literal_algorithm_never_moves_on_dense_subgraphs() -> None:
    """Under an exact count the gradient of -b'Wb has one sign, S+ is empty and the literal mode stands still."""
    rng = np.random.default_rng(3)
    W = np.triu((rng.random((30, 30)) < 0.3).astype(float), 1)
    f = flipwise.Quadratic(-(W + W.T), variables="binary")
    x0 = np.zeros(30, dtype=int)
    x0[:8] = 1
    options = {"constraint": flipwise.Cardinality(8), "start": x0, "neighbourhood": 0}
    assert (flipwise.minimize(f, literal=True, **options).x == x0).all()
    assert flipwise.minimize(f, **options).value < f.value(2.0 * x0 - 1)
