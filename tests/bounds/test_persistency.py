"""Persistency: fixed variables have their value in every minimum, and the roof dual is a bound."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

import flipwise
from flipwise.bounds.persistency import persistent_variables, without_fixed


def random_quadratic(n: int, seed: int, integer: bool, strength: float) -> flipwise.Quadratic:
    """A sparse quadratic with a linear part of the given strength."""
    rng = np.random.default_rng(seed)
    A = np.triu(rng.integers(-3, 4, (n, n)) * (rng.random((n, n)) < 0.4), 1).astype(float)
    c = np.rint(rng.normal(size=n) * strength)
    if not integer:
        A, c = A * 0.37, c * 0.37 + 0.01 * rng.normal(size=n)
    return flipwise.Quadratic(sp.csr_array(A + A.T), c, 1.5)


@given(st.integers(0, 10_000), st.booleans(), st.sampled_from([1.0, 4.0, 10.0]))
def test_fixed_variables_agree_with_every_minimum(seed: int, integer: bool, strength: float) -> None:
    """Brute force: all minima have the fixed values, and the bound is not above the minimum."""
    f = random_quadratic(7, seed, integer, strength)
    points = [np.array(p) for p in itertools.product([-1.0, 1.0], repeat=7)]
    values = np.array([f.value(p) for p in points])
    found = persistent_variables(f)
    for k in np.flatnonzero(values <= values.min() + 1e-9):
        assert (points[k][found.fixed] == found.spins[found.fixed]).all()
    if found.bound is not None:
        assert found.bound <= values.min() + 1e-9


@pytest.mark.parametrize("strength", [2.0, 5.0, 30.0])
def test_solving_with_fixed_variables_gives_the_same_optimum(strength: float) -> None:
    """The reduced problem leads to the minimum of the whole."""
    f = random_quadratic(10, 3, True, strength)
    best = min(f.value(np.array(p)) for p in itertools.product([-1.0, 1.0], repeat=10))
    A = f.terms[0].A  # type: ignore[attr-defined]
    result = flipwise.solve_ising(f.c, A, 1.5, seed=0, max_iterations=3)
    assert result.value == best == f.value(result.x.astype(float))


def test_reduction_keeps_the_values() -> None:
    """The reduced objective at the free variables equals the whole at all of them."""
    f = random_quadratic(8, 5, True, 3.0)
    spins = np.array([1, 0, -1, 0, 0, 1, 0, 0], dtype=np.int8)
    inner, free = without_fixed(f, spins)
    rng = np.random.default_rng(0)
    whole = spins.astype(float)
    whole[free] = rng.choice([-1.0, 1.0], size=free.size)
    assert inner.value(whole[free]) == f.value(whole)


def test_nothing_is_fixed_without_a_linear_part() -> None:
    """x and -x are equally good, so no variable is fixed."""
    f = flipwise.Quadratic(sp.csr_array(np.array([[0.0, 1.0], [1.0, 0.0]])))
    assert persistent_variables(f).fixed.size == 0
