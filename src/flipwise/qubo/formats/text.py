"""What the text formats share: plain or compressed text, tables of numbers, indices from any base."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import numpy as np

from flipwise.foundation.arrays import Floats, Ints
from flipwise.foundation.errors import InvalidFile, InvalidInput
from flipwise.graphs.formats.layout import is_finite_number
from flipwise.graphs.streams import blocks, packed_file
from flipwise.qubo.models import QuadraticModel


def read_text(path: Path) -> str:
    """The whole text of a file, unpacked up to the limit of `graphs.streams`."""
    try:
        return b"".join(blocks(path)).decode("ascii")
    except UnicodeDecodeError as error:
        raise InvalidFile(f"{path}: not a text file ({error}).") from None


def read_lines(path: Path) -> list[str]:
    """The lines of a file that are not blank."""
    return [line for line in read_text(path).splitlines() if line.strip()]


def write_text(path: Path, lines: Iterable[str]) -> None:
    """Write lines to a plain or compressed file, which appears when it is complete."""
    with packed_file(path) as file:
        for line in lines:
            file.write(line.encode("ascii") + b"\n")


def table(path: Path, lines: list[str], first: int, columns: int) -> Floats:
    """The numbers of `lines` (the first of which is line `first` of the file), `columns` in each."""
    joined = " ".join(lines)
    try:
        numbers = np.array(joined.split(), dtype=np.float64)
        # NumPy would take 1_0 for 10, and the numbers of a short and of a long line for those of two right ones
        whole = numbers.size == columns * len(lines) and all(len(line.split()) == columns for line in lines)
        if whole and "_" not in joined and np.isfinite(numbers).all():
            return numbers.reshape(-1, columns)
    except ValueError:
        pass
    for number, line in enumerate(lines, start=first):
        words = line.split()
        if len(words) != columns or not all(is_finite_number(word) for word in words):
            raise InvalidFile(f"{path}, line {number}: expected {columns} numbers, got {line.strip()!r}.")
    raise InvalidFile(f"{path}: its numbers could not be read.")


def counts(path: Path, line: str, number: int, columns: int) -> list[int]:
    """The whole numbers of a header, which is line `number` of the file."""
    words = line.split()
    if len(words) != columns or not all(word.isascii() and word.isdigit() and len(word) < 16 for word in words):
        raise InvalidFile(f"{path}, line {number}: expected {columns} whole numbers, got {line.strip()!r}.")
    return [int(word) for word in words]


def index_pairs(path: Path, rows: Floats, base: int, n: int, what: str) -> tuple[Ints, Ints]:
    """The first two columns, node or variable numbers from `base` on, as 0, 1, ..., n - 1."""
    most = 2**22 + 64 * path.stat().st_size
    if n > most:
        raise InvalidFile(f"{path}: {n} variables are promised, more than a file of this size can mean ({most}).")
    whole = np.clip(rows[:, :2], -1.0, 2.0**53).astype(np.int64)
    bad = (whole != rows[:, :2]) | (whole < base) | (whole >= n + base)
    if bad.any():
        wrong = rows[:, :2].T[bad.T][0]
        raise InvalidFile(f"{path}: {what} must be between {base} and {n + base - 1}, got {wrong:g}.")
    return whole[:, 0] - base, whole[:, 1] - base


def need(model: QuadraticModel, *, variables: str, format: str) -> None:
    """Refuse a model whose variables a format cannot say."""
    if model.variables != variables:
        other = "to_binary()" if variables == "binary" else "to_spin()"
        raise InvalidInput(f"the {format} format is for {variables} variables: write model.{other} instead.")
