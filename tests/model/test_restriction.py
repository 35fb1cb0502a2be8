"""An objective of some of its variables has the values of the whole, whatever its kind."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

import flipwise
from flipwise.model.objective import Objective
from flipwise.model.restriction import Selection, restricted
from tests.reference import all_spins, random_symmetric

KINDS = ("dense", "sparse", "low-rank", "polynomial", "smooth")


def objective_of(kind: str, n: int, rng: np.random.Generator) -> Objective:
    """An objective with numbers that are multiples of a quarter, so that sums are exact."""
    A = np.rint(4.0 * random_symmetric(rng, n)) / 4.0
    c = rng.integers(-4, 5, n) / 4.0
    if kind == "polynomial":
        return flipwise.Polynomial({(0,): 1.5, tuple(range(min(3, n))): -2.0, (n - 1, 0): 0.25}, n)
    if kind == "smooth":
        return flipwise.Smooth(lambda x: (float(x @ A @ x + c @ x), 2.0 * A @ x + c), n)
    if kind == "low-rank":
        return flipwise.Quadratic(flipwise.LowRank(rng.integers(-2, 3, (n, 2)) / 2.0), c, 0.5)
    return flipwise.Quadratic(sp.csr_array(A) if kind == "sparse" else A, c, 0.5)


@settings(max_examples=60, deadline=None)
@given(st.sampled_from(KINDS), st.integers(2, 5), st.integers(0, 2), st.integers(0, 10**6))
def test_values_are_those_of_the_point_that_is_meant(kind: str, n: int, dummies: int, seed: int) -> None:
    """At every point of what remains; dummies change nothing, and the gradient is that of the whole."""
    rng = np.random.default_rng(seed)
    spins = rng.integers(-1, 2, n).astype(np.float64)
    spins[rng.integers(n)] = 0.0  # one remains
    whole, selection = objective_of(kind, n, rng), Selection(spins, dummies)
    part, rounding = restricted(whole, selection)
    assert part.shape == (selection.size,) and rounding >= 0.0
    for y in all_spins(selection.size):
        x = selection.embedded(y)
        assert (x[spins != 0.0] == spins[spins != 0.0]).all() and np.array_equal(
            x[selection.free], y[: len(selection.free)]
        )
        assert part.value(y) == pytest.approx(whole.value(x), abs=1e-9 + rounding)
        slopes = np.asarray(part.gradient(y), dtype=np.float64)
        assert slopes == pytest.approx(selection.padded(np.asarray(whole.gradient(x), dtype=np.float64)), abs=1e-9)


def test_a_selection_counts_what_it_leaves() -> None:
    """With the dummies at the end."""
    selection = Selection(np.array([0.0, 1.0, 0.0, -1.0]), 2)
    assert selection.free.tolist() == [0, 2] and selection.size == 4 and selection.fixes
    assert selection.embedded(np.array([-1.0, 1.0, 1.0, 1.0])).tolist() == [-1.0, 1.0, 1.0, -1.0]
    assert selection.padded(np.array([5.0, 6.0, 7.0, 8.0])).tolist() == [5.0, 7.0, 0.0, 0.0]
    assert not Selection(np.zeros(3), 0).fixes
