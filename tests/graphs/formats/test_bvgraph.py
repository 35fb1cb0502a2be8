"""The BVGraph reader against a slow twin and real files."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from flipwise import InvalidFile, read_graph
from flipwise.graphs.convert import as_graph
from flipwise_studies.data.local import local_graph
from tests.graphs.formats import bvgraph_twin as twin


def _lists(rng: np.random.Generator, n: int) -> list[list[int]]:
    """Successor lists with runs, copies and gaps."""
    lists: list[list[int]] = []
    for x in range(n):
        kind = rng.integers(5)
        if kind == 0:
            row: set[int] = set()
        elif kind == 1 and x:
            row = {s for s in lists[x - 1] if rng.random() < 0.8} | set(rng.integers(0, n, 2).tolist())
        elif kind == 2:
            start = int(rng.integers(n))
            row = set(range(start, min(n, start + int(rng.integers(1, 20)))))
        else:
            row = set(rng.integers(0, n, int(rng.integers(1, 8))).tolist())
        lists.append(sorted(row))
    return lists


def _expected(lists: list[list[int]]):  # type: ignore[no-untyped-def]
    edges = [(i, j) for i, row in enumerate(lists) for j in row]
    return as_graph((len(lists), edges))


def _same(a, b) -> bool:  # type: ignore[no-untyped-def]
    return np.array_equal(a.indptr, b.indptr) and np.array_equal(a.indices, b.indices)


@pytest.mark.kernels
@pytest.mark.parametrize("part", twin.PARTS)
@pytest.mark.parametrize("code", ["DELTA", "GAMMA", "UNARY", "ZETA", "NIBBLE", "GOLOMB"])
def test_every_code_in_every_part(tmp_path: Path, part: str, code: str) -> None:
    """Any code for any part of a list decodes to the lists that were written."""
    rng = np.random.default_rng(3)
    lists = _lists(rng, 40)
    twin.write(tmp_path / "g", lists, rng, codes={part: code})
    assert _same(read_graph(tmp_path / "g.graph"), _expected(lists))


@pytest.mark.kernels
@given(
    seed=st.integers(0, 2**32),
    n=st.integers(1, 60),
    window=st.integers(0, 9),
    shortest=st.integers(0, 6),
    k=st.integers(1, 7),
)
def test_any_parameters(tmp_path_factory, seed, n, window, shortest, k) -> None:  # type: ignore[no-untyped-def]
    """Window, shortest interval and zeta's parameter are obeyed, with references and intervals mixed at random."""
    folder = tmp_path_factory.mktemp("bv")
    rng = np.random.default_rng(seed)
    lists = _lists(rng, n)
    twin.write(folder / "g", lists, rng, window=window, shortest=shortest, k=k)
    assert _same(read_graph(folder / "g"), _expected(lists))


@pytest.mark.parametrize("name", ["dblp-2010", "uk-2007-05@100000"])
def test_real_graphs(data_folder: Path, name: str) -> None:
    """Two published graphs come out as their independently packed simple versions."""
    graph = read_graph(data_folder / "graphs" / f"{name}.graph")
    assert _same(graph, local_graph(name, data_folder))
    if name.startswith("uk"):
        assert "15,670 self loops dropped" in graph.notes[0] and "3,050,615 arcs read" in graph.notes[0]


def test_sum_doubles_opposite_arcs(tmp_path: Path) -> None:
    """symmetrise="sum" gives A + A^T."""
    twin.write(tmp_path / "g", [[1, 2], [0], []], np.random.default_rng(0))
    graph = read_graph(tmp_path / "g", symmetrise="sum")
    assert graph.to_scipy().toarray().tolist() == [[0, 2, 1], [2, 0, 0], [1, 0, 0]]


def test_webgraph_agrees(data_folder: Path) -> None:
    """The reference implementation yields the same successors (it needs an Elias-Fano file beside the graph)."""
    webgraph = pytest.importorskip("webgraph")
    base = data_folder / "graphs" / "dblp-2010"
    if not Path(f"{base}.ef").exists():
        pytest.skip("webgraph needs a .ef file, which only its Rust tools can make")
    graph, other = read_graph(base), webgraph.BvGraph(str(base))
    for i in range(0, graph.n, 97):
        assert graph.indices[graph.indptr[i] : graph.indptr[i + 1]].tolist() == list(other.successors(i))


def test_truncation_at_every_byte_is_noticed(tmp_path: Path) -> None:
    """A stream cut anywhere is refused with its name and a byte."""
    rng = np.random.default_rng(5)
    twin.write(tmp_path / "g", _lists(rng, 30), rng)
    stream = tmp_path / "g.graph"
    whole = stream.read_bytes()
    for size in range(len(whole)):
        stream.write_bytes(whole[:size])
        with pytest.raises(InvalidFile, match=r"g\.(graph|properties)"):
            read_graph(stream)


@pytest.mark.kernels
def test_damaged_bits_never_crash(tmp_path: Path) -> None:
    """Flipped bits give a graph or InvalidFile, nothing else."""
    rng = np.random.default_rng(7)
    twin.write(tmp_path / "g", _lists(rng, 60), rng)
    stream = tmp_path / "g.graph"
    whole = np.frombuffer(stream.read_bytes(), dtype=np.uint8)
    refused = 0
    for _ in range(150):
        damaged = whole.copy()
        damaged[rng.integers(whole.size, size=3)] = rng.integers(0, 256, size=3)
        stream.write_bytes(damaged.tobytes())
        try:
            read_graph(stream)
        except InvalidFile:
            refused += 1
    assert refused > 100


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("nodes=99999999999", "announces 99,999,999,999 nodes"),
        ("nodes=-3", "`nodes` must be a whole number"),
        ("arcs=999999999999", "pass a larger `max_bytes`"),
        ("arcs=5", "more arcs than the properties announce|announces 5 arcs"),
        ("zetak=40", "zetak"),
        ("compressionflags=RESIDUALS_MAGIC", "RESIDUALS_MAGIC"),
        ("graphclass=it.unimi.dsi.webgraph.EFGraph", "EFGraph"),
        ("version=7", "version 7"),
        ("endianness=little", "big-endian"),
    ],
)
def test_wrong_properties(tmp_path: Path, line: str, message: str) -> None:
    """Properties that cannot be true, or ask for what is not supported, are refused before anything is allocated."""
    rng = np.random.default_rng(5)
    twin.write(tmp_path / "g", _lists(rng, 30), rng)
    described = tmp_path / "g.properties"
    key = line.split("=")[0]
    kept = [row for row in described.read_text().splitlines() if not row.startswith(f"{key}=")]
    described.write_text("\n".join([*kept, line]))
    with pytest.raises(InvalidFile, match=message):
        read_graph(tmp_path / "g")
