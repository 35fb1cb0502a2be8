"""Hashing on blocks of rows: the codes and the hash function of one machine."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import dask.array as da
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from flipwise.distributed.hashing import encode_rows, fit_hasher
from flipwise.distributed.rows import CodeShards
from flipwise.foundation.errors import InvalidFile, InvalidInput
from flipwise.hashing import FSDH, ITQ, SDH, hamming_search, load

ROWS = 5000


@pytest.fixture(scope="module")
def data() -> tuple[np.ndarray, np.ndarray]:
    """Rows around five centres, in float32."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, 5, ROWS)
    X = rng.standard_normal((5, 12))[y] + rng.standard_normal((ROWS, 12)) * rng.uniform(0.5, 2.0, 12)
    return X.astype(np.float32), y


@pytest.fixture(scope="module")
def folder(data: tuple[np.ndarray, np.ndarray], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The rows as three Parquet files with several row groups: plain columns in two, lists in none."""
    X, y = data
    target = tmp_path_factory.mktemp("rows")
    columns = {f"x{j}": X[:, j] for j in range(X.shape[1])} | {"label": y}
    for part, start in enumerate(range(0, ROWS, 2000)):
        pq.write_table(pa.table(columns).slice(start, 2000), target / f"part-{part}.parquet", row_group_size=700)
    return target


@pytest.mark.parametrize(
    "estimator",
    [
        SDH(n_bits=24, random_state=0),
        SDH(n_bits=3, hash_function="rbf", hash_options={"anchors": 50}, random_state=0),
        FSDH(n_bits=16, random_state=1),
        ITQ(n_bits=20, random_state=0, rounds=8),
    ],
)
def test_codes_are_those_of_one_machine(
    client: Any, data: tuple[np.ndarray, np.ndarray], folder: Path, tmp_path: Path, estimator: Any
) -> None:
    """The learned codes, the hashed codes and the saved model equal those of a fit in memory."""
    from sklearn.base import clone

    X, y = data
    one = clone(estimator).fit(X, y)
    other = fit_hasher(clone(estimator), folder, client=client, codes=tmp_path / "codes")
    shards = CodeShards.open(tmp_path / "codes")
    assert sum(shards.rows) == ROWS and len(shards.rows) > 4
    packed = np.concatenate([shards.codes(s).packed for s in range(len(shards.rows))])
    assert np.array_equal(packed, one.codes_.packed)
    assert np.array_equal(other.transform(X), one.transform(X))
    other.save(tmp_path / "model.safetensors")
    assert np.array_equal(load(tmp_path / "model.safetensors").transform(X[:9]), one.transform(X[:9]))


def test_dask_arrays_and_search_over_shards(client: Any, data: tuple[np.ndarray, np.ndarray], tmp_path: Path) -> None:
    """A Dask array with labels gives the same; rows are encoded in shards, and searched like one array of codes."""
    X, y = data
    rows = da.from_array(X, chunks=(1100, 6))
    one = SDH(n_bits=24, random_state=0).fit(X, y)
    other = fit_hasher(SDH(n_bits=24, random_state=0), rows, y, client=client)
    assert np.array_equal(one.transform(X), other.transform(X))
    np.save(tmp_path / "rows.npy", X)
    third = fit_hasher(SDH(n_bits=24, random_state=0), tmp_path / "rows.npy", y, client=client)
    assert np.array_equal(one.transform(X), third.transform(X))
    shards = encode_rows(other, rows, tmp_path / "encoded", client=client)
    queries = one.encode(X[:20])
    found, there = hamming_search(queries, one.encode(X), 7), shards.search(queries, 7, client)
    assert np.array_equal(found.ids, there.ids) and np.array_equal(found.values, there.values)
    assert np.array_equal(shards.search(queries, 7).ids, there.ids)


def test_what_cannot_be_done_is_said(client: Any, folder: Path) -> None:
    """Estimators and options that need all rows at once and missing columns are refused."""
    for wrong in (SDH(nu=1.0), SDH(distinct=False), SDH(hash_function="trees"), ITQ(whitening="auto")):
        with pytest.raises(InvalidInput, match="`estimator`"):
            fit_hasher(wrong, folder, client=client)
    with pytest.raises(InvalidInput, match="SDH, FSDH or ITQ"):
        fit_hasher(object(), folder, client=client)
    with pytest.raises(InvalidFile, match="kind"):
        fit_hasher(SDH(), folder, client=client, label="kind")
    with pytest.raises(InvalidInput, match="`X`"):
        fit_hasher(SDH(), np.eye(3), client=client)
