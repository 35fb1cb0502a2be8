"""A polynomial of any degree in spins or bits, as it is: no products are replaced by new variables."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from flipwise.foundation.arrays import Floats, Ints
from flipwise.foundation.checks import Variables, check_variables
from flipwise.foundation.errors import InvalidInput
from flipwise.foundation.tables import html_facts
from flipwise.kernels import polynomial as kernels
from flipwise.model.exactness import DIGITS, are_multiples
from flipwise.model.monomials import Monomials, Rows, monomials, rows_of_arrays, rows_of_terms
from flipwise.model.objective import Lipschitz
from flipwise.model.quadratic import accurate_sum
from flipwise.model.terms import rounded_up

_EPS = float(np.finfo(np.float64).eps)


class Polynomial:
    """A polynomial of binary variables, given by its terms.

    Parameters
    ----------
    terms
        A dictionary {(i, j, ...): coefficient} with the variables of each term, 0, 1, 2, ...; (i,) is a linear term,
        () a constant. The order in a tuple does not matter, and equal terms are added up. A variable may be repeated:
        s^2 = 1 for spins, x^2 = x for bits. For arrays see `Polynomial.from_arrays`.
    n
        The number of variables; by default one more than the largest that occurs.
    variables
        "spin" when they are -1/+1, "binary" when they are 0/1.

    Examples
    --------
    >>> import flipwise
    >>> f = flipwise.Polynomial({(0, 1, 2): -1.5, (2, 3): 1.0, (3,): 2.0})
    >>> f
    Polynomial(4 spin variables, 3 terms, degree 3)
    >>> flipwise.minimize(f, seed=0).value
    -4.5
    """

    def __init__(self, terms: Mapping[Any, float], n: int | None = None, *, variables: Variables = "spin") -> None:
        if not isinstance(terms, Mapping):
            raise InvalidInput(
                f"`terms` must be a dictionary {{(i, j, ...): coefficient}}, got {type(terms).__name__}. "
                "For arrays use flipwise.Polynomial.from_arrays(indices, coefficients)."
            )
        check_variables(variables)
        self._store_terms(monomials(rows_of_terms(terms.items()), n, variables, 0.0), variables)

    @classmethod
    def from_arrays(
        cls,
        indices: npt.ArrayLike,
        coefficients: npt.ArrayLike,
        n: int | None = None,
        *,
        constant: float = 0.0,
        variables: Variables = "spin",
    ) -> Polynomial:
        """From an (m, k) array of variables, a row for each term, and m coefficients.

        A row of -1 and indices is a shorter term: [0, 3, -1] is the product of variables 0 and 3.

        Examples
        --------
        >>> import flipwise
        >>> flipwise.Polynomial.from_arrays([[0, 1, 2], [0, 3, -1]], [1.0, -2.0])
        Polynomial(4 spin variables, 2 terms, degree 3)
        """
        check_variables(variables)
        parts: list[Rows] = rows_of_arrays(indices, coefficients)
        made = cls.__new__(cls)
        made._store_terms(monomials(parts, n, variables, constant), variables)
        return made

    @classmethod
    def from_terms(
        cls, terms: Iterable[tuple[Any, float]], n: int | None = None, *, variables: Variables = "spin"
    ) -> Polynomial:
        """From pairs ((i, j, ...), coefficient), in which a product may stand more than once.

        Examples
        --------
        >>> import flipwise
        >>> flipwise.Polynomial.from_terms([((0, 1), 1.0), ((1, 0), 2.0)]).to_dict()
        {(0, 1): 3.0}
        """
        check_variables(variables)
        made = cls.__new__(cls)
        made._store_terms(monomials(rows_of_terms(terms), n, variables, 0.0), variables)
        return made

    def _store_terms(self, terms: Monomials, variables: Variables) -> None:
        """Take these terms as the polynomial's own."""
        self.variables = variables
        self.n = terms.n
        """Number of variables."""
        self.shape = (terms.n,)
        self.offsets = terms.offsets
        self.members = terms.members
        self.coefficients = terms.coefficients
        self.constant = terms.constant
        self.degree = int(np.diff(terms.offsets).max(initial=0))
        """The largest number of variables in a term."""

    def __repr__(self) -> str:
        size = self.coefficients.size
        return f"Polynomial({self.n:,} {self.variables} variables, {size:,} terms, degree {self.degree})"

    def _repr_html_(self) -> str:
        counts = np.bincount(np.diff(self.offsets)).tolist()
        terms = ", ".join(f"{count:,} of degree {degree}" for degree, count in enumerate(counts) if count)
        facts = [("variables", f"{self.n:,} ({'0/1' if self.binary else '-1/+1'})"), ("terms", terms or "none")]
        return html_facts("Polynomial", [*facts, ("constant", f"{self.constant:.6g}")])

    def to_dict(self) -> dict[tuple[int, ...], float]:
        """The terms as a dictionary, each product once; a constant that is not 0 has the key ()."""
        bounds = self.offsets.tolist()
        members = self.members.tolist()
        terms = {
            tuple(members[a:b]): c for a, b, c in zip(bounds, bounds[1:], self.coefficients.tolist(), strict=False)
        }
        return {(): self.constant, **terms} if self.constant else terms

    # --- what the kernels work on ----------------------------------------------------------------------------------

    @property
    def binary(self) -> bool:
        """Whether the variables are 0/1."""
        return self.variables == "binary"

    @cached_property
    def incidence(self) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int32]]:
        """(starts, incident): variable i is in the terms incident[starts[i] : starts[i + 1]]."""
        starts = np.zeros(self.n + 1, dtype=np.int64)
        np.cumsum(np.bincount(self.members, minlength=self.n), out=starts[1:])
        term = np.repeat(np.arange(self.coefficients.size, dtype=np.int32), np.diff(self.offsets))
        return starts, term[np.argsort(self.members, kind="stable")]

    @property
    def arrays(self) -> tuple[Any, ...]:
        """The polynomial as the kernels take it."""
        return (self.offsets, self.members, self.coefficients, *self.incidence, self.binary)

    @cached_property
    def reach(self) -> Floats:
        """The sum of |c| over the terms of each variable."""
        weights = np.repeat(np.abs(self.coefficients), np.diff(self.offsets))
        return np.bincount(self.members, weights=weights, minlength=self.n).astype(np.float64)

    @cached_property
    def exact(self) -> bool:
        """Whether sums of the coefficients, and with them all changes by flips, are computed without rounding."""
        exponent = math.frexp(float(np.abs(self.coefficients).sum()))[1] - DIGITS
        return are_multiples(self.coefficients, exponent)

    @cached_property
    def slack(self) -> Floats:
        """What rounding can do to the change of one flip: a smaller improvement counts as none (zero: exact)."""
        return np.zeros(self.n) if self.exact else 64.0 * _EPS * self.degree * self.reach

    # --- value and gradient, at any real x -------------------------------------------------------------------------

    def _in_own_variables(self, x: Floats) -> Floats:
        """`x`, which is in spins, in the polynomial's own variables."""
        flat = np.ascontiguousarray(x, dtype=np.float64).reshape(-1)
        return (flat + 1.0) / 2.0 if self.binary else flat

    def value(self, x: Floats) -> float:
        if self.coefficients.size == 0:
            return self.constant
        products = np.multiply.reduceat(self._in_own_variables(x)[self.members], self.offsets[:-1])
        return accurate_sum(np.append(self.coefficients * products, self.constant))

    def gradient(self, x: Floats) -> Floats:
        g = np.zeros(self.n)
        room = np.empty(self.degree)
        kernels.term_gradient(self.offsets, self.members, self.coefficients, self._in_own_variables(x), room, g)
        return g / 2.0 if self.binary else g

    def lipschitz(self) -> Lipschitz:
        """A proven upper bound of the Hessian's norm: its largest sum of absolute entries in a row."""
        sizes = np.diff(self.offsets)
        weights = np.repeat(np.abs(self.coefficients) * (sizes - 1), sizes)
        rows = np.bincount(self.members, weights=weights, minlength=self.n)
        most = float(rows.max(initial=0.0)) / (4.0 if self.binary else 1.0)
        return Lipschitz(rounded_up(most, self.coefficients.size + 1), True)

    # --- flips -----------------------------------------------------------------------------------------------------

    def value_at(self, x: Floats, g: Floats) -> float:
        return self.value(x)

    def flip_gradient(self, x: Floats, g: Floats) -> Floats:
        """The gradient itself: a polynomial is linear in every single variable."""
        return g

    def flip_change(self, x: Floats, g: Floats, batch: Ints) -> float:
        flips = np.zeros(self.n, dtype=np.bool_)
        flips[batch] = True
        return float(kernels.batch_change(*self.arrays, np.asarray(batch, dtype=np.int64), flips, x))

    def flip(self, x: Floats, g: Floats, batch: Ints) -> float:
        return float(kernels.flip_terms(*self.arrays, np.asarray(batch, dtype=np.int64), x, g))

    def flip_improving(self, x: Floats, g: Floats, batch: Ints, *, follow: bool) -> tuple[int, float]:
        queue = np.empty(self.n, dtype=np.int64)
        queue[: batch.size] = batch
        waiting = np.zeros(self.n, dtype=np.bool_)
        waiting[batch] = True
        flips, change = kernels.flip_improving_terms(*self.arrays, self.slack, queue, waiting, batch.size, follow, x, g)
        return int(flips), float(change)

    def swap_improving(self, x: Floats, g: Floats, pairs: Ints) -> tuple[int, float]:
        listed = np.asarray(pairs, dtype=np.int64)
        swaps, change = kernels.swap_improving_terms(*self.arrays, self.slack, listed, x, g)
        return int(swaps), float(change)

    def improving_swaps(self, x: Floats, g: Floats, labels: Ints) -> Ints:
        ones, zeros = np.flatnonzero(x > 0), np.flatnonzero(x < 0)
        groups = int(labels.max(initial=-1)) + 1
        zeros = zeros[np.lexsort((g[zeros], labels[zeros]))]
        begins = np.searchsorted(labels[zeros], np.arange(groups + 1)).astype(np.int64)
        partner = np.empty(ones.size, dtype=np.int64)
        best = np.empty(ones.size)
        shared, mark = np.zeros(self.n), np.full(self.n, -1, dtype=np.int64)
        kernels.best_partners(*self.arrays, self.slack, labels, ones, zeros, begins, shared, mark, x, g, partner, best)
        found = np.flatnonzero(partner >= 0)
        found = found[np.argsort(best[found], kind="stable")]
        return np.stack([ones[found], partner[found]], axis=1)
