"""The bound of a polynomial is never above a value, and rounded to the right side."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import flipwise
from flipwise.bounds.polynomial import polynomial_bound
from flipwise.foundation.checks import Variables
from tests.polynomials import VARIABLES, Terms, least_value, terms


@pytest.mark.parametrize("variables", VARIABLES)
@settings(max_examples=30)
@given(terms(n=5), st.sampled_from([0.0, 1e16, -3.7]))
def test_no_point_is_below_the_bound(variables: Variables, given_terms: Terms, constant: float) -> None:
    """In exact arithmetic the bound is at most the sum of all terms at their least, itself at most the minimum."""
    f = flipwise.Polynomial({**given_terms, (): constant}, 5, variables=variables)
    reduced = f.to_dict()
    least = Fraction(reduced.pop((), 0.0))
    for c in map(Fraction, reduced.values()):
        least -= abs(c) if variables == "spin" else max(-c, Fraction(0))
    bound = Fraction(polynomial_bound(f))
    assert bound <= least <= least_value(f.to_dict(), 5, variables)


def test_where_all_terms_agree_the_bound_proves_the_minimum() -> None:
    """A frustration-free polynomial with integer weights is solved to proven optimality."""
    f = flipwise.Polynomial({(0, 1, 2): -3.0, (1, 2, 3, 4): -2.0, (0,): -1.0, (): 7.0})
    found = flipwise.minimize(f, method="portfolio", bound="auto", seed=0, max_iterations=3)
    assert found.status is flipwise.Status.OPTIMAL and found.value == found.bound == 1.0


def test_bounds_of_matrices_are_refused() -> None:
    """A semidefinite bound is for quadratics; the error says what there is."""
    with pytest.raises(flipwise.IncompatibleObjective, match='"quick", "simple" or "none"'):
        flipwise.minimize({(0, 1, 2): 1.0}, bound="sdp")
