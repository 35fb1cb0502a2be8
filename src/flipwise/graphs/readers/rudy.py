"""rudy files (Max-Cut instances such as Gset): `n m`, then m lines `i j w`, nodes numbered from 1."""

from __future__ import annotations

from itertools import chain
from pathlib import Path

from flipwise.errors import InvalidFile
from flipwise.graphs.build import Symmetrise, build_graph
from flipwise.graphs.graph import Graph
from flipwise.graphs.readers.header import next_header, whole_numbers
from flipwise.graphs.readers.text import numbered_arcs, shift
from flipwise.graphs.streams import Piece, lines


def read_rudy(
    path: Path, *, symmetrise: Symmetrise = "max", weighted: bool | None = None, max_bytes: int | None = None
) -> Graph:
    """The graph of a rudy file."""
    pieces = lines(path, max_bytes)
    line, text, piece = next_header(path, next(pieces, Piece(b"", 0)), pieces, b"#")
    n, edges = whole_numbers(path, line, text, 2, 2, "nodes edges")
    use_weights = weighted is not False
    blocks, _ = numbered_arcs(
        path, chain([piece], pieces), weighted=use_weights, ignore_extra=not use_weights, lowest=1, highest=n
    )
    found = sum(block.sources.size for block in blocks)
    if found != edges:
        raise InvalidFile(f"{path}: the header announces {edges:,} edges, the file holds {found:,}.")
    shift(blocks, 1)
    return build_graph(n, blocks, symmetrise=symmetrise, what=str(path))
