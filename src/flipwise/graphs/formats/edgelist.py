"""Edge lists: `source target [weight]` a line, separated by white space, commas, semicolons or tabs.

Comments start with '#' or '%' (SNAP, KONECT); a header line of column names is recognised. Nodes are whole numbers or
names; which, is decided by the first line of data (`layout.py`). A third column is the weight when it is a number
there; later columns are ignored, and said to be. What could mean two things is refused. Formats with such lines behind
a header of their own are read by the same functions.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, NoReturn

import numpy as np
import numpy.typing as npt

from flipwise.foundation.errors import InvalidFile, InvalidInput
from flipwise.graphs.formats.columns import named_columns, numbered_columns
from flipwise.graphs.formats.foreign import refuse_foreign
from flipwise.graphs.formats.layout import ARROWS, Layout, data_lines, find_layout
from flipwise.graphs.formats.lines import write_edges
from flipwise.graphs.graph import ArcBlock, Graph, GraphBuilder, KeptBlocks, Symmetrise, build_graph
from flipwise.graphs.names import NodeNumbers, PackedNames, compact
from flipwise.graphs.streams import TextPiece, lines, packed_file
from flipwise.kernels.edges import parse_edges, parse_named_edges, rehash_names

NAMED_PIECE = 1 << 20
"""Bytes parsed at a time when nodes have names (room for the names they may bring is made first)."""
FEW_ARCS = 3
"""In so few lines of names, two that occur once say nothing."""

_ISOLATED = b"# isolated: "
"""What a comment begins with that holds a node without an edge, in files of `write_graph`."""
_PROBLEMS = {
    1: "expected a whole number, found {found}",
    2: "the number {found} has more than 18 digits",
    3: "too few columns (the line ends here)",
    4: "more columns than in the first line, from {found} on",
    5: "expected a finite number, found {found}",
    6: "empty field before {found}",
    7: "node {found} is out of range ({lowest} to {highest})",
    8: "broken double quotes at {found}",
    9: "another separator before {found} than in the first line",
}


def read_edge_list(
    path: Path,
    *,
    symmetrise: Symmetrise = "max",
    weighted: bool | None = None,
    names: bool | None = None,
    base: int | None = None,
    header: bool | None = None,
    columns: Sequence[str] | None = None,
    max_bytes: int | None = None,
) -> Graph:
    """The graph of an edge list; the options are those of `read_graph`."""
    first = next((piece for piece in lines(path, max_bytes) if any(data_lines(piece.data))), None)
    if first is None:
        raise InvalidFile(f"{path}: holds no edges.")
    if not names:
        refuse_foreign(path, first.data[:4096], "")
    layout = find_layout(path, first, weighted, names, header, columns)
    skip = first.lines_before + layout.header_lines
    lonely = _isolated_nodes(path, layout, max_bytes)
    if layout.named:
        if base is not None:
            raise InvalidInput(f"`base` is for nodes given by numbers; {path} has names.")
        arcs_of = _named_arcs if layout.ordered else named_columns
        blocks, packed = arcs_of(path, lines(path, max_bytes, skip=skip), layout)
        _refuse_doubtful_names(path, packed, layout, given=bool(names))
        if header is None and not layout.titles:
            _refuse_lone_first_line(path, packed, blocks, layout)
        _check_announced(path, layout, sum(block.sources.size for block in blocks))
        if lonely:
            packed = PackedNames.pack(list(dict.fromkeys([*packed, *lonely])))
        return build_graph(len(packed), blocks, symmetrise=symmetrise, names=packed, notes=layout.notes, what=str(path))

    numbers, kept = NodeNumbers(), KeptBlocks()

    def parse() -> Iterator[ArcBlock]:
        lowest, highest = max(base or 0, numbers.bounds[0]), numbers.bounds[1]
        pieces = lines(path, max_bytes, skip=skip)
        if not layout.ordered:
            return numbered_columns(path, pieces, layout, lowest=lowest, highest=highest)
        return numbered_arcs(
            path,
            pieces,
            delimiter=layout.delimiter,
            weighted=layout.weighted,
            ignore_extra=layout.extra,
            lowest=lowest,
            highest=highest,
            advice=" If nodes have names, pass names=True.",
        )

    top: tuple[int, int] | None = None
    arcs = 0
    for block in parse():
        top = top or (int(block.sources[0]), int(block.targets[0]))
        arcs += block.sources.size
        numbers.add(block)
        kept.add(block)
    if top is None:
        raise InvalidFile(f"{path}: holds no edges.")
    _check_announced(path, layout, arcs)
    if header is None:
        _refuse_counts(path, layout, top, numbers.largest, arcs)
    _add_isolated(path, numbers, lonely)
    n, labels, renumber = numbers.numbering(base, str(path))
    builder = GraphBuilder(n, weighted=layout.weighted, symmetrise=symmetrise, what=str(path))
    for block in kept.blocks if kept.complete else parse():
        builder.count(renumber(block))
    for block in kept.drain() if kept.complete else parse():
        builder.store(renumber(block))
    return builder.graph(labels, layout.notes)


def _isolated_nodes(path: Path, layout: Layout, max_bytes: int | None) -> list[str]:
    """The nodes without an edge, which a file of `write_graph` has in comments of their own."""
    if layout.announced is None:
        return []
    found: list[str] = []
    for piece in lines(path, max_bytes):
        for line in piece.data.split(b"\n") if _ISOLATED in piece.data else ():
            if line.startswith(_ISOLATED):
                name = line[len(_ISOLATED) :].strip().decode(errors="replace")
                if "\ufffd" in name:
                    raise InvalidFile(f"{path}: a node without an edge is not text in UTF-8. Save the file in UTF-8.")
                found.append(name)
    return [name for name in found if name]


def _add_isolated(path: Path, numbers: NodeNumbers, lonely: list[str]) -> None:
    """Add nodes without an edge to the numbers that occur."""
    if not all(name.isascii() and name.isdigit() and len(name) < 19 for name in lonely):
        raise InvalidFile(f"{path}: the nodes are numbers, but those in comments without an edge are not.")
    if lonely:
        nodes = np.array([int(name) for name in lonely], dtype=np.int64)
        numbers.add(ArcBlock(nodes, nodes))


def _refuse_counts(path: Path, layout: Layout, top: tuple[int, int], largest: int, arcs: int) -> None:
    """Raise when the first line has the numbers of nodes and of edges, as in other formats, unless it is an edge."""
    if layout.announced is None and not layout.weighted and top == (largest, arcs - 1):
        raise InvalidFile(
            f"{path}: its first numbers, {top[0]} {top[1]}, are those of its nodes and edges, unless they are an edge. "
            "Pass header=True if they are none, header=False if they are one (on the command line --header, "
            "--no-header)."
        )


def refuse(path: Path, piece: TextPiece, code: int, position: int, advice: str = "", **values: int) -> NoReturn:
    """Raise InvalidFile for a problem that a kernel met at a byte of a piece."""
    line = piece.lines_before + piece.data.count(b"\n", 0, position) + 1
    column = position - piece.data.rfind(b"\n", 0, position)
    rest = piece.data[position : position + 40].split(b"\n")[0]
    token = rest.split()
    found = repr(token[0].decode(errors="replace")) if token else "nothing"
    text = _PROBLEMS[code].format(found=found, **values)
    raise InvalidFile(f"{path}, line {line:,}, byte {column:,} of the line: {text}.{advice}")


def convert_weights(
    path: Path, piece: TextPiece, weights: npt.NDArray[np.float64], careful: npt.NDArray[np.int64], count: int
) -> None:
    """Convert the weights whose digits need correct rounding by software."""
    for arc, start, end in careful[:count].tolist():
        weights[arc] = float(piece.data[start:end])
        if not np.isfinite(weights[arc]):
            refuse(path, piece, 5, start)


def numbered_arcs(
    path: Path,
    pieces: Iterable[TextPiece],
    *,
    delimiter: str | None = None,
    weighted: bool,
    ignore_extra: bool,
    lowest: int,
    highest: int,
    advice: str = "",
) -> Iterator[ArcBlock]:
    """All `source target [weight]` lines, in blocks that are not empty, with their numbers as they stand."""
    state = np.zeros(4, dtype=np.int64)
    room = 0
    for piece in pieces:
        if len(piece.data) // 4 + 1 > room:
            room = len(piece.data) // 4 + 1
            sources, targets = np.empty(room, np.int64), np.empty(room, np.int64)
            weights, careful = np.empty(room if weighted else 0), np.empty((room if weighted else 0, 3), np.int64)
        buffer = np.frombuffer(piece.data, dtype=np.uint8)
        rows = careful if weighted else None
        parse_edges(
            buffer, _delimiter_byte(delimiter), ignore_extra, lowest, highest, sources, targets, weights, rows, state
        )
        count, code, position, delicate = (int(s) for s in state)
        if code:
            refuse(path, piece, code, position, advice, lowest=lowest, highest=highest)
        if count:
            convert_weights(path, piece, weights, careful, delicate)
            found = weights[:count].copy() if weighted else None
            yield ArcBlock(compact(sources[:count]), compact(targets[:count]), found)


def _delimiter_byte(delimiter: str | None) -> int:
    """The delimiter as kernels know it: -1 stands for white space."""
    return -1 if delimiter is None else ord(delimiter)


def _check_announced(path: Path, layout: Layout, arcs: int) -> None:
    """Raise when a file that `write_graph` wrote does not hold what its first line says."""
    if layout.announced is not None and layout.announced != arcs:
        raise InvalidFile(
            f"{path}: its first line announces {layout.announced:,} edges, the file holds {arcs:,}: it was cut off or "
            "edited. Delete that line to read what is there."
        )


def _refuse_doubtful_names(path: Path, names: PackedNames, layout: Layout, *, given: bool) -> None:
    """Raise for names that show that the lines mean something else; `given`: the caller said that nodes have names."""
    twice = set(layout.header)
    for name in names if twice or not given else ():
        if name in twice:
            raise InvalidFile(
                f"{path}: {name!r} is in the first line, which looks like column names, and a node in another line. "
                "Pass header=False if the first line is an edge, header=True if it is not (on the command line "
                "--no-header, --header)."
            )
        if given:
            continue
        if name in ARROWS:
            raise InvalidFile(f"{path}: {name!r} stands where a node should. Write `source target [weight]` a line.")
        if name[0] in "#%":
            raise InvalidFile(
                f"{path}: the node {name!r} begins with the sign of a comment; lines that begin with it would be lost. "
                "Pass names=True if there are none (on the command line --names)."
            )
        if layout.delimiter is None and name[0] == '"':
            raise InvalidFile(
                f"{path}: the node {name!r} begins with a double quote; quotes need commas, semicolons or tabs between "
                "columns. Pass names=True if it is part of the name (on the command line --names)."
            )


def _refuse_lone_first_line(path: Path, names: PackedNames, blocks: list[ArcBlock], layout: Layout) -> None:
    """Raise where the names in the first line of a table are in no other line: they may be those of its columns."""
    arcs = sum(block.sources.size for block in blocks)
    if layout.delimiter is None or layout.announced is not None or arcs < FEW_ARCS:
        return
    if sum(int(np.count_nonzero((block.sources < 2) | (block.targets < 2))) for block in blocks) == 1:
        first, second = names[0], names[1]
        raise InvalidFile(
            f"{path}: {first!r} and {second!r} stand in the first line and in no other: are they the names of columns? "
            f"If they are, pass header=True or columns=({first!r}, {second!r}), to densest_block names=(...) (on the "
            "command line --header, --columns, for `block` --fields); if they are an edge, pass header=False "
            "(--no-header) or put another edge first."
        )


def _named_arcs(path: Path, pieces: Iterator[TextPiece], layout: Layout) -> tuple[list[ArcBlock], PackedNames]:
    """The arcs of lines whose nodes have names, numbered as they come, and the names."""
    blocks: list[ArcBlock] = []
    state = np.zeros(5, dtype=np.int64)
    table = np.full(1 << 12, -1, dtype=np.int64)
    pool = np.empty(0, dtype=np.uint8)
    offsets = np.zeros(1, dtype=np.int64)
    for piece in _smaller_pieces(pieces):
        _check_text(path, piece)
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
            buffer, _delimiter_byte(layout.delimiter), layout.weighted, layout.extra, table, pool, offsets,
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


def _check_text(path: Path, piece: TextPiece) -> None:
    """Raise for names that are not UTF-8: two of them could look the same."""
    try:
        piece.data.decode()
    except UnicodeDecodeError:
        for number, line in enumerate(piece.data.split(b"\n"), start=piece.lines_before + 1):
            if line.strip()[:1] not in (b"#", b"%") and line.decode(errors="replace").encode() != line:
                raise InvalidFile(f"{path}, line {number:,}: not text in UTF-8. Save the file in UTF-8.") from None


def _smaller_pieces(pieces: Iterator[TextPiece]) -> Iterator[TextPiece]:
    """The same lines in pieces of about `NAMED_PIECE` bytes."""
    for piece in pieces:
        start, before = 0, piece.lines_before
        while start < len(piece.data):
            end = piece.data.find(b"\n", min(start + NAMED_PIECE, len(piece.data) - 1)) + 1
            data = piece.data[start:end]
            yield TextPiece(data, before)
            start, before = end, before + data.count(b"\n")


def write_edge_list(graph: Graph, path: Path) -> None:
    """`source target [weight]` lines with the nodes' own names; nodes without an edge in comments at the end."""
    label = None if graph.names is None else _written_names(graph.names)
    with packed_file(path) as file:
        file.write(f"# {graph.n} nodes, {graph.n_edges} edges\n".encode())
        write_edges(file, graph, 0, label=label)
        for node in np.flatnonzero(graph.degrees == 0).tolist() if graph.n_edges else ():
            file.write(_ISOLATED + (str(node) if label is None else label(node)).encode() + b"\n")


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
