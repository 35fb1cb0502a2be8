"""Small polynomials for tests, and their values from the definition, in exact arithmetic."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
from hypothesis import strategies as st

Terms = dict[tuple[int, ...], float]

VARIABLES = ["spin", "binary"]


def terms(n: int = 6, longest: int = 5, whole: bool = False) -> st.SearchStrategy[Terms]:
    """Dictionaries of terms over n variables, with repeated variables, permuted keys and constants."""
    keys = st.lists(st.integers(0, n - 1), max_size=longest).map(tuple)
    numbers = st.integers(-9, 9).map(float) if whole else st.sampled_from([0.1, -0.3, 1 / 3, -2.5, 1.0, 7.0, -0.7])
    return st.dictionaries(keys, numbers, max_size=14)


def random_terms(rng: np.random.Generator, n: int, size: int, longest: int = 4) -> Terms:
    """The same, drawn from a generator, no variable twice in a term."""
    keys = (tuple(int(i) for i in rng.permutation(n)[: rng.integers(1, longest + 1)]) for _ in range(size))
    return {key: float(rng.integers(-9, 10)) for key in keys}


def naive_value(given: Mapping[tuple[Any, ...], float], point: Mapping[Any, int] | list[int]) -> Fraction:
    """The value of a polynomial at a point in its own variables, without any rounding."""
    total = Fraction(0)
    for key, coefficient in given.items():
        term = Fraction(coefficient)
        for i in key:
            term *= point[i]
        total += term
    return total


def own_points(n: int, variables: str) -> Iterator[list[int]]:
    """Every point in the polynomial's own variables."""
    low = -1 if variables == "spin" else 0
    return (list(point) for point in product((low, 1), repeat=n))


def spins_of(point: list[int]) -> np.ndarray:
    """A point as float64 spins."""
    return np.where(np.array(point) > 0, 1.0, -1.0)


def least_value(given: Terms, n: int, variables: str, ones: int | None = None) -> Fraction:
    """The minimum over all points, or over those with so many ones."""
    points = own_points(n, variables)
    return min(naive_value(given, p) for p in points if ones is None or p.count(1) == ones)
