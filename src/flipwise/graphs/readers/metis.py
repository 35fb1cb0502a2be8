"""METIS graph files: `n m [fmt [ncon]]`, then one line a node with its neighbours, numbered from 1.

`fmt` is three digits: node sizes, node weights (`ncon` of them), edge weights. Sizes and node weights are passed over.
Every edge stands in the lines of both its nodes, and counts once.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import numpy.typing as npt

from flipwise.errors import InvalidFile
from flipwise.graphs.build import Arcs, Symmetrise, index_type, merge_arcs
from flipwise.graphs.graph import Graph
from flipwise.graphs.readers.text import TextArcs, next_header, refuse, whole_numbers
from flipwise.graphs.streams import Piece, lines
from flipwise.kernels.edges import parse_rows


def read_metis(
    path: Path, *, symmetrise: Symmetrise = "max", weighted: bool | None = None, max_bytes: int | None = None
) -> Graph:
    """The graph of a METIS file."""
    pieces = lines(path, max_bytes, longest=None)
    line, text = next_header(path, next(pieces, Piece(b"", 0)), pieces, b"%")
    n, m, *more = whole_numbers(path, line, text, 2, 4, "nodes edges [fmt [ncon]]")
    code = text.split()[2].zfill(3) if more else "000"
    if len(code) != 3 or set(code) - {"0", "1"}:
        raise InvalidFile(f"{path}, line {line}: fmt must be up to three digits 0 or 1, found '{text.split()[2]}'.")
    node_weights = (more[1] if len(more) > 1 else 1) if code[1] == "1" else 0
    skip = int(code[0]) + node_weights
    edge_weights = code[2] == "1"

    def parse() -> Iterator[Arcs]:
        return _edges(path, lines(path, max_bytes, longest=None, skip=line), n, m, skip, edge_weights)

    arcs = TextArcs(parse)
    if weighted is False:
        arcs.change = lambda block: Arcs(block.sources, block.targets)
    return merge_arcs(n, arcs, edge_weights and weighted is not False, symmetrise, what=str(path))


def _edges(path: Path, pieces: Iterator[Piece], n: int, m: int, skip: int, edge_weights: bool) -> Iterator[Arcs]:
    """Every edge once, from its smaller node, with a check that the line of the other one names it too."""
    node = ends_read = balance = 0
    state = np.zeros(3, dtype=np.int64)
    for part in pieces:
        buffer = np.frombuffer(part.data, dtype=np.uint8)
        values = np.empty(len(part.data) // 2 + 1, dtype=np.int64)
        ends = np.empty(part.data.count(b"\n"), dtype=np.int64)
        parse_rows(buffer, values, ends, state)
        rows, problem, position = (int(s) for s in state)
        if problem:
            refuse(path, part, problem, position)
        ends = ends[:rows]
        block = _row_arcs(path, part, node, n, values[: ends[-1]] if rows else values[:0], ends, skip, edge_weights)
        ends_read += block.sources.size
        balance += _balance(block)
        once = block.sources <= block.targets
        yield Arcs(block.sources[once], block.targets[once], None if block.weights is None else block.weights[once])
        node += rows
    if node < n:
        raise InvalidFile(f"{path}: the header announces {n:,} nodes, the file has lines for {node:,}.")
    if ends_read != 2 * m:
        raise InvalidFile(
            f"{path}: the header announces {m:,} edges, the lines hold {ends_read:,} ends instead of {2 * m:,}."
        )
    if balance % 2**64:
        raise InvalidFile(f"{path}: some edge stands in the line of one of its nodes only, or with two weights.")


def _balance(block: Arcs) -> int:
    """Hashes of the edges, added from their smaller nodes and subtracted from their larger ones: 0 in the end."""
    low, high = (side(block.sources, block.targets).astype(np.uint64) for side in (np.minimum, np.maximum))
    mixed = low * np.uint64(0x9E3779B97F4A7C15) + high
    if block.weights is not None:
        mixed += block.weights.view(np.uint64) * np.uint64(0xD6E8FEB86659FD93)
    mixed = (mixed ^ (mixed >> np.uint64(29))) * np.uint64(0xBF58476D1CE4E5B9)
    mixed ^= mixed >> np.uint64(32)
    forth, back = block.sources < block.targets, block.sources > block.targets
    return int(mixed[forth].sum(dtype=np.uint64)) - int(mixed[back].sum(dtype=np.uint64))


def _row_arcs(
    path: Path,
    part: Piece,
    node: int,
    n: int,
    values: npt.NDArray[np.int64],
    ends: npt.NDArray[np.int64],
    skip: int,
    edge_weights: bool,
) -> Arcs:
    """The arcs of the lines of nodes `node`, `node + 1`, ..."""
    starts = np.concatenate([[0], ends[:-1]]).astype(np.int64) if ends.size else ends
    lengths = ends - starts
    if node + ends.size > n:
        surplus = lengths[n - node :] > 0
        if surplus.any():
            _refuse_row(path, part, n - node + int(np.argmax(surplus)), f"a line beyond the {n:,} nodes announced")
    short = (lengths < skip) & (np.arange(node, node + ends.size) < n)
    if short.any():
        _refuse_row(path, part, int(np.argmax(short)), f"fewer than the {skip} node weights announced")
    offsets = np.arange(values.size) - np.repeat(starts, lengths)
    used = offsets >= skip
    rows = np.repeat(np.arange(node, node + ends.size), lengths)
    weights = None
    if edge_weights:
        odd = (lengths - skip) % 2 == 1
        odd &= lengths > 0
        if odd.any():
            _refuse_row(path, part, int(np.argmax(odd)), "a neighbour without its edge weight")
        weights = values[used & ((offsets - skip) % 2 == 1)].astype(np.float64)
        used &= (offsets - skip) % 2 == 0
    neighbours = values[used]
    rows = rows[used]
    wrong = (neighbours < 1) | (neighbours > n)
    if wrong.any():
        at = int(np.argmax(wrong))
        _refuse_row(path, part, int(rows[at]) - node, f"neighbour {int(neighbours[at])} is out of range (1 to {n})")
    kind = index_type(n)
    return Arcs(rows.astype(kind), (neighbours - 1).astype(kind), weights)


def _refuse_row(path: Path, part: Piece, row: int, problem: str) -> None:
    """Raise for a row of a piece, finding its line among comments."""
    count = -1
    for number, line in enumerate(part.data.split(b"\n")):
        count += not line.lstrip().startswith(b"%")
        if count == row:
            raise InvalidFile(f"{path}, line {part.lines_before + number + 1:,}: {problem}.")
