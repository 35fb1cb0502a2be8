"""Enumeration of small polynomials: the minimum by brute force in fractions, whatever the numbers."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings

import flipwise
from flipwise.bounds import gray_code
from flipwise.foundation.checks import Variables
from flipwise.solvers.exact import Exact
from tests.polynomials import VARIABLES, Terms, least_value, naive_value, terms


@pytest.mark.parametrize("variables", VARIABLES)
@settings(max_examples=25)
@given(terms(n=6))
def test_the_minimum_is_that_of_all_points(variables: Variables, given_terms: Terms) -> None:
    """With numbers that round, free and with a count, no point is better than the one that is called optimal."""
    f = flipwise.Polynomial(given_terms, 6, variables=variables)
    reduced = f.to_dict()  # its coefficients are rounded once
    for ones in (None, 2):
        found = flipwise.minimize(f, method=Exact(points=0), count=ones, seed=0)
        assert found.status is flipwise.Status.OPTIMAL and found.bound == found.value
        assert found.value == float(least_value(reduced, 6, variables, ones))
        assert float(naive_value(reduced, found.x.tolist())) == found.value


def test_chunks_meet(monkeypatch: pytest.MonkeyPatch) -> None:
    """Chunks of any length walk through the same points, groups of counts included."""
    rng = np.random.default_rng(2)
    f = flipwise.Polynomial.from_arrays(rng.integers(0, 9, (40, 4)), rng.integers(-5, 6, 40), 9)
    constraint = flipwise.GroupCounts(np.arange(9) % 3, np.array([1, 2, 1]))
    values = set()
    for chunk in (3, 64, 1024):
        monkeypatch.setattr(gray_code, "CHUNK", chunk)
        values.add(flipwise.minimize(f, method=Exact(points=0), constraint=constraint, seed=0).value)
    values.add(flipwise.minimize(f, method=Exact(), constraint=constraint, seed=0).value)
    assert len(values) == 1


def test_limits_end_it_without_a_claim() -> None:
    """A target or no time at all ends the enumeration; nothing is called optimal then."""
    f = flipwise.Polynomial({(i, i + 1, i + 2): 1.0 for i in range(16)})
    assert flipwise.minimize(f, method="exact", seed=0, target=0.0).status is flipwise.Status.TARGET
    ended = flipwise.minimize(f, method="exact", seed=0, time_limit=0.0)
    assert ended.status is flipwise.Status.TIME_LIMIT and ended.bound is None


def test_too_many_variables_are_refused() -> None:
    """Beyond the limit the error says what can be solved."""
    with pytest.raises(flipwise.InvalidInput, match="22 variables of a polynomial"):
        flipwise.minimize(flipwise.Polynomial({(0, 1, 30): 1.0}), method="exact")
