"""rudy files: what they mean, and what they refuse."""

from __future__ import annotations

from pathlib import Path

import pytest

from flipwise import InvalidFile, read_graph
from tests.graphs.files import written


def test_gset_is_found_by_content(data_folder: Path) -> None:
    """Gset files have no telling suffix; their shape tells."""
    graph = read_graph(data_folder / "qubo" / "gset" / "G11.txt.xz")
    assert (graph.n, graph.n_edges) == (800, 1600) and set(graph.weights.tolist()) == {-1.0, 1.0}


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
