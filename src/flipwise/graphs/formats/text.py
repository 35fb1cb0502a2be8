"""What the text formats share: parsing pieces of lines, saying where a file is wrong, and writing lines of edges."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any, BinaryIO, NoReturn

import numpy as np
import numpy.typing as npt

from flipwise.errors import InvalidFile
from flipwise.graphs.build import Arcs, ArcSource, CsrArcs, let_go
from flipwise.graphs.graph import Graph
from flipwise.graphs.names import compact
from flipwise.graphs.streams import Piece
from flipwise.kernels.edges import parse_edges

KEPT_BYTES = 1 << 25
"""Arcs of a text file that are kept in memory; a file with more is parsed again for each of two further passes."""

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

WRITTEN_LINES = 1 << 14
"""Lines formatted at a time."""


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
    lowest: int,
    highest: int,
    advice: str = "",
) -> Iterator[Arcs]:
    """All `source target [weight]` lines, in blocks, with their numbers as they stand."""
    state = np.zeros(4, dtype=np.int64)
    room = 0
    for piece in pieces:
        if len(piece.data) // 4 + 1 > room:
            room = len(piece.data) // 4 + 1
            sources, targets = np.empty(room, np.int64), np.empty(room, np.int64)
            weights, careful = np.empty(room if weighted else 0), np.empty((room if weighted else 0, 3), np.int64)
        buffer = np.frombuffer(piece.data, dtype=np.uint8)
        parse_edges(buffer, weighted, ignore_extra, lowest, highest, sources, targets, weights, careful, state)
        count, code, position, delicate = (int(s) for s in state)
        if code:
            refuse(path, piece, code, position, advice, lowest=lowest, highest=highest)
        if count:
            convert_weights(path, piece, weights, careful, delicate)
            found = weights[:count].copy() if weighted else None
            yield Arcs(compact(sources[:count]), compact(targets[:count]), found)


class TextArcs(ArcSource):
    """The arcs of a text file, kept in memory while they are few, parsed again each time when they are many.

    Kept arcs take as much memory as the graph they become; parsing twice more takes time instead.
    """

    def __init__(self, parse: Callable[[], Iterator[Arcs]], look: Callable[[Arcs], None] | None = None) -> None:
        self.count = 0
        self.change: Callable[[Arcs], Arcs] = lambda block: block
        """What to do to each block before it is handed out."""
        self._parse = parse
        self._kept: list[Arcs] | None = []
        size = 0
        for block in parse():
            self.count += block.sources.size
            size += sum(column.nbytes for column in block if column is not None)
            if look is not None:
                look(block)
            if self._kept is not None and size <= KEPT_BYTES:
                self._kept.append(block)
            else:
                self._kept = None

    def __iter__(self) -> Iterator[Arcs]:
        return map(self.change, self._parse() if self._kept is None else self._kept)

    def drain(self) -> Iterator[Arcs]:
        return map(self.change, self._parse() if self._kept is None else let_go(self._kept))


def _edges(graph: Graph) -> Iterator[Arcs]:
    """Blocks of the arcs i -> j with i < j."""
    for block in CsrArcs(graph.indptr, graph.indices, graph.weights):
        once = block.sources < block.targets
        weights = None if block.weights is None else block.weights[once]
        yield Arcs(block.sources[once], block.targets[once], weights)


def write_edges(
    file: BinaryIO,
    graph: Graph,
    base: int,
    *,
    always_weighted: bool = False,
    larger_first: bool = False,
    label: Callable[[int], str] | None = None,
) -> None:
    """A line for every edge, once, from its smaller node or with it last."""
    for block in _edges(graph):
        for start in range(0, block.sources.size, WRITTEN_LINES):
            part = slice(start, start + WRITTEN_LINES)
            ends = (block.targets, block.sources) if larger_first else (block.sources, block.targets)
            columns: list[list[Any]] = [(end[part] + base).tolist() for end in ends]
            if label is not None:
                columns = [[label(i) for i in column] for column in columns]
            if block.weights is not None:
                columns.append([_number(weight) for weight in block.weights[part].tolist()])
            elif always_weighted:
                columns.append([1] * len(columns[0]))
            file.write("".join(" ".join(map(str, row)) + "\n" for row in zip(*columns)).encode())


def _number(weight: float) -> str:
    return str(int(weight)) if weight.is_integer() and abs(weight) < 2**53 else repr(weight)
