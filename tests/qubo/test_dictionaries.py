"""Dictionaries with terms of any length, by the names of their variables."""

from __future__ import annotations

from itertools import product
from typing import Any

import pytest

import flipwise
from tests.polynomials import naive_value


def _least(terms: dict[tuple[Any, ...], float], low: int) -> float:
    labels = list(dict.fromkeys(label for key in terms for label in key))
    points = (dict(zip(labels, p, strict=True)) for p in product((low, 1), repeat=len(labels)))
    return float(min(naive_value(terms, point) for point in points))


@pytest.mark.parametrize(
    "terms",
    [
        {("a", "b", "c"): -3.0, ("a",): 1.0, ("c", "d"): 2.0, (): 5.0},
        {("a", "b"): -3.0, ("a",): 1.0, (): 5.0},
        {("a",): 1.0, ("b",): -2.0},
        {(7, 3, 7, 5): 2.0, (3, 3): -1.0, (5,): 1.0, (3, 5, 7, 9): -4.0},
    ],
)
def test_terms_of_any_length_are_understood(terms: dict[tuple[Any, ...], float]) -> None:
    """solve_qubo and solve_ising find the minimum, name the variables and give the value of the point they return."""
    for found, low in ((flipwise.solve_qubo(terms, seed=0), 0), (flipwise.solve_ising({}, terms, seed=0), -1)):
        labels = found.info["labels"]
        assert set(labels) == {label for key in terms for label in key}
        assert found.value == _least(terms, low)
        assert naive_value(terms, dict(zip(labels, found.x.tolist(), strict=True))) == found.value
        assert found.bound is not None and found.bound <= found.value


def test_linear_terms_beside_the_dictionary_are_added() -> None:
    """h, a dict or an array, and (u,) in J are both linear terms of u, in quadratics and polynomials."""
    for J in ({("a", "b"): 1.0, ("a",): 2.0}, {("a", "b", "c"): 1.0, ("a",): 2.0}):
        joined = {**J, ("a",): 3.0}
        assert flipwise.solve_ising({"a": 1.0}, J, 2.5, seed=0).value == _least(joined, -1) + 2.5
    assert flipwise.solve_ising([1.0, 0.5], {(0, 1, 2): 1.0, (0,): 2.0}, seed=0).info["labels"] == [0, 1, 2]


def test_counts_hold_for_polynomials() -> None:
    """An exact number of ones is kept without a penalty."""
    terms = {("a", "b", "c"): -3.0, ("c", "d"): -2.0, ("a",): -1.0}
    found = flipwise.solve_qubo(terms, count=2, seed=0)
    assert found.value == -2.0 and int(found.x.sum()) == 2


@pytest.mark.parametrize("key", ["abc", 3, frozenset("ab")])
def test_keys_that_are_no_tuples_are_refused(key: Any) -> None:
    """A word is not taken for the three variables of its letters."""
    with pytest.raises(flipwise.InvalidInput, match="keys of `Q` must be"):
        flipwise.solve_qubo({("a", "b", "c"): 1.0, key: 1.0})
    with pytest.raises(flipwise.InvalidInput, match="keys of `Q` must be"):
        flipwise.solve_qubo({("a", "b"): 1.0, key: 1.0})
    with pytest.raises(flipwise.InvalidInput, match="keys of `J` must be"):
        flipwise.solve_ising({}, {("a", "b"): 1.0, key: 1.0})


def test_numbers_of_terms_are_checked_by_name() -> None:
    """A coefficient that is no finite number is an error that names its term."""
    with pytest.raises(flipwise.InvalidInput, match=r"'c'"):
        flipwise.solve_qubo({("a", "b", "c"): float("nan")})
