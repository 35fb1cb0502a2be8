"""Linear constraints on binary variables: lower <= A x <= upper, row by row.

Rows are given in the user's variables and kept in bits, with whatever counts there are beside them as further rows.
Rows of integers are kept exactly; others up to `TOLERANCE` of the sum of their coefficients' sizes, since decimal
numbers have no exact sums. `feasibility` finds points, and the rows that conflict where there is none.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from flipwise.foundation.arrays import Floats, Ints
from flipwise.foundation.checks import Variables, check_variables
from flipwise.foundation.errors import InvalidInput
from flipwise.foundation.numbers import as_csr, as_floats, as_number
from flipwise.model.constraints import Constraint, Counts, Free
from flipwise.model.feasibility import feasible_point, nearest_point, refuse_hopeless_rows

TOLERANCE = 1e-9
"""How far a row whose coefficients are no integers may be off, in sums of the sizes of its coefficients."""
EXACT = 2.0**52
"""Sums of integers up to here are exact."""


@dataclass(frozen=True, eq=False, init=False, repr=False)
class LinearConstraints:
    """lower <= A x <= upper: budgets, rows and columns of an assignment, any linear inequalities and equalities.

    Parameters
    ----------
    A
        A matrix, dense or scipy.sparse, with a column for each variable (of a matrix variable in the order of
        `x.reshape(-1)`); or one row.
    lower, upper
        One number for each row, or one for all; None or an infinity where a row has no such limit. Both the same: an
        equality.
    variables
        What A speaks of: "binary" (0/1), "spin" (-1/+1), or None for the variables of the objective.
    names
        Names of the rows, for messages.

    Examples
    --------
    >>> import flipwise, numpy as np
    >>> weights, values = np.array([[3.0, 4.0, 2.0]]), np.array([5.0, 6.0, 3.0])
    >>> budget = flipwise.LinearConstraints(weights, upper=6)
    >>> flipwise.solve_qubo(-np.diag(values), rows=budget, seed=0).x
    array([0, 1, 1], dtype=int8)
    """

    A: sp.csr_array
    lower: Floats
    upper: Floats
    variables: Variables | None
    names: tuple[str, ...] | None
    told: tuple[Floats, Floats]
    """The sum that a message tells of a row is told[0] * (A x) + told[1]: that of the row as it was given."""

    def __init__(
        self,
        A: Any,
        lower: Any = None,
        upper: Any = None,
        *,
        variables: Variables | None = None,
        names: Sequence[str] | None = None,
    ) -> None:
        if variables is not None:
            check_variables(variables)
        matrix = as_csr("A", A) if sp.issparse(A) else sp.csr_array(np.atleast_2d(as_floats("A", A)))
        rows = matrix.shape[0]
        if lower is None and upper is None:
            raise InvalidInput(
                "`lower` and `upper` are both missing: give the limits of the rows, one of them or both."
            )
        ends = (_checked_limits("lower", lower, rows, -np.inf), _checked_limits("upper", upper, rows, np.inf))
        if names is not None and len(names) != rows:
            raise InvalidInput(f"`names` must name all {rows} rows, got {len(names)}.")
        self._store_rows(matrix, *ends, variables, None if names is None else tuple(str(name) for name in names))
        if (self.lower > self.upper).any():
            row = int(np.argmax(self.lower > self.upper))
            raise InvalidInput(
                f"`lower` must not be above `upper`, got {self.lower[row]:.12g} and {self.upper[row]:.12g} "
                f"for row {self.name(row)}."
            )

    def _store_rows(
        self,
        A: Any,
        lower: Floats,
        upper: Floats,
        variables: Variables | None,
        names: tuple[str, ...] | None,
        told: tuple[Floats, Floats] | None = None,
    ) -> None:
        """Take these rows as the constraint's own, in canonical form."""
        matrix = sp.csr_array(A, dtype=np.float64)
        matrix.sum_duplicates()
        matrix.eliminate_zeros()
        matrix.sort_indices()
        for name, value in (("A", matrix), ("lower", lower), ("upper", upper), ("variables", variables)):
            object.__setattr__(self, name, value)
        object.__setattr__(self, "names", names)
        object.__setattr__(self, "told", (np.ones(self.m), np.zeros(self.m)) if told is None else told)

    @classmethod
    def _from_rows(
        cls,
        A: Any,
        lower: Floats,
        upper: Floats,
        names: tuple[str, ...] | None,
        told: tuple[Floats, Floats] | None = None,
    ) -> LinearConstraints:
        """Rows of bits, as they follow from others: limits may have crossed, which `check` refuses."""
        made = object.__new__(cls)
        made._store_rows(sp.csr_array(A), lower, upper, "binary", names, told)
        return made

    @property
    def swaps(self) -> bool:
        return False

    @property
    def m(self) -> int:
        """The number of rows."""
        return int(self.A.shape[0])

    def label(self, row: int) -> str:
        """What a row is called."""
        return str(row) if self.names is None else self.names[row]

    def name(self, row: int) -> str:
        """The same, for messages."""
        label = self.label(row)
        return label if label.isdigit() or label.startswith("count") else repr(label)

    # --- the same rows of other variables --------------------------------------------------------------------------

    def of_bits(self, variables: Variables, counts: Sequence[Counts], shape: tuple[int, ...]) -> LinearConstraints:
        """The rows of bits that these and `counts` are, where the objective is in `variables`."""
        A, lower, upper = self.A, self.lower, self.upper
        names, (scale, shift) = self.names or tuple(str(row) for row in range(self.m)), self.told
        if (self.variables or variables) == "spin":  # A(2b - 1) between the limits
            sums = np.asarray(A.sum(axis=1)).reshape(-1)
            lower, upper = (lower + sums) / 2.0, (upper + sums) / 2.0
            scale, shift = 2.0 * scale, shift - scale * sums
        for each in counts:
            labels = each.labels(shape)
            inside = np.flatnonzero(labels >= 0)
            low, high = each.limits(shape)
            members = sp.csr_array((np.ones(inside.size), (labels[inside], inside)), shape=(low.size, labels.size))
            A = sp.vstack([A, members], format="csr")
            lower, upper = np.append(lower, low), np.append(upper, np.where(high > labels.size, np.inf, high))
            names += (
                ("count",) if low.size == 1 else tuple(f"count of {each.group_in_words(g)}" for g in range(low.size))
            )
        more = A.shape[0] - scale.size
        return self._from_rows(
            A, lower, upper, names, (np.append(scale, np.ones(more)), np.append(shift, np.zeros(more)))
        )

    def restricted(self, spins: Floats, dummies: int) -> LinearConstraints:
        """The rows of the bits that `spins` does not fix, and of some dummies."""
        given = np.asarray(self.A @ (spins > 0).astype(np.float64)).reshape(-1)
        kept = self.A[:, np.flatnonzero(spins == 0.0)]
        kept = sp.csr_array((kept.data, kept.indices, kept.indptr), shape=(self.m, kept.shape[1] + dummies))
        scale, shift = self.told
        told = scale, shift + scale * given
        made = self._from_rows(kept, self.lower - given, self.upper - given, self.names, told)
        made.__dict__["limits"] = self.limits[0] - given, self.limits[1] - given  # with the tolerance of whole rows
        return made

    # --- what is kept ----------------------------------------------------------------------------------------------

    @cached_property
    def limits(self) -> tuple[Floats, Floats]:
        """The limits that activities are compared with: whole numbers for rows of integers, else with a tolerance."""
        A = self.A
        rows = np.repeat(np.arange(self.m), np.diff(A.indptr))
        sizes = np.bincount(rows, np.abs(A.data), self.m)
        whole = (np.bincount(rows, A.data != np.rint(A.data), self.m) == 0) & (sizes < EXACT)
        slack = np.where(whole, TOLERANCE, TOLERANCE * sizes)
        lower, upper = self.lower - slack, self.upper + slack
        return np.where(whole, np.ceil(lower), lower), np.where(whole, np.floor(upper), upper)

    @cached_property
    def by_variable(self) -> sp.csc_array:
        """The same matrix by column."""
        columns = sp.csc_array(self.A)
        columns.sort_indices()
        return columns

    @property
    def arrays(self) -> tuple[npt.NDArray[Any], ...]:
        """The rows as the kernels take them: by row, by variable, and the limits."""
        by_row, by_variable = self.A, self.by_variable
        kinds: Any = (np.int64, np.int64, np.float64)
        parts = [
            np.asarray(part, dtype=kind)
            for matrix in (by_row, by_variable)
            for part, kind in zip((matrix.indptr, matrix.indices, matrix.data), kinds, strict=True)
        ]
        return (*parts, *self.limits)

    def activity(self, x: npt.NDArray[np.generic]) -> Floats:
        """A b at a point, spins or bits."""
        return np.asarray(self.A @ (np.asarray(x).reshape(-1) > 0).astype(np.float64)).reshape(-1)

    def told_sum(self, row: int, found: float) -> float:
        """A sum of a row as whoever gave the row would add it up: in their variables, the fixed ones among them."""
        return float(self.told[0][row] * found + self.told[1][row])

    def range_in_words(self, row: int) -> str:
        """What a row asks for, as it was given."""
        low, high = self.told_sum(row, self.lower[row]), self.told_sum(row, self.upper[row])
        if low == high:
            return f"exactly {low:.12g}"
        if np.isinf(low) or np.isinf(high):
            return f"at most {high:.12g}" if np.isinf(low) else f"at least {low:.12g}"
        return f"{low:.12g} to {high:.12g}"

    def check(self, shape: tuple[int, ...]) -> None:
        n = int(np.prod(shape))
        if self.A.shape[1] != n:
            raise InvalidInput(f"`rows` has {self.A.shape[1]} columns, but there are {n} variables.")
        refuse_hopeless_rows(self)

    def violation(self, x: npt.NDArray[np.generic]) -> str | None:
        found = self.activity(x)
        lower, upper = self.limits
        broken = (found < lower) | (found > upper)
        if not broken.any():
            return None
        row = int(np.argmax(broken))
        return f"row {self.name(row)} must be {self.range_in_words(row)}, it is {self.told_sum(row, found[row]):.12g}"

    def contains(self, x: npt.NDArray[np.generic]) -> bool:
        return self.violation(x) is None

    def random(self, shape: tuple[int, ...], rng: np.random.Generator) -> Floats:
        return feasible_point(self, rng).reshape(shape)

    def project(self, y: Floats) -> Floats:
        return nearest_point(self, np.asarray(y, dtype=np.float64).reshape(-1)).reshape(y.shape)

    def gauge(self, g: Floats) -> Floats:
        return g

    def pair(self, plus: Ints, minus: Ints, g: Floats) -> Ints:
        return np.concatenate([plus, minus])

    def labels(self, shape: tuple[int, ...]) -> Ints:
        return np.zeros(int(np.prod(shape)), dtype=np.int64)

    def __repr__(self) -> str:
        return f"LinearConstraints({self.m:,} rows of {self.A.shape[1]:,} variables)"


Rows = Any
"""What `rows=` takes: `LinearConstraints`, scipy's `LinearConstraint`, (A, lower, upper), or a list of terms."""
_SENSES = {"<=": (-np.inf, 1.0), ">=": (1.0, np.inf), "==": (1.0, 1.0), "=": (1.0, 1.0)}


def as_rows(given: Any, n: int, labels: Sequence[Hashable] | None = None) -> LinearConstraints:
    """The rows that `rows=` stands for; a list of ({variable: coefficient}, "<=", number) names variables by label."""
    if isinstance(given, LinearConstraints):
        return given
    if hasattr(given, "A") and hasattr(given, "lb") and hasattr(given, "ub"):  # scipy.optimize.LinearConstraint
        return LinearConstraints(given.A, given.lb, given.ub)
    if isinstance(given, tuple) and len(given) == 3 and not isinstance(given[0], Mapping):
        return LinearConstraints(*given)
    if isinstance(given, tuple) and len(given) == 3:
        given = [given]
    if not isinstance(given, list) or not given:
        raise InvalidInput(
            "`rows` must be flipwise.LinearConstraints(A, lower, upper), a tuple (A, lower, upper), or a list of "
            f'({{variable: coefficient}}, "<=", number), got {type(given).__name__}.'
        )
    return _of_terms(given, range(n) if labels is None else labels)


def _of_terms(given: list[Any], labels: Sequence[Hashable]) -> LinearConstraints:
    """Rows from lists of ({variable: coefficient}, "<=", number)."""
    n = len(labels)
    places = {label: index for index, label in enumerate(labels)}
    at, columns, values, lower, upper = [], [], [], [], []
    for row, each in enumerate(given):
        if not (isinstance(each, tuple) and len(each) == 3 and isinstance(each[0], Mapping) and each[1] in _SENSES):
            raise InvalidInput(f'row {row} of `rows` must be ({{variable: coefficient}}, "<=", number), got {each!r}.')
        terms, sense, number = each
        for label, value in terms.items():
            if label not in places:
                raise InvalidInput(
                    f"row {row} of `rows` names the variable {label!r}, which is none of the {n} there are."
                )
            at.append(row)
            columns.append(places[label])
            values.append(as_number(f"rows[{row}][{label!r}]", value))
        right = as_number(f"rows[{row}]", number)
        lower.append(right if sense != "<=" else -np.inf)
        upper.append(right if sense != ">=" else np.inf)
    return LinearConstraints(sp.csr_array((values, (at, columns)), shape=(len(given), n)), lower, upper)


def with_rows(
    rows: Any,
    constraint: Constraint,
    shape: tuple[int, ...],
    variables: Variables,
    labels: Any = None,
    total: Counts | None = None,
) -> LinearConstraints:
    """The constraint that rows are beside counts, beside none, and with a total beside the counts of groups."""
    if not isinstance(constraint, Counts | Free):
        raise InvalidInput(
            f"`rows` can stand beside counts only, not beside {type(constraint).__name__}: let that keep them."
        )
    n = int(np.prod(shape))
    if rows is None:
        made = LinearConstraints._from_rows(sp.csr_array((0, n)), np.zeros(0), np.zeros(0), ())
    else:
        made = as_rows(rows, n, labels)
    if made.A.shape[1] != n:
        raise InvalidInput(f"`rows` has {made.A.shape[1]} columns, but there are {n} variables.")
    counts = [each for each in (constraint, total) if isinstance(each, Counts)]
    return made.of_bits(variables, counts, shape)


def _checked_limits(name: str, given: Any, rows: int, missing: float) -> Floats:
    """A limit for each row; where none is given, `missing`."""
    if given is None:
        return np.full(rows, missing)
    values = np.asarray(given, dtype=np.float64)
    if values.ndim > 1 or (values.ndim == 1 and values.size != rows):
        raise InvalidInput(
            f"`{name}` must be one number, or one for each of the {rows} rows, got shape {values.shape}."
        )
    if np.isnan(values).any() or (values == -missing).any():
        raise InvalidInput(f"`{name}` must have numbers or {missing}, got {values!r}.")
    return np.broadcast_to(values, (rows,)).copy()
