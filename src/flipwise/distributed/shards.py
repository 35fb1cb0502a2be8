"""A graph on disk in shards of consecutive nodes, each of which a worker maps into its memory by itself.

A folder holds, for each shard, the rows of its nodes as plain `.npy` arrays (`indptr` from 0, `indices` of all nodes,
`weights` if there are any), the positive degrees of all nodes, and `manifest.json`, which is written last: it names the
ranges and the CRC-32 of every file. A folder without a manifest is not finished. `shard_graph` makes one of any graph,
our graph file or a folder of Parquet edge tables.
"""

from __future__ import annotations

import itertools
import json
import os
import zlib
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from flipwise.densest.core import positive_degrees
from flipwise.densest.whole import integral_weights, weight_range
from flipwise.foundation.arrays import Ints
from flipwise.foundation.atomic import atomic_file, write_atomically
from flipwise.foundation.checks import check_whole, is_number, is_whole
from flipwise.foundation.errors import InvalidFile, InvalidInput
from flipwise.graphs.convert import as_graph
from flipwise.graphs.graph import Graph, Symmetrise, check_symmetrise
from flipwise.graphs.store import open_store, write_store

FORMAT = "flipwise shards 1"
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
    check_whole("shards", shards, 1, optional=True)
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


class Shard(NamedTuple):
    """The rows of the nodes `first, first + 1, ...`; weights are a single 1 when all are."""

    first: int
    indptr: npt.NDArray[np.int64]
    indices: Ints
    weights: npt.NDArray[Any]

    @property
    def size(self) -> int:
        return self.indptr.size - 1


@dataclass(frozen=True)
class Manifest:
    """What `manifest.json` says; shard s has the nodes from `starts[s]` to `starts[s + 1]`."""

    nodes: int
    arcs: int
    weighted: bool
    named: bool
    integral: bool
    weight_range: tuple[float, float]
    largest_degree: int
    starts: list[int]
    notes: list[str]
    files: dict[str, int]

    @property
    def fingerprint(self) -> int:
        """Different for different graphs."""
        return zlib.crc32(json.dumps(asdict(self), sort_keys=True).encode())


def write_shards(graph: Graph, folder: Path, shards: int) -> None:
    """Write the shards of a graph that is in memory or mapped, with about as many arcs in each."""
    prepare(folder)
    ends = np.linspace(0, graph.n_arcs, shards + 1)[1:-1]
    starts = np.unique(np.concatenate([[0], np.searchsorted(graph.indptr, ends), [graph.n]])).tolist()
    files: dict[str, int] = {}
    for s, (first, last) in enumerate(itertools.pairwise(starts)):
        begin, end = graph.indptr[first], graph.indptr[last]
        weights = None if graph.weights is None else graph.weights[begin:end]
        files |= write_shard(folder, s, graph.indptr[first : last + 1] - begin, graph.indices[begin:end], weights)
    named = graph.names is not None
    if named:  # a graph file without arcs carries the names
        bare = Graph(np.zeros(graph.n + 1, np.int64), np.empty(0, graph.indices.dtype), names=graph.names)
        write_store(bare, folder / "names.fwg")
    files |= write_array(folder / "degrees.npy", positive_degrees(graph))
    manifest = Manifest(
        graph.n, graph.n_arcs, graph.weights is not None, named, integral_weights(graph), weight_range(graph),
        int(graph.degrees.max(initial=0)), starts, list(graph.notes), files,
    )  # fmt: skip
    write_manifest(folder, manifest)


def prepare(folder: Path) -> None:
    """Make the folder; refuse one that has shards already."""
    if (folder / "manifest.json").exists():
        raise InvalidInput(f"`folder`: {folder} holds shards already. Choose another one or delete it.")
    folder.mkdir(parents=True, exist_ok=True)


def write_shard(
    folder: Path, s: int, indptr: npt.NDArray[np.int64], indices: Ints, weights: npt.NDArray[Any] | None
) -> dict[str, int]:
    """Write one shard; returns the checksum of each of its files."""
    files = write_array(_array_path(folder, s, "indptr"), indptr) | write_array(
        _array_path(folder, s, "indices"), indices
    )
    return files if weights is None else files | write_array(_array_path(folder, s, "weights"), weights)


def write_array(path: Path, values: npt.NDArray[Any]) -> dict[str, int]:
    """Write a `.npy` file whole or not at all; returns its name and the checksum of its data."""
    values = np.ascontiguousarray(values)
    with atomic_file(path) as file:
        np.lib.format.write_array(file, values, allow_pickle=False)
    return {path.name: zlib.crc32(values.data)}


def write_manifest(folder: Path, manifest: Manifest) -> None:
    """Finish a folder."""
    write_atomically(folder / "manifest.json", json.dumps({"format": FORMAT, **asdict(manifest)}).encode())


@lru_cache(maxsize=16)
def read_manifest(folder: Path) -> Manifest:
    """The manifest of a finished folder."""
    path = folder / "manifest.json"
    try:
        content = json.loads(path.read_bytes())
        if content.pop("format") != FORMAT:
            raise InvalidFile(f"{path}: not the manifest of shards that this Flipwise reads ({FORMAT}).")
        manifest = Manifest(**content | {"weight_range": tuple(content["weight_range"])})
        starts = manifest.starts
        if not all(is_whole(number) and number >= 0 for number in (manifest.nodes, manifest.arcs, *starts)):
            raise ValueError("a number of nodes or arcs is no whole number")
        if not all(is_number(end) for end in manifest.weight_range) or len(manifest.weight_range) != 2:
            raise ValueError("the range of the weights is not two numbers")
        if starts[0] != 0 or starts[-1] != manifest.nodes or any(b < a for a, b in itertools.pairwise(starts)):
            raise ValueError("the ranges of the shards do not ascend from 0 to the number of nodes")
    except FileNotFoundError:
        raise InvalidInput(f"`folder`: {folder} has no manifest.json: no shards, or not finished.") from None
    except (KeyError, TypeError, ValueError, AttributeError, IndexError, RecursionError) as error:
        if isinstance(error, InvalidFile):
            raise
        raise InvalidFile(f"{path}: damaged ({error}).") from None
    return manifest


@lru_cache(maxsize=256)
def open_shard(folder: Path, s: int) -> Shard:
    """Map a shard; the first time in a process every byte is checked."""
    manifest = read_manifest(folder)

    def read(name: str) -> npt.NDArray[Any]:
        path = _array_path(folder, s, name)
        return read_array(path, manifest.files.get(path.name))

    indptr, indices = read("indptr"), read("indices")
    weights = read("weights") if manifest.weighted else np.ones(1, np.int64)
    rows = manifest.starts[s + 1] - manifest.starts[s]
    flat = all(part.ndim == 1 for part in (indptr, indices, weights))
    typed = flat and indptr.dtype == np.int64 and indices.dtype in (np.int32, np.int64)
    if not typed or (manifest.weighted and not (weights.dtype == np.float64 and np.isfinite(weights).all())):
        raise InvalidFile(
            f"{_array_path(folder, s, 'indptr')}: the arrays of shard {s} are of other types, or not finite."
        )
    whole = (
        indptr.size == rows + 1 and indptr[0] == 0 and indptr[-1] == indices.size and not (np.diff(indptr) < 0).any()
    )
    inside = not indices.size or (indices.min() >= 0 and indices.max() < manifest.nodes)
    if not whole or not inside or (manifest.weighted and weights.size != indices.size):
        raise InvalidFile(f"{_array_path(folder, s, 'indptr')}: the rows of shard {s} do not fit the manifest.")
    return Shard(manifest.starts[s], indptr, indices, weights)


def read_array(path: Path, checksum: int | None) -> npt.NDArray[Any]:
    """The array of a file, mapped copy-on-write and checked."""
    try:
        values: npt.NDArray[Any] = np.ascontiguousarray(np.load(path, mmap_mode="c", allow_pickle=False))
    except Exception as error:  # NumPy has many
        raise InvalidFile(f"{path}: not a readable array: {error}") from None
    if values.dtype.kind not in "iuf" or zlib.crc32(values.data) != checksum:
        raise InvalidFile(f"{path}: the checksum is wrong: the file is damaged.")
    return values


@lru_cache(maxsize=4)
def read_degrees(folder: Path) -> npt.NDArray[Any]:
    """The positive degrees of all nodes, mapped."""
    return read_array(folder / "degrees.npy", read_manifest(folder).files.get("degrees.npy"))


def read_names(folder: Path) -> Any:
    """The nodes' own names, None when there are none."""
    return open_store(folder / "names.fwg").names if read_manifest(folder).named else None


def joined(folder: Path) -> Graph:
    """All shards as one graph in memory."""
    manifest = read_manifest(folder)
    shards = [open_shard(folder, s) for s in range(len(manifest.starts) - 1)]
    if sum(shard.indices.size for shard in shards) != manifest.arcs:
        raise InvalidFile(f"{folder}: its shards do not hold the {manifest.arcs:,} arcs of the manifest.")
    indptr = np.concatenate([[0], *(np.diff(shard.indptr) for shard in shards)]).cumsum()
    weights = np.concatenate([shard.weights for shard in shards]) if manifest.weighted else None
    return Graph(indptr, np.concatenate([shard.indices for shard in shards]), weights)


def owners(folder: Path, nodes: Ints) -> Iterator[tuple[int, Ints]]:
    """The shards of some nodes, each with the positions in `nodes` of those that are its own."""
    shard = np.searchsorted(read_manifest(folder).starts, nodes, side="right") - 1
    for s in np.unique(shard):
        yield int(s), np.flatnonzero(shard == s)


def _array_path(folder: Path, s: int, name: str) -> Path:
    """The file of one array of a shard."""
    return folder / f"shard-{s:05d}.{name}.npy"
