"""Multiples of a power of two, common divisors, and sums that are rounded once: against rational arithmetic."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from flipwise.model.exactness import are_multiples, common_divisor, divisor_in_units, sum_of_terms
from flipwise.model.terms import Dense, LowRank

NUMBERS = st.lists(st.integers(-(2**30), 2**30), min_size=1, max_size=8)


@given(st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=6), st.integers(-60, 20))
def test_multiples_are_told_as_fractions_do(numbers: list[float], exponent: int) -> None:
    """Of any power of two."""
    exact = all((Fraction(number) / Fraction(2) ** exponent).denominator == 1 for number in numbers)
    assert are_multiples(np.array(numbers), exponent) == exact


@given(NUMBERS, st.integers(-40, 40))
def test_the_common_divisor_of_scaled_integers(numbers: list[int], exponent: int) -> None:
    """Their greatest common divisor times the scale; 1 of zeros alone."""
    scaled = np.array([math.ldexp(float(number), exponent) for number in numbers])
    divisor = math.gcd(*numbers)
    assert common_divisor(scaled) == (math.ldexp(float(divisor), exponent) if divisor else 1.0)
    assert divisor_in_units(scaled, math.ldexp(1.0, exponent)) == divisor


def test_numbers_of_too_many_digits_have_no_common_divisor() -> None:
    """A sum of them may be rounded."""
    assert common_divisor(np.array([1.0, 2.0**-60])) == 0.0


@given(st.integers(1, 6), st.integers(0, 10**6))
def test_a_value_is_the_exact_one_rounded_once(n: int, seed: int) -> None:
    """x'Ax + c'x + d of points with entries -1, 0 and 1, for numbers of very different sizes."""
    rng = np.random.default_rng(seed)
    A = rng.standard_normal((n, n)) * 10.0 ** rng.integers(-9, 9, (n, n))
    A = np.triu(A) + np.triu(A, 1).T
    c, constants = rng.standard_normal((2, n)), rng.standard_normal(3) * 1e12
    x = rng.integers(-1, 2, n).astype(np.float64)
    exact = sum(map(Fraction, constants.tolist()), Fraction())
    for i in range(n):
        exact += sum(Fraction(float(row[i])) * int(x[i]) for row in c)
        exact += sum(Fraction(float(A[i, j])) * int(x[i]) * int(x[j]) for j in range(n))
    assert sum_of_terms([Dense(A)], c, constants, x) == float(exact)


def test_a_low_rank_term_counts_with_its_entries() -> None:
    """U diag(s) U' as the matrix that it stands for."""
    U, s = np.array([[1.0, 2.0], [0.0, 1.0], [3.0, -1.0]]), np.array([2.0, -1.0])
    x = np.array([1.0, -1.0, 1.0])
    assert sum_of_terms([LowRank(U, s)], np.zeros(3), np.zeros(1), x) == x @ (U * s) @ U.T @ x
