"""Random numbers of every size and type, and every container they come in, beside what they mean exactly.

A matrix is drawn as a list of entries for each place: most places have one, sparse containers may hold several, which
are added up. `Drawn.entries` is the meaning: the exact sum, rounded once to float64.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import scipy.sparse as sp

DTYPES = ("int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64", "bool") + (
    "float16",
    "float32",
    "float64",
    "longdouble",
)
SPARSE = ("coo", "csr", "csc", "bsr", "dia", "dok", "lil")
DENSE = ("C", "F", "strided", "reversed", "read-only", "lists", "frame", "matrix")
KINDS = ("small", "wide", "halves", "gaussian", "mixed", "negative", "tiny", "huge", "ties", "dust")
"""Of numbers; see `draw_number`."""


class Frame:
    """A stand-in for a data frame: its numbers come by `to_numpy`."""

    def __init__(self, values: np.ndarray) -> None:
        self.values = values

    def to_numpy(self) -> np.ndarray:
        return self.values


@dataclass(eq=False)
class Drawn:
    """A container of numbers, what it holds exactly, and whether it may be refused."""

    given: Any
    entries: list[list[Fraction]]
    name: str
    may_refuse: bool = False
    must_refuse: bool = False


def draw_number(rng: np.random.Generator, kind: str) -> float:
    """A number of a kind; zeros are common."""
    if rng.random() < 0.3:
        return 0.0
    whole = int(rng.integers(-5, 6))
    if kind == "small":
        return float(whole)
    if kind == "wide":
        return float(rng.integers(-(2**40), 2**40))
    if kind == "halves":
        return whole / 2.0
    if kind == "gaussian":
        return float(rng.standard_normal())
    if kind == "mixed":
        return float(rng.standard_normal() * 10.0 ** rng.integers(-18, 19))
    if kind == "negative":
        return -abs(float(rng.integers(1, 6)))
    if kind == "ties":
        return float(rng.choice([0.1, 0.2, 0.3, -0.1, -0.2, -0.3]))
    if kind == "dust":
        return float(rng.choice([1.0, -1.0, 5e-324, -1e-322, 1e-300, 2.0**-60]))
    return float(rng.standard_normal())  # tiny and huge are scaled by their matrix


def draw_scale(rng: np.random.Generator, kind: str) -> float:
    """What all numbers of one problem are multiplied by."""
    if kind == "tiny":
        return 2.0 ** int(rng.integers(-1074, -900))
    if kind == "huge":
        return 2.0 ** int(rng.integers(900, 1023))
    return 1.0


def as_dtype(values: np.ndarray, dtype: str) -> np.ndarray:
    """`values` as near as `dtype` can hold them: wrapped into its range, rounded for integers."""
    kind = np.dtype(dtype)
    if kind.kind == "b":
        return values > 0
    if kind.kind in "iu":
        low, high = np.iinfo(kind).min, min(np.iinfo(kind).max, 2**52)
        rounded = np.rint(np.where(np.abs(values) < 2.0**52, values, 0.0))
        return np.clip(rounded, float(max(low, -(2**52))), float(high)).astype(kind)
    if kind == np.float16:
        return np.asarray(np.clip(values, -6e4, 6e4), dtype=kind)
    if kind == np.float32:
        return np.asarray(np.clip(values, -1e38, 1e38), dtype=kind)
    return values.astype(kind)


def exactly(value: Any) -> Fraction:
    """A NumPy number, rounded to float64, as a fraction."""
    return Fraction(float(value)) if not isinstance(value, np.integer | int) else Fraction(int(value))


def draw_matrix(rng: np.random.Generator, n: int, kind: str, shape: str = "any") -> Drawn:
    """A square matrix in a random container; `shape` "upper" leaves only the upper triangle."""
    dtype = str(rng.choice(DTYPES))
    order = str(rng.choice(["=", "<", ">"]))
    scale = draw_scale(rng, kind)
    values = np.array([[draw_number(rng, kind) * scale for _ in range(n)] for _ in range(n)]).reshape(n, n)
    form = "upper" if shape == "upper" else str(rng.choice(["upper", "full", "symmetric"]))
    if form == "upper":
        values = np.triu(values)
    elif form == "symmetric":
        values = np.triu(values) + np.triu(values, 1).T
    typed = as_dtype(values, dtype).astype(np.dtype(dtype).newbyteorder(order))  # type: ignore[arg-type]
    may_refuse = kind in ("tiny", "huge", "dust")  # dust: where nothing but dust was drawn
    if rng.random() < 0.5:
        layout = str(rng.choice(DENSE))
        entries = [[exactly(typed[i, j]) for j in range(n)] for i in range(n)]
        return Drawn(_dense(typed, layout), entries, f"dense {layout} {typed.dtype} {kind} {form}", may_refuse)
    return _sparse(rng, typed, f"{kind} {form}", may_refuse)


def _dense(values: np.ndarray, layout: str) -> Any:
    n = values.shape[0]
    if layout == "F":
        return np.asfortranarray(values)
    if layout == "strided":
        wide = np.zeros((2 * n, 3 * n), dtype=values.dtype)
        wide[::2, ::3] = values
        return wide[::2, ::3]
    if layout == "reversed":
        return np.ascontiguousarray(values[::-1, ::-1])[::-1, ::-1]
    if layout == "read-only":
        values.setflags(write=False)
        return values
    if layout == "lists":
        return values.astype(np.float64).tolist() if values.dtype.kind == "f" else values.tolist()
    if layout == "frame":
        return Frame(values)
    return np.asmatrix(values) if layout == "matrix" else values


def _sparse(rng: np.random.Generator, values: np.ndarray, name: str, may_refuse: bool) -> Drawn:
    n = values.shape[0]
    layout = str(rng.choice(SPARSE))
    rows, columns = np.nonzero(values != 0)
    data = values[rows, columns]
    repeats = layout in ("coo", "csr", "csc") and rng.random() < 0.5 and data.size > 0
    if values.dtype.kind == "f" and values.dtype.itemsize not in (4, 8):
        data = data.astype(np.float64)
    data = data.astype(data.dtype.newbyteorder("="))  # scipy.sparse has no other matrices
    if repeats:
        again = rng.integers(0, data.size, int(rng.integers(1, 4 * n + 1)))
        rows, columns = np.concatenate([rows, rows[again]]), np.concatenate([columns, columns[again]])
        data = np.concatenate([data, data[again]])
        shuffled = rng.permutation(data.size)
        rows, columns, data = rows[shuffled], columns[shuffled], data[shuffled]
    entries = [[Fraction(0)] * n for _ in range(n)]
    for i, j, value in zip(rows.tolist(), columns.tolist(), data, strict=True):
        entries[i][j] += exactly(value)
    overflows = any(abs(value) >= 2**1023 for row in entries for value in row)
    entries = [[value if overflows else Fraction(float(value)) for value in row] for row in entries]
    made = _of_format(rows, columns, data, n, layout)
    if rng.random() < 0.5 and layout != "dok":
        made = getattr(sp, f"{layout}_matrix")(made)
    title = f"sparse {layout} {data.dtype} {name}{' repeated' if repeats else ''}"
    return Drawn(made, entries, title, may_refuse or overflows)


def _of_format(rows: np.ndarray, columns: np.ndarray, data: np.ndarray, n: int, layout: str) -> Any:
    if layout in ("csr", "csc"):  # by hand: scipy would add up what is repeated
        major, minor = (rows, columns) if layout == "csr" else (columns, rows)
        order = np.argsort(major, kind="stable")
        indptr = np.concatenate([[0], np.cumsum(np.bincount(major, minlength=n))])
        kind = sp.csr_array if layout == "csr" else sp.csc_array
        return kind((data[order], minor[order], indptr), shape=(n, n))
    coo = sp.coo_array((data, (rows, columns)), shape=(n, n))
    return coo if layout == "coo" else coo.asformat(layout)  # type: ignore[call-overload]


BAD = ("complex", "text", "object", "masked", "nan", "inf", "dates", "big integers", "none", "not square")


def draw_bad_matrix(rng: np.random.Generator, n: int) -> Drawn:
    """A matrix that must be refused."""
    what = str(rng.choice(BAD))
    values = rng.integers(-3, 4, (n, n)).astype(np.float64)
    given: Any = values
    if what == "complex":
        given = values + 0j
        given = sp.csr_array(given) if rng.random() < 0.5 else given
    elif what == "text":
        given = values.astype(str)
    elif what == "object":
        given = np.array([[Fraction(1, 3)] * n for _ in range(n)], dtype=object)
    elif what == "masked":
        given = np.ma.MaskedArray(values, mask=np.eye(n, dtype=bool))
    elif what in ("nan", "inf"):
        values[int(rng.integers(n)), int(rng.integers(n))] = float(what)
        given = sp.csr_array(values) if rng.random() < 0.5 else values
    elif what == "dates":
        given = np.full((n, n), np.datetime64("2020-01-01"))
    elif what == "big integers":
        given = np.full((n, n), 2**53 + 1, dtype=np.int64)
        given = sp.csr_array(given) if rng.random() < 0.5 else given
    elif what == "none":
        given = np.array([[None] * n for _ in range(n)])
    elif what == "not square":
        given = np.ones((n, n + 1))
    return Drawn(given, [], f"bad: {what}", must_refuse=True)


def draw_vector(rng: np.random.Generator, n: int, kind: str, scale: float = 1.0) -> tuple[Any, list[Fraction]]:
    """A vector in a random type and layout, and what it holds."""
    dtype = str(rng.choice(DTYPES))
    typed = as_dtype(np.array([draw_number(rng, kind) * scale for _ in range(n)]), dtype)
    meaning = [exactly(value) for value in typed]
    layout = str(rng.choice(["plain", "strided", "swapped", "list", "frame"]))
    if layout == "strided":
        wide = np.zeros(2 * n, dtype=typed.dtype)
        wide[::2] = typed
        return wide[::2], meaning
    if layout == "swapped":
        return typed.astype(typed.dtype.newbyteorder(">")), meaning
    if layout == "list":
        return [float(value) for value in typed], meaning
    return (Frame(typed) if layout == "frame" else typed), meaning
