"""METIS files: what they mean, and what they refuse."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from flipwise import InvalidFile, read_graph
from flipwise_studies.data.local import local_graph
from tests.graphs.files import dense, written


def test_a_real_file_is_the_packed_graph(data_folder: Path) -> None:
    """A file from its collection."""
    name = "walshaw-4elt.metis.gz"
    graph, packed = read_graph(data_folder / "graphs" / name), local_graph(name.split(".")[0], data_folder)
    assert np.array_equal(graph.indices, packed.indices) and np.array_equal(graph.indptr, packed.indptr)


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
