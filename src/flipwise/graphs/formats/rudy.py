"""rudy files (Max-Cut instances such as Gset): `n m`, then m lines `i j w`, nodes numbered from 1."""

from __future__ import annotations

from pathlib import Path

from flipwise.graphs.formats.counted import next_header, read_entries, whole_numbers
from flipwise.graphs.formats.lines import write_edges
from flipwise.graphs.graph import Graph, Symmetrise
from flipwise.graphs.streams import lines, packed_file


def read_rudy(
    path: Path, *, symmetrise: Symmetrise = "max", weighted: bool | None = None, max_bytes: int | None = None
) -> Graph:
    """The graph of a rudy file."""
    line, text = next_header(path, lines(path, max_bytes), b"#")
    n, edges = whole_numbers(path, line, text, 2, 2, "nodes edges")
    return read_entries(
        path,
        header=line,
        n=n,
        announced=edges,
        noun="edges",
        has_weights=True,
        use_weights=weighted is not False,
        symmetrise=symmetrise,
        max_bytes=max_bytes,
    )


def write_rudy(graph: Graph, path: Path) -> None:
    """`n m`, then `i j w`, numbered from 1."""
    with packed_file(path) as file:
        file.write(f"{graph.n} {graph.n_edges}\n".encode())
        write_edges(file, graph, 1, always_weighted=True)
