"""Lines of edges as they are written."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from flipwise import write_graph
from flipwise.graphs.formats.lines import number_text


@pytest.mark.parametrize("value", [0.0, -3.0, 0.1, 1e22, 2.0**53, 1e-300, -0.30000000000000004])
def test_numbers_read_back_exactly(value: float) -> None:
    """As short as possible, whole numbers without a point while they are exact."""
    assert float(number_text(value)) == value
    assert ("." in number_text(value) or "e" in number_text(value)) == (value != int(value) or abs(value) >= 2**53)


def test_every_edge_is_written_once(tmp_path: Path) -> None:
    """From its smaller node, in order; with the larger one first, numbered from 1, in MatrixMarket."""
    graph = (4, np.array([[2, 1, 0.5], [3, 0, 2.0], [0, 1, 1.0]]))
    assert write_graph(graph, tmp_path / "g.txt").read_text().splitlines()[1:] == ["0 1 1", "0 3 2", "1 2 0.5"]
    assert write_graph(graph, tmp_path / "g.mtx").read_text().splitlines()[2:] == ["2 1 1", "4 1 2", "3 2 0.5"]
