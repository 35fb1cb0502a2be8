"""The terms of a polynomial: from dictionaries and arrays to one list in which every product stands once.

A variable that is repeated in a term is reduced by the rule of its kind, x^2 = x for bits and s^2 = 1 for spins. Equal
products are added up in float64, exactly rounded however many there are, and what adds up to 0 is dropped. The list is
sorted by degree and then by variables, so that equal polynomials have equal lists.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from flipwise.foundation.arrays import Floats, Ints
from flipwise.foundation.checks import Variables, check_whole, is_whole
from flipwise.foundation.errors import InvalidInput
from flipwise.foundation.numbers import LARGEST, SMALLEST, as_floats

MOST = 2**31 - 1
"""Variables and terms are numbered in 32 bits."""

Rows = tuple[Ints, Floats]
"""Products of one degree, a row of indices for each, and their coefficients."""


@dataclass(frozen=True, eq=False)
class Monomials:
    """n variables and the terms: t has the variables `members[offsets[t] : offsets[t + 1]]`, increasing."""

    n: int
    offsets: npt.NDArray[np.int64]
    members: npt.NDArray[np.int32]
    coefficients: Floats
    constant: float


def rows_of_terms(terms: Iterable[tuple[Any, Any]]) -> list[Rows]:
    """The products of pairs ((i, j, ...), coefficient), those of one length together."""
    by_length: dict[int, tuple[list[tuple[int, ...]], list[Any]]] = {}
    for key, coefficient in terms:
        if not isinstance(key, tuple):
            raise InvalidInput(
                f"the keys of `terms` must be tuples of variables, got {key!r}. Write (i,) for a linear term and () "
                "for a constant."
            )
        for i in key:
            if not is_whole(i) or i < 0:
                raise InvalidInput(
                    f"the variables in `terms` must be integers of at least 0, got {i!r} in {key!r}. For variables "
                    "with names use flipwise.solve_qubo or flipwise.solve_ising."
                )
        keys, coefficients = by_length.setdefault(len(key), ([], []))
        keys.append(key)
        coefficients.append(coefficient)
    return [
        (_checked_indices(keys).reshape(len(keys), length), as_floats("terms", coefficients))
        for length, (keys, coefficients) in sorted(by_length.items())
    ]


def rows_of_arrays(indices: Any, coefficients: Any) -> list[Rows]:
    """The products of an (m, k) array of indices, of which -1 stands for no variable, and m coefficients."""
    rows = np.asarray(indices)
    if rows.size == 0:
        rows = np.zeros(rows.shape if rows.ndim == 2 else (0, 0), dtype=np.int64)
    if rows.ndim != 2 or rows.dtype.kind not in "iu":
        raise InvalidInput(
            "`indices` must be a matrix of integers, a row for each term (-1 fills up shorter ones), got "
            f"{rows.dtype} of shape {rows.shape}."
        )
    values = as_floats("coefficients", coefficients)
    if values.shape != (rows.shape[0],):
        raise InvalidInput(
            f"`coefficients` must have {rows.shape[0]} entries, one for each row of `indices`, got {values.shape}."
        )
    if rows.size and (int(rows.max()) > MOST or int(rows.min()) < -1):
        raise InvalidInput(f"`indices` must be between 0 and {MOST} (or -1), got {rows.min()} and {rows.max()}.")
    rows = np.sort(rows.astype(np.int64), axis=1)
    degree = (rows >= 0).sum(axis=1)
    return [
        (np.ascontiguousarray(rows[degree == k, rows.shape[1] - k :]), values[degree == k])
        for k in np.unique(degree).tolist()
    ]


def monomials(parts: Iterable[Rows], n: int | None, variables: Variables, constant: float) -> Monomials:
    """All products of `parts`, each once, over `n` variables (by default as many as the indices need)."""
    check_whole("n", n, 1, optional=True)
    by_degree: dict[int, list[Rows]] = {}
    needed = 0
    for rows, values in parts:
        needed = max(needed, int(rows.max(initial=-1)) + 1)
        for part in _without_repeats(np.sort(rows, axis=1), values, variables):
            by_degree.setdefault(part[0].shape[1], []).append(part)
    if n is not None and needed > n:
        raise InvalidInput(f"`n` is {n}, but a term has the variable {needed - 1}; indices are below n.")
    constants = by_degree.pop(0, [])
    constant = sum_once([float(constant), *(value for _, values in constants for value in values)])
    merged = [_added_up(by_degree[degree]) for degree in sorted(by_degree)]
    sizes = [np.full(values.size, rows.shape[1], dtype=np.int64) for rows, values in merged]
    offsets = np.zeros(sum(size.size for size in sizes) + 1, dtype=np.int64)
    if offsets.size > MOST:
        raise InvalidInput(f"a polynomial can have {MOST - 1} terms, got {offsets.size - 1}.")
    np.cumsum(np.concatenate([np.zeros(0, dtype=np.int64), *sizes]), out=offsets[1:])
    members = np.concatenate([np.zeros(0, dtype=np.int32), *(rows.reshape(-1).astype(np.int32) for rows, _ in merged)])
    coefficients = np.concatenate([np.zeros(0), *(values for _, values in merged)])
    with np.errstate(over="ignore"):
        total = float(np.abs(coefficients).sum()) + abs(constant)
    largest = float(np.abs(coefficients).max(initial=0.0))
    if 0.0 < largest < SMALLEST or not total <= LARGEST:
        raise InvalidInput(
            f"the coefficients of the polynomial must be between {SMALLEST:.1e} and {LARGEST:.1e} in size, the largest "
            f"and the sum of all, got {largest:.3g} and {total:.3g}. Multiply all by a power of two."
        )
    return Monomials(needed if n is None else int(n), offsets, members, coefficients, constant)


def _checked_indices(keys: list[tuple[int, ...]]) -> Ints:
    """The variables of terms of one degree as rows."""
    largest = max((i for key in keys for i in key), default=0)
    if largest > MOST:
        raise InvalidInput(f"the variables in `terms` must be at most {MOST}, got {largest}.")
    return np.array(keys, dtype=np.int64)


def _without_repeats(rows: Ints, values: Floats, variables: Variables) -> list[Rows]:
    """Sorted rows without repeated variables; those that had some are shorter now."""
    repeated = (rows[:, 1:] == rows[:, :-1]).any(axis=1)
    if not repeated.any():
        return [(rows, values)]
    shorter: dict[int, tuple[list[list[int]], list[float]]] = {}
    for row, value in zip(rows[repeated].tolist(), values[repeated].tolist(), strict=True):
        if variables == "binary":
            kept = sorted(set(row))
        else:
            kept = sorted(i for i in set(row) if row.count(i) % 2)
        keys, coefficients = shorter.setdefault(len(kept), ([], []))
        keys.append(kept)
        coefficients.append(value)
    parts = [(rows[~repeated], values[~repeated])] if not repeated.all() else []
    for length, (keys, coefficients) in shorter.items():
        parts.append((np.array(keys, dtype=np.int64).reshape(len(keys), length), np.array(coefficients)))
    return parts


def _added_up(parts: list[Rows]) -> Rows:
    """The rows in order, equal ones added up, those with a coefficient of 0 left out."""
    rows = np.concatenate([rows for rows, _ in parts])
    values = np.concatenate([values for _, values in parts])
    order = np.lexsort(rows.T[::-1])
    rows, values = rows[order], values[order]
    first = np.flatnonzero(np.concatenate([[True], (rows[1:] != rows[:-1]).any(axis=1)]))
    size = np.diff(np.append(first, values.size))
    with np.errstate(over="ignore"):
        sums = np.add.reduceat(values, first)
    for k in np.flatnonzero(size > 2):  # two are rounded once; of more, each addition would be
        sums[k] = sum_once(values[first[k] : first[k] + size[k]])
    kept = sums != 0.0
    return rows[first[kept]], sums[kept]


def sum_once(values: Iterable[float]) -> float:
    """The sum, rounded once; inf or nan where it is no number."""
    try:
        return math.fsum(values)
    except (OverflowError, ValueError):
        return math.inf
