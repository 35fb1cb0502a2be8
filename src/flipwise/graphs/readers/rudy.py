"""rudy files (Max-Cut instances such as Gset): `n m`, then m lines `i j w`, nodes numbered from 1."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from flipwise.errors import InvalidFile
from flipwise.graphs.build import Arcs, Symmetrise, merge_arcs
from flipwise.graphs.graph import Graph
from flipwise.graphs.readers.header import next_header, whole_numbers
from flipwise.graphs.readers.text import TextArcs, from_base, numbered_arcs
from flipwise.graphs.streams import Piece, lines


def read_rudy(
    path: Path, *, symmetrise: Symmetrise = "max", weighted: bool | None = None, max_bytes: int | None = None
) -> Graph:
    """The graph of a rudy file."""
    pieces = lines(path, max_bytes)
    line, text = next_header(path, next(pieces, Piece(b"", 0)), pieces, b"#")
    n, edges = whole_numbers(path, line, text, 2, 2, "nodes edges")
    use_weights = weighted is not False

    def parse() -> Iterator[Arcs]:
        pieces = lines(path, max_bytes, skip=line)
        return numbered_arcs(path, pieces, weighted=use_weights, ignore_extra=not use_weights, lowest=1, highest=n)

    arcs = TextArcs(parse)
    if arcs.count != edges:
        raise InvalidFile(f"{path}: the header announces {edges:,} edges, the file holds {arcs.count:,}.")
    arcs.change = from_base(1, n)
    return merge_arcs(n, arcs, use_weights, symmetrise, what=str(path))
