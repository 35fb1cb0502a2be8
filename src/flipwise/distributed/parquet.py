"""Shards from a folder of Parquet edge tables, part by part: no process ever holds all arcs.

1. Each part is surveyed: its largest node, and how many arcs end in each of some thousand ranges of nodes.
2. The ranges of the shards are chosen to have about as many arcs each, and every part deals its arcs out to them.
3. Each shard sorts what it was dealt and merges repeated arcs, by the kernels that build a graph in memory.
The steps are functions of files, so a worker of a cluster that dies in between costs one part's work.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from flipwise.distributed.crew import ask_each
from flipwise.distributed.shards import Manifest, prepare, wanted_shards, write_array, write_manifest, write_shard
from flipwise.foundation.arrays import Ints
from flipwise.foundation.errors import InvalidFile, MissingDependency
from flipwise.graphs.formats.parquet import arcs_of_batch, edge_columns
from flipwise.graphs.graph import ArcBlock, Symmetrise, index_type
from flipwise.graphs.names import SPARSE_FACTOR, SPARSE_NODES
from flipwise.kernels import arcs as kernels

SURVEYED_RANGES = 1 << 14


class _Survey(NamedTuple):
    largest: int
    arcs: int
    shift: int
    counts: Ints
    weighted: bool


class _Merged(NamedTuple):
    files: dict[str, int]
    degrees: npt.NDArray[Any]
    arcs: int
    range: tuple[float, float]
    integral: bool
    size: float
    ones: bool
    largest_degree: int


def shard_parquet(source: Path, folder: Path, shards: int | None, symmetrise: Symmetrise, client: Any) -> None:
    """Write the shards of the edge tables `*.parquet` in `source`."""
    prepare(folder)
    parts = sorted(source.rglob("*.parquet"))
    if not parts:
        raise InvalidFile(f"{source}: holds no *.parquet files.")
    surveys = ask_each(client, "survey", _survey_file, [(str(part),) for part in parts])
    n, arcs = max(s.largest for s in surveys) + 1, sum(s.arcs for s in surveys)
    if n > SPARSE_NODES + SPARSE_FACTOR * arcs:
        raise InvalidFile(
            f"{source}: the largest node number, {n - 1:,}, for {arcs:,} arcs; number the nodes 0, 1, ..."
        )
    weighted = symmetrise == "sum" or any(s.weighted for s in surveys)
    starts = _shard_starts(surveys, n, wanted_shards(shards, 2 * arcs))
    dealt = folder / "dealt"
    dealt.mkdir(exist_ok=True)
    ask_each(client, "deal", _deal_part, [(str(part), str(dealt), i, starts, weighted) for i, part in enumerate(parts)])
    count = len(starts) - 1
    add = symmetrise == "sum"
    tasks = [(str(dealt), str(folder), s, len(parts), starts[s], starts[s + 1], n, weighted, add) for s in range(count)]
    merged: list[_Merged] = ask_each(client, "merge", _merge_shard, tasks)
    shutil.rmtree(dealt)
    kept = sum(m.arcs for m in merged)
    note = f"{arcs:,} arcs read from {len(parts)} Parquet files, {kept // 2:,} edges after merging."
    _write_manifest(folder, merged, n, weighted, starts, note)


def _write_manifest(folder: Path, merged: list[_Merged], n: int, weighted: bool, starts: list[int], note: str) -> None:
    """Say in the folder what its shards hold together; weights that are all 1 are left out."""
    weighted = weighted and not all(m.ones for m in merged)
    files = {name: crc for m in merged for name, crc in m.files.items() if weighted or "weights" not in name}
    degrees = np.concatenate([m.degrees for m in merged])
    files |= write_array(folder / "degrees.npy", degrees if weighted else degrees.astype(np.int64))
    kept = sum(m.arcs for m in merged)
    low, high = (min(m.range[0] for m in merged), max(m.range[1] for m in merged)) if weighted else (0.0, 1.0)
    integral = not weighted or (all(m.integral for m in merged) and sum(m.size for m in merged) < 2.0**52)
    largest = max(m.largest_degree for m in merged)
    write_manifest(folder, Manifest(n, kept, weighted, False, integral, (low, high), largest, starts, [note], files))


def _arc_batches(path: str) -> Iterator[ArcBlock]:
    """The arcs of a file, a batch of rows at a time."""
    try:
        import pyarrow as pa
        import pyarrow.parquet as pq
    except ImportError:
        raise MissingDependency("pyarrow", "distributed", "Reading Parquet files") from None
    try:
        with pq.ParquetFile(path) as file:
            columns = edge_columns(file.schema_arrow, path, InvalidFile, None)
            wanted = [name for name in columns if name is not None]
            for batch in file.iter_batches(batch_size=1 << 20, columns=wanted):
                yield arcs_of_batch(batch, columns, path, InvalidFile, None)
    except (pa.ArrowException, OSError) as error:
        if isinstance(error, FileNotFoundError | PermissionError):
            raise
        raise InvalidFile(f"{path}: not a readable Parquet file: {error}") from None


def _survey_file(path: str) -> _Survey:
    """What must be known of a file before its nodes are dealt to shards."""
    largest, arcs, shift, weighted = -1, 0, 0, False
    counts = np.zeros(SURVEYED_RANGES, dtype=np.int64)
    for block in _arc_batches(path):
        largest = max(largest, *(int(side.max(initial=-1)) for side in block[:2]))
        while largest >> shift >= SURVEYED_RANGES:
            counts = np.concatenate([counts.reshape(-1, 2).sum(axis=1), np.zeros(SURVEYED_RANGES // 2, np.int64)])
            shift += 1
        for side in block[:2]:
            counts += np.bincount(side >> shift, minlength=SURVEYED_RANGES)
        arcs += block.sources.size
        weighted = weighted or block.weights is not None
    return _Survey(largest, arcs, shift, counts, weighted)


def _shard_starts(surveys: list[_Survey], n: int, shards: int) -> list[int]:
    """The first node of each shard, and n."""
    shift = max(s.shift for s in surveys)
    total = np.zeros(SURVEYED_RANGES, dtype=np.int64)
    for s in surveys:
        counts = s.counts.reshape(-1, 1 << (shift - s.shift)).sum(axis=1)
        total[: counts.size] += counts
    ends = np.linspace(0, int(total.sum()), shards + 1)[1:-1]
    cuts = np.searchsorted(np.cumsum(total), ends) + 1 << shift
    starts: list[int] = np.unique(np.concatenate([[0], np.minimum(cuts, n), [n]])).tolist()
    return starts


def _deal_part(path: str, dealt: str, part: int, starts: list[int], weighted: bool) -> None:
    """Write the half-arcs of one part, as rows and keys (see `kernels.arcs`) in their order, a file for each shard."""
    kind, key_kind = _index_and_key_types(starts[-1])
    piles: list[list[tuple[Any, ...]]] = [[] for _ in starts[1:]]
    for block in _arc_batches(path):
        other = block.sources != block.targets
        sources, targets = block.sources[other].astype(np.int64), block.targets[other].astype(np.int64)
        rows = np.stack([sources, targets], axis=1).ravel()
        keys = np.stack([2 * targets, 2 * sources + 1], axis=1).ravel()
        weights = np.ones(sources.size) if block.weights is None else block.weights[other]
        shard = np.searchsorted(starts, rows, side="right") - 1
        for s in np.unique(shard):
            mine = np.flatnonzero(shard == s)
            heavy = (weights[mine >> 1],) if weighted else ()
            piles[s].append((rows[mine].astype(kind), keys[mine].astype(key_kind), *heavy))
    for s, pile in enumerate(piles):
        for name, pieces in zip(("rows", "keys", "weights"), zip(*pile)):
            write_array(Path(dealt, f"{part}-{s}-{name}.npy"), np.concatenate(pieces))


def _index_and_key_types(n: int) -> tuple[Any, Any]:
    """Integers that hold a node, and twice a node and 1."""
    kind = index_type(n)
    return kind, np.uint32 if kind == np.int32 else np.int64


def _merge_shard(
    dealt: str, folder: str, s: int, parts: int, first: int, last: int, n: int, weighted: bool, add: bool
) -> _Merged:
    """Sort and merge what a shard was dealt, and write it."""
    kind, key_kind = _index_and_key_types(n)

    def gathered(name: str, dtype: Any) -> npt.NDArray[Any]:
        paths = (Path(dealt, f"{part}-{s}-{name}.npy") for part in range(parts))
        pieces = [np.load(path) for path in paths if path.exists()]
        return np.concatenate(pieces) if pieces else np.empty(0, dtype=dtype)

    rows = gathered("rows", kind) - first
    order = np.argsort(rows, kind="stable")
    keys = gathered("keys", key_kind)[order]
    indptr = np.concatenate([[0], np.bincount(rows, minlength=last - first)]).cumsum().astype(np.int64)
    tally = np.zeros(4, dtype=np.int64)
    values = gathered("weights", np.float64)[order] if weighted else np.empty(0)
    del rows, order
    kernels.sort_rows(indptr, keys, values)
    if weighted:
        kept = int(kernels.merge_weighted_rows(indptr, keys, values, add, tally))
    else:
        kept = int(kernels.merge_rows(indptr, keys, tally))
    indices, heavy = keys[:kept].astype(kind), values[:kept]
    files = write_shard(Path(folder), s, indptr, indices, heavy if weighted else None)
    degrees: npt.NDArray[Any] = np.diff(indptr)
    largest = int(degrees.max(initial=0))
    if weighted:  # the order of addition of `positive_degrees`
        degrees = np.bincount(np.repeat(np.arange(last - first), degrees), np.maximum(heavy, 0.0), last - first)
    span = float(heavy.min(initial=0.0)), float(heavy.max(initial=0.0))
    whole = bool((heavy == np.floor(heavy)).all())
    size, ones = float(np.abs(heavy).sum()), bool((heavy == 1.0).all())
    return _Merged(files, degrees, kept, span, whole, size, ones, largest)
