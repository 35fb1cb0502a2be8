"""Real graphs from a local data folder: packed simple graphs (`*.ug.xz`) and bipartite incidences (`*.bip.xz`).

Layout of a packed file, after xz: the length of a JSON header (uint32, little-endian), the header, the rows' lengths,
then the gaps between the columns of a row. Both are stored as byte planes: all lowest bytes, then all second bytes, ...
A gap g means "g + 1 further than the previous column"; a row starts at its own index (graphs: only columns above the
diagonal are stored) or at -1 (incidences).
"""

from __future__ import annotations

import json
import lzma
import os
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from flipwise.foundation.errors import InvalidFile, InvalidInput
from flipwise.graphs.graph import ArcBlock, Graph, build_graph, index_type
from flipwise_studies.data.kernels import project_columns

Rows = tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]


def data_folder(folder: str | os.PathLike[str] | None = None) -> Path:
    """The folder given, or that of the environment variable `FLIPWISE_DATA`."""
    chosen = folder or os.environ.get("FLIPWISE_DATA", "")
    if not chosen or not Path(chosen).is_dir():
        raise InvalidInput(
            f"`folder` must be a folder with data, got {str(chosen)!r}. Pass one, or set the variable FLIPWISE_DATA."
        )
    return Path(chosen)


def local_graphs(folder: str | os.PathLike[str] | None = None) -> list[str]:
    """The names of the packed graphs in the folder."""
    return sorted(path.name.removesuffix(".ug.xz") for path in (data_folder(folder) / "graphs").glob("*.ug.xz"))


def local_graph(name: str, folder: str | os.PathLike[str] | None = None) -> Graph:
    """The packed graph `name`, or the actors' projection of `imdb-actors-1999` (actors joined by a common film)."""
    graphs = data_folder(folder) / "graphs"
    if (graphs / f"{name}.ug.xz").exists():
        return read_packed_graph(graphs / f"{name}.ug.xz")
    if (graphs / f"{name}.bip.xz").exists():
        return project_incidence(*read_incidence(graphs / f"{name}.bip.xz"))
    raise InvalidInput(f"`name` must be one of {', '.join(local_graphs(folder))} or an incidence, got {name!r}.")


def read_packed_graph(path: str | os.PathLike[str]) -> Graph:
    """The simple graph of a `*.ug.xz` file."""
    header, lengths, gaps = _unpack(Path(path), "n", "m")
    n = int(header["n"])
    columns = _columns(lengths, gaps, np.arange(n, dtype=np.int64))
    kind = index_type(n)
    sources = np.repeat(np.arange(n, dtype=kind), lengths)
    if columns.size and int(columns.max()) >= n:
        raise InvalidFile(f"{path}: column {int(columns.max())} is outside 0..{n - 1}.")
    return build_graph(n, [ArcBlock(sources, columns.astype(kind))], what=str(path))


def read_incidence(path: str | os.PathLike[str]) -> tuple[Rows, int]:
    """The rows of a `*.bip.xz` file as (indptr, columns), and the number of columns."""
    header, lengths, gaps = _unpack(Path(path), "rows", "nnz")
    columns = _columns(lengths, gaps, np.full(lengths.size, -1, dtype=np.int64))
    indptr = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    return (indptr, columns), int(header["cols"])


def project_incidence(rows: Rows, n_columns: int) -> Graph:
    """The columns as nodes, two joined when they share a row; the simple graph."""
    indptr, columns = rows
    if columns.size and int(columns.max()) >= n_columns:
        raise InvalidInput(f"`rows`: column {int(columns.max())} is outside 0..{n_columns - 1}.")
    # The transpose, by counting: which rows each column stands in.
    counts = np.bincount(columns, minlength=n_columns)
    column_starts = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
    row_of = np.repeat(np.arange(indptr.size - 1, dtype=np.int64), np.diff(indptr))
    column_rows = row_of[np.argsort(columns, kind="stable")]
    graph_starts = np.zeros(n_columns + 1, dtype=np.int64)
    seen = np.full(n_columns, -1, dtype=np.int64)
    empty = np.empty(0, dtype=index_type(n_columns))
    project_columns(indptr, columns, column_starts, column_rows, seen, graph_starts, empty)
    indices = np.empty(int(graph_starts[-1]), dtype=index_type(n_columns))
    seen.fill(-1)
    project_columns(indptr, columns, column_starts, column_rows, seen, graph_starts, indices)
    return Graph(graph_starts, indices, notes=(f"Projection of {indptr.size - 1:,} rows onto {n_columns:,} columns.",))


def _unpack(path: Path, rows: str, entries: str) -> tuple[dict[str, Any], npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """The header, the length of each row, and the gaps; `rows` and `entries` name the numbers in the header."""
    try:
        with lzma.open(path) as stream:
            raw = stream.read()
        size = int.from_bytes(raw[:4], "little")
        header = json.loads(raw[4 : 4 + size])
        counts = [int(header[key]) for key in (rows, "deg_planes", entries, "gap_planes")]
    except (lzma.LZMAError, EOFError, ValueError, KeyError, TypeError) as error:
        raise InvalidFile(f"{path}: not a packed graph: {error}") from None
    expected = 4 + size + counts[0] * counts[1] + counts[2] * counts[3]
    if min(counts) < 0 or len(raw) < expected:
        raise InvalidFile(f"{path}: {len(raw):,} bytes after unpacking where its header announces {expected:,}.")
    lengths = _planes(raw, 4 + size, counts[0], counts[1])
    gaps = _planes(raw, 4 + size + counts[0] * counts[1], counts[2], counts[3])
    if int(lengths.sum()) != gaps.size:
        raise InvalidFile(f"{path}: the rows announce {int(lengths.sum()):,} entries, the file holds {gaps.size:,}.")
    return header, lengths, gaps


def _planes(raw: bytes, start: int, count: int, planes: int) -> npt.NDArray[np.int64]:
    """Numbers that are stored as byte planes, lowest bytes first."""
    values = np.zeros(count, dtype=np.int64)
    for plane in range(planes):
        values |= np.frombuffer(raw, np.uint8, count, start + plane * count).astype(np.int64) << (8 * plane)
    return values


def _columns(
    lengths: npt.NDArray[np.int64], gaps: npt.NDArray[np.int64], before: npt.NDArray[np.int64]
) -> npt.NDArray[np.int64]:
    """Columns from gaps: a running sum that restarts at `before[row]` in each row."""
    steps = np.cumsum(gaps + 1)
    starts = np.cumsum(lengths) - lengths
    filled = lengths > 0
    offset = np.zeros(lengths.size, dtype=np.int64)
    offset[filled] = before[filled] - (steps[starts[filled]] - gaps[starts[filled]] - 1)
    return steps + np.repeat(offset, lengths)
