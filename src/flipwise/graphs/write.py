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
from flipwise.graphs.streams import plain_suffix

_EDGE_LIST_SUFFIXES = (".txt", ".el", ".edges", ".edgelist", ".tsv")
_WRITERS: dict[str, Callable[[Graph, Path], None]] = {
    "flipwise": write_store,
    "edgelist": write_edge_list,
    "matrixmarket": write_matrix_market,
    "metis": write_metis,
    "rudy": write_rudy,
}


def write_graph(graph: Any, path: str | os.PathLike[str], *, format: Format | None = None) -> Path:
    """Write a graph, atomically; the suffix chooses the format, the compact one (`.flipgraph`) when it says nothing.

    Parameters
    ----------
    graph
        A `Graph` or anything `as_graph` takes.
    path
        The suffixes `.mtx`, `.metis`, `.graph`, `.rudy`, `.txt`, `.el`, `.edges`, `.tsv` stand for the text formats,
        with `.gz`, `.bz2`, `.xz` or `.zst` behind for packed ones; any other for the compact format, which
        `read_graph` maps into memory instead of reading it.
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
    check_format(format)
    location = Path(path)
    suffix = plain_suffix(location)
    chosen = format or ("edgelist" if suffix in _EDGE_LIST_SUFFIXES else SUFFIXES.get(suffix, "flipwise"))
    if chosen not in _WRITERS:
        raise InvalidInput(f"`format` must be one of {', '.join(_WRITERS)} for writing, got {chosen!r}.")
    if not location.parent.is_dir():
        raise InvalidInput(f"`path`: the folder {str(location.parent)!r} does not exist.")
    _WRITERS[chosen](as_graph(graph), location)
    return location
