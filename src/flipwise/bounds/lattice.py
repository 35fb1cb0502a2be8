"""Which values a quadratic can have: with integer weights, halves and the like a lattice, whose next one above it a
bound can be raised to.

In spins the flip of i changes f by -2 x_i f_i with the field
    f_i = c_i + 2 sum_{j != i} A_ij x_j = r_i - 4 sum over {j: x_j = -1} of A_ij,    r_i = c_i + 2 sum_{j != i} A_ij,
so every change is a multiple of step = 2 gcd(r_i, 4 A_ij), and every value is that at one point plus a multiple of it.
This sees parities: the cuts of a graph all of whose degrees are even are all even. The diagonal of A and d only move
the lattice and may be any numbers.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from flipwise.foundation.numbers import largest_size
from flipwise.model.exactness import DIGITS, LEAST, are_multiples, divisor_in_units
from flipwise.model.quadratic import Quadratic
from flipwise.model.terms import Dense, LowRank, Sparse, Term

GUARD = 1e-9
"""A bound this close above a value, in steps, counts as meeting it: never is more claimed than was proven."""
WRITTEN_OUT = 2500
"""A low-rank term of at most so many rows is written out."""
MOST_ENTRIES = 4_000_000
"""Matrices with more entries are not looked at (it takes a second): no bound is near enough there to be raised."""
SHORT = 16
"""Bits of the numbers of a low-rank term, so that their products are exact."""


class Lattice(NamedTuple):
    """The numbers base + step * (an integer); only `base` where the step is 0."""

    base: Fraction
    step: Fraction

    def next(self, bound: float) -> float:
        """The least number of the lattice that is not below `bound`, up to the guard; never below `bound` itself."""
        if not self.step:
            return max(bound, float(self.base))
        steps = (Fraction(bound) - self.base) / self.step
        whole = math.ceil(steps - Fraction(GUARD) * max(Fraction(1), abs(steps)))
        return max(bound, float(self.base + whole * self.step))


def next_value(objective: Quadratic, bound: float) -> float:
    """The least value that f can have and that is not below `bound`; the bound itself where weights have no lattice."""
    lattice = value_lattice(objective)
    return bound if lattice is None else lattice.next(bound)


def lifted(objective: Quadratic, bound: float) -> float:
    """A bound on the quadratic in spins as one on the given quadratic, raised to the next value that this can have."""
    return next_value(objective, bound - objective.rounding)


def value_lattice(objective: Quadratic) -> Lattice | None:
    """The lattice of the values of a quadratic; None where its weights are no multiples of one number,
    or too many."""
    if MOST_ENTRIES < objective.entries < math.inf or (objective.variables == "binary" and objective.slack.any()):
        return None  # too many to look at, or its linear part in spins was rounded
    if objective.coefficients_rounded:
        return None
    products = [_without_diagonal(term) for term in objective.terms]
    if any(each is None for each in products):
        return None
    whole = sum(products[1:], products[0])  # of a sparse and a dense one: dense
    weights = whole.reshape(-1) if isinstance(whole, np.ndarray) else whole.data
    size = float(np.abs(weights).sum()) + float(np.abs(objective.c).sum())
    exponent = max(math.frexp(size)[1] - DIGITS, LEAST)
    if not (are_multiples(objective.c, exponent) and are_multiples(weights, exponent)):
        return None
    grain = math.ldexp(1.0, exponent)
    fields = objective.c + 2.0 * np.asarray(whole.sum(axis=1)).reshape(-1)
    step = math.gcd(divisor_in_units(fields, grain), 4 * divisor_in_units(weights, grain))
    if objective.variables == "binary":
        base = Fraction(objective.given_d)  # f(0)
    else:  # f(1, ..., 1), exactly
        base = sum(map(Fraction, objective.diagonal[objective.diagonal != 0.0].tolist()), Fraction(objective.d))
        base += Fraction((math.fsum(fields) + math.fsum(objective.c)) / 2.0)
    return Lattice(base, 2 * step * Fraction(grain))


def _without_diagonal(term: Term) -> Any:
    """A without its diagonal; None for a low-rank term that is not exactly known entry by entry."""
    if isinstance(term, Sparse):
        part = term.A
        if term.diagonal.any():
            part = part - sp.diags_array(term.diagonal)
        return sp.csr_array(part)
    if isinstance(term, LowRank):
        factors = term.U, term.s
        if term.n > WRITTEN_OUT or not all(are_multiples(f, math.frexp(largest_size(f))[1] - SHORT) for f in factors):
            return None
    every = np.arange(term.n)
    whole = term.A.copy() if isinstance(term, Dense) else term.block(every, every)
    np.fill_diagonal(whole, 0.0)
    return whole
