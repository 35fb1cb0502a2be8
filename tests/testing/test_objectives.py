"""The contract of an objective finds each broken rule, and the library's own objectives keep it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import flipwise
from flipwise.testing import check_objective


class Sum:
    """A right one, to be broken."""

    shape: Any = (4,)

    def value(self, x: np.ndarray) -> Any:
        return float(x.sum())

    def gradient(self, x: np.ndarray) -> Any:
        return np.ones(4)


class WrongShape(Sum):
    shape = 4


class ListGradient(Sum):
    def gradient(self, x: np.ndarray) -> Any:
        return [1.0] * 4


class LongGradient(Sum):
    def gradient(self, x: np.ndarray) -> Any:
        return np.ones(5)


class NotANumber(Sum):
    def gradient(self, x: np.ndarray) -> Any:
        return np.full(4, np.nan)


class InfiniteValue(Sum):
    def value(self, x: np.ndarray) -> Any:
        return float(x.sum()) if (np.abs(x) == 1.0).all() else np.inf


class ChangesItsInput(Sum):
    def value(self, x: np.ndarray) -> Any:
        x *= 1.5
        return float(x.sum())


class SharedArray(Sum):
    def __init__(self) -> None:
        self.ones = np.ones(4)

    def gradient(self, x: np.ndarray) -> Any:
        return self.ones


class ReadOnly(Sum):
    def gradient(self, x: np.ndarray) -> Any:
        return np.broadcast_to(np.ones(1), (4,))


class Remembers(Sum):
    def __init__(self) -> None:
        self.calls = 0

    def value(self, x: np.ndarray) -> Any:
        self.calls += 1
        return float(x.sum()) + self.calls


class WrongSign(Sum):
    def gradient(self, x: np.ndarray) -> Any:
        return -np.ones(4)


BROKEN = [
    (object(), "it has no `shape`"),
    (WrongShape(), "`shape` must be a tuple of positive integers"),
    (ListGradient(), "must be a NumPy array of float64, inside the cube it is list"),
    (LongGradient(), r"must have the shape \(4,\), it has \(5,\)"),
    (NotANumber(), "`gradient` must be finite, inside the cube it holds nan"),
    (InfiniteValue(), "`value` must be a finite number, inside the cube it is inf"),
    (ChangesItsInput(), "has changed the `x` it was given"),
    (SharedArray(), "asked again at the same point"),
    (ReadOnly(), "`gradient` is read-only"),
    (Remembers(), "asked again at the same point"),
    (WrongSign(), "the gradient disagrees"),
]


@pytest.mark.parametrize(("objective", "sentence"), BROKEN, ids=lambda part: type(part).__name__)
def test_a_broken_rule_is_named(objective: Any, sentence: str) -> None:
    """The error begins with the class and says which rule is broken."""
    with pytest.raises(AssertionError, match=f"^{type(objective).__name__}: .*{sentence}"):
        check_objective(objective)


@pytest.mark.parametrize(
    "objective",
    [
        Sum(),
        flipwise.Quadratic(np.eye(3)[::-1], variables="binary"),
        flipwise.Quadratic(flipwise.LowRank(np.ones((6, 2))), shape=(2, 3)),
        flipwise.Smooth(lambda x: (float((x**3).sum()), 3 * x**2), shape=(2, 2), variables="binary"),
    ],
    ids=["class", "quadratic", "low rank", "smooth"],
)
def test_right_objectives_pass(objective: Any) -> None:
    """Nothing is raised."""
    check_objective(objective)
