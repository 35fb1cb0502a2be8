"""Two text formats of numbered entries behind a header of counts, both numbered from 1.

MatrixMarket coordinate files: a square sparse matrix as an adjacency matrix. `symmetric` matrices give each edge once;
`general` ones are directed graphs. `pattern` has no weights; explicit zeros are no edges. Dense (`array`), `complex`,
`hermitian` and `skew-symmetric` matrices are refused.

rudy files (Max-Cut instances such as Gset): `n m`, then m lines `i j w`.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from flipwise.errors import InvalidFile
from flipwise.graphs.build import Arcs, Symmetrise, merge_arcs
from flipwise.graphs.graph import Graph
from flipwise.graphs.names import from_base
from flipwise.graphs.readers.text import TextArcs, next_header, numbered_arcs, whole_numbers
from flipwise.graphs.streams import Piece, lines


def read_matrix_market(
    path: Path, *, symmetrise: Symmetrise = "max", weighted: bool | None = None, max_bytes: int | None = None
) -> Graph:
    """The graph of a MatrixMarket file."""
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
    line, text = next_header(path, Piece(rest, 1), pieces, b"%")
    n, columns, entries = whole_numbers(path, line, text, 3, 3, "rows columns entries")
    if n != columns:
        raise InvalidFile(f"{path}, line {line}: an adjacency matrix must be square, got {n} x {columns}.")
    has_weights = field != "pattern"
    counts = line, n, entries, "entries"
    return _entries(path, *counts, has_weights, has_weights and weighted is not False, symmetrise, max_bytes)


def read_rudy(
    path: Path, *, symmetrise: Symmetrise = "max", weighted: bool | None = None, max_bytes: int | None = None
) -> Graph:
    """The graph of a rudy file."""
    pieces = lines(path, max_bytes)
    line, text = next_header(path, next(pieces, Piece(b"", 0)), pieces, b"#")
    n, edges = whole_numbers(path, line, text, 2, 2, "nodes edges")
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
