"""f(x) = x'Ax + c'x + d with A dense, sparse, low-rank or a sum of these, in -1/+1 or 0/1 variables."""

from __future__ import annotations

import math
from collections.abc import Sequence
from copy import copy
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from flipwise.foundation.arrays import Floats, Ints, Signs
from flipwise.foundation.checks import Variables, check_variables, is_number
from flipwise.foundation.errors import InvalidInput
from flipwise.foundation.numbers import as_floats
from flipwise.foundation.tables import html_facts
from flipwise.kernels import dense as dense_kernels
from flipwise.kernels import sparse as sparse_kernels
from flipwise.model.exactness import Sizes, sum_of_terms
from flipwise.model.flips import flip_shortened, swap_shortened
from flipwise.model.objective import Lipschitz
from flipwise.model.smooth import checked_shape
from flipwise.model.terms import Dense, LowRank, Sparse, Term, as_term, block_partners, rounded_up, sparse_partners

_EPS = float(np.finfo(np.float64).eps)

FEW_ENTRIES = 10_000
"""The values of a quadratic with up to so many entries are added up with a single rounding."""
WRITTEN_OUT = 2000
"""The most variables for which a low-rank matrix, or a sum of matrices, is written out for single flips."""
SERIAL_ENTRIES = 20_000
"""A sparse matrix with more entries than this is multiplied by the parallel kernel, which has threads to start."""


class Quadratic:
    """The quadratic `x'Ax + c'x + d`.

    Parameters
    ----------
    A
        A dense array, a scipy sparse matrix, a `LowRank`, or a list of these that are added up.
        An asymmetric matrix is replaced by its symmetric part, with a warning. Repeated entries of a sparse matrix are
        added up.
    c
        The linear coefficients, one for each variable; zero when left out.
    d
        The constant.
    variables
        "spin" when `x` is in {-1, +1}, "binary" when it is in {0, 1}. A quadratic in 0/1 variables is
        rewritten in spins once, exactly (all factors are powers of two).
    shape
        The shape of `x` when it is not a plain vector, for example `(n, r)`; A then acts on `x.ravel()`.

    Examples
    --------
    >>> import numpy as np, flipwise
    >>> f = flipwise.Quadratic(np.array([[0.0, 1.0], [1.0, 0.0]]))
    >>> f.value(np.array([1.0, -1.0]))
    -2.0
    """

    def __init__(
        self,
        A: Any,
        c: npt.ArrayLike | None = None,
        d: float = 0.0,
        *,
        variables: Variables = "spin",
        shape: int | tuple[int, ...] | None = None,
    ) -> None:
        parts: Sequence[Any] = A if isinstance(A, list | tuple) and _is_sum(A) else [A]
        if not parts:
            raise InvalidInput("`A` must hold at least one matrix, got an empty list.")
        terms: list[Term] = [as_term(part) for part in parts]
        n = terms[0].n
        for term in terms:
            if term.n != n:
                raise InvalidInput(f"all matrices in `A` must have the same size, got {n} and {term.n}.")
        linear = np.zeros(n) if c is None else as_floats("c", c).reshape(-1)
        if linear.shape != (n,):
            raise InvalidInput(f"`c` must have {n} entries, one for each row of A, got {linear.size}.")
        if not is_number(d):
            raise InvalidInput(f"`d` must be a finite number, got {d!r}.")
        self.variables = check_variables(variables)
        self.n = n
        """Number of variables."""
        self.shape = _shape_of(shape, n)
        sizes = Sizes.of(terms, linear, float(d))
        self.grain = sizes.grain / (1.0 if variables == "spin" else 4.0)
        """A power of two that divides A, c and d, where all arithmetic is exact (integers, halves); otherwise 0."""
        self.entries = sizes.entries
        """Numbers stored for A."""
        self.rounding = 0.0
        """How far the stored quadratic in spins can be from the given one, at any binary point."""
        self.coefficients_rounded = False
        """Whether the linear part has been rounded before: what is stored is not what was given."""
        few = not sizes.grain and sizes.entries <= FEW_ENTRIES
        self._given = (tuple(terms), linear, np.array([float(d)])) if few else None
        constant = float(d)
        if variables == "binary":  # x = (y + 1)/2:  y'(A/4)y + (c/2 + A1/2)'y + d + 1'A1/4 + c'1/2
            ones = np.ones(n)
            rows = sum((term.times(ones) for term in terms), np.zeros(n))
            constant = math.fsum((constant, math.fsum(rows / 4.0), math.fsum(linear / 2.0)))
            linear = linear / 2.0 + rows / 2.0
            terms = [term.scaled(0.25) for term in terms]
            if not sizes.grain:
                self.rounding = 4.0 * _EPS * (sizes.longest + 8) * sizes.total
        self.terms: tuple[Term, ...] = tuple(terms)
        self.c: Floats = linear
        self.d = constant
        self.given_d = float(d)
        """The constant as it was given; `d` is that in spins."""
        rows_of_spins = sizes.rows if variables == "spin" else sizes.rows / 2.0
        self._reach = float(rows_of_spins.max(initial=0.0))
        self.slack = np.zeros(n) if sizes.exact_changes else 32.0 * _EPS * rows_of_spins
        """What rounding can do to the change of one flip: a smaller improvement counts as none (zero: exact)."""

    def __repr__(self) -> str:
        return f"Quadratic({self.n:,} {self.variables} variables, {self.entries:,.0f} entries)"

    def _repr_html_(self) -> str:
        size = " x ".join(f"{length:,}" for length in self.shape)
        facts = [("variables", f"{size} ({'0/1' if self.variables == 'binary' else '-1/+1'})")]
        facts.append(("entries of A", f"{self.entries:,.0f} ({100.0 * self.entries / self.n**2:.3g} %)"))
        return html_facts("Quadratic", facts)

    @classmethod
    def with_constants(cls, A: Any, constants: Floats) -> Quadratic:
        """x'Ax in spins plus many constants, which are added up exactly for the values of a small problem."""
        objective = cls(A, d=accurate_sum(constants))
        if not objective.grain:
            objective.rounding = _EPS * float(np.abs(constants).sum())
        if objective._given is not None:
            objective._given = (*objective._given[:2], constants)
        return objective

    def on_safe_scale(self) -> tuple[Quadratic, float]:
        """The objective divided by a power of two, which is exact, and that power: squares of its numbers must exist.

        Ordinary numbers are left as they are, with 1.
        """
        if self._reach == 0.0 or 1e-99 < self._reach < 1e99:
            return self, 1.0
        rows = sum((term.absolute_row_sums() for term in self.terms), np.abs(self.c))
        largest = float(rows.max(initial=0.0))
        if largest == 0.0 or 1e-100 < largest < 1e100 or abs(self.d) > 1e200 * largest:
            return self, 1.0  # the last: beside such a constant the rest is rounding, and their quotient may not exist
        unit = math.ldexp(1.0, math.frexp(largest)[1] - 1)
        other = copy(self)
        for name in ("matrix", "diagonal", "_has_diagonal"):
            other.__dict__.pop(name, None)  # what was derived from the numbers
        other.terms = tuple(term.scaled(1.0 / unit) for term in self.terms)
        other.c, other.d, other.given_d = self.c / unit, self.d / unit, self.given_d / unit
        other.slack, other.rounding, other.grain = self.slack / unit, self.rounding / unit, self.grain / unit
        if self._given is not None:
            terms, c, d = self._given
            other._given = tuple(term.scaled(1.0 / unit) for term in terms), c / unit, d / unit
        return other, unit

    @property
    def rounded_once(self) -> bool:
        """Whether values at binary points are exact but for one rounding at the end."""
        return bool(self.grain) or self._given is not None

    @property
    def exact_parts(self) -> tuple[tuple[Term, ...], Floats, Variables] | None:
        """Terms, linear part and variables that are f but for a constant, unrounded; None where none are stored.

        The linear part may have several rows, which are to be added up.
        """
        if self._given is not None:
            return self._given[0], self._given[1], self.variables
        exact = self.grain or (self.variables == "spin" and not self.coefficients_rounded)
        return (self.terms, self.c, "spin") if exact else None

    @property
    def exact_constant(self) -> Fraction:
        """The constant of f in the variables of `exact_parts`, without rounding where that is known, else rounded
        down."""
        if self._given is not None:
            return sum(map(Fraction, self._given[2].tolist()), Fraction())
        return Fraction(self.d) - Fraction(self.rounding)

    @cached_property
    def matrix(self) -> Dense | Sparse | None:
        """A as the kernels take it, row by row: the only term, or the sum written out where that is small."""
        only = self.terms[0]
        if len(self.terms) == 1 and isinstance(only, Dense | Sparse):
            return only
        if self.n > WRITTEN_OUT:
            return None
        every = np.arange(self.n)
        return Dense(sum((term.block(every, every) for term in self.terms[1:]), only.block(every, every)))

    @cached_property
    def diagonal(self) -> Floats:
        """The diagonal of A."""
        return sum((term.diagonal for term in self.terms), np.zeros(self.n))

    @cached_property
    def _has_diagonal(self) -> bool:
        return bool(self.diagonal.any())

    # --- value and gradient, at any real x -------------------------------------------------------------------------

    def times(self, v: Floats) -> Floats:
        """A v, for a flat vector or a matrix with n rows."""
        return sum((term.times(v) for term in self.terms[1:]), self.terms[0].times(v))

    def value(self, x: Floats) -> float:
        """f(x); at a binary point of a small problem with no rounding but the last, whatever the numbers are."""
        x = np.asarray(x, dtype=np.float64)
        if self._given is not None and bool((np.abs(x) == 1.0).all()):
            point = x.reshape(-1) if self.variables == "spin" else (x.reshape(-1) > 0.0).astype(np.float64)
            return sum_of_terms(*self._given, point)
        return self.value_at(x, self.gradient(x))

    def gradient(self, x: Floats) -> Floats:
        flat = np.ascontiguousarray(x, dtype=np.float64).reshape(-1)
        only = self.terms[0]
        if len(self.terms) == 1 and isinstance(only, Sparse) and only.A.nnz > SERIAL_ENTRIES:
            g = np.empty(self.n)
            sparse_kernels.csr_gradient(*only.arrays, _in_bytes(flat), self.c, g)
        else:
            g = 2.0 * self.times(flat) + self.c
        return g.reshape(self.shape)

    def lipschitz(self) -> Lipschitz:
        """2 ||A||, as a proven upper bound."""
        return Lipschitz(rounded_up(2.0 * sum(term.norm_bound() for term in self.terms), len(self.terms)), True)

    # --- flips -----------------------------------------------------------------------------------------------------

    def value_at(self, x: Floats, g: Floats) -> float:
        slopes = (g.reshape(-1) + self.c) / 2.0  # Ax + c
        return accurate_sum(x.reshape(-1) * slopes) + self.d

    def flip_gradient(self, x: Floats, g: Floats) -> Floats:
        if not self._has_diagonal:
            return g
        return g - 2.0 * self.diagonal.reshape(self.shape) * x

    def flip_change(self, x: Floats, g: Floats, batch: Ints) -> float:
        step = -2.0 * x.reshape(-1)[batch]
        return float(step @ g.reshape(-1)[batch]) + sum(term.inner(batch, step) for term in self.terms)

    def flip(self, x: Floats, g: Floats, batch: Ints) -> float:
        spins, slopes = x.reshape(-1), g.reshape(-1)
        if isinstance(self.matrix, Sparse):
            return float(sparse_kernels.csr_flip(*self.matrix.arrays, batch, spins, slopes))
        step = -2.0 * spins[batch]
        before = float(step @ slopes[batch])
        for term in self.terms:
            term.add_columns(slopes, batch, step)
        spins[batch] *= -1.0
        return (before + float(step @ slopes[batch])) / 2.0

    def flip_improving(self, x: Floats, g: Floats, batch: Ints, *, follow: bool) -> tuple[int, float]:
        matrix = self.matrix
        if matrix is None:
            return flip_shortened(self, x, g, batch)
        if not follow and self._cheaper_together(matrix, batch.size):
            change = self._flip_together(x, g, batch)
            if change is not None:
                return batch.size, change
        queue = np.empty(self.n, dtype=np.int64)
        queue[: batch.size] = batch
        waiting = np.zeros(self.n, dtype=np.bool_)
        waiting[batch] = True
        shared = (self.slack, queue, waiting, batch.size, follow, x.reshape(-1), g.reshape(-1))
        if isinstance(matrix, Sparse):
            flips, change = sparse_kernels.csr_flip_improving(
                *matrix.arrays, self.diagonal, not self._has_diagonal, *shared
            )
        else:
            flips, change = dense_kernels.dense_flip_improving(matrix.A, self.diagonal, *shared)
        return int(flips), float(change)

    def _cheaper_together(self, matrix: Dense | Sparse, flips: int) -> bool:
        """Whether a new gradient costs less than updating it flip by flip (as measured: in units of one entry)."""
        entries = matrix.A.nnz if isinstance(matrix, Sparse) else self.n * self.n
        return self.n > 10_000 and flips * (40 + entries / self.n) > entries / 3

    def _flip_together(self, x: Floats, g: Floats, batch: Ints) -> float | None:
        """Flip a large batch at once: a new gradient on all threads costs less than thousands of single updates.

        Undone (None) where the flips hinder each other so much that less than half of the hoped-for decrease is left.
        """
        spins, slopes = x.reshape(-1), g.reshape(-1)
        signs = spins[batch]
        before = float(signs @ slopes[batch])
        hoped = 2.0 * float(before - 2.0 * self.diagonal[batch].sum())
        spins[batch] = -signs
        fresh = self.gradient(x)
        # f(x+s) - f(x) = s'(g(x) + g(x+s))/2 for a quadratic, with s = -2x on the batch
        change = -before - float(signs @ fresh.reshape(-1)[batch])
        if change > -0.5 * hoped:
            spins[batch] = signs
            return None
        g[...] = fresh
        return change

    def swap_improving(self, x: Floats, g: Floats, pairs: Ints) -> tuple[int, float]:
        matrix = self.matrix
        if matrix is None:
            return swap_shortened(self, x, g, pairs)
        shared = (self.diagonal, self.slack, pairs, x.reshape(-1), g.reshape(-1))
        if isinstance(matrix, Sparse):
            swaps, change = sparse_kernels.csr_swap_improving(*matrix.arrays, *shared)
        else:
            swaps, change = dense_kernels.dense_swap_improving(matrix.A, *shared)
        return int(swaps), float(change)

    def exchange(self, x: Floats, g: Floats) -> tuple[int, float]:
        spins, slopes = x.reshape(-1), g.reshape(-1)
        matrix = self.matrix
        if matrix is None:
            return 0, 0.0  # no cheap single updates: leave it to batches
        if isinstance(matrix, Dense):
            swaps, change = dense_kernels.dense_exchange(matrix.A, self.diagonal, self.slack, spins, slopes)
            return int(swaps), float(change)
        room = 2 * self.n + 4 * int(np.diff(matrix.A.indptr).max(initial=0)) + 4
        heaps = [np.empty(room), np.empty(room, dtype=np.int64), np.empty(room), np.empty(room, dtype=np.int64)]
        all_swaps, all_change = 0, 0.0
        while True:
            swaps, change = sparse_kernels.csr_exchange(
                *matrix.arrays, self.diagonal, self.slack, *heaps, spins, slopes
            )
            all_swaps, all_change = all_swaps + int(swaps), all_change + float(change)
            if not swaps:
                return all_swaps, all_change

    def improving_swaps(self, x: Floats, g: Floats, labels: Ints) -> Ints:
        spins = x.reshape(-1)
        loss = -2.0 * spins * self.flip_gradient(x, g).reshape(-1)
        if isinstance(self.matrix, Sparse):
            return sparse_partners(self.matrix, spins, loss, self.slack, labels)
        return block_partners(self.terms, spins, loss, self.slack, labels)


def accurate_sum(values: Floats) -> float:
    """The sum, exactly rounded for a few numbers, in extended precision for many."""
    if values.size <= 10_000:
        return math.fsum(values)
    return float(values.sum(dtype=np.longdouble))


def _in_bytes(x: Floats) -> Floats | Signs:
    """Spins of one byte each, which stay in the cache while a large matrix gathers them; other numbers as they are."""
    return x.astype(np.int8) if bool((np.abs(x) == 1.0).all()) else x


def _is_sum(parts: Sequence[Any]) -> bool:
    """Whether a list holds matrices that are added up; otherwise it is a matrix, row by row."""
    return not parts or any(isinstance(part, Dense | Sparse | LowRank) or np.ndim(part) == 2 for part in parts)


def _shape_of(shape: int | tuple[int, ...] | None, n: int) -> tuple[int, ...]:
    """The shape of x, which must have n entries."""
    if shape is None:
        return (n,)
    full = checked_shape("shape", shape)
    if math.prod(full) != n:
        raise InvalidInput(f"`shape` {full} has {math.prod(full)} entries, but A has {n} rows.")
    return full
