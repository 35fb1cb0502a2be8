"""Rows in blocks that workers read by themselves (Parquet files, an `.npy` file, a Dask array), their codes in shards.

In Parquet the features are one column of lists (`features`, `embedding` or `vector`) or all columns of numbers but the
label's. A block is read in batches, so that a worker holds a few tens of thousands of rows at a time.

Codes are written to a folder of `.npy` files of bytes with a manifest, and searched shard by shard.
"""

from __future__ import annotations

import json
import math
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from flipwise.distributed.crew import ask_each
from flipwise.distributed.shards import prepare, read_array, write_array
from flipwise.foundation.atomic import write_atomically
from flipwise.foundation.errors import InvalidFile, InvalidInput, MissingDependency
from flipwise.hashing.codes import Codes
from flipwise.hashing.functions.ridge import chunks
from flipwise.hashing.search import Neighbours, hamming_search

BATCH = 1 << 15
"""Rows that a worker reads at a time."""
FILE_BLOCK = 1 << 18
"""Rows of a block of an `.npy` file."""
CODES_FORMAT = "flipwise codes 1"
"""What a manifest of codes in shards begins with."""
_LISTS = ("features", "embedding", "vector")


class RowGroup(NamedTuple):
    """One row group of a Parquet file; `features` are its columns, `label` the column of classes or None.

    Of an `.npy` file: the rows of block number `group`, without columns.
    """

    path: str
    group: int
    features: tuple[str, ...]
    label: str | None


Block = tuple[RowGroup | None, Any, Any]
"""A row group, or None and the rows (and labels or None) themselves, which Dask hands over."""


class Blocks:
    """All rows, in order."""

    def __init__(self, blocks: list[Block], sizes: list[int], width: int) -> None:
        self.blocks, self.sizes = blocks, sizes
        self.shape = (sum(sizes), width)

    def __getitem__(self, rows: Any) -> npt.NDArray[Any]:
        """Some rows, few, fetched into this process; for anchors and the like."""
        wanted = np.arange(self.shape[0])[rows]
        ends = np.cumsum(self.sizes)
        which = np.searchsorted(ends, wanted, side="right")
        found = np.empty((wanted.size, self.shape[1]))
        for b in np.unique(which):
            mine, start = np.flatnonzero(which == b), int(ends[b] - self.sizes[b])
            group, future, _ = self.blocks[b]
            for X, _ in batches(group, future.result() if group is None else None, None):
                inside = mine[(wanted[mine] >= start) & (wanted[mine] < start + len(X))]
                found[inside] = X[wanted[inside] - start]
                start += len(X)
        return found


def as_blocks(X: Any, y: Any, label: str, labelled: bool, client: Any) -> Blocks:
    """The blocks of a Parquet file or folder, or of a Dask array (with its labels, an array, beside it).

    The column `label` is no feature; it is read only when the rows are `labelled`.
    """
    if isinstance(X, str | os.PathLike):
        return _array_file(Path(X), y) if Path(X).suffix == ".npy" else _parquet_blocks(Path(X), label, labelled)
    if not hasattr(X, "to_delayed") or getattr(X, "ndim", 0) != 2:
        raise InvalidInput(f"`X` must be a path of Parquet files or a Dask array of rows, got {type(X).__name__}.")
    X = X.rechunk({1: -1})
    if any(math.isnan(size) for size in X.chunks[0]):
        raise InvalidInput("`X` has chunks of unknown size; call X.compute_chunk_sizes() first.")
    sizes = [int(size) for size in X.chunks[0]]
    futures = client.compute(X.to_delayed().ravel().tolist())
    return Blocks([(None, *each) for each in zip(futures, _labels_of_blocks(y, sizes), strict=True)], sizes, X.shape[1])


def _labels_of_blocks(y: Any, sizes: list[int]) -> list[Any]:
    """The labels of each block, or None for each."""
    if y is None:
        return [None] * len(sizes)
    whole = np.asarray(y)
    if len(whole) != sum(sizes):
        raise InvalidInput(f"`y` must have a label for each of the {sum(sizes):,} rows, got {len(whole):,}.")
    return list(np.split(whole, np.cumsum(sizes)[:-1]))


def batches(group: RowGroup | None, X: Any, y: Any) -> Iterator[tuple[npt.NDArray[Any], Any]]:
    """The rows of a block with their labels (None: there are none), some at a time."""
    if group is None:
        for rows in chunks(len(X), BATCH):
            yield X[rows], None if y is None else y[rows]
        return
    if not group.features:
        part = np.load(group.path, mmap_mode="r")[group.group * FILE_BLOCK :][:FILE_BLOCK]
        for rows in chunks(len(part), BATCH):
            yield np.array(part[rows]), None if y is None else y[rows]
        return
    for batch in _rows_of_file(group, [*group.features, *([] if group.label is None else [group.label])]):
        labels = None if group.label is None else batch.column(group.label).to_numpy(zero_copy_only=False)
        yield _checked_features(batch, group), labels


def labels_of(group: RowGroup | None, X: Any, y: Any) -> Iterator[Any]:
    """The labels of a block (None: there are none), some at a time; its features are left unread."""
    if group is None or not group.features:
        yield y
    elif group.label is None:
        yield None
    else:
        for batch in _rows_of_file(group, [group.label]):
            yield batch.column(group.label).to_numpy(zero_copy_only=False)


def _rows_of_file(group: RowGroup, columns: list[str]) -> Iterator[Any]:
    """Columns of Parquet rows, some rows at a time."""
    import pyarrow.parquet as pq

    with pq.ParquetFile(group.path) as file:
        yield from file.iter_batches(batch_size=BATCH, row_groups=[group.group], columns=columns)


def _checked_features(batch: Any, group: RowGroup) -> npt.NDArray[Any]:
    """The features of a batch of Parquet rows, checked."""
    columns = [batch.column(name) for name in group.features]
    if any(column.null_count for column in columns):
        raise InvalidFile(f"{group.path}: features have missing values.")
    if len(columns) == 1 and hasattr(columns[0], "value_lengths"):
        if len(columns[0].value_lengths().unique()) > 1:
            raise InvalidFile(f"{group.path}: the lists of features differ in length.")
        rows = columns[0].flatten().to_numpy(zero_copy_only=False).reshape(len(batch), -1)
    else:
        rows = np.column_stack([column.to_numpy(zero_copy_only=False) for column in columns])
    if rows.dtype not in (np.float32, np.float64):
        rows = rows.astype(np.float64)
    if not np.isfinite(rows).all():
        raise InvalidFile(f"{group.path}: features must be finite.")
    return np.ascontiguousarray(rows)


def parquet_rows(path: Path, label: str = "label") -> npt.NDArray[Any]:
    """All rows of a Parquet file, read into this process; the column `label` is no feature."""
    parts = [X for block in _parquet_blocks(path, label, labelled=False).blocks for X, _ in batches(*block)]
    if len({part.shape[1] for part in parts}) > 1:
        raise InvalidFile(f"{path}: the lists of features differ in length.")
    return np.concatenate(parts)


def _array_file(path: Path, y: Any) -> Blocks:
    """The blocks of an `.npy` file."""
    try:
        whole = np.load(path, mmap_mode="r", allow_pickle=False)
    except (OSError, ValueError) as error:
        raise InvalidFile(f"{path}: not a readable array: {error}") from None
    if whole.ndim != 2 or whole.dtype not in (np.float32, np.float64) or not len(whole):
        raise InvalidFile(f"{path}: must hold rows of float32 or float64, got {whole.dtype} of shape {whole.shape}.")
    sizes = [rows.stop - rows.start for rows in chunks(len(whole), FILE_BLOCK)]
    groups = [RowGroup(str(path.resolve()), block, (), None) for block in range(len(sizes))]
    blocks: list[Block] = [
        (group, None, labels) for group, labels in zip(groups, _labels_of_blocks(y, sizes), strict=True)
    ]
    return Blocks(blocks, sizes, whole.shape[1])


def _parquet_blocks(path: Path, label: str, labelled: bool) -> Blocks:
    """The row groups of a Parquet file or a folder of them."""
    try:
        import pyarrow as pa
        import pyarrow.parquet as pq
    except ImportError:
        raise MissingDependency("pyarrow", "distributed", "Reading Parquet files") from None
    files = sorted(path.rglob("*.parquet")) if path.is_dir() else [path]
    blocks: list[Block] = []
    sizes = []
    for name in files:
        try:
            with pq.ParquetFile(name) as file:
                schema, metadata = file.schema_arrow, file.metadata
        except (pa.ArrowException, OSError) as error:
            raise InvalidFile(f"{name}: not a readable Parquet file: {error}") from None
        if labelled and label not in schema.names:
            raise InvalidFile(f"{name}: has no column '{label}' with the labels, got {schema.names}.")
        lists = [each for each in _LISTS if each in schema.names]
        typed = [f for f in schema if pa.types.is_floating(f.type) or pa.types.is_integer(f.type)]
        numbers = [f.name for f in typed if f.name != label]
        features = tuple(lists[:1] or numbers)
        if not features:
            raise InvalidFile(f"{name}: has no columns of features, got {schema.names}.")
        for g in range(metadata.num_row_groups):
            if metadata.row_group(g).num_rows:
                blocks.append((RowGroup(str(name.resolve()), g, features, label if labelled else None), None, None))
                sizes.append(metadata.row_group(g).num_rows)
    if not blocks:
        raise InvalidFile(f"{path}: holds no rows in *.parquet files.")
    return Blocks(blocks, sizes, width=next(batches(*blocks[0]))[0].shape[1])


@dataclass(frozen=True)
class CodeShards:
    """A folder of packed codes; `rows` and `checksums` are those of each shard, in the order of the rows."""

    folder: Path
    n_bits: int
    rows: tuple[int, ...] = ()
    checksums: tuple[int, ...] = ()

    @classmethod
    def begin(cls, folder: Path, n_bits: int) -> CodeShards:
        """A new folder; refuses one that is in use."""
        prepare(folder)
        return cls(folder.resolve(), int(n_bits))

    @classmethod
    def open(cls, folder: str | Path) -> CodeShards:
        """The shards that were written to a folder."""
        path = Path(folder) / "manifest.json"
        try:
            content = json.loads(path.read_bytes())
            if content["format"] != CODES_FORMAT:
                raise ValueError("not a folder of codes")
            return cls(Path(folder), int(content["n_bits"]), tuple(content["rows"]), tuple(content["checksums"]))
        except (OSError, KeyError, TypeError, ValueError) as error:
            raise InvalidFile(f"{path}: not a manifest of codes in shards ({error}).") from None

    @staticmethod
    def write(folder: Path, s: int, packed: npt.NDArray[np.uint8]) -> tuple[int, int]:
        """Write one shard; returns its rows and its checksum."""
        (crc,) = write_array(folder / f"codes-{s:05d}.npy", packed).values()
        return len(packed), crc

    def finish(self, written: list[tuple[int, int]]) -> CodeShards:
        """Write the manifest."""
        rows, checksums = zip(*written, strict=True)
        manifest = {"format": CODES_FORMAT, "n_bits": self.n_bits, "bit_order": "big", "rows": rows}
        content = json.dumps(manifest | {"checksums": checksums}).encode()
        write_atomically(self.folder / "manifest.json", content)
        return CodeShards(self.folder, self.n_bits, rows, checksums)

    def codes(self, s: int) -> Codes:
        """The codes of one shard, mapped and checked."""
        return Codes(read_array(self.folder / f"codes-{s:05d}.npy", self.checksums[s]), self.n_bits)

    def search(self, queries: Codes, k: int, client: Any = None) -> Neighbours:
        """The k nearest codes of each query over all shards, by (Hamming distance, row); on a cluster with a client."""
        tasks = [(self, s, queries, k) for s in range(len(self.rows))]
        found = ask_each(client, "search", _nearest_in_shard, tasks)
        starts = np.concatenate([[0], np.cumsum(self.rows)])
        ids = np.concatenate([each.ids + starts[s] for s, each in enumerate(found)], axis=1)
        distances = np.concatenate([each.values for each in found], axis=1)
        order = np.lexsort((ids, distances), axis=1)[:, :k]
        return Neighbours(np.take_along_axis(ids, order, axis=1), np.take_along_axis(distances, order, axis=1))


def _nearest_in_shard(shards: CodeShards, s: int, queries: Codes, k: int) -> Neighbours:
    """The nearest codes in one shard."""
    return hamming_search(queries, shards.codes(s), min(k, shards.rows[s]))
