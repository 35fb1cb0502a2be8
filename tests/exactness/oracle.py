"""Brute force in exact arithmetic, and the judge of a result: its value, its bound, its point, its claim."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np

import flipwise
from flipwise import Status
from tests.exactness.numbers import Drawn

BOUNDS = ("none", "auto", "simple", "spectral", "sdp")
"""What may be asked to be proven of a quadratic."""

Entries = list[list[Fraction]]


@dataclass(eq=False)
class ExactQuadratic:
    """sum_{i<j} q_ij x_i x_j + sum_i a_i x_i^2 + sum_i c_i x_i + d, with numerators over one power of two."""

    q: list[list[int]]
    a: list[int]
    c: list[int]
    d: int
    unit: Fraction

    @classmethod
    def of(cls, entries: Entries, c: list[Fraction], d: Fraction) -> ExactQuadratic:
        """From a matrix whose opposite entries are added up, rounded to float64."""
        n = len(c)
        pairs = [[Fraction(float(entries[i][j] + entries[j][i])) for j in range(n)] for i in range(n)]
        numbers = [d, *c, *(entries[i][i] for i in range(n)), *(pairs[i][j] for i in range(n) for j in range(i))]
        denominator = max(number.denominator for number in numbers)  # powers of two all

        def whole(number: Fraction) -> int:
            return int(number * denominator)

        q = [[whole(pairs[i][j]) if i != j else 0 for j in range(n)] for i in range(n)]
        diagonal = [whole(entries[i][i]) for i in range(n)]
        return cls(q, diagonal, [whole(each) for each in c], whole(d), Fraction(1, denominator))

    def numerator(self, x: Iterable[int]) -> int:
        """The value at x in units of `unit`."""
        point = list(x)
        total = self.d
        for i, one in enumerate(point):
            if one:
                inner = sum(w * other for w, other in zip(self.q[i][:i], point[:i], strict=True) if other)
                total += one * (inner + self.c[i] + self.a[i] * one)
        return total

    def value(self, x: Iterable[int]) -> Fraction:
        """The exact value at x."""
        return self.numerator(x) * self.unit

    def least(self, points: Iterable[tuple[int, ...]]) -> Fraction:
        """The minimum over some points."""
        return min(self.numerator(x) for x in points) * self.unit


def feasible_points(
    n: int, low: int, labels: list[int] | None = None, counts: list[int] | None = None
) -> Iterator[tuple[int, ...]]:
    """All points with entries `low` and 1 that have the given numbers of ones in each group."""
    for x in product((low, 1), repeat=n):
        if counts is None or labels is None or _counted(x, labels, len(counts)) == counts:
            yield x


def _counted(x: tuple[int, ...], labels: list[int], groups: int) -> list[int]:
    found = [0] * groups
    for entry, label in zip(x, labels, strict=True):
        found[label] += entry == 1
    return found


DUST = Fraction(2) ** -1066
"""Numbers near the least one that float64 has lose digits when they are halved, a few times for each of them."""


def rounded(number: Fraction) -> float:
    """To float64, the nearest."""
    return float(number)


def is_rounded(value: float, exact: Fraction) -> bool:
    """Whether a value is the exact one, rounded once."""
    return value == rounded(exact) or abs(Fraction(value) - exact) <= DUST


def refused_or(drawn: Drawn, call: Callable[[], Any]) -> Any:
    """What the call returns; None where it was refused rightly."""
    try:
        result = call()
    except flipwise.FlipwiseError as error:
        assert drawn.may_refuse or drawn.must_refuse, f"{drawn.name}: refused without a reason: {error}"
        return None
    assert not drawn.must_refuse, f"{drawn.name}: should have been refused"
    return result


def judge(
    result: Any,
    value: Callable[[list[int]], Fraction],
    best: Fraction,
    points: Callable[[list[int]], bool],
    *,
    largest: bool = False,
    slack: Fraction = Fraction(0),
    must_be_optimal: bool = False,
) -> None:
    """Assert that a result is true of a function `value` whose best value is `best`; `slack` is for values not rounded
    once."""
    x = [int(entry) for entry in np.asarray(result.x).reshape(-1)]
    assert points(x), f"infeasible: {x}"
    exact = value(x)
    assert math.isfinite(result.value)
    if slack:
        assert abs(Fraction(result.value) - exact) <= slack, f"value {result.value!r}, exactly {float(exact)!r}"
    else:
        assert is_rounded(result.value, exact), f"value {result.value!r}, exactly {float(exact)!r}"
    better = exact > best if largest else exact < best
    assert not better, "the oracle is wrong"
    side = 1 if largest else -1
    if result.bound is not None:
        reach = Fraction(result.bound) * side + slack + DUST - Fraction(rounded(best)) * side
        assert reach >= 0, f"bound {result.bound!r} on the wrong side of {float(best)!r}"
    if result.status is Status.OPTIMAL or result.optimal:
        same = abs(exact - best) <= 2 * slack + DUST or rounded(exact) == rounded(best)
        assert same, f"called optimal: {float(exact)!r}, the best is {float(best)!r}"
    if result.status is Status.OPTIMAL:
        assert result.optimal, f"status optimal, value {result.value!r}, bound {result.bound!r}"
    if must_be_optimal:
        assert result.optimal, f"not proven: value {result.value!r}, bound {result.bound!r}"
