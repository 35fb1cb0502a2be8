"""Edge lists: `source target [weight]` a line, separated by white space, commas, semicolons or tabs.

Comments start with '#' or '%' (SNAP, KONECT); a header line of column names is recognised. Nodes are whole numbers or
names; which, is decided by the first line of data. A third column is the weight when it is a number there; later
columns are ignored, and said to be. Formats with such lines behind a header of their own are read by the same
functions.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from io import BytesIO
from pathlib import Path
from typing import Any, NamedTuple, NoReturn

import numpy as np
import numpy.typing as npt

from flipwise.foundation.errors import InvalidFile, InvalidInput
from flipwise.graphs.formats.lines import write_edges
from flipwise.graphs.graph import ArcBlock, Graph, GraphBuilder, KeptBlocks, Symmetrise, build_graph
from flipwise.graphs.names import NodeNumbers, PackedNames, compact
from flipwise.graphs.streams import Piece, lines, packed_file
from flipwise.kernels.edges import parse_edges, parse_named_edges, rehash_names

NAMED_PIECE = 1 << 20
"""Bytes parsed at a time when nodes have names (room for the names they may bring is made first)."""

_PROBLEMS = {
    1: "expected a whole number, found {found}",
    2: "the number {found} has more than 18 digits",
    3: "too few columns (the line ends here)",
    4: "more columns than in the first line, from {found} on",
    5: "expected a finite number, found {found}",
    6: "empty field before {found}",
    7: "node {found} is out of range ({lowest} to {highest})",
    8: "broken double quotes at {found}",
}

_HEADERS = [
    {"source", "src", "from", "fromnodeid", "u", "node1", "node_1", "id1", "id_1", "i", "start", "head"},
    {"target", "dst", "to", "tonodeid", "v", "node2", "node_2", "id2", "id_2", "j", "end", "tail", "dest",
     "destination"},
]  # fmt: skip


class Layout(NamedTuple):
    """What the first lines say about the file."""

    delimiter: str | None
    named: bool
    weighted: bool
    extra: bool
    header_lines: int


def read_edge_list(
    path: Path,
    *,
    symmetrise: Symmetrise = "max",
    weighted: bool | None = None,
    names: bool | None = None,
    base: int | None = None,
    max_bytes: int | None = None,
) -> Graph:
    """The graph of an edge list; the options are those of `read_graph`."""
    first = next((piece for piece in lines(path, max_bytes) if any(_data_lines(piece.data))), None)
    if first is None:
        raise InvalidFile(f"{path}: holds no edges.")
    layout = _find_layout(first, weighted, names)
    skip = first.lines_before + layout.header_lines
    notes: tuple[str, ...] = ()
    if layout.extra:
        notes = (f"Columns after the {'third' if layout.weighted else 'second'} were ignored.",)
    if layout.named:
        if base is not None:
            raise InvalidInput(f"`base` is for nodes given by numbers; {path} has names.")
        blocks, packed = _named_arcs(path, lines(path, max_bytes, skip=skip), layout)
        return build_graph(len(packed), blocks, symmetrise=symmetrise, names=packed, notes=notes, what=str(path))

    numbers, kept = NodeNumbers(), KeptBlocks()

    def parse() -> Iterator[ArcBlock]:
        return numbered_arcs(
            path,
            lines(path, max_bytes, skip=skip),
            weighted=layout.weighted,
            ignore_extra=layout.extra,
            lowest=max(base or 0, numbers.bounds[0]),
            highest=numbers.bounds[1],
            advice=" If nodes have names, pass names=True.",
        )

    for block in parse():
        numbers.add(block)
        kept.add(block)
    if numbers.largest < 0:
        raise InvalidFile(f"{path}: holds no edges.")
    n, labels, renumber = numbers.numbering(base, str(path))
    builder = GraphBuilder(n, weighted=layout.weighted, symmetrise=symmetrise, what=str(path))
    for block in kept.blocks if kept.complete else parse():
        builder.count(renumber(block))
    for block in kept.drain() if kept.complete else parse():
        builder.store(renumber(block))
    return builder.graph(labels, notes)


def refuse(path: Path, piece: Piece, code: int, position: int, advice: str = "", **values: int) -> NoReturn:
    """Raise InvalidFile for a problem that a kernel met at a byte of a piece."""
    line = piece.lines_before + piece.data.count(b"\n", 0, position) + 1
    column = position - piece.data.rfind(b"\n", 0, position)
    rest = piece.data[position : position + 40].split(b"\n")[0]
    token = rest.replace(b",", b" ").split()
    found = repr(token[0].decode(errors="replace")) if token else "nothing"
    text = _PROBLEMS[code].format(found=found, **values)
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
) -> Iterator[ArcBlock]:
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
            yield ArcBlock(compact(sources[:count]), compact(targets[:count]), found)


def _data_lines(data: bytes) -> Iterator[tuple[int, str]]:
    """Lines that are neither blank nor comments, with their numbers from 0."""
    for number, line in enumerate(BytesIO(data)):
        text = line.strip(b" \t\r\n")
        if text and text[:1] not in b"#%":
            yield number, text.decode(errors="replace")


def _split_line(line: str) -> tuple[str | None, list[str]]:
    """The delimiter (None: white space) and the fields of a line."""
    for delimiter in (",", "\t", ";"):
        if delimiter in line:
            fields = [field.strip(' \r\t"') for field in line.split(delimiter)]
            return delimiter, fields[:-1] if fields[-1] == "" else fields
    return None, line.split()


def _find_layout(first: Piece, weighted: bool | None, names: bool | None) -> Layout:
    """What the first lines of data say, and the caller where `weighted` or `names` is given."""
    data = _data_lines(first.data)
    number, line = next(data)
    delimiter, fields = _split_line(line)
    header_lines = 0
    following = next(data, None)
    if following is not None and names is not False:
        other_delimiter, others = _split_line(following[1])
        known = len(fields) >= 2 and all(f.lower() in known for f, known in zip(fields, _HEADERS))
        words_over_numbers = not _are_nodes(fields) and _are_nodes(others)
        if known or (words_over_numbers and len(others) == len(fields)):
            header_lines, delimiter, fields = number + 1, other_delimiter, others
    named = not _are_nodes(fields) if names is None else names
    # '1 2' with tabs between is numbers all the same; for names only the first delimiter separates.
    third = len(fields) > 2 and is_finite_number(fields[2])
    use_weights = third if weighted is None else weighted
    extra = len(fields) > (3 if use_weights else 2) or weighted is False
    return Layout(delimiter, named, use_weights, extra, header_lines)


def _are_nodes(fields: list[str]) -> bool:
    """Whether a line begins with two whole numbers."""
    return len(fields) >= 2 and all(field.isascii() and field.isdigit() for field in fields[:2])


def is_finite_number(field: str) -> bool:
    """Whether a field is a finite number."""
    try:
        return bool(np.isfinite(float(field)))
    except ValueError:
        return False


def _named_arcs(path: Path, pieces: Iterator[Piece], layout: Layout) -> tuple[list[ArcBlock], PackedNames]:
    """The arcs of lines whose nodes have names, numbered as they come, and the names."""
    blocks: list[ArcBlock] = []
    state = np.zeros(5, dtype=np.int64)
    table = np.full(1 << 12, -1, dtype=np.int64)
    pool = np.empty(0, dtype=np.uint8)
    offsets = np.zeros(1, dtype=np.int64)
    delimiter = ord(layout.delimiter) if layout.delimiter else 0
    for piece in _smaller_pieces(pieces):
        room = len(piece.data) // 4 + 1
        count = int(state[4])
        used = int(offsets[count])
        if pool.size < used + len(piece.data):
            pool = np.concatenate([pool[:used], np.empty(used + len(piece.data), dtype=np.uint8)])
        if offsets.size < count + 2 * room + 1:
            offsets = np.concatenate([offsets[: count + 1], np.zeros(count + 2 * room, dtype=np.int64)])
        if table.size < 2 * (count + 2 * room):
            table = np.full(1 << (4 * (count + 2 * room)).bit_length(), -1, dtype=np.int64)
            rehash_names(table, pool, offsets, count)
        sources, targets = np.empty(room, np.int64), np.empty(room, np.int64)
        heavy = room if layout.weighted else 0
        weights, careful = np.empty(heavy), np.empty((heavy, 3), np.int64)
        buffer = np.frombuffer(piece.data, dtype=np.uint8)
        parse_named_edges(
            buffer, delimiter, layout.weighted, layout.extra, table, pool, offsets,
            sources, targets, weights, careful, state,
        )  # fmt: skip
        arcs, code, position, delicate, _ = (int(s) for s in state)
        if code:
            refuse(path, piece, code, position)
        if arcs:
            convert_weights(path, piece, weights, careful, delicate)
            found = weights[:arcs].copy() if layout.weighted else None
            blocks.append(ArcBlock(compact(sources[:arcs]), compact(targets[:arcs]), found))
    count = int(state[4])
    if not count:
        raise InvalidFile(f"{path}: holds no edges.")
    return blocks, PackedNames(pool[: offsets[count]].copy(), offsets[: count + 1].copy())


def _smaller_pieces(pieces: Iterator[Piece]) -> Iterator[Piece]:
    """The same lines in pieces of about `NAMED_PIECE` bytes."""
    for piece in pieces:
        start, before = 0, piece.lines_before
        while start < len(piece.data):
            end = piece.data.find(b"\n", min(start + NAMED_PIECE, len(piece.data) - 1)) + 1
            data = piece.data[start:end]
            yield Piece(data, before)
            start, before = end, before + data.count(b"\n")


def write_edge_list(graph: Graph, path: Path) -> None:
    """`source target [weight]` lines with the nodes' own names. Isolated nodes leave no trace."""
    label = None if graph.names is None else _written_names(graph.names)
    with packed_file(path) as file:
        file.write(f"# {graph.n} nodes, {graph.n_edges} edges\n".encode())
        write_edges(file, graph, 0, label=label)


def _written_names(names: Sequence[Any]) -> Callable[[int], str]:
    """The name of node i as it is written; names that could not be read back are refused."""
    for name in names:
        text = str(name)
        if not text or any(c.isspace() or c in ',;"' for c in text) or text[0] in "#%":
            raise InvalidInput(
                f"`graph`: the name {name!r} cannot stand in an edge list (white space, ',', ';', quotes, or a leading "
                "'#' or '%'). Use the compact format instead: write_graph(graph, 'name.flipgraph')."
            )
    return lambda i: str(names[i])
