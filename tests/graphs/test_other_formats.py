"""MatrixMarket, METIS, rudy and Parquet: what they mean, and what they refuse."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import scipy.io
import scipy.sparse as sp

from flipwise import InvalidFile, read_graph
from flipwise_studies.data.local import local_graph
from tests.graphs.files import dense, written


@pytest.mark.parametrize("name", ["email-Enron.mtx.gz", "walshaw-4elt.metis.gz"])
def test_real_files_are_the_packed_graphs(data_folder: Path, name: str) -> None:
    """MatrixMarket and METIS files from their collections."""
    graph, packed = read_graph(data_folder / "graphs" / name), local_graph(name.split(".")[0], data_folder)
    assert np.array_equal(graph.indices, packed.indices) and np.array_equal(graph.indptr, packed.indptr)


def test_gset_is_found_by_content(data_folder: Path) -> None:
    """Gset files have no telling suffix; their shape tells."""
    graph = read_graph(data_folder / "qubo" / "gset" / "G11.txt.xz")
    assert (graph.n, graph.n_edges) == (800, 1600) and set(graph.weights.tolist()) == {-1.0, 1.0}


@pytest.mark.filterwarnings("ignore:The default value for `spmatrix`:DeprecationWarning")
@pytest.mark.parametrize("field", ["real", "integer", "pattern"])
@pytest.mark.parametrize("symmetry", ["general", "symmetric"])
def test_matrix_market_is_scipy(tmp_path: Path, field: str, symmetry: str) -> None:
    """scipy.io.mmwrite out, ours in, against scipy.io.mmread."""
    rng = np.random.default_rng(4)
    A = np.triu(rng.integers(-3, 4, (20, 20)) * (rng.random((20, 20)) < 0.3), 1)
    A = A + A.T if symmetry == "symmetric" else A + 2 * np.tril(A.T, -2)
    A = A.astype(float) if field == "real" else A
    path = tmp_path / "m.mtx"
    scipy.io.mmwrite(path, sp.coo_array(A), field=field, symmetry=symmetry)
    B = np.asarray(sp.coo_array(scipy.io.mmread(path)).toarray(), dtype=float)
    stored = np.where(B != 0, B, -np.inf)
    expected = np.maximum(stored, stored.T)
    np.fill_diagonal(expected, 0)
    expected[np.isneginf(expected)] = 0
    assert np.array_equal(read_graph(path).to_scipy().toarray(), expected)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("%%MatrixMarket matrix array real general\n2 2\n1\n", "line 1: only sparse"),
        ("%%MatrixMarket matrix coordinate complex general\n1 1 0\n", "line 1: only sparse"),
        ("%%MatrixMarket matrix coordinate real skew-symmetric\n1 1 0\n", "symmetry"),
        ("%%MatrixMarket matrix coordinate real\n", "line 1: expected"),
        ("%%MatrixMarket matrix coordinate real general\n% c\n2 3 1\n1 1 1\n", "line 3: .*square"),
        ("%%MatrixMarket matrix coordinate real general\n2 2\n", "line 2: expected whole numbers"),
        ("%%MatrixMarket matrix coordinate real general\n", "the file ends before"),
        ("%%MatrixMarket matrix coordinate real general\n2 2 2\n1 2 1\n", "announces 2 entries, the file holds 1"),
        ("%%MatrixMarket matrix coordinate real general\n2 2 1\n1 3 1\n", r"line 3.*out of range \(1 to 2\)"),
        ("%%MatrixMarket matrix coordinate real general\n2 2 1\n0 1 1\n", r"line 3.*out of range"),
        ("%%MatrixMarket matrix coordinate pattern general\n2 2 1\n1 2 1\n", "line 3.*more columns"),
        ("%%MatrixMarket matrix coordinate pattern general\n999999999999 999999999999 0\n", "more than a file"),
    ],
)
def test_malformed_matrix_market(tmp_path: Path, text: str, message: str) -> None:
    """Headers and entries that cannot be are refused with their line."""
    with pytest.raises(InvalidFile, match=r"(?s)m\.mtx.*" + message):
        read_graph(written(tmp_path, text, "m.mtx"))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("3 2\n2\n1 3\n2\n", [[0, 1, 0], [1, 0, 1], [0, 1, 0]]),
        ("% c\n3 2 001\n2 5\n% mid\n1 5 3 7\n2 7\n", [[0, 5, 0], [5, 0, 7], [0, 7, 0]]),
        ("3 1 011 2\n9 9 2 5\n9 9 1 5\n9 9\n", [[0, 5, 0], [5, 0, 0], [0, 0, 0]]),
        ("3 1 100\n4 2\n4 1\n4\n", [[0, 1, 0], [1, 0, 0], [0, 0, 0]]),
        ("3 1\n2\n1\n\n", [[0, 1, 0], [1, 0, 0], [0, 0, 0]]),
    ],
)
def test_metis_forms(tmp_path: Path, text: str, expected: list[list[float]]) -> None:
    """Node sizes and weights are passed over, edge weights kept, blank lines isolated nodes."""
    path = written(tmp_path, text, "g.graph")
    for rule in ("max", "sum", "error"):
        assert dense(read_graph(path, symmetrise=rule)) == expected


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("3 2\n2\n1 3\n", "announces 3 nodes, the file has lines for 2"),
        ("3 3\n2\n1 3\n2\n", "announces 3 edges"),
        ("3 2\n2\n1 4\n2\n", r"line 3: neighbour 4 is out of range \(1 to 3\)"),
        ("3 2\n2\n1 0\n2\n", "line 3: neighbour 0"),
        ("3 2 7\n", "fmt"),
        ("3 2 001\n2 1\n1 1 3\n2\n", "line 3: a neighbour without"),
        ("2 1\n2\n1\n% c\n\n1\n", "line 6: a line beyond"),
        ("2 1 010\n\n1 1\n", "line 2: fewer than the 1 node weights"),
        ("x\n", "line 1: expected whole numbers"),
        ("3 2\n2\n1 a\n2\n", "line 3.*expected a whole number"),
    ],
)
def test_malformed_metis(tmp_path: Path, text: str, message: str) -> None:
    """Lines that contradict the header are refused with their number."""
    with pytest.raises(InvalidFile, match=r"(?s)g\.metis.*" + message):
        read_graph(written(tmp_path, text, "g.metis"))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("3 2\n1 2 1\n", "announces 2 edges, the file holds 1"),
        ("3 1\n1 4 1\n", "line 2.*out of range"),
        ("3 1\n1 2\n", "line 2.*too few"),
        ("3\n1 2 1\n", "line 1"),
    ],
)
def test_malformed_rudy(tmp_path: Path, text: str, message: str) -> None:
    """rudy's counts and ranges are checked."""
    with pytest.raises(InvalidFile, match=r"(?s)g\.rudy.*" + message):
        read_graph(written(tmp_path, text, "g.rudy"))


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
