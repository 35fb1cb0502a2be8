"""METIS graph files: `n m [fmt [ncon]]`, then one line a node with its neighbours, numbered from 1.

`fmt` is three digits: node sizes, node weights (`ncon` of them), edge weights. Sizes and node weights are passed over.
Every edge stands in the lines of both its nodes, and counts once.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from flipwise.foundation.errors import InvalidFile, InvalidInput
from flipwise.graphs.formats.counted import next_header, whole_numbers
from flipwise.graphs.formats.edgelist import refuse
from flipwise.graphs.graph import ArcBlock, Graph, GraphBuilder, KeptBlocks, Symmetrise, index_type
from flipwise.graphs.streams import TextPiece, lines, packed_file
from flipwise.kernels.edges import parse_rows


class Header(NamedTuple):
    """What the first line announces."""

    n: int
    edges: int
    skipped: int
    """Numbers before the neighbours in the line of a node: its size and weights."""
    edge_weights: bool


def read_metis(
    path: Path, *, symmetrise: Symmetrise = "max", weighted: bool | None = None, max_bytes: int | None = None
) -> Graph:
    """The graph of a METIS file."""
    line, text = next_header(path, lines(path, max_bytes, longest=None), b"%")
    header = _parsed_header(path, line, text)
    use_weights = header.edge_weights and weighted is not False

    def parse() -> Iterator[ArcBlock]:
        pieces = lines(path, max_bytes, longest=None, skip=line)
        return _read_edges(path, pieces, header, use_weights)

    builder = GraphBuilder(header.n, weighted=use_weights, symmetrise=symmetrise, what=str(path))
    kept = KeptBlocks()
    for block in parse():
        builder.count(block)
        kept.add(block)
    for block in kept.drain() if kept.complete else parse():
        builder.store(block)
    return builder.graph()


def _parsed_header(path: Path, line: int, text: str) -> Header:
    """The header in a line of the file."""
    n, edges, *more = whole_numbers(path, line, text, 2, 4, "nodes edges [fmt [ncon]]")
    code = text.split()[2].zfill(3) if more else "000"
    if len(code) != 3 or set(code) - {"0", "1"}:
        raise InvalidFile(f"{path}, line {line}: fmt must be up to three digits 0 or 1, found '{text.split()[2]}'.")
    node_weights = (more[1] if len(more) > 1 else 1) if code[1] == "1" else 0
    return Header(n, edges, int(code[0]) + node_weights, code[2] == "1")


def _read_edges(path: Path, pieces: Iterator[TextPiece], header: Header, use_weights: bool) -> Iterator[ArcBlock]:
    """Every edge once, from its smaller node, with a check that the line of the other one names it too."""
    node = ends_read = balance = 0
    state = np.zeros(3, dtype=np.int64)
    for piece in pieces:
        buffer = np.frombuffer(piece.data, dtype=np.uint8)
        values = np.empty(len(piece.data) // 2 + 1, dtype=np.int64)
        row_ends = np.empty(piece.data.count(b"\n"), dtype=np.int64)
        parse_rows(buffer, values, row_ends, state)
        rows, problem, position = (int(s) for s in state)
        if problem:
            refuse(path, piece, problem, position)
        row_ends = row_ends[:rows]
        block = _row_arcs(path, piece, node, header, values[: row_ends[-1]] if rows else values[:0], row_ends)
        ends_read += block.sources.size
        balance += _edge_hashes(block)
        once = block.sources <= block.targets
        weights = block.weights[once] if use_weights and block.weights is not None else None
        yield ArcBlock(block.sources[once], block.targets[once], weights)
        node += rows
    if node < header.n:
        raise InvalidFile(f"{path}: the header announces {header.n:,} nodes, the file has lines for {node:,}.")
    if ends_read != 2 * header.edges:
        raise InvalidFile(
            f"{path}: the header announces {header.edges:,} edges, the lines hold {ends_read:,} ends instead of "
            f"{2 * header.edges:,}."
        )
    if balance % 2**64:
        raise InvalidFile(f"{path}: some edge stands in the line of one of its nodes only, or with two weights.")


def _edge_hashes(block: ArcBlock) -> int:
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
    piece: TextPiece,
    node: int,
    header: Header,
    values: npt.NDArray[np.int64],
    row_ends: npt.NDArray[np.int64],
) -> ArcBlock:
    """The arcs of the lines of nodes `node`, `node + 1`, ..., whose numbers are `values`, row after row."""
    n, skipped = header.n, header.skipped
    starts = np.concatenate([[0], row_ends[:-1]]).astype(np.int64) if row_ends.size else row_ends
    lengths = row_ends - starts
    nodes = np.arange(node, node + row_ends.size)
    _refuse_rows(path, piece, (nodes >= n) & (lengths > 0), f"a line beyond the {n:,} nodes announced")
    _refuse_rows(path, piece, (nodes < n) & (lengths < skipped), f"fewer than the {skipped} node weights announced")
    offsets = np.arange(values.size) - np.repeat(starts, lengths) - skipped
    used = offsets >= 0
    weights = None
    if header.edge_weights:
        odd = (lengths > 0) & ((lengths - skipped) % 2 == 1)
        _refuse_rows(path, piece, odd, "a neighbour without its edge weight")
        weights = values[used & (offsets % 2 == 1)].astype(np.float64)
        used &= offsets % 2 == 0
    neighbours, rows = values[used], np.repeat(nodes, lengths)[used]
    wrong = (neighbours < 1) | (neighbours > n)
    if wrong.any():
        at = int(np.argmax(wrong))
        in_row = nodes == rows[at]
        _refuse_rows(path, piece, in_row, f"neighbour {int(neighbours[at])} is out of range (1 to {n})")
    kind = index_type(n)
    return ArcBlock(rows.astype(kind), (neighbours - 1).astype(kind), weights)


def _refuse_rows(path: Path, piece: TextPiece, wrong: npt.NDArray[np.bool_], problem: str) -> None:
    """Raise if any row of a piece is wrong, naming the line of the first one, which is found among comments."""
    if not wrong.any():
        return
    row = int(np.argmax(wrong))
    count = -1
    for number, line in enumerate(piece.data.split(b"\n")):
        count += not line.lstrip().startswith(b"%")
        if count == row:
            raise InvalidFile(f"{path}, line {piece.lines_before + number + 1:,}: {problem}.")


def write_metis(graph: Graph, path: Path) -> None:
    """`n m [1]`, then the neighbours of each node, numbered from 1; weights must be positive whole numbers."""
    weights = graph.weights
    if weights is not None and not ((weights > 0) & (weights == np.floor(weights)) & (weights < 2**53)).all():
        raise InvalidInput("`graph`: METIS files hold positive whole weights only; use another format.")
    with packed_file(path) as file:
        file.write(f"{graph.n} {graph.n_edges}{'' if weights is None else ' 001'}\n".encode())
        for i in range(graph.n):
            row = slice(int(graph.indptr[i]), int(graph.indptr[i + 1]))
            numbers = (graph.indices[row] + 1).tolist()
            if weights is not None:
                numbers = [x for pair in zip(numbers, weights[row].astype(np.int64).tolist()) for x in pair]
            file.write(" ".join(map(str, numbers)).encode() + b"\n")
