"""MatrixMarket coordinate files: a square sparse matrix as an adjacency matrix.

`symmetric` matrices give each edge once; `general` ones are directed graphs. `pattern` has no weights; explicit zeros
are no edges. Dense (`array`), `complex`, `hermitian` and `skew-symmetric` matrices are refused.

`scipy.io.mmread` would hold the whole matrix, symmetric ones twice, where these lines become the graph block by block.
"""

from __future__ import annotations

from itertools import chain
from pathlib import Path

from flipwise.foundation.errors import InvalidFile
from flipwise.graphs.formats.counted import next_header, read_entries, whole_numbers
from flipwise.graphs.formats.lines import write_edges
from flipwise.graphs.graph import Graph, Symmetrise
from flipwise.graphs.streams import TextPiece, lines, packed_file


def read_matrix_market(
    path: Path, *, symmetrise: Symmetrise = "max", weighted: bool | None = None, max_bytes: int | None = None
) -> Graph:
    """The graph of a MatrixMarket file."""
    pieces = lines(path, max_bytes)
    first = next(pieces, TextPiece(b"", 0))
    banner, _, rest = first.data.partition(b"\n")
    words = banner.decode(errors="replace").lower().split()
    if len(words) != 5 or words[:2] != ["%%matrixmarket", "matrix"]:
        raise InvalidFile(f"{path}, line 1: expected '%%MatrixMarket matrix coordinate <field> <symmetry>'.")
    layout, field, symmetry = words[2:]
    if layout != "coordinate" or field not in ("pattern", "real", "integer", "double"):
        raise InvalidFile(f"{path}, line 1: only sparse real matrices are read (coordinate), got '{layout} {field}'.")
    if symmetry not in ("general", "symmetric"):
        raise InvalidFile(f"{path}, line 1: symmetry must be general or symmetric, got '{symmetry}'.")
    line, text = next_header(path, chain([TextPiece(rest, 1)], pieces), b"%")
    n, columns, entries = whole_numbers(path, line, text, 3, 3, "rows columns entries")
    if n != columns:
        raise InvalidFile(f"{path}, line {line}: an adjacency matrix must be square, got {n} x {columns}.")
    has_weights = field != "pattern"
    return read_entries(
        path,
        header=line,
        n=n,
        announced=entries,
        noun="entries",
        has_weights=has_weights,
        use_weights=has_weights and weighted is not False,
        symmetrise=symmetrise,
        max_bytes=max_bytes,
    )


def write_matrix_market(graph: Graph, path: Path) -> None:
    """A symmetric coordinate matrix: the lower triangle, numbered from 1."""
    field = "pattern" if graph.weights is None else "real"
    with packed_file(path) as file:
        file.write(f"%%MatrixMarket matrix coordinate {field} symmetric\n".encode())
        file.write(f"{graph.n} {graph.n} {graph.n_edges}\n".encode())
        write_edges(file, graph, 1, larger_first=True)
