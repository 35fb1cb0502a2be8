"""MatrixMarket files: what they mean, and what they refuse."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import scipy.io
import scipy.sparse as sp

from flipwise import InvalidFile, read_graph
from flipwise_studies.data.local import local_graph
from tests.graphs.files import written


def test_a_real_file_is_the_packed_graph(data_folder: Path) -> None:
    """A file from its collection."""
    name = "email-Enron.mtx.gz"
    graph, packed = read_graph(data_folder / "graphs" / name), local_graph(name.split(".")[0], data_folder)
    assert np.array_equal(graph.indices, packed.indices) and np.array_equal(graph.indptr, packed.indptr)


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
        ("%%MatrixMarket matrix coordinate real general\n2 2 1\n1 2 3x\n", "line 3.*expected a finite number"),
        ("%%MatrixMarket matrix coordinate real general\n2 2 1\n1 2 3,5\n", "line 3.*finite number"),
        ("%%MatrixMarket matrix coordinate pattern general\n999999999999 999999999999 0\n", "more than a file"),
    ],
)
def test_malformed_matrix_market(tmp_path: Path, text: str, message: str) -> None:
    """Headers and entries that cannot be are refused with their line."""
    with pytest.raises(InvalidFile, match=r"(?s)m\.mtx.*" + message):
        read_graph(written(tmp_path, text, "m.mtx"))
