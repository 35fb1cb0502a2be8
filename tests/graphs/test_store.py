"""The compact file, and the text writers."""

from __future__ import annotations

from pathlib import Path

import networkx as nx
import numpy as np
import pytest
import scipy.io
from hypothesis import given
from hypothesis import strategies as st

from flipwise import Graph, InvalidFile, InvalidInput, read_graph, write_graph
from flipwise.graphs.convert import as_graph


def _same(a: Graph, b: Graph) -> bool:
    weights = (a.weights is None) == (b.weights is None) and (a.weights is None or np.array_equal(a.weights, b.weights))
    return weights and np.array_equal(a.indptr, b.indptr) and np.array_equal(a.indices, b.indices)


def random_graph(n: int, edges: int, seed: int) -> Graph:
    """A random graph with so many nodes and edges."""
    return as_graph(nx.gnm_random_graph(n, edges, seed=seed))


def _weighted(seed: int) -> Graph:
    rng = np.random.default_rng(seed)
    return as_graph((40, np.column_stack([rng.integers(0, 40, (150, 2)), rng.standard_normal(150)])))


@pytest.mark.parametrize(
    "names", [None, range(7, 47), [f"näme {i}" for i in range(40)], [i * i * 10**9 for i in range(40)]]
)
@pytest.mark.parametrize("weighted", [False, True])
def test_round_trip(tmp_path: Path, names, weighted) -> None:  # type: ignore[no-untyped-def]
    """Arrays, weights, names and notes survive."""
    plain = _weighted(1) if weighted else random_graph(40, 100, seed=1)
    graph = Graph(plain.indptr, plain.indices, plain.weights, names, ("read from somewhere",))
    back = read_graph(write_graph(graph, tmp_path / "g.flipgraph"))
    assert _same(graph, back) and back.notes == graph.notes
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
    graph = _weighted(2) if weighted else random_graph(40, 100, seed=2)
    write_graph(graph, path)
    data = bytearray(path.read_bytes())
    rng = np.random.default_rng(seed)
    at = int(rng.integers(len(data)))
    data[at] ^= int(rng.integers(1, 256))
    path.write_bytes(bytes(data))
    try:
        assert _same(read_graph(path, format="flipwise"), graph)
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


def test_newer_version(tmp_path: Path) -> None:
    """A file of a later version says so."""
    path = write_graph(random_graph(5, 4, seed=0), tmp_path / "g.flipgraph")
    data = bytearray(path.read_bytes())
    data[8] = 9
    path.write_bytes(bytes(data))
    with pytest.raises(InvalidFile, match="version 9"):
        read_graph(path)


def test_writing_is_atomic(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A failed write leaves the old file and no litter."""
    path = write_graph(random_graph(5, 4, seed=0), tmp_path / "g.txt")
    before = path.read_bytes()
    monkeypatch.setattr("flipwise.graphs.formats.edgelist.write_edges", lambda *_, **__: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        write_graph(random_graph(6, 7, seed=0), path)
    assert path.read_bytes() == before and list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("suffix", [".txt", ".mtx", ".metis", ".rudy", ".tsv.gz", ".mtx.xz", ".rudy.zst", ".el.bz2"])
def test_text_round_trip(tmp_path: Path, suffix: str) -> None:
    """Every text format is read back as written."""
    graph = random_graph(30, 120, seed=3)
    back = read_graph(write_graph(graph, tmp_path / f"g{suffix}"))
    assert _same(graph, back)
    if "metis" not in suffix:
        heavy = _weighted(4)
        assert _same(heavy, read_graph(write_graph(heavy, tmp_path / f"h{suffix}")))


@pytest.mark.filterwarnings("ignore:The default value for `spmatrix`:DeprecationWarning")
def test_written_files_are_read_by_others(tmp_path: Path) -> None:
    """scipy reads our MatrixMarket, networkx our edge list."""
    heavy = _weighted(5)
    write_graph(heavy, tmp_path / "m.mtx")
    assert np.array_equal(np.asarray(scipy.io.mmread(tmp_path / "m.mtx").todense()), heavy.to_scipy().todense())
    plain = random_graph(30, 120, seed=6)
    G = nx.read_edgelist(write_graph(plain, tmp_path / "e.txt"), nodetype=int)
    assert G.number_of_edges() == 120


def test_names_in_edge_lists(tmp_path: Path) -> None:
    """Names are written, unless they would be read back as something else."""
    graph = as_graph(nx.Graph([("ann", "bob"), ("bob", "eve")]))
    assert list(read_graph(write_graph(graph, tmp_path / "n.txt")).names) == ["ann", "bob", "eve"]
    with pytest.raises(InvalidInput, match="new york"):
        write_graph(nx.Graph([("new york", "bob")]), tmp_path / "n.txt")


@pytest.mark.parametrize(
    ("graph", "name", "message"),
    [
        (nx.Graph([((1, 2), "a")]), "g.flipgraph", "all strings or all whole numbers"),
        ((2, [[0, 1, 0.5]]), "g.metis", "positive whole weights"),
        ((2, []), "no/folder.txt", "does not exist"),
        ((2, []), "g.parquet", "for writing"),
    ],
)
def test_what_cannot_be_written(tmp_path: Path, graph, name, message) -> None:  # type: ignore[no-untyped-def]
    """Refused with the reason."""
    with pytest.raises(InvalidInput, match=message):
        write_graph(graph, tmp_path / name)
