"""CSV files with column names: read where columns stand in another order than source, target, weight; and written.

Those in the usual order are edge lists like any other, and much quicker to read.
"""

from __future__ import annotations

import csv
from collections.abc import Iterable, Iterator
from pathlib import Path

import numpy as np

from flipwise.foundation.errors import InvalidFile, InvalidInput
from flipwise.graphs.formats.layout import Layout, data_lines, is_finite_number
from flipwise.graphs.formats.lines import edges, number_text
from flipwise.graphs.graph import ArcBlock, Graph
from flipwise.graphs.names import LARGEST_NODE, PackedNames
from flipwise.graphs.streams import TextPiece, packed_file


def titled_rows(
    path: Path, pieces: Iterable[TextPiece], layout: Layout
) -> Iterator[tuple[list[str], list[str], list[float]]]:
    """The ends and the weights of the edges of each piece; a line with more or fewer fields than titles is refused."""
    width = len(layout.titles)
    for piece in pieces:
        ends: tuple[list[str], list[str]] = ([], [])
        weights: list[float] = []
        for number, text in data_lines(piece.data):
            place = f"{path}, line {piece.lines_before + number + 1:,}"
            fields = _split_fields(place, text, layout.delimiter)
            if len(fields) == width + 1 and fields[-1] == "":
                fields.pop()
            if len(fields) != width:
                raise InvalidFile(f"{place}: {len(fields)} columns, where the line of column names has {width}.")
            for side in (0, 1):
                end = fields[layout.places[side]]
                if end == "":
                    raise InvalidFile(f"{place}: the column {layout.titles[layout.places[side]]!r} is empty.")
                if "\ufffd" in end:
                    raise InvalidFile(f"{place}: not text in UTF-8. Save the file in UTF-8.")
                ends[side].append(end)
            if layout.weighted:
                weight = fields[layout.places[2]]
                if not is_finite_number(weight):
                    raise InvalidFile(f"{place}: the weight must be a finite number, found {weight!r}.")
                weights.append(float(weight))
        if ends[0]:
            yield *ends, weights


def _split_fields(place: str, text: str, delimiter: str | None) -> list[str]:
    """The fields of a line, empty ones included."""
    if delimiter is None:
        return text.split()
    try:
        return [f.strip() for f in next(csv.reader([text], delimiter=delimiter, skipinitialspace=True, strict=True))]
    except (csv.Error, StopIteration):
        raise InvalidFile(f"{place}: broken double quotes.") from None


def numbered_columns(
    path: Path, pieces: Iterable[TextPiece], layout: Layout, *, lowest: int, highest: int
) -> Iterator[ArcBlock]:
    """The arcs of lines whose nodes are numbers, as they stand."""
    for sources, targets, weights in titled_rows(path, pieces, layout):
        for node in (*sources, *targets):
            if not (node.isascii() and node.isdigit()) or len(node) > 18:
                raise InvalidFile(f"{path}: node {node!r} is no whole number. If nodes have names, pass names=True.")
            if not lowest <= int(node) <= min(highest, LARGEST_NODE):
                raise InvalidFile(f"{path}: node {node} is out of range ({lowest} to {highest}).")
        first, second = (np.array([int(node) for node in side], dtype=np.int64) for side in (sources, targets))
        yield ArcBlock(first, second, np.array(weights) if layout.weighted else None)


def named_columns(path: Path, pieces: Iterable[TextPiece], layout: Layout) -> tuple[list[ArcBlock], PackedNames]:
    """The arcs of lines whose nodes have names, numbered as they come, and the names."""
    index: dict[str, int] = {}
    blocks = []
    for *sides, weights in titled_rows(path, pieces, layout):
        first, second = (
            np.array([index.setdefault(name, len(index)) for name in side], dtype=np.int64) for side in sides
        )
        blocks.append(ArcBlock(first, second, np.array(weights) if layout.weighted else None))
    if not index:
        raise InvalidFile(f"{path}: holds no edges.")
    return blocks, PackedNames.pack(list(index))


def write_csv(graph: Graph, path: Path) -> None:
    """`source,target[,weight]` with the nodes' own names; nodes without an edge, which no line holds, are refused."""
    lonely = np.flatnonzero(graph.degrees == 0)
    names = range(graph.n) if graph.names is None else graph.names
    if lonely.size:
        raise InvalidInput(
            f"`graph`: {lonely.size:,} nodes have no edge (such as {names[int(lonely[0])]!r}), and a CSV table of "
            "edges cannot hold them. Write .txt, .parquet, .graphml or .json, which can."
        )
    texts = [_csv_text(str(name)) for name in names]
    with packed_file(path) as file:
        file.write(b"source,target\n" if graph.weights is None else b"source,target,weight\n")
        for i, j, weight in edges(graph):
            heavy = "" if graph.weights is None else f",{number_text(weight)}"
            file.write(f"{texts[i]},{texts[j]}{heavy}\n".encode())


def _csv_text(name: str) -> str:
    """A name as a field; names that could not be read back are refused."""
    if not name or name != name.strip() or name[0] in "#%" or any(c in '"\0' or c.splitlines() == [""] for c in name):
        raise InvalidInput(
            f"`graph`: the name {name!r} cannot stand in a CSV file (line ends, quotes, white space around it, or a "
            "leading '#' or '%'). Write .graphml, .json, .parquet or .flipgraph instead."
        )
    return f'"{name}"' if any(c in ",;\t" for c in name) else name
