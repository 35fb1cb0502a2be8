"""Edge lists: `source target [weight]` a line, separated by white space, commas, semicolons or tabs.

Comments start with '#' or '%' (SNAP, KONECT); a header line of column names is recognised. Nodes are whole numbers or
names; which, is decided by the first line of data. A third column is the weight when it is a number there; later
columns are ignored, and said to be.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from flipwise.errors import InvalidFile, InvalidInput
from flipwise.graphs.build import Arcs, Symmetrise, build_graph, merge_arcs
from flipwise.graphs.formats.text import TextArcs, convert_weights, numbered_arcs, refuse, write_edges
from flipwise.graphs.graph import Graph
from flipwise.graphs.names import NodeNumbers, PackedNames, compact
from flipwise.graphs.streams import Piece, lines, packed_file
from flipwise.kernels.edges import parse_named_edges, rehash_names

NAMED_PIECE = 1 << 20
"""Bytes parsed at a time when nodes have names (room for the names they may bring is made first)."""
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
    layout = _layout(first, weighted, names)
    skip = first.lines_before + layout.header_lines
    notes: tuple[str, ...] = ()
    if layout.extra:
        notes = (f"Columns after the {'third' if layout.weighted else 'second'} were ignored.",)
    if layout.named:
        if base is not None:
            raise InvalidInput(f"`base` is for nodes given by numbers; {path} has names.")
        blocks, packed = _named_arcs(path, lines(path, max_bytes, skip=skip), layout)
        return build_graph(len(packed), blocks, symmetrise=symmetrise, names=packed, notes=notes, what=str(path))

    numbers = NodeNumbers()

    def parse() -> Iterator[Arcs]:
        return numbered_arcs(
            path,
            lines(path, max_bytes, skip=skip),
            weighted=layout.weighted,
            ignore_extra=layout.extra,
            lowest=max(base or 0, numbers.bounds[0]),
            highest=numbers.bounds[1],
            advice=" If nodes have names, pass names=True.",
        )

    arcs = TextArcs(parse, numbers.look)
    if not arcs.count:
        raise InvalidFile(f"{path}: holds no edges.")
    n, labels, arcs.change = numbers.settle(base, str(path))
    return merge_arcs(n, arcs, layout.weighted, symmetrise, labels, notes, str(path))


def _data_lines(data: bytes) -> Iterator[tuple[int, str]]:
    """Lines that are neither blank nor comments, with their numbers from 0."""
    start = number = 0
    while (end := data.find(b"\n", start)) >= 0:
        line = data[start:end].strip(b" \t\r")
        if line and line[:1] not in b"#%":
            yield number, line.decode(errors="replace")
        start, number = end + 1, number + 1


def _split_line(line: str) -> tuple[str | None, list[str]]:
    """The delimiter (None: white space) and the fields of a line."""
    for delimiter in (",", "\t", ";"):
        if delimiter in line:
            fields = [field.strip(' \r\t"') for field in line.split(delimiter)]
            return delimiter, fields[:-1] if fields[-1] == "" else fields
    return None, line.split()


def _layout(first: Piece, weighted: bool | None, names: bool | None) -> Layout:
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
    third = len(fields) > 2 and _is_number(fields[2])
    use_weights = third if weighted is None else weighted
    extra = len(fields) > (3 if use_weights else 2) or weighted is False
    return Layout(delimiter, named, use_weights, extra, header_lines)


def _are_nodes(fields: list[str]) -> bool:
    return len(fields) >= 2 and all(field.isascii() and field.isdigit() for field in fields[:2])


def _is_number(field: str) -> bool:
    try:
        return bool(np.isfinite(float(field)))
    except ValueError:
        return False


def _named_arcs(path: Path, pieces: Iterator[Piece], layout: Layout) -> tuple[list[Arcs], PackedNames]:
    blocks: list[Arcs] = []
    state = np.zeros(5, dtype=np.int64)
    table = np.full(1 << 12, -1, dtype=np.int64)
    pool = np.empty(0, dtype=np.uint8)
    offsets = np.zeros(1, dtype=np.int64)
    delimiter = ord(layout.delimiter) if layout.delimiter else 0
    for piece in _smaller(pieces):
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
            blocks.append(Arcs(compact(sources[:arcs]), compact(targets[:arcs]), found))
    count = int(state[4])
    if not count:
        raise InvalidFile(f"{path}: holds no edges.")
    return blocks, PackedNames(pool[: offsets[count]].copy(), offsets[: count + 1].copy())


def _smaller(pieces: Iterator[Piece]) -> Iterator[Piece]:
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
    for name in names:
        text = str(name)
        if not text or any(c.isspace() or c in ',;"' for c in text) or text[0] in "#%":
            raise InvalidInput(
                f"`graph`: the name {name!r} cannot stand in an edge list (white space, ',', ';', quotes, or a leading "
                "'#' or '%'). Use the compact format instead: save_graph(graph, 'name.flipgraph')."
            )
    return lambda i: str(names[i])
