"""The largest entries, and inner products: against sorting and exact sums."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from flipwise.foundation.arrays import inner, largest


@given(st.lists(st.integers(-3, 3), max_size=12), st.integers(-1, 14))
def test_the_largest_entries_are_those_that_sorting_puts_first(scores: list[int], count: int) -> None:
    """Of equal entries the earlier ones; all where there are fewer, none where none is asked for."""
    order = sorted(range(len(scores)), key=lambda i: (-scores[i], i))
    found = largest(np.array(scores, dtype=np.float64), count)
    assert found.tolist() == sorted(order[: max(0, count)])


@given(st.lists(st.tuples(st.integers(-(2**20), 2**20), st.integers(-(2**20), 2**20)), max_size=40))
def test_an_inner_product_of_integers_is_exact(pairs: list[tuple[int, int]]) -> None:
    """No sum of such products is rounded, in whatever order."""
    a, b = (np.array([pair[k] for pair in pairs], dtype=np.float64) for k in (0, 1))
    assert Fraction(inner(a, b)) == sum(p * q for p, q in pairs)
