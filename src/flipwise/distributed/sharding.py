"""`shard_graph`: any graph, our graph file or a folder of Parquet edge tables becomes a folder of shards."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np

from flipwise.distributed.shards import write_shards
from flipwise.errors import InvalidInput
from flipwise.graphs.convert import as_graph
from flipwise.graphs.graph import Symmetrise, check_symmetrise

ARCS_A_SHARD = 25_000_000
LEAST_SHARDS = 8


def shard_graph(
    graph: Any, folder: str | Path, *, shards: int | None = None, symmetrise: Symmetrise = "max", client: Any = None
) -> Path:
    """Write a graph as a folder of shards; returns the folder.

    Parameters
    ----------
    graph
        A folder of Parquet edge tables (nodes are whole numbers), which is read part by part and never held whole; or
        anything that `flipwise.densest_subgraph` takes. Our own graph file is mapped, not read into memory.
    folder
        The folder to write; it must not hold shards yet.
    shards
        How many; by default one for 25 million arcs, and at least 8.
    symmetrise
        The weight of an edge given by several arcs: "max" or "sum" (see `flipwise.read_graph`).
    client
        A `dask.distributed.Client` whose workers share the work on Parquet parts; by default this process does it.

    Examples
    --------
    >>> import flipwise.distributed, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     written = flipwise.distributed.shard_graph((3, [[0, 1], [1, 2]]), folder, shards=2)
    ...     sorted(path.name for path in written.iterdir())[:3]
    ['degrees.npy', 'manifest.json', 'shard-00000.indices.npy']
    """
    check_symmetrise(symmetrise)
    if shards is not None and (isinstance(shards, bool) or not isinstance(shards, int | np.integer) or shards < 1):
        raise InvalidInput(f"`shards` must be None or an integer of at least 1, got {shards!r}.")
    target = Path(folder)
    if isinstance(graph, str | os.PathLike) and Path(graph).is_dir():
        from flipwise.distributed.parquet import shard_parquet

        shard_parquet(Path(graph), target, shards, symmetrise, client)
    else:
        built = as_graph(graph, symmetrise=symmetrise)
        write_shards(built, target, wanted_shards(shards, built.n_arcs))
    return target


def wanted_shards(shards: int | None, arcs: int) -> int:
    """The number asked for, or a good one."""
    return int(shards) if shards is not None else max(LEAST_SHARDS, -(-arcs // ARCS_A_SHARD))
