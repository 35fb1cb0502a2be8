"""The kernels that read text: the interpreted and the compiled tier give the same bits."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from flipwise import read_graph, write_graph
from tests.kernels.tiers import assert_same_graph_in_both_tiers

pytestmark = pytest.mark.kernels


@pytest.mark.parametrize("name", ["w.txt", "m.metis", "n.csv"])
def test_tiers_agree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    """Numbers with weights, rows of numbers, and names in quotes."""
    rng = np.random.default_rng(11)
    table = np.column_stack([rng.integers(0, 40, (300, 2)), rng.standard_normal(300)])
    path = tmp_path / name
    if name == "n.csv":
        path.write_text("".join(f'"a {i % 7}",b{i % 5},{i / 3!r}\n' for i in range(60)))
    else:
        write_graph((40, table if name == "w.txt" else table[:, :2]), path)
    assert_same_graph_in_both_tiers(monkeypatch, lambda: read_graph(path))
