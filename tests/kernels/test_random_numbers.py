"""The random numbers of the kernels: against integers of any length."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from flipwise.kernels.random_numbers import next_random, random_below

pytestmark = pytest.mark.kernels
STATES = st.integers(1, 2**64 - 1)


@given(STATES)
def test_a_step_is_that_of_xorshift64(state: int) -> None:
    """Three shifts, cut off at 64 bits; never zero, for each step can be taken back."""
    x = state
    x ^= x << 13 & 2**64 - 1
    x ^= x >> 7
    x ^= x << 17 & 2**64 - 1
    assert int(next_random(np.uint64(state))) == x != 0


@given(STATES, st.integers(1, 2**31))
def test_a_number_is_below_its_limit_and_from_the_upper_bits(state: int, size: int) -> None:
    """The lower bits of such generators are worse."""
    number = random_below(np.uint64(state), size)
    assert 0 <= number < size and number == (state >> 33) % size
