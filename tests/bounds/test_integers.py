"""Quadratics in exact integers: the same differences between points, to the last bit, and a lattice of values."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

import numpy as np
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from flipwise import LowRank, Quadratic
from flipwise.bounds.integers import as_integers, as_limbs, integer_model
from tests.bounds.exact_cases import exact_value, quadratics


@settings(max_examples=60, deadline=None)
@given(quadratics(most=5))
def test_differences_of_energies_are_those_of_values(case: Quadratic) -> None:
    """f(s) - f(t) = 2^exponent (E(s) - E(t)) in fractions, for weights of any size, spins and bits."""
    model = integer_model(case)
    assert model is not None
    points = [np.array(p) for p in product([-1, 1], repeat=case.n)]
    first = points[0]
    for point in points:
        difference = exact_value(case, point) - exact_value(case, first)
        energies = model.energy(point.astype(np.int8)) - model.energy(first.astype(np.int8))
        assert difference == Fraction(2) ** model.exponent * energies


@settings(max_examples=60, deadline=None)
@given(quadratics(most=5))
def test_values_lie_on_the_lattice(case: Quadratic) -> None:
    """All energies differ by multiples of the step, and the next value of an energy is itself."""
    model = integer_model(case)
    assert model is not None
    energies = {model.energy(np.array(p, dtype=np.int8)) for p in product([-1, 1], repeat=case.n)}
    for energy in energies:
        assert model.next_value(energy) == energy
        if model.step:
            assert model.next_value(energy - 1) == energy == model.next_value(energy - model.step + 1)
    assert model.step or len(energies) == 1


def test_low_rank_terms_are_multiplied_out() -> None:
    """U diag(s) U' beside a sparse matrix: the energies of the sum of both; too many rows are refused."""
    rng = np.random.default_rng(0)
    U, s = rng.standard_normal((5, 2)), np.array([0.3, -1.7])
    A = sp.csr_array(np.diag([1.0, 1.0, 0.0, 1.0], 1) + np.diag([1.0, 1.0, 0.0, 1.0], -1))
    model = integer_model(Quadratic([LowRank(U, s), A]))
    assert model is not None
    product_ = [
        [sum(Fraction(U[i, a]) * Fraction(s[a]) * Fraction(U[j, a]) for a in (0, 1)) for j in range(5)]
        for i in range(5)
    ]
    for point in product([-1, 1], repeat=5):
        value = sum(2 * (product_[i][j] + int(A[i, j])) * point[i] * point[j] for i in range(5) for j in range(i))
        assert value == Fraction(2) ** model.exponent * model.energy(np.array(point, dtype=np.int8))
    assert integer_model(Quadratic(LowRank(np.ones((300, 1))))) is None


def test_what_was_rounded_is_refused_or_taken_as_stored() -> None:
    """A large quadratic in bits whose form in spins was rounded has no exact model."""
    rng = np.random.default_rng(1)
    f = Quadratic(LowRank(rng.standard_normal((6, 2))), variables="binary")
    assert integer_model(f) is None
    assert integer_model(f, rounded=True) is not None


@given(st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=1, max_size=8))
def test_floats_are_integers_times_a_power_of_two(numbers: list[float]) -> None:
    """Every float64, denormals included, comes back exactly."""
    [found], exponent = as_integers([np.array(numbers)])
    assert [Fraction(2) ** exponent * w for w in found] == [Fraction(x) for x in numbers]


@given(st.lists(st.integers(-(10**60), 10**60), min_size=1, max_size=5), st.integers(3, 45))
def test_limbs_add_up(numbers: list[int], bits: int) -> None:
    """Integers of any length are sums of limbs that float64 holds."""
    limbs = as_limbs(np.array([numbers], dtype=object), bits)
    assert all(np.abs(limb).max() < 2.0**bits for limb in limbs)
    assert [sum(int(limb[0, i]) << (bits * k) for k, limb in enumerate(limbs)) for i in range(len(numbers))] == numbers
