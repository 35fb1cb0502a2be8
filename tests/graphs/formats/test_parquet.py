"""Parquet edge tables."""

from __future__ import annotations

from pathlib import Path

import pytest

from flipwise import InvalidFile, read_graph
from tests.graphs.files import dense, written


def test_parquet(tmp_path: Path) -> None:
    """Parquet edge tables with numbers, names and weights."""
    pa, pq = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    path = tmp_path / "e.parquet"
    pq.write_table(pa.table({"source": [1, 5, 5], "target": [5, 9, 1], "weight": [1.0, 2.0, 4.0]}), path)
    graph = read_graph(path)
    assert list(graph.names) == [1, 5, 9] and dense(graph) == [[0, 4, 0], [4, 0, 2], [0, 2, 0]]
    assert read_graph(path, weighted=False).weights is None
    whole = path.read_bytes()
    for size in (4, len(whole) // 2, len(whole) - 3):
        with pytest.raises(InvalidFile, match=r"e\.parquet"):
            read_graph(written(tmp_path, whole[:size], "e.parquet"))
