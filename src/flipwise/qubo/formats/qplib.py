"""QPLIB files (Furini et al. 2019, appendix B): the least or largest x'Qx / 2 + b'x + q of bits under linear rows.

The format has no words: a number too many or too few would shift all that follows. So every line must hold what is due
there and nothing else but a comment, no entry may stand there twice, and nothing may follow the last line.
"""

from __future__ import annotations

from itertools import takewhile
from pathlib import Path

import numpy as np
import scipy.sparse as sp

from flipwise.foundation.arrays import Floats, Ints
from flipwise.foundation.errors import InvalidFile
from flipwise.graphs.formats.layout import is_finite_number
from flipwise.model.rows import LinearConstraints
from flipwise.qubo.formats.text import read_lines
from flipwise.qubo.models import QuadraticModel

COMMENTS = ("#", "!", "%")


def read_qplib(path: Path) -> tuple[QuadraticModel, LinearConstraints | None, bool]:
    """The model to be minimised, its rows, and whether the file maximises."""
    lines = _Lines(path)
    lines.due("a name", None)
    kind = _searched_kind(lines)
    sense = lines.due("minimize or maximize")[0].lower()
    if sense not in ("minimize", "maximize"):
        raise lines.wrong(f"expected minimize or maximize, got {sense!r}")
    sign = -1.0 if sense == "maximize" else 1.0
    n = lines.size("the number of variables", 1)
    has_rows = kind[2] == "L"
    m = lines.size("the number of rows", 0) if has_rows else 0
    ends, values = (
        lines.entries("entries of Q", (n, n)) if kind[0] != "L" else (np.zeros((0, 2), np.int64), np.zeros(0))
    )
    if (ends[:, 0] < ends[:, 1]).any():
        raise InvalidFile(f"{path}: Q must be given by its lower triangle.")
    linear = lines.vector("b", n)
    constant = lines.number("q")
    at, coefficients = lines.entries("coefficients of rows", (m, n)) if has_rows else (ends[:0], values[:0])
    infinity = lines.number("infinity")
    lower, upper = (
        lines.vector(f"the {name} ends of rows", m) if has_rows else values[:0] for name in ("lower", "upper")
    )
    for name, size in (("x", n), *([("y", m)] if has_rows else []), ("z", n)):
        lines.vector(f"initial {name}", size)  # starts, of no use here
    labels = lines.names("variables", n)
    names = lines.names("rows", m) if has_rows or not lines.ended else None
    if not lines.ended:
        raise lines.wrong("something follows after the last line")
    i, j = (np.concatenate([ends[:, side], np.arange(n)]) for side in (0, 1))
    terms = sign * np.concatenate([np.where(ends[:, 0] == ends[:, 1], 0.5, 1.0) * values, linear])
    model = QuadraticModel.from_terms(n, i, j, terms, sign * constant, "binary", labels)
    if m == 0:
        return model, None, sign < 0
    lower, upper = np.where(lower <= -infinity, -np.inf, lower), np.where(upper >= infinity, np.inf, upper)
    A: sp.csr_array = sp.csr_array((coefficients, (at[:, 0], at[:, 1])), shape=(m, n))
    return model, LinearConstraints(A, lower, upper, variables="binary", names=names), sign < 0


def _searched_kind(lines: _Lines) -> str:
    """The three letters of the type, of programs that can be searched."""
    kind = lines.due("a type such as QBL")[0].upper()
    if len(kind) != 3 or kind[0] not in "LDCQ" or kind[1] not in "CBMIG" or kind[2] not in "NBLDCQ":
        raise lines.wrong(f"{kind!r} is no type of QPLIB")
    if kind[1] != "B" or kind[2] in "DCQ":
        what = "variables that are not binary" if kind[1] != "B" else "quadratic constraints"
        raise lines.wrong(f"a program of type {kind} may have {what}; those of bits with linear rows can be searched")
    return kind


class _Lines:
    """The lines of a file one after another, without comments."""

    def __init__(self, path: Path) -> None:
        self.path, self.at = path, 0
        split = ([*takewhile(lambda word: word[0] not in COMMENTS, line.split())] for line in read_lines(path))
        self.lines = [words for words in split if words]
        self.most = 2**22 + 64 * path.stat().st_size

    @property
    def ended(self) -> bool:
        return self.at == len(self.lines)

    def wrong(self, what: str) -> InvalidFile:
        return InvalidFile(f"{self.path}, line {self.at} without comments: {what}.")

    def due(self, what: str, words: int | None = 1) -> list[str]:
        """The next line, of so many words."""
        if self.ended:
            raise InvalidFile(f"{self.path}: the file ends where {what} is due.")
        line = self.lines[self.at]
        self.at += 1
        if words is not None and len(line) != words:
            raise self.wrong(f"expected {what}, got {' '.join(line):.60}")
        return line

    def count(self, what: str) -> int:
        (word,) = self.due(what)
        if not (word.isascii() and word.isdigit() and len(word) < 16):
            raise self.wrong(f"expected {what}, got {word!r:.60}")
        return int(word)

    def size(self, what: str, least: int) -> int:
        """A count that is no number of lines: it must be possible for a file of this size."""
        size = self.count(what)
        if not least <= size <= self.most:
            raise self.wrong(f"{what} is {size}, more or less than a file of this size can mean")
        return size

    def number(self, what: str) -> float:
        (word,) = self.due(what)
        if not is_finite_number(word):
            raise self.wrong(f"expected {what}, a number, got {word!r:.60}")
        return float(word)

    def entries(self, what: str, sizes: tuple[int, ...]) -> tuple[Ints, Floats]:
        """A count and as many lines of indices from 1 and a value; the indices, from 0, and the values."""
        count = self.count(f"the number of {what}")
        if count > len(self.lines) - self.at:
            raise self.wrong(f"{count} {what} are promised, {len(self.lines) - self.at} lines follow")
        places, values = np.zeros((count, len(sizes)), dtype=np.int64), np.zeros(count)
        seen: set[tuple[int, ...]] = set()
        for entry in range(count):
            *indices, value = self.due(f"one of {what}", len(sizes) + 1)
            place = tuple(self.index(word, size) for word, size in zip(indices, sizes, strict=True))
            if place in seen or not is_finite_number(value):
                raise self.wrong(f"one of {what} is there twice, or is no number")
            seen.add(place)
            places[entry], values[entry] = place, float(value)
        return places, values

    def index(self, word: str, size: int) -> int:
        if not (word.isascii() and word.isdigit() and len(word) < 16 and 1 <= int(word) <= size):
            raise self.wrong(f"an index must be from 1 to {size}, got {word!r:.60}")
        return int(word) - 1

    def vector(self, what: str, size: int) -> Floats:
        """A default value, and those entries that have another one."""
        default = self.number(f"the default of {what}")
        places, values = self.entries(f"entries of {what}", (size,))
        vector = np.full(size, default)
        vector[places[:, 0]] = values
        return vector

    def names(self, what: str, size: int) -> tuple[str, ...] | None:
        """The names, those that are not given being numbers from 1; None where none is given."""
        count = self.count(f"the number of names of {what}")
        if count > len(self.lines) - self.at:
            raise self.wrong(f"{count} names of {what} are promised, {len(self.lines) - self.at} lines follow")
        names = [str(number) for number in range(1, size + 1)]
        for _ in range(count):
            index, name = self.due(f"a name of {what}", 2)
            names[self.index(index, size)] = name
        if len(set(names)) < size:
            raise InvalidFile(f"{self.path}: two {what} have the same name.")
        return tuple(names) if count else None
