"""What the text formats share: parsing pieces of lines, and saying where a file is wrong."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import NoReturn

import numpy as np
import numpy.typing as npt

from flipwise.arrays import Ints
from flipwise.errors import InvalidFile
from flipwise.graphs.build import Arcs
from flipwise.graphs.streams import Piece
from flipwise.kernels.edges import parse_edges

LARGEST_NODE = 10**18 - 1
"""Node numbers have at most 18 digits."""

PROBLEMS = {
    1: "expected a whole number, found {found}",
    2: "the number {found} has more than 18 digits",
    3: "too few columns (the line ends here)",
    4: "more columns than in the first line, from {found} on",
    5: "expected a finite number, found {found}",
    6: "empty field before {found}",
    7: "node {found} is out of range ({lowest} to {highest})",
    8: "broken double quotes at {found}",
}


def refuse(path: Path, piece: Piece, code: int, position: int, advice: str = "", **values: int) -> NoReturn:
    """Raise InvalidFile for a problem that a kernel met at a byte of a piece."""
    line = piece.lines_before + piece.data.count(b"\n", 0, position) + 1
    column = position - piece.data.rfind(b"\n", 0, position)
    rest = piece.data[position : position + 40].split(b"\n")[0]
    token = rest.replace(b",", b" ").split()
    found = repr(token[0].decode(errors="replace")) if token else "nothing"
    text = PROBLEMS[code].format(found=found, **values)
    raise InvalidFile(f"{path}, line {line:,}, byte {column:,} of the line: {text}.{advice}")


def convert_weights(
    path: Path, piece: Piece, weights: npt.NDArray[np.float64], careful: npt.NDArray[np.int64], count: int
) -> None:
    """Convert the weights whose digits need correct rounding by software."""
    for arc, start, end in careful[:count].tolist():
        weights[arc] = float(piece.data[start:end])
        if not np.isfinite(weights[arc]):
            refuse(path, piece, 5, start)


def numbered_arcs(
    path: Path,
    pieces: Iterable[Piece],
    *,
    weighted: bool,
    ignore_extra: bool,
    lowest: int = 0,
    highest: int = LARGEST_NODE,
    advice: str = "",
) -> tuple[list[Arcs], int]:
    """All `source target [weight]` lines, and the largest node among them (-1: there is none)."""
    blocks: list[Arcs] = []
    largest = -1
    state = np.zeros(5, dtype=np.int64)
    room = 0
    for piece in pieces:
        if len(piece.data) // 4 + 1 > room:
            room = len(piece.data) // 4 + 1
            sources, targets = np.empty(room, np.int64), np.empty(room, np.int64)
            weights, careful = np.empty(room if weighted else 0), np.empty((room if weighted else 0, 3), np.int64)
        buffer = np.frombuffer(piece.data, dtype=np.uint8)
        parse_edges(buffer, weighted, ignore_extra, lowest, highest, sources, targets, weights, careful, state)
        count, code, position, delicate, top = (int(s) for s in state)
        if code:
            refuse(path, piece, code, position, advice, lowest=lowest, highest=highest)
        if count:
            convert_weights(path, piece, weights, careful, delicate)
            largest = max(largest, top)
            blocks.append(
                Arcs(compact(sources[:count]), compact(targets[:count]), weights[:count].copy() if weighted else None)
            )
    return blocks, largest


def compact(column: npt.NDArray[np.int64]) -> Ints:
    """A copy, in 4 bytes a number where they fit."""
    return column.astype(np.int32 if int(column.max(initial=0)) < 2**31 else np.int64)


def shift(blocks: list[Arcs], base: int) -> None:
    """Subtract the number of the first node, in place."""
    if base:
        for block in blocks:
            for side in block[:2]:
                np.subtract(side, base, out=side)
