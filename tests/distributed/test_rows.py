"""Rows in blocks and codes in shards: every way to read rows, and what is refused."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import dask.array as da
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from flipwise.distributed.rows import CodeShards, as_blocks, batches, labels_of
from flipwise.foundation.errors import InvalidFile, InvalidInput
from flipwise.hashing import Codes, hamming_search

X = np.random.default_rng(0).standard_normal((50, 3))
Y = np.arange(50) % 4


def together(blocks: Any) -> np.ndarray:
    """All rows of the blocks, read one after another."""
    parts = []
    for group, future, y in blocks.blocks:
        parts += [rows for rows, _ in batches(group, future.result() if group is None else None, y)]
    return np.concatenate(parts)


def test_rows_come_back_in_their_order(client: Any, tmp_path: Path) -> None:
    """From an array file, from Parquet with plain columns and with lists, and from a Dask array; single rows too."""
    np.save(tmp_path / "rows.npy", X)
    plain, lists = tmp_path / "plain.parquet", tmp_path / "lists.parquet"
    pq.write_table(pa.table({f"x{j}": X[:, j] for j in range(3)} | {"label": Y}), plain, row_group_size=20)
    pq.write_table(pa.table({"embedding": list(X), "label": Y}), lists, row_group_size=20)
    for given in (tmp_path / "rows.npy", plain, lists, da.from_array(X, chunks=(20, 2))):
        blocks = as_blocks(given, None, "label", False, client)
        assert blocks.shape == (50, 3) and np.array_equal(together(blocks), X)
        assert np.array_equal(blocks[np.array([3, 49, 20])], X[[3, 49, 20]])
    labelled = as_blocks(plain, None, "label", True, client)
    assert np.concatenate([y for block in labelled.blocks for _, y in batches(*block)]).tolist() == Y.tolist()


def test_labels_are_read_without_the_features(client: Any, tmp_path: Path) -> None:
    """From each kind of block; features that would be refused are not looked at."""
    np.save(tmp_path / "rows.npy", X)
    whole, holes = tmp_path / "whole.parquet", tmp_path / "holes.parquet"
    pq.write_table(pa.table({"x0": X[:, 0], "label": Y}), whole, row_group_size=20)
    for given, y in ((tmp_path / "rows.npy", Y), (whole, None), (da.from_array(X, chunks=(20, 3)), Y)):
        blocks = as_blocks(given, y, "label", True, client).blocks
        assert np.concatenate([part for block in blocks for part in labels_of(*block)]).tolist() == Y.tolist()
    (block,) = as_blocks(whole, None, "label", False, client).blocks[:1]
    assert list(labels_of(*block)) == [None]
    pq.write_table(pa.table({"x0": [1.0, None], "label": [3, 4]}), holes)
    group = block[0]._replace(path=str(holes), label="label")
    assert [part.tolist() for part in labels_of(group, None, None)] == [[3, 4]]


def test_rows_that_cannot_be_used_are_refused(client: Any, tmp_path: Path) -> None:
    """Labels of another number, files of another kind, missing columns, missing values."""
    np.save(tmp_path / "rows.npy", X)
    with pytest.raises(InvalidInput, match="`y`"):
        as_blocks(tmp_path / "rows.npy", Y[:3], "label", True, client)
    np.save(tmp_path / "flat.npy", X[0])
    with pytest.raises(InvalidFile, match="rows of float32 or float64"):
        as_blocks(tmp_path / "flat.npy", None, "label", False, client)
    pq.write_table(pa.table({"x0": pa.array([1.0, None])}), tmp_path / "missing.parquet")
    with pytest.raises(InvalidFile, match="missing values"):
        as_blocks(tmp_path / "missing.parquet", None, "label", False, client)
    pq.write_table(pa.table({"name": ["a"]}), tmp_path / "text.parquet")
    with pytest.raises(InvalidFile, match="no columns of features"):
        as_blocks(tmp_path / "text.parquet", None, "label", False, client)
    with pytest.raises(InvalidFile, match="Parquet"):
        as_blocks(tmp_path / "rows.npy.txt", None, "label", False, client)


def test_shards_are_searched_like_one_array(tmp_path: Path) -> None:
    """The nearest codes over all shards are those of one search, ties by row."""
    codes = Codes.from_bits(np.random.default_rng(1).random((30, 9)) < 0.5)
    shards = CodeShards.begin(tmp_path, 9)
    done = shards.finish([shards.write(tmp_path, s, part) for s, part in enumerate(np.split(codes.packed, [7, 20]))])
    found, there = hamming_search(codes[:4], codes, 6), CodeShards.open(tmp_path).search(codes[:4], 6)
    assert done.rows == (7, 13, 10)
    assert np.array_equal(found.ids, there.ids) and np.array_equal(found.values, there.values)


def test_damaged_shards_are_refused(tmp_path: Path) -> None:
    """A folder without a manifest, and a shard that is not what was written."""
    with pytest.raises(InvalidFile, match="manifest"):
        CodeShards.open(tmp_path)
    shards = CodeShards.begin(tmp_path, 8)
    done = shards.finish([shards.write(tmp_path, 0, Codes.from_signs(np.ones((3, 8))).packed)])
    path = tmp_path / "codes-00000.npy"
    path.write_bytes(path.read_bytes()[:-1] + b"\0")
    with pytest.raises(InvalidFile, match="checksum"):
        done.codes(0)
