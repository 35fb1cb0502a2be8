"""An objective of some of its variables: others are fixed, and dummies that it does not depend on are appended.

The matrices of a quadratic stay what they are, dense, sparse or of low rank. What fixed variables add to the linear
part is exact where the arithmetic is (integers), and kept number by number where a quadratic is small; otherwise it was
rounded, which `Quadratic.rounding` accounts for.
"""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from flipwise.foundation.arrays import Floats, Ints
from flipwise.model.evaluation import Slopes
from flipwise.model.objective import Objective
from flipwise.model.polynomial import Polynomial
from flipwise.model.quadratic import Quadratic, accurate_sum
from flipwise.model.smooth import Smooth, as_slopes
from flipwise.model.terms import Dense, LowRank, Sparse, Term

_EPS = float(np.finfo(np.float64).eps)


@dataclass(frozen=True, eq=False)
class Selection:
    """Which variables remain: `spins` is -1 or +1 where a variable is fixed and 0 where it is not."""

    spins: Floats
    dummies: int

    @property
    def free(self) -> Ints:
        """The variables that remain."""
        return np.flatnonzero(self.spins == 0.0)

    @property
    def size(self) -> int:
        """The number of variables that remain, with the dummies."""
        return int(np.count_nonzero(self.spins == 0.0)) + self.dummies

    @property
    def fixes(self) -> bool:
        """Whether a variable is fixed."""
        return bool(self.spins.any())

    def embedded(self, x: Floats) -> Floats:
        """A point of what remains as one of the whole, flat."""
        point = self.spins.copy()
        free = self.free
        point[free] = x.reshape(-1)[: free.size]
        return point

    def padded(self, numbers: npt.NDArray[Any]) -> Floats:
        """What belongs to the whole's variables, in its last axis, for those that remain: 0 for dummies."""
        kept = numbers[..., self.free]
        return np.concatenate([kept, np.zeros((*kept.shape[:-1], self.dummies))], axis=-1)


def restricted(objective: Objective, selection: Selection) -> tuple[Objective, float]:
    """The objective of what remains, and how far its values can be from the given ones where it does not say so."""
    if isinstance(objective, Quadratic):
        return _restricted_quadratic(objective, selection), 0.0
    if isinstance(objective, Polynomial):
        return _restricted_polynomial(objective, selection)
    if not isinstance(objective, Smooth):
        known = objective.lipschitz() if hasattr(objective, "lipschitz") else None
        constant = known.value if known is not None and known.is_bound else None
        objective = Smooth(objective.value, objective.shape, gradient=objective.gradient, lipschitz=constant)
    return _PartOfSmooth(objective, selection), 0.0


class _PartOfSmooth(Smooth):
    """A user's function of the variables that remain: it is called with all of them."""

    def __init__(self, whole: Smooth, selection: Selection) -> None:
        self.__dict__.update(whole.__dict__)
        self.shape = (selection.size,)
        self._whole_shape = whole.shape
        self._selection = selection
        self._last = None

    def _in_own_variables(self, x: Floats) -> Floats:
        """The point of all variables that `x` of the others stands for, in the polynomial's own variables."""
        return super()._in_own_variables(self._selection.embedded(x).reshape(self._whole_shape))

    def _checked_gradient(self, gradient: Any) -> Slopes:
        whole = as_slopes(gradient, self._whole_shape)
        slopes = self._selection.padded(whole.reshape(-1)).astype(whole.dtype)
        return slopes / slopes.dtype.type(2.0) if self.variables == "binary" else slopes


def _restricted_quadratic(objective: Quadratic, selection: Selection) -> Quadratic:
    """The quadratic in the variables that are left, the fixed ones put in."""
    if not selection.fixes:
        return _with_dummies(objective, selection)
    if objective._given is not None:
        return _of_small_quadratic(objective, selection)
    fields = 2.0 * objective.times(selection.spins)  # what the fixed ones add to the linear part of the others
    constants = [np.array([objective.d]), objective.c * selection.spins, selection.spins * fields / 2.0]
    terms: list[Any] = [_restricted_term(term, selection) for term in objective.terms]
    linear = selection.padded(objective.c + fields)
    made = Quadratic(terms, linear, accurate_sum(np.concatenate(constants)))
    if not objective.grain:
        rows = sum((term.absolute_row_sums() for term in objective.terms), np.abs(objective.c))
        factors = sum(term.s.size if isinstance(term, LowRank) else 0 for term in objective.terms)
        size = float(rows.sum()) + abs(objective.d)
        made.rounding = objective.rounding + 8.0 * _EPS * (objective.n + factors + 8) * size
        made.coefficients_rounded, made.grain, made._given = True, 0.0, None
    return made


def _of_small_quadratic(objective: Quadratic, selection: Selection) -> Quadratic:
    """The same where all numbers are kept as they were given, so that values are still rounded only once."""
    assert objective._given is not None
    terms, c, constants = objective._given
    free, fixed = selection.free, np.flatnonzero(selection.spins)
    point = selection.spins[fixed] if objective.variables == "spin" else (selection.spins[fixed] > 0).astype(np.float64)
    added = [2.0 * term.block(free, fixed) * point for term in terms]
    products = [(term.block(fixed, fixed) * point[:, None] * point).reshape(-1) for term in terms]
    rows = np.atleast_2d(c)
    parts = np.concatenate([rows[:, free], *(_few_rows(block) for block in added)])
    linear = np.concatenate([parts, np.zeros((len(parts), selection.dummies))], axis=1)
    all_constants = np.concatenate([constants, (rows[:, fixed] * point).reshape(-1), *products])
    kept: list[Any] = [_restricted_term(term, selection) for term in terms]
    summed = np.array([accurate_sum(column) for column in linear.T])
    made = Quadratic(kept, summed, accurate_sum(all_constants), variables=objective.variables)
    made.rounding += 8.0 * _EPS * (float(np.abs(linear).sum()) + float(np.abs(all_constants).sum()))
    made.coefficients_rounded, made.grain = True, 0.0
    made._given = tuple(kept), linear, all_constants
    return made


def _few_rows(block: Floats) -> Floats:
    """The numbers of each row of a block that are not zero, as the columns of as few rows as hold them."""
    rows, columns = np.nonzero(block)
    ranks = np.arange(rows.size) - np.searchsorted(rows, rows)
    few = np.zeros((int(ranks.max(initial=-1)) + 1, len(block)))
    few[ranks, rows] = block[rows, columns]
    return few


def _with_dummies(objective: Quadratic, selection: Selection) -> Quadratic:
    """The same numbers beside zeros: nothing is computed anew."""
    made = copy(objective)
    for name in ("matrix", "diagonal", "_has_diagonal"):
        made.__dict__.pop(name, None)  # what was derived from the numbers
    made.n, made.shape = selection.size, (selection.size,)
    made.terms = tuple(_restricted_term(term, selection) for term in objective.terms)
    made.c, made.slack = selection.padded(objective.c), selection.padded(objective.slack)
    if objective._given is not None:
        terms, c, constants = objective._given
        made._given = tuple(_restricted_term(term, selection) for term in terms), selection.padded(c), constants
    return made


def _restricted_term(term: Term, selection: Selection) -> Term:
    """The rows and columns of a matrix that remain, with zeros for the dummies."""
    free, size, dummies = selection.free, selection.size, selection.dummies
    if isinstance(term, LowRank):
        return LowRank(np.concatenate([term.U[free], np.zeros((dummies, term.U.shape[1]))]), term.s)
    if isinstance(term, Sparse):
        inner = sp.csr_array(term.A[free][:, free]) if free.size < term.n else term.A.copy()
        inner.sort_indices()
        indptr = np.concatenate([inner.indptr, np.full(dummies, inner.indptr[-1], dtype=inner.indptr.dtype)])
        return Sparse(sp.csr_array((inner.data, inner.indices, indptr), shape=(size, size)))
    assert isinstance(term, Dense)
    whole = np.zeros((size, size))
    whole[: free.size, : free.size] = term.A[np.ix_(free, free)]
    return Dense(whole)


def _restricted_polynomial(objective: Polynomial, selection: Selection) -> tuple[Polynomial, float]:
    """The polynomial in the variables that are left, and what rounding can have done to it."""
    spins, members = selection.spins, objective.members
    if not objective.coefficients.size or not selection.fixes:
        return Polynomial.from_arrays(
            _terms_as_rows(objective.offsets, members),
            objective.coefficients,
            selection.size,
            constant=objective.constant,
            variables=objective.variables,
        ), 0.0
    values = (spins + 1.0) / 2.0 if objective.binary else spins
    is_free = spins[members] == 0.0
    factors = np.multiply.reduceat(np.where(is_free, 1.0, values[members]), objective.offsets[:-1])
    lengths = np.add.reduceat(is_free.astype(np.int64), objective.offsets[:-1])
    numbers = np.cumsum(spins == 0.0) - 1
    rows = _terms_as_rows(np.concatenate([[0], np.cumsum(lengths)]), numbers[members[is_free]])
    coefficients = objective.coefficients * factors
    left = (lengths > 0) & (coefficients != 0.0)
    constants = np.append(coefficients[lengths == 0], objective.constant)
    made = Polynomial.from_arrays(
        rows[left], coefficients[left], selection.size, constant=accurate_sum(constants), variables=objective.variables
    )
    size = float(np.abs(objective.coefficients).sum()) + abs(objective.constant)
    is_exact = objective.exact and objective.constant == np.rint(objective.constant) and abs(objective.constant) < 2**50
    return made, 0.0 if is_exact else 4.0 * _EPS * (objective.coefficients.size + 8) * size


def _terms_as_rows(offsets: Ints, members: Ints) -> Ints:
    """Terms as rows of an array, filled up with -1."""
    lengths = np.diff(offsets)
    rows = np.full((lengths.size, max(1, int(lengths.max(initial=0)))), -1, dtype=np.int64)
    rows[np.arange(rows.shape[1]) < lengths[:, None]] = members
    return rows
