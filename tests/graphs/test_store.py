"""The compact file: everything survives, nothing damaged is read."""

from __future__ import annotations

import json
import struct
import zlib
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from flipwise import Graph, InvalidFile, read_graph, write_graph
from flipwise.graphs.convert import as_graph
from tests.graphs.files import random_graph, same, weighted_graph


@pytest.mark.parametrize(
    "names", [None, range(7, 47), [f"näme {i}" for i in range(40)], [i * i * 10**9 for i in range(40)]]
)
@pytest.mark.parametrize("weighted", [False, True])
def test_round_trip(tmp_path: Path, names, weighted) -> None:  # type: ignore[no-untyped-def]
    """Arrays, weights, names and notes survive."""
    plain = weighted_graph(1) if weighted else random_graph(40, 100, seed=1)
    graph = Graph(plain.indptr, plain.indices, plain.weights, names, ("read from somewhere",))
    back = read_graph(write_graph(graph, tmp_path / "g.flipgraph"))
    assert same(graph, back) and back.notes == graph.notes
    assert back.names is None if names is None else list(back.names) == list(names)


def test_empty_graphs(tmp_path: Path) -> None:
    """No nodes, or nodes without edges."""
    for n in (0, 5):
        graph = as_graph((n, []))
        back = read_graph(write_graph(graph, tmp_path / "e.flipgraph"))
        assert back.n == n and back.n_edges == 0


def test_mapped_not_read(tmp_path: Path) -> None:
    """The arrays live in the file's mapping, and the file never changes."""
    path = write_graph(random_graph(50, 200, seed=0), tmp_path / "g.flipgraph")
    before = path.read_bytes()
    graph = read_graph(path, verify=False)
    assert graph.indices.base is not None
    graph.indices[0] = 7
    assert path.read_bytes() == before


@given(seed=st.integers(0, 2**32), weighted=st.booleans())
def test_any_damaged_byte_is_noticed(tmp_path_factory, seed, weighted) -> None:  # type: ignore[no-untyped-def]
    """One changed byte anywhere is refused (padding between arrays aside, which carries nothing)."""
    path = tmp_path_factory.mktemp("d") / "g.flipgraph"
    graph = weighted_graph(2) if weighted else random_graph(40, 100, seed=2)
    write_graph(graph, path)
    data = bytearray(path.read_bytes())
    rng = np.random.default_rng(seed)
    at = int(rng.integers(len(data)))
    data[at] ^= int(rng.integers(1, 256))
    path.write_bytes(bytes(data))
    try:
        assert same(read_graph(path, format="flipwise"), graph)
    except InvalidFile as error:
        assert "g.flipgraph" in str(error)


def test_truncation_at_any_byte(tmp_path: Path) -> None:
    """A cut file is refused."""
    path = write_graph(random_graph(20, 40, seed=0), tmp_path / "g.flipgraph")
    data = path.read_bytes()
    for size in range(0, len(data), 7):
        path.write_bytes(data[:size])
        with pytest.raises(InvalidFile, match=r"g\.flipgraph"):
            read_graph(path, format="flipwise")


def test_forged_arrays_are_refused(tmp_path: Path) -> None:
    """Right checksums over rows that are no simple graph do not help."""
    good = random_graph(20, 40, seed=0)
    for position, value in ((0, 99), (0, -1), (1, 0)):
        indices = good.indices.copy()
        indices[position] = value
        path = write_graph(Graph(good.indptr, indices), tmp_path / "f.flipgraph")
        with pytest.raises(InvalidFile, match="not that of a simple graph"):
            read_graph(path)
    starts = good.indptr.copy()
    starts[3] = 10**9
    with pytest.raises(InvalidFile, match="do not ascend"):
        read_graph(write_graph(Graph(starts, good.indices), tmp_path / "f.flipgraph"), verify=False)


def test_forged_weights_and_one_way_edges_are_refused(tmp_path: Path) -> None:
    """Right checksums over a directed graph, weights that differ between the directions, NaN, inf or 0 do not help."""
    indptr, two = np.array([0, 1, 2, 2]), np.array([1, 0], dtype=np.int32)
    forged = {
        "an edge of node 0": Graph(np.array([0, 1, 1, 1]), two[:1]),
        "an edge of node 1": Graph(np.array([0, 0, 1, 1]), two[1:]),
        "has another weight": Graph(indptr, two, np.array([1.0, 2.0])),
        "finite": Graph(indptr, two, np.array([np.nan, np.nan])),
        "must be finite": Graph(indptr, two, np.array([np.inf, np.inf])),
        "not 0": Graph(indptr, two, np.array([0.0, 0.0])),
    }
    for message, graph in forged.items():
        with pytest.raises(InvalidFile, match=message):
            read_graph(write_graph(graph, tmp_path / "f.flipgraph"))
    assert read_graph(write_graph(Graph(indptr, two, np.array([2.0, 2.0])), tmp_path / "f.flipgraph")).n_edges == 1


@pytest.mark.parametrize("field", ["nodes", "first", "names", "notes", "arrays"])
def test_headers_are_not_believed(tmp_path: Path, field: str) -> None:
    """Any value in any field under a right checksum: refused, without memory being asked for."""
    graph = Graph(np.array([0, 1, 2]), np.array([1, 0], dtype=np.int32), names=["a", "b"])
    path = write_graph(graph, tmp_path / "h.flipgraph")
    data = path.read_bytes()
    length = struct.unpack("<I", data[12:16])[0]
    header = json.loads(data[20 : 20 + length])
    for value in (-1, 2**62, 10**400, None, "x", [], {}, [[[]]], {"indptr": {"type": "<i8", "size": 2**60, "at": 0}}):
        text = json.dumps(header | {field: value}).encode()
        text += b" " * (-(20 + len(text)) % 64)
        prefix = data[:12] + struct.pack("<II", len(text), zlib.crc32(text))
        path.write_bytes(prefix + text + data[20 + length :])
        try:
            back = read_graph(path)
        except InvalidFile as error:
            assert "h.flipgraph" in str(error)
        else:
            assert same(back, graph) and list(back.names or ()) == ["a", "b"]


def test_newer_version(tmp_path: Path) -> None:
    """A file of a later version says so."""
    path = write_graph(random_graph(5, 4, seed=0), tmp_path / "g.flipgraph")
    data = bytearray(path.read_bytes())
    data[8] = 9
    path.write_bytes(bytes(data))
    with pytest.raises(InvalidFile, match="version 9"):
        read_graph(path)
