"""Shards on disk: the same graph, checked bytes, nothing half-written."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from flipwise.densest.core import positive_degrees
from flipwise.densest.whole import integral_weights, weight_range
from flipwise.distributed.shards import joined, open_shard, owners, read_degrees, read_manifest, read_names, shard_graph
from flipwise.foundation.errors import InvalidFile, InvalidInput
from flipwise.graphs.convert import as_graph
from flipwise.graphs.graph import Graph
from flipwise.graphs.read import read_graph
from flipwise.graphs.write import write_graph


def random_graph(n: int, edges: int, seed: int = 0, weighted: bool = False) -> Graph:
    """Random edges, denser at small numbers."""
    rng = np.random.default_rng(seed)
    ends = (n * rng.random((edges, 2)) ** 2).astype(np.int64)
    table = np.column_stack([ends, rng.integers(-2, 9, edges) / 4.0]) if weighted else ends
    return as_graph((n, table))


def same(a: Graph, b: Graph) -> bool:
    """Whether two graphs have the same arrays."""
    weights = (a.weights is None and b.weights is None) or np.array_equal(a.weights, b.weights)
    return np.array_equal(a.indptr, b.indptr) and np.array_equal(a.indices, b.indices) and weights


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("mapped", [False, True])
def test_shards_hold_the_graph(tmp_path: Path, weighted: bool, mapped: bool) -> None:
    """Joined shards are the graph, from memory and from our graph file; the manifest tells what they hold."""
    graph = random_graph(200, 1500, weighted=weighted)
    source: object = graph
    if mapped:
        write_graph(graph, tmp_path / "graph.fwg")
        source = tmp_path / "graph.fwg"
    folder = shard_graph(source, tmp_path / "shards", shards=5)
    manifest = read_manifest(folder)
    assert same(joined(folder), graph) and (manifest.nodes, manifest.arcs) == (graph.n, graph.n_arcs)
    assert manifest.weight_range == weight_range(graph) and manifest.integral == integral_weights(graph)
    assert np.array_equal(read_degrees(folder), positive_degrees(graph))
    assert [s for s, _ in owners(folder, np.arange(200))] == list(range(len(manifest.starts) - 1))


@pytest.mark.parametrize("symmetrise", ["max", "sum"])
@pytest.mark.parametrize("weighted", [False, True])
def test_parquet_parts_become_the_same_graph(tmp_path: Path, weighted: bool, symmetrise: str) -> None:
    """Shards from Parquet parts are the graph that reading the whole table gives, to the bit."""
    rng = np.random.default_rng(1)
    ends = (60 * rng.random((700, 2)) ** 2).astype(np.int64)
    columns = {"source": ends[:, 0], "target": ends[:, 1]}
    if weighted:
        columns["weight"] = rng.standard_normal(700)
    table = pa.table(columns)
    parts = tmp_path / "parts"
    parts.mkdir()
    for p, start in enumerate(range(0, 700, 250)):
        pq.write_table(table.slice(start, 250), parts / f"part-{p}.parquet")
    folder = shard_graph(parts, tmp_path / "shards", shards=4, symmetrise=symmetrise)  # type: ignore[arg-type]
    edges = ends if not weighted else np.column_stack([ends, columns["weight"]])
    graph = as_graph((int(ends.max()) + 1, edges), symmetrise=symmetrise)  # type: ignore[arg-type]
    manifest = read_manifest(folder)
    assert same(joined(folder), graph) and len(manifest.starts) == 5
    assert manifest.weight_range == weight_range(graph) and manifest.integral == integral_weights(graph)
    assert np.array_equal(read_degrees(folder), positive_degrees(graph))
    assert not (folder / "dealt").exists()


def test_names_are_kept(tmp_path: Path) -> None:
    """A graph with names keeps them."""
    (tmp_path / "edges.txt").write_text("ada bob\nbob cyd\n")
    graph = read_graph(tmp_path / "edges.txt")
    folder = shard_graph(graph, tmp_path / "shards")
    assert graph.names is not None and list(read_names(folder)) == list(graph.names)


def test_damage_is_noticed(tmp_path: Path) -> None:
    """A changed byte, a missing manifest, a folder in use and a nonsensical count are refused."""
    folder = shard_graph(random_graph(50, 200), tmp_path / "shards", shards=2)
    path = folder / "shard-00001.indices.npy"
    content = bytearray(path.read_bytes())
    content[-1] ^= 1
    path.write_bytes(content)
    open_shard(folder, 0)
    with pytest.raises(InvalidFile, match="checksum"):
        open_shard(folder, 1)
    with pytest.raises(InvalidInput, match="holds shards already"):
        shard_graph(random_graph(5, 9), folder)
    with pytest.raises(InvalidInput, match=r"no manifest\.json"):
        read_manifest(tmp_path)
    with pytest.raises(InvalidInput, match="`shards`"):
        shard_graph(random_graph(5, 9), tmp_path / "other", shards=0)
    (tmp_path / "empty").mkdir()
    with pytest.raises(InvalidFile, match="no \\*"):
        shard_graph(tmp_path / "empty", tmp_path / "third")
