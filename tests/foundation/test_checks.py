"""What counts as a number, and points between the user's variables and spins."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from flipwise import InvalidInput, NotEnoughMemory
from flipwise.foundation.checks import (
    Variables,
    as_generator,
    check_memory,
    check_numbers,
    check_whole,
    from_spins,
    is_number,
    is_whole,
    to_spins,
)


@pytest.mark.parametrize("value", [0, -3, 10**400, np.int8(1), 2.5, np.float32(0.5)])
def test_finite_real_numbers_are_numbers(value: Any) -> None:
    """Of Python and NumPy, integers of any length."""
    assert is_number(value) and is_whole(value) == isinstance(value, int | np.integer)


@pytest.mark.parametrize("value", [True, np.True_, math.nan, math.inf, 1j, "1", None, [1], np.array([1.0])])
def test_anything_else_is_none(value: Any) -> None:
    """Neither truth values nor what is not finite."""
    assert not is_number(value) and not is_whole(value)


def test_an_integer_too_small_is_refused_by_its_name() -> None:
    """None where it is optional passes."""
    check_whole("k", 1, 1)
    check_whole("k", None, 1, optional=True)
    for value in (0, 1.0, None, True):
        with pytest.raises(InvalidInput, match="`k` must be an integer of at least 1"):
            check_whole("k", value, 1)


def test_options_are_held_to_their_range() -> None:
    """Ends that count and ends that do not."""

    class Options:
        share, rate = 1.0, 0.0

    check_numbers(Options, "share", above=0.0, most=1.0)
    check_numbers(Options, "rate", least=0.0)
    with pytest.raises(InvalidInput, match=r"`rate` must be a number above 0\.0 and of at most 1\.0, got 0\.0"):
        check_numbers(Options, "share", "rate", above=0.0, most=1.0)


@given(st.lists(st.booleans(), min_size=1, max_size=9), st.sampled_from(["spin", "binary"]))
def test_spins_and_the_users_points_are_each_others_inverse(ones: list[bool], variables: Variables) -> None:
    """In either kind of variables, and from truth values."""
    low = -1 if variables == "spin" else 0
    x = np.where(ones, 1, low)
    spins = to_spins("x", x, (len(ones),), variables)
    assert np.array_equal(spins, np.where(ones, 1.0, -1.0))
    assert np.array_equal(from_spins(spins, variables), x) and from_spins(spins, variables).dtype == np.int8
    assert np.array_equal(to_spins("x", np.array(ones), (len(ones),), variables), spins)


def test_an_entry_of_the_other_kind_is_refused_with_its_place() -> None:
    """A flat point is taken for a matrix; a 0 is no spin."""
    assert to_spins("x", [1, -1, -1, 1], (2, 2), "spin").shape == (2, 2)
    with pytest.raises(InvalidInput, match=r"only -1 and 1, got 0 at position \(1, 0\)"):
        to_spins("x", [[1, -1], [0, 1]], (2, 2), "spin")
    with pytest.raises(InvalidInput, match=r"must have shape \(3,\), got \(2,\)"):
        to_spins("x", [1, 1], (3,), "spin")


def test_a_generator_is_used_as_it_is_and_an_integer_is_a_seed() -> None:
    """A negative integer, or a truth value, is neither."""
    rng = np.random.default_rng(3)
    assert as_generator(rng) is rng
    assert as_generator(3).integers(2**40) == np.random.default_rng(3).integers(2**40)
    for seed in (-1, True, 1.0):
        with pytest.raises(InvalidInput, match="`seed` must be"):
            as_generator(seed)  # type: ignore[arg-type]


def test_memory_that_no_machine_has_is_refused_before_it_is_asked_for() -> None:
    """With what it was for."""
    check_memory(1000, "a little")
    with pytest.raises(NotEnoughMemory, match="a matrix needs"):
        check_memory(2**70, "a matrix")
