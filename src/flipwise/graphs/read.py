"""`read_graph`: the format is found by content where possible, by suffix otherwise."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Literal, cast, get_args

from flipwise.foundation.checks import check_whole
from flipwise.foundation.errors import InvalidFile, InvalidInput
from flipwise.graphs.formats.bvgraph import read_bvgraph
from flipwise.graphs.formats.edgelist import read_edge_list
from flipwise.graphs.formats.foreign import READ, foreign_format, refuse_foreign
from flipwise.graphs.formats.gexf import read_gexf
from flipwise.graphs.formats.gml import read_gml
from flipwise.graphs.formats.graph6 import read_graph6
from flipwise.graphs.formats.graphml import read_graphml
from flipwise.graphs.formats.matrixmarket import read_matrix_market
from flipwise.graphs.formats.metis import read_metis
from flipwise.graphs.formats.nodelink import read_node_link
from flipwise.graphs.formats.parquet import read_parquet
from flipwise.graphs.formats.rudy import read_rudy
from flipwise.graphs.formats.tables import check_columns
from flipwise.graphs.graph import Graph, Symmetrise, check_symmetrise
from flipwise.graphs.store import MAGIC, open_store
from flipwise.graphs.streams import blocks, compression_of, plain_suffix

Format = Literal[
    "edgelist", "csv", "graphml", "gexf", "gml", "nodelink", "matrixmarket", "metis", "rudy", "graph6", "parquet",
    "bvgraph", "flipwise",
]  # fmt: skip
"""The names of the formats."""

SUFFIXES: dict[str, Format] = {
    ".mtx": "matrixmarket",
    ".mm": "matrixmarket",
    ".graph": "metis",
    ".metis": "metis",
    ".chaco": "metis",
    ".rudy": "rudy",
    ".rud": "rudy",
    ".mc": "rudy",
    ".graphml": "graphml",
    ".gexf": "gexf",
    ".gml": "gml",
    ".json": "nodelink",
    ".g6": "graph6",
    ".s6": "graph6",
    ".parquet": "parquet",
    ".pq": "parquet",
    ".flipgraph": "flipwise",
    ".fwg": "flipwise",
}
"""The formats that a suffix stands for."""
_READERS: dict[str, Callable[..., Graph]] = {
    "matrixmarket": read_matrix_market,
    "metis": read_metis,
    "rudy": read_rudy,
    "graphml": read_graphml,
    "gexf": read_gexf,
    "gml": read_gml,
    "nodelink": read_node_link,
    "graph6": read_graph6,
}


def read_graph(
    path: str | os.PathLike[str],
    *,
    format: Format | None = None,
    symmetrise: Symmetrise = "max",
    weighted: bool | None = None,
    names: bool | None = None,
    base: int | None = None,
    header: bool | None = None,
    columns: Sequence[str] | None = None,
    verify: bool = True,
    max_bytes: int | None = None,
) -> Graph:
    """Read a graph from a file, as a simple undirected graph.

    Parameters
    ----------
    path
        An edge list (SNAP, CSV, TSV, ...), GraphML, GEXF, GML, node-link JSON, MatrixMarket, METIS, rudy, graph6,
        Parquet, WebGraph BVGraph (`.graph` beside `.properties`) or compact Flipwise file. Text may be packed with
        gzip, bzip2, xz or zstd.
    format
        One of `"edgelist"` (or `"csv"`), `"graphml"`, `"gexf"`, `"gml"`, `"nodelink"`, `"matrixmarket"`, `"metis"`,
        `"rudy"`, `"graph6"`, `"parquet"`, `"bvgraph"`, `"flipwise"`; None finds out. What is known and not read is
        refused by name.
    symmetrise
        All arcs between two nodes become one edge. Its weight is their maximum (`"max"`) or their sum (`"sum"`);
        `"error"` refuses input with self loops, repeated arcs or arcs of which only some have a reverse. Self loops
        are dropped. `Graph.notes` says what was done.
    weighted
        False ignores weights; True demands them; None takes them where they are.
    names
        Edge lists only: whether nodes have names rather than numbers; None looks at the first line.
    base
        Edge lists only: the nodes are all numbers from `base` to the largest, also those without an edge. None: the
        numbers that occur.
    header
        Edge lists only: whether the first line of data holds column names rather than an edge. None recognises usual
        names and refuses a line that could be either.
    columns
        CSV and Parquet only: the names of the columns of the source, the target and, if wanted, the weight. None
        recognises usual names.
    verify
        Compact files only: check all checksums and rows (one pass over the file).
    max_bytes
        Refuse files that unpack to more. None allows 64 MiB plus 250 times the size of the file.

    Raises
    ------
    InvalidFile
        The file is malformed; the message names the line or byte and what is wrong there.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder, "triangle.txt")
    ...     _ = path.write_text("# a triangle\\nann bob\\nbob eve\\neve ann\\n")
    ...     graph = read_graph(path)
    >>> graph, list(graph.names)
    (Graph(3 nodes, 3 edges, unweighted), ['ann', 'bob', 'eve'])
    """
    check_symmetrise(symmetrise)
    check_format(format)
    if columns is not None:
        check_columns(columns)
    check_whole("base", base, 0, optional=True)
    check_whole("max_bytes", max_bytes, 1, optional=True)
    location = Path(path)
    found = format or detect_format(location)
    text = found in ("edgelist", "csv")
    if any(option is not None for option in (names, base, header)) and not text:
        raise InvalidInput(f"`names`, `base` and `header` are for edge lists; {location} is read as {found}.")
    if columns is not None and not text and found != "parquet":
        raise InvalidInput(f"`columns` is for tables, CSV and Parquet; {location} is read as {found}.")
    common: dict[str, Any] = {"symmetrise": symmetrise, "max_bytes": max_bytes}
    if text:
        own = {"names": names, "base": base, "header": header, "columns": columns}
        return read_edge_list(location, weighted=weighted, **own, **common)  # type: ignore[arg-type]
    if found == "parquet":
        return read_parquet(location, weighted=weighted, columns=columns, **common)
    if found == "bvgraph":
        _refuse_demanded_weights(weighted, location, found)
        return read_bvgraph(location, **common)
    if found == "flipwise":
        graph = open_store(location, verify=verify)
        if weighted is False and graph.weights is not None:
            return Graph(graph.indptr, graph.indices, None, graph.names, graph.notes)
        if graph.weights is None:
            _refuse_demanded_weights(weighted, location, found)
        return graph
    return _READERS[found](location, weighted=weighted, **common)


def check_format(format: str | None) -> None:
    """Raise unless `format` is None or the name of a format."""
    if format is not None and format not in get_args(Format):
        raise InvalidInput(f"`format` must be None or one of {', '.join(get_args(Format))}, got {format!r}.")


def _refuse_demanded_weights(weighted: bool | None, path: Path, format: str) -> None:
    """Raise if weights were demanded of a file that has none."""
    if weighted:
        raise InvalidInput(f"`weighted` is True, but {path} ({format}) has no weights.")


def detect_format(path: Path) -> Format:
    """The format of the file: what its first bytes prove, then what its suffix says, then edge list.

    A format that is known and not read is refused by its name.
    """
    if Path(f"{path}.graph").is_file() and Path(f"{path}.properties").is_file() and not path.exists():
        return "bvgraph"
    if path.suffix == ".properties" or (path.suffix == ".graph" and path.with_suffix(".properties").is_file()):
        return "bvgraph"
    if not path.is_file():
        raise InvalidInput(f"`path` must be an existing file, got {str(path)!r}.")
    with path.open("rb") as file:
        head = file.read(1 << 16)
    if head.startswith(MAGIC[:6]):
        return "flipwise"
    if head.startswith(b"PAR1"):
        return "parquet"
    if compression_of(path):
        head = next(blocks(path), b"")
    if head[:14].lower() == b"%%matrixmarket":
        return "matrixmarket"
    suffix = plain_suffix(path)
    known = foreign_format(head)
    if known in READ:
        return cast(Format, READ[known])
    if known is not None and not (known == "XML" and suffix in (".graphml", ".gexf")):
        refuse_foreign(path, head, suffix)
    if suffix in SUFFIXES:
        return SUFFIXES[suffix]
    refuse_foreign(path, b"", suffix)
    if b"\0" in head[:4096]:
        raise InvalidFile(f"{path}, byte {head.index(0):,}: binary data in no known format.")
    return "rudy" if _looks_like_rudy(head) else "edgelist"


def _looks_like_rudy(head: bytes) -> bool:
    """`n m` over lines of three columns, which no edge list would have."""
    sample = [line.split() for line in head[: 1 << 12].split(b"\n")[:-1][:20] if line.strip()]
    if len(sample) < 2 or len(sample[0]) != 2 or any(len(row) != 3 for row in sample[1:]):
        return False
    if not all(field.isdigit() and len(field) < 19 for row in sample for field in row[:2]):
        return False
    return all(1 <= int(field) <= int(sample[0][0]) for row in sample[1:] for field in row[:2])
