"""Text formats that begin with a header of counts, with nodes numbered from 1: MatrixMarket, rudy, METIS.

MatrixMarket coordinate files: a square sparse matrix as an adjacency matrix. `symmetric` matrices give each edge once;
`general` ones are directed graphs. `pattern` has no weights; explicit zeros are no edges. Dense (`array`), `complex`,
`hermitian` and `skew-symmetric` matrices are refused.

rudy files (Max-Cut instances such as Gset): `n m`, then m lines `i j w`.

METIS graph files: `n m [fmt [ncon]]`, then one line a node with its neighbours. `fmt` is three digits: node sizes, node
weights (`ncon` of them), edge weights. Sizes and node weights are passed over. Every edge stands in the lines of both
its nodes, and counts once.

No count makes us believe in more than the file can hold.
"""

from __future__ import annotations

from collections.abc import Iterator
from io import BytesIO
from itertools import chain
from pathlib import Path

import numpy as np
import numpy.typing as npt

from flipwise.foundation.errors import InvalidFile, InvalidInput
from flipwise.graphs.formats.edgelist import TextArcs, numbered_arcs, refuse, write_edges
from flipwise.graphs.graph import Arcs, Graph, Symmetrise, index_type, merge_arcs
from flipwise.graphs.names import from_base
from flipwise.graphs.streams import Piece, lines, packed_file
from flipwise.kernels.edges import parse_rows

ISOLATED_NODES = 1 << 24
"""Nodes a text file may announce beyond what its size explains (128 MiB of row starts)."""


def _next_header(path: Path, pieces: Iterator[Piece], comment: bytes) -> tuple[int, str]:
    """The first line that is neither blank nor a comment: its number and its text."""
    number = 0
    for data, before in pieces:
        number = before
        for line in BytesIO(data):
            number += 1
            text = line.strip()
            if text and not text.startswith(comment):
                return number, text[:200].decode(errors="replace")
    raise InvalidFile(f"{path}, line {number + 1}: the file ends before its header of counts.")


def _whole_numbers(path: Path, line: int, text: str, fewest: int, most: int, meaning: str) -> list[int]:
    words = text.split()
    if not fewest <= len(words) <= most or not all(w.isascii() and w.isdigit() and len(w) <= 18 for w in words):
        raise InvalidFile(f"{path}, line {line}: expected whole numbers '{meaning}', found '{text[:60]}'.")
    numbers = [int(word) for word in words]
    if numbers[0] > ISOLATED_NODES and numbers[0] > 64 * path.stat().st_size:
        raise InvalidFile(
            f"{path}, line {line}: announces {numbers[0]:,} nodes, more than a file of this size can hold."
        )
    return numbers


def read_matrix_market(
    path: Path, *, symmetrise: Symmetrise = "max", weighted: bool | None = None, max_bytes: int | None = None
) -> Graph:
    pieces = lines(path, max_bytes)
    first = next(pieces, Piece(b"", 0))
    banner, _, rest = first.data.partition(b"\n")
    words = banner.decode(errors="replace").lower().split()
    if len(words) != 5 or words[:2] != ["%%matrixmarket", "matrix"]:
        raise InvalidFile(f"{path}, line 1: expected '%%MatrixMarket matrix coordinate <field> <symmetry>'.")
    layout, field, symmetry = words[2:]
    if layout != "coordinate" or field not in ("pattern", "real", "integer", "double"):
        raise InvalidFile(f"{path}, line 1: only sparse real matrices are read (coordinate), got '{layout} {field}'.")
    if symmetry not in ("general", "symmetric"):
        raise InvalidFile(f"{path}, line 1: symmetry must be general or symmetric, got '{symmetry}'.")
    line, text = _next_header(path, chain([Piece(rest, 1)], pieces), b"%")
    n, columns, entries = _whole_numbers(path, line, text, 3, 3, "rows columns entries")
    if n != columns:
        raise InvalidFile(f"{path}, line {line}: an adjacency matrix must be square, got {n} x {columns}.")
    has_weights = field != "pattern"
    counts = line, n, entries, "entries"
    return _entries(path, *counts, has_weights, has_weights and weighted is not False, symmetrise, max_bytes)


def read_rudy(
    path: Path, *, symmetrise: Symmetrise = "max", weighted: bool | None = None, max_bytes: int | None = None
) -> Graph:
    pieces = lines(path, max_bytes)
    line, text = _next_header(path, pieces, b"#")
    n, edges = _whole_numbers(path, line, text, 2, 2, "nodes edges")
    return _entries(path, line, n, edges, "edges", True, weighted is not False, symmetrise, max_bytes)


def _entries(
    path: Path,
    header: int,
    n: int,
    announced: int,
    noun: str,
    has_weights: bool,
    use_weights: bool,
    symmetrise: Symmetrise,
    max_bytes: int | None,
) -> Graph:
    """The graph of the lines behind the header line, as many as it announces."""

    def parse() -> Iterator[Arcs]:
        extra = has_weights and not use_weights
        pieces = lines(path, max_bytes, skip=header)
        return numbered_arcs(path, pieces, weighted=use_weights, ignore_extra=extra, lowest=1, highest=n)

    arcs = TextArcs(parse)
    if arcs.count != announced:
        raise InvalidFile(f"{path}: the header announces {announced:,} {noun}, the file holds {arcs.count:,}.")
    arcs.change = from_base(1, n)
    return merge_arcs(n, arcs, use_weights, symmetrise, what=str(path))


def read_metis(
    path: Path, *, symmetrise: Symmetrise = "max", weighted: bool | None = None, max_bytes: int | None = None
) -> Graph:
    pieces = lines(path, max_bytes, longest=None)
    line, text = _next_header(path, pieces, b"%")
    n, m, *more = _whole_numbers(path, line, text, 2, 4, "nodes edges [fmt [ncon]]")
    code = text.split()[2].zfill(3) if more else "000"
    if len(code) != 3 or set(code) - {"0", "1"}:
        raise InvalidFile(f"{path}, line {line}: fmt must be up to three digits 0 or 1, found '{text.split()[2]}'.")
    node_weights = (more[1] if len(more) > 1 else 1) if code[1] == "1" else 0
    skip = int(code[0]) + node_weights
    edge_weights = code[2] == "1"

    def parse() -> Iterator[Arcs]:
        return _row_edges(path, lines(path, max_bytes, longest=None, skip=line), n, m, skip, edge_weights)

    arcs = TextArcs(parse)
    if weighted is False:
        arcs.change = lambda block: Arcs(block.sources, block.targets)
    return merge_arcs(n, arcs, edge_weights and weighted is not False, symmetrise, what=str(path))


def _row_edges(path: Path, pieces: Iterator[Piece], n: int, m: int, skip: int, edge_weights: bool) -> Iterator[Arcs]:
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


def write_matrix_market(graph: Graph, path: Path) -> None:
    """A symmetric coordinate matrix: the lower triangle, numbered from 1."""
    field = "pattern" if graph.weights is None else "real"
    with packed_file(path) as file:
        file.write(f"%%MatrixMarket matrix coordinate {field} symmetric\n".encode())
        file.write(f"{graph.n} {graph.n} {graph.n_edges}\n".encode())
        write_edges(file, graph, 1, larger_first=True)


def write_rudy(graph: Graph, path: Path) -> None:
    """`n m`, then `i j w`, numbered from 1."""
    with packed_file(path) as file:
        file.write(f"{graph.n} {graph.n_edges}\n".encode())
        write_edges(file, graph, 1, always_weighted=True)


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
