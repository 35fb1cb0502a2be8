"""Quadratic models in 0/1 or -1/+1 variables, with labels and an offset.

    E(x) = sum_i a_i x_i + sum_{i<j} b_ij x_i x_j + offset          (to be minimised)

The change of variables is x = (s + 1)/2 and s = 2x - 1. All factors are powers of two, so it is exact in floating point
unless a sum of coefficients needs more than 53 bits.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from flipwise.foundation.arrays import Floats, Ints
from flipwise.foundation.checks import Variables, check_variables
from flipwise.foundation.errors import InvalidInput
from flipwise.foundation.numbers import as_floats, as_number, as_square
from flipwise.foundation.tables import html_facts
from flipwise.model.quadratic import Quadratic


@dataclass(frozen=True, eq=False)
class QuadraticModel:
    """A quadratic model: linear coefficients, couplings i < j, offset, and what the variables are.

    Parameters
    ----------
    linear
        a, one entry for each variable.
    i, j, b
        The couplings: two arrays of indices with i < j, each pair once, and the coefficients.
    offset
        The constant.
    variables
        "binary" (0/1) or "spin" (-1/+1).
    labels
        The variables' own names, or None when they are 0, 1, 2, ...

    Examples
    --------
    >>> import flipwise
    >>> model = flipwise.QuadraticModel.from_qubo({("a", "a"): -1.0, ("a", "b"): 2.0})
    >>> model.energy([1, 1]), model.to_spin().energy([1, 1])
    (1.0, 1.0)
    """

    linear: Floats
    i: Ints
    j: Ints
    b: Floats
    offset: float = 0.0
    variables: Variables = "binary"
    labels: tuple[Hashable, ...] | None = None

    def __post_init__(self) -> None:
        check_variables(self.variables)
        as_floats("linear", self.linear)
        as_floats("b", self.b)
        as_number("offset", self.offset)
        if not self.i.shape == self.j.shape == self.b.shape:
            raise InvalidInput(
                f"`i`, `j` and `b` must be of one length, got {self.i.size}, {self.j.size}, {self.b.size}."
            )
        if self.i.size and not (self.i.min() >= 0 and (self.i < self.j).all() and self.j.max() < self.linear.size):
            raise InvalidInput("couplings must be given as 0 <= i < j < n.")
        if self.labels is not None and len(self.labels) != self.linear.size:
            raise InvalidInput(f"`labels` must name all {self.linear.size} variables, got {len(self.labels)}.")

    @property
    def n(self) -> int:
        """Number of variables."""
        return self.linear.size

    # --- from what users have --------------------------------------------------------------------------------------

    @classmethod
    def from_qubo(cls, Q: Any, offset: float = 0.0) -> QuadraticModel:
        """x'Qx + offset over 0/1: Q a matrix (dense or scipy.sparse, any triangle) or a dict {(u, v): coefficient}.

        In a dict the linear terms are `(u, u)`, `(u,)`, or both, which are added up, as are `(u, v)` and `(v, u)`.
        """
        if is_dictionary(Q):
            labels, i, j, b = _from_mapping("Q", Q)
            return cls.from_terms(len(labels), i, j, b, offset, "binary", labels)
        matrix = sp.coo_array(as_square("Q", Q))
        return cls.from_terms(matrix.shape[0], matrix.row, matrix.col, matrix.data, offset, "binary")

    @classmethod
    def from_ising(cls, h: Any, J: Any, offset: float = 0.0) -> QuadraticModel:
        """h's + sum_{i<j} J_ij s_i s_j + offset over -1/+1.

        `h` is an array and `J` a matrix, of which both triangles are added up; or both are dicts, {v: h} and {(u, v):
        J}.
        """
        if is_dictionary(J):
            fields = fields_of(h)
            labels, i, j, b = _from_mapping("J", J, fields)
            model = cls.from_terms(len(labels), i, j, b, offset, "spin", labels)
            values = [as_number(f"h[{label!r}]", fields.get(label, 0.0)) for label in labels]
            return replace(model, linear=np.array(values))
        matrix = sp.coo_array(as_square("J", J))
        model = cls.from_terms(matrix.shape[0], matrix.row, matrix.col, matrix.data, offset, "spin")
        linear = as_floats("h", h)
        if linear.shape != (model.n,):
            raise InvalidInput(f"`h` must have {model.n} entries, one for each row of J, got shape {linear.shape}.")
        return replace(model, linear=linear)

    @classmethod
    def from_terms(
        cls,
        n: int,
        i: npt.ArrayLike,
        j: npt.ArrayLike,
        b: npt.ArrayLike,
        offset: float,
        variables: Variables,
        labels: Sequence[Hashable] | None = None,
    ) -> QuadraticModel:
        """From terms b x_i x_j in any order, repeated ones added; i = j is linear in 0/1 and constant in -1/+1."""
        rows, columns, values = np.asarray(i, np.int64), np.asarray(j, np.int64), as_floats("b", b)
        offset = as_number("offset", offset)
        if rows.size and (min(rows.min(), columns.min()) < 0 or max(rows.max(), columns.max()) >= n):
            raise InvalidInput(f"indices must be between 0 and {n - 1}.")
        own = rows == columns
        linear = np.zeros(n)
        if variables == "binary":
            with np.errstate(over="ignore"):  # refused with the model
                np.add.at(linear, rows[own], values[own])
        else:
            offset = math.fsum([offset, *values[own]])
        low, high = np.minimum(rows, columns)[~own], np.maximum(rows, columns)[~own]
        keys, inverse = np.unique(low * n + high, return_inverse=True)
        couplings = np.zeros(keys.size)
        with np.errstate(over="ignore"):
            np.add.at(couplings, inverse, values[~own])
        names = None if labels is None else tuple(labels)
        return cls(linear, keys // max(1, n), keys % max(1, n), couplings, float(offset), variables, names)

    # --- to what solvers want --------------------------------------------------------------------------------------

    def to_spin(self) -> QuadraticModel:
        """The same energies over -1/+1."""
        if self.variables == "spin":
            return self
        quarter = self.b / 4.0
        linear = self.linear / 2.0
        np.add.at(linear, self.i, quarter)
        np.add.at(linear, self.j, quarter)
        offset = math.fsum([self.offset, *(self.linear / 2.0), *quarter])
        return QuadraticModel(linear, self.i, self.j, quarter, offset, "spin", self.labels)

    def to_binary(self) -> QuadraticModel:
        """The same energies over 0/1."""
        if self.variables == "binary":
            return self
        twice = 2.0 * self.b
        linear = 2.0 * self.linear
        np.subtract.at(linear, self.i, twice)
        np.subtract.at(linear, self.j, twice)
        offset = math.fsum([self.offset, *(-self.linear), *self.b])
        return QuadraticModel(linear, self.i, self.j, 4.0 * self.b, offset, "binary", self.labels)

    def objective(self) -> Quadratic:
        """The model as a `Quadratic`, with a symmetric CSR matrix."""
        kind: Any = np.int32 if max(self.n, 2 * self.b.size) < 2**31 else np.int64
        places = self.i.astype(kind, copy=False), self.j.astype(kind, copy=False)
        upper = sp.coo_array((self.b / 2.0, places), shape=(self.n, self.n))
        # transposing sorts the indices in linear time, so that the sum is a merge and its result canonical
        lower = upper.tocsr().T.tocsr()
        A = lower.T.tocsr() + lower
        return Quadratic(A, self.linear, self.offset, variables=self.variables)

    def upper(self) -> sp.csr_array:
        """The couplings as an upper triangular matrix."""
        return sp.csr_array(sp.coo_array((self.b, (self.i, self.j)), shape=(self.n, self.n)))

    def energy(self, x: npt.ArrayLike) -> float:
        """E(x), summed accurately."""
        point = np.asarray(x, dtype=np.float64)
        return math.fsum([self.offset, *(self.linear * point), *(self.b * point[self.i] * point[self.j])])

    def __repr__(self) -> str:
        return f"QuadraticModel({self.n:,} {self.variables} variables, {self.b.size:,} couplings)"

    def _repr_html_(self) -> str:
        kind = "0/1" if self.variables == "binary" else "-1/+1"
        facts = [("variables", f"{self.n:,} ({kind})")]
        if self.labels is not None:
            shown = ", ".join(str(label) for label in self.labels[:5])
            facts.append(("labels", f"{shown}, ..." if self.n > 5 else shown))
        facts.append(("couplings", _range_in_words(self.b)))
        facts.append(("linear part", _range_in_words(self.linear[self.linear != 0.0])))
        return html_facts("QuadraticModel", [*facts, ("offset", f"{self.offset:.6g}")])


def _range_in_words(values: Floats) -> str:
    return f"{values.size:,} from {values.min():.6g} to {values.max():.6g}" if values.size else "none"


def is_dictionary(terms: Any) -> bool:
    """Whether terms are given by their variables; scipy's matrices in the format "dok" are dictionaries, too."""
    return isinstance(terms, Mapping) and not sp.issparse(terms)


def fields_of(h: Any) -> dict[Any, Any]:
    """The linear part of an Ising model by its variables, those of an array being 0, 1, 2, ..."""
    return dict(h) if isinstance(h, Mapping) else dict(enumerate(as_floats("h", h).reshape(-1).tolist()))


def _from_mapping(
    name: str, terms: Mapping[Any, Any], also: Mapping[Any, Any] | None = None
) -> tuple[tuple[Hashable, ...], Ints, Ints, Floats]:
    """The labels in the order in which they come, those of `also` first, and the terms by their positions.

    A key is a pair of labels; in a QUBO (where nothing is `also`) also one label in a tuple, for a linear term.
    """
    names: dict[Hashable, int] = {}
    for label in also or ():
        names.setdefault(label, len(names))
    sizes = (2,) if also is not None else (1, 2)
    for key in terms:
        if not isinstance(key, tuple) or len(key) not in sizes:
            linear = "" if also is not None else " or `(u,)`"
            raise InvalidInput(f"the keys of `{name}` must be pairs of variables `(u, v)`{linear}, got {key!r}.")
        names.setdefault(key[0], len(names))
        names.setdefault(key[-1], len(names))
    i = np.fromiter((names[key[0]] for key in terms), np.int64, len(terms))
    j = np.fromiter((names[key[-1]] for key in terms), np.int64, len(terms))
    values = (as_number(f"{name}[{key!r}]", value) for key, value in terms.items())
    return tuple(names), i, j, np.fromiter(values, np.float64, len(terms))
