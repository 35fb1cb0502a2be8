"""The m-neighbourhood search: exhaustive where small, sampled where not, never worse."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import flipwise
from flipwise.dpcd import neighbourhood
from tests.reference import random_symmetric


@given(st.integers(2, 7), st.integers(1, 3), st.integers(0, 2**31))
def test_exhaustive_search_finds_the_best_neighbour(n: int, m: int, seed: int) -> None:
    """With enough samples allowed, the best of all points within m flips is taken."""
    rng = np.random.default_rng(seed)
    f = flipwise.Quadratic(random_symmetric(rng, n), rng.standard_normal(n))
    x = flipwise.Free().random((n,), rng)
    best = f.value(x)
    for size in range(1, min(m, n) + 1):
        for chosen in itertools.combinations(range(n), size):
            y = x.copy()
            y[list(chosen)] *= -1
            best = min(best, f.value(y))
    g = f.gradient(x)
    neighbourhood.search(f, flipwise.Free(), x, g, m, 10_000, rng)
    assert f.value(x) == pytest.approx(best)
    assert g == pytest.approx(f.gradient(x))


@given(st.integers(2, 30), st.integers(1, 5), st.integers(0, 2**31))
def test_sampled_search_stays_feasible_and_never_gets_worse(n: int, m: int, seed: int) -> None:
    """Under an exact count a search exchanges equally many ones and zeros and does not raise f."""
    rng = np.random.default_rng(seed)
    f = flipwise.Quadratic(random_symmetric(rng, n))
    constraint = flipwise.Cardinality(int(rng.integers(0, n + 1)))
    x = constraint.random((n,), rng)
    before = f.value(x)
    flips, change = neighbourhood.search(f, constraint, x, f.gradient(x), m, 20, rng)
    assert constraint.contains(x)
    assert flips <= 2 * m
    assert f.value(x) == pytest.approx(before + change)
    assert change <= 0


@given(st.integers(2, 60), st.integers(0, 2**31), st.booleans())
def test_m_1_is_exact_on_quadratics_of_any_size(n: int, seed: int, counted: bool) -> None:
    """However few samples are allowed, m = 1 makes the best single flip or swap of all."""
    rng = np.random.default_rng(seed)
    f = flipwise.Quadratic(random_symmetric(rng, n))
    constraint = flipwise.Cardinality(n // 2) if counted else flipwise.Free()
    x = constraint.random((n,), rng)
    before, g = f.value(x), f.gradient(x)
    if counted:
        moves = [np.array([i, j]) for i in np.flatnonzero(x > 0) for j in np.flatnonzero(x < 0)]
    else:
        moves = [np.array([i]) for i in range(n)]
    best = min([0.0, *(f.flip_change(x, g, move) for move in moves)])
    _, change = neighbourhood.search(f, constraint, x, g, 1, 1, rng)
    assert change == pytest.approx(best, abs=1e-9)
    assert f.value(x) == pytest.approx(before + best)


def test_m_1_on_swaps_is_exhaustive_where_small() -> None:
    """With m = 1 and few pairs every exchange is looked at."""
    f = flipwise.Quadratic(np.zeros((3, 3)), [3.0, 1.0, 2.0])
    x = np.array([1.0, -1.0, -1.0])
    neighbourhood.search(f, flipwise.Cardinality(1), x, f.gradient(x), 1, 100, np.random.default_rng(0))
    assert x.tolist() == [-1, 1, -1]
