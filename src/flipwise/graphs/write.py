"""`write_graph`: a graph into a file, in the format that its suffix or the caller names."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from flipwise.foundation.errors import InvalidInput
from flipwise.graphs.convert import as_graph
from flipwise.graphs.formats.columns import write_csv
from flipwise.graphs.formats.edgelist import write_edge_list
from flipwise.graphs.formats.gexf import write_gexf
from flipwise.graphs.formats.gml import write_gml
from flipwise.graphs.formats.graphml import write_graphml
from flipwise.graphs.formats.matrixmarket import write_matrix_market
from flipwise.graphs.formats.metis import write_metis
from flipwise.graphs.formats.nodelink import write_node_link
from flipwise.graphs.formats.parquet import write_parquet
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
    "csv": write_csv,
    "parquet": write_parquet,
}
_MARKING: dict[str, Callable[[Graph, Path, Mapping[str, Any] | None], None]] = {
    "graphml": write_graphml,
    "gexf": write_gexf,
    "gml": write_gml,
    "nodelink": write_node_link,
}
"""The formats whose nodes can have attributes."""
WRITTEN_FORMATS = (*_WRITERS, *_MARKING)
"""The names of the formats that can be written."""
_SUFFIXES = SUFFIXES | dict.fromkeys((".txt", ".el", ".edges", ".edgelist", ".tsv"), "edgelist") | {".csv": "csv"}


def write_graph(
    graph: Any,
    path: str | os.PathLike[str],
    *,
    format: Format | None = None,
    attributes: Mapping[str, Any] | None = None,
) -> Path:
    """Write a graph, atomically; the suffix chooses the format.

    Parameters
    ----------
    graph
        A `Graph` or anything `as_graph` takes.
    path
        The suffix `.flipgraph` stands for the compact format, which `read_graph` maps into memory instead of reading
        it; `.graphml`, `.gexf`, `.gml`, `.json` (node-link), `.csv`, `.mtx`, `.metis`, `.graph`, `.rudy`, `.txt`,
        `.el`, `.edges`, `.tsv` for the text formats, with `.gz`, `.bz2`, `.xz` or `.zst` behind for packed
        ones; `.parquet` for a table. Other suffixes need `format`. A link is followed and stays; a device or a
        pipe is written to.
    format
        The name of the format (see `read_graph`), against the suffix. WebGraph and graph6 are not written.
    attributes
        Attributes of nodes by their names, a truth, number or text for each node: marks for Gephi and Cytoscape. In
        GraphML, GEXF, GML and JSON files only.

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
    chosen = written_format(location, format)
    if attributes is not None and chosen not in _MARKING:
        raise InvalidInput(f"`attributes`: {chosen} files have none; use {', '.join(_MARKING)}.")
    if not location.parent.is_dir():
        raise InvalidInput(f"`path`: the folder {str(location.parent)!r} does not exist.")
    simple = as_graph(graph)
    if chosen in _MARKING:
        _MARKING[chosen](simple, location, attributes)
    else:
        _WRITERS[chosen](simple, location)
    return location


def check_marking(path: Path) -> None:
    """Raise unless the suffix of a file stands for a format whose nodes can have attributes."""
    chosen = written_format(path, None)
    if chosen not in _MARKING:
        raise InvalidInput(f"{path}: {chosen} files have no attributes of nodes; use {', '.join(_MARKING)}.")


def written_format(path: Path, format: str | None) -> str:
    """The format that a graph will be written in; one that cannot be written is refused with those that can."""
    check_format(format)
    suffix = plain_suffix(path)
    chosen = format or _SUFFIXES.get(suffix)
    if chosen in ("flipwise", "parquet") and path.suffix.lower() in COMPRESSED_SUFFIXES:
        raise InvalidInput(f"{path}: {chosen} files are not packed; leave {path.suffix} out.")
    if chosen in WRITTEN_FORMATS:
        return chosen
    known = f"can be written: {', '.join(WRITTEN_FORMATS)}"
    if format is not None:
        raise InvalidInput(f"`format`: {format} files are read, but not written; these {known}.")
    raise InvalidInput(
        f"{path}: a graph is not written to {suffix or 'a file without a suffix'}; these formats {known} (the suffixes "
        f"{', '.join(s for s, name in _SUFFIXES.items() if name in WRITTEN_FORMATS)}). Choose another name, or "
        "pass `format`."
    )
