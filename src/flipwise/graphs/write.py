"""`write_graph`: a graph into a file, in the format that its suffix or the caller names."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

from flipwise.foundation.errors import InvalidInput
from flipwise.graphs.convert import as_graph
from flipwise.graphs.formats.edgelist import write_edge_list
from flipwise.graphs.formats.matrixmarket import write_matrix_market
from flipwise.graphs.formats.metis import write_metis
from flipwise.graphs.formats.rudy import write_rudy
from flipwise.graphs.graph import Graph
from flipwise.graphs.read import SUFFIXES, Format, check_format
from flipwise.graphs.store import write_store
from flipwise.graphs.streams import COMPRESSED_SUFFIXES, plain_suffix

_WRITERS: dict[str, Callable[[Graph, Path], None]] = {
    "flipwise": write_store,
    "edgelist": write_edge_list,
    "matrixmarket": write_matrix_market,
    "metis": write_metis,
    "rudy": write_rudy,
}
WRITTEN_FORMATS = tuple(_WRITERS)
"""The names of the formats that can be written."""
_SUFFIXES = SUFFIXES | dict.fromkeys((".txt", ".el", ".edges", ".edgelist", ".tsv"), "edgelist")


def write_graph(graph: Any, path: str | os.PathLike[str], *, format: Format | None = None) -> Path:
    """Write a graph, atomically; the suffix chooses the format.

    Parameters
    ----------
    graph
        A `Graph` or anything `as_graph` takes.
    path
        The suffix `.flipgraph` stands for the compact format, which `read_graph` maps into memory instead of reading
        it; `.mtx`, `.metis`, `.graph`, `.rudy`, `.txt`, `.el`, `.edges`, `.tsv` for the text formats, with `.gz`,
        `.bz2`, `.xz` or `.zst` behind for packed ones. Other suffixes need `format`. A link is followed and stays; a
        device or a pipe is written to.
    format
        `"flipwise"`, `"edgelist"`, `"matrixmarket"`, `"metis"` or `"rudy"`, against the suffix.

    Returns
    -------
    Path
        Where the graph now is.

    Examples
    --------
    >>> from flipwise import read_graph
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     path = write_graph((3, [[0, 1], [1, 2]]), folder + "/path.flipgraph")
    ...     read_graph(path)
    Graph(3 nodes, 2 edges, unweighted)
    """
    location = Path(path)
    writer = _WRITERS[written_format(location, format)]
    if not location.parent.is_dir():
        raise InvalidInput(f"`path`: the folder {str(location.parent)!r} does not exist.")
    writer(as_graph(graph), location)
    return location


def written_format(path: Path, format: str | None) -> str:
    """The format that a graph will be written in; one that cannot be written is refused with those that can."""
    check_format(format)
    suffix = plain_suffix(path)
    chosen = format or _SUFFIXES.get(suffix)
    if chosen == "flipwise" and path.suffix.lower() in COMPRESSED_SUFFIXES:
        raise InvalidInput(f"{path}: the compact format is mapped into memory and not packed; leave {path.suffix} out.")
    if chosen in _WRITERS:
        return chosen
    known = f"can be written: {', '.join(_WRITERS)}"
    if format is not None:
        raise InvalidInput(f"`format`: {format} files are read, but not written; these {known}.")
    raise InvalidInput(
        f"{path}: a graph is not written to {suffix or 'a file without a suffix'}; these formats {known} (the suffixes "
        f"{', '.join(s for s, name in _SUFFIXES.items() if name in _WRITERS)}). Choose another name, or pass `format`."
    )
