"""How large the numbers of a quadratic are, and whether float64 computes with them exactly.

Numbers that are all multiples of one power of two, and not many times as large, are added up without rounding: integers
and halves are, and so are all numbers of one size that have few digits. For others rounding is accounted for.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from flipwise.foundation.arrays import Floats
from flipwise.foundation.numbers import check_size
from flipwise.model.terms import Dense, LowRank, Sparse, Term

DIGITS = 51
"""Bits that the numbers around one variable may take, so that the change of a flip (2 x g - 4 A) fits into 53."""
LEAST = -1020
"""The exponent of the least number that all others may be multiples of."""


@dataclass(frozen=True, eq=False)
class Sizes:
    """What rounding depends on, for x'Ax + c'x + d."""

    rows: Floats
    """2 sum_j |A_ij| + |c_i|: the largest size of an entry of the gradient."""
    total: float
    """sum |A_ij| + sum |c_i| + |d|: the largest size of a value."""
    entries: float
    """The number of stored entries; inf where a term is no matrix."""
    longest: int
    """The most numbers in one row."""
    exact_changes: bool
    """Whether gradients and changes by flips are computed without rounding."""
    grain: float
    """A power of two that divides all numbers, where values are computed without rounding too; otherwise 0."""

    @classmethod
    def of(cls, terms: Sequence[Term], c: Floats, d: float) -> Sizes:
        """The sizes of a quadratic; refused when its numbers are too small or too large for float64."""
        with np.errstate(over="ignore"):
            rows = sum((2.0 * term.absolute_row_sums() for term in terms), np.abs(c))
            largest = float(rows.max(initial=0.0))
            total = float(rows.sum(dtype=np.longdouble)) + abs(d)
        check_size("A", rows)
        parts = [part for part in map(_entries_of, terms) if part is not None]
        if len(parts) < len(terms):
            return cls(rows, total, math.inf, sum(_longest_row(term) for term in terms), False, 0.0)
        entries = sum(part.size for part in parts)
        longest = sum(_longest_row(term) for term in terms)
        exponent = math.frexp(total)[1] - DIGITS
        if all(are_multiples(part, exponent) for part in (np.array([d]), c, *parts)):
            return cls(rows, total, entries, longest, True, math.ldexp(1.0, exponent))
        exponent = (
            math.frexp(largest)[1] - DIGITS
        )  # changes are smaller than values, and the numbers may have more digits
        exact_changes = all(are_multiples(part, exponent) for part in (c, *parts))
        return cls(rows, total, entries, longest, exact_changes, 0.0)


def are_multiples(numbers: Floats, exponent: int) -> bool:
    """Whether every number is a multiple of 2^exponent, looked at in pieces to keep the memory small."""
    flat = numbers.reshape(-1)
    factors = math.ldexp(1.0, -exponent // 2), math.ldexp(1.0, -exponent - -exponent // 2)  # one may be no number
    for begin in range(0, flat.size, 65536):
        given = flat[begin : begin + 65536]
        piece = given * factors[0] * factors[1]
        if not (piece == np.rint(piece)).all() or np.count_nonzero(piece) < np.count_nonzero(given):
            return False
    return True


def common_divisor(numbers: Floats) -> float:
    """The largest number that divides all of `numbers`, where every sum of them is exact; 0 where that is not so."""
    total = float(np.abs(numbers).sum())
    exponent = max(math.frexp(total)[1] - DIGITS, LEAST)
    if not are_multiples(numbers, exponent):
        return 0.0
    grain = math.ldexp(1.0, exponent)
    return divisor_in_units(numbers, grain) * grain or 1.0


def divisor_in_units(numbers: Floats, grain: float) -> int:
    """The greatest common divisor of multiples of `grain`, in units of it; 0 of zeros."""
    divisor = 0
    for begin in range(0, numbers.size, 1 << 20):
        whole = (numbers[begin : begin + (1 << 20)] / grain).astype(np.int64)
        divisor = math.gcd(divisor, int(np.gcd.reduce(whole)))
    return divisor


def sum_of_terms(terms: Sequence[Term], c: Floats, constants: Floats, x: Floats) -> float:
    """x'Ax + c'x + the sum of constants, for entries -1, 0 and 1 of x, rounded once; c may have rows to be added."""
    chosen = np.flatnonzero(x)
    signs = x[chosen]
    numbers = [constants, (c[..., chosen] * signs).reshape(-1)]
    for term in terms:
        block = term.block(chosen, chosen)
        numbers.append((block * signs[:, None] * signs[None, :]).reshape(-1))
    return math.fsum(np.concatenate(numbers))


def _entries_of(term: Term) -> Any:
    """The entries of a matrix; None where a term has none."""
    if isinstance(term, Sparse):
        return term.A.data
    return term.A.reshape(-1) if isinstance(term, Dense) else None


def _longest_row(term: Term) -> int:
    if isinstance(term, Sparse):
        return int(np.diff(term.A.indptr).max(initial=0))
    return term.n + (term.s.size if isinstance(term, LowRank) else 0)
