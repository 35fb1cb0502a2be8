"""Objectives of one's own: what they return is checked before it is computed with."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import flipwise


class Own:
    """The sum of four spins, with a gradient that may be anything."""

    shape: Any = (4,)

    def __init__(self, gradient: Any, value: Any = None) -> None:
        self.returned, self.number = gradient, value

    def value(self, x: np.ndarray) -> Any:
        return float(x.sum()) if self.number is None else self.number

    def gradient(self, x: np.ndarray) -> Any:
        return self.returned


@pytest.mark.parametrize(
    "gradient", [np.ones(3), np.ones((2, 2)), np.full(4, np.nan), np.full(4, np.inf), ["a"] * 4, None, np.ones(4) * 1j]
)
def test_a_wrong_gradient_is_named(gradient: Any) -> None:
    """Another shape, no numbers, NaN: an error that says so, not an answer and not somebody else's exception."""
    with pytest.raises(flipwise.InvalidInput, match="gradient"):
        flipwise.minimize(Own(gradient), seed=0)


@pytest.mark.parametrize("gradient", [[1.0] * 4, (1, 1, 1, 1), np.ones(4, np.int8), np.ones(8)[::2]])
def test_a_list_of_numbers_is_a_gradient(gradient: Any) -> None:
    """Any container of real numbers in the shape of x will do."""
    assert flipwise.minimize(Own(gradient), seed=0).value == -4.0


@pytest.mark.parametrize("value", ["a", np.nan, np.ones(2), 1j])
def test_a_wrong_value_is_named(value: Any) -> None:
    """A value is one finite number."""
    with pytest.raises(flipwise.InvalidInput, match="objective"):
        flipwise.minimize(Own(np.ones(4), value), seed=0)


@pytest.mark.parametrize("shape", [4, [4], (4.0,), (), "4"])
def test_a_shape_is_a_tuple_of_integers(shape: Any) -> None:
    """A number alone is refused with the way to write it."""
    own = Own(np.ones(4))
    own.shape = shape
    with pytest.raises(flipwise.InvalidInput, match="shape"):
        flipwise.minimize(own, seed=0)
