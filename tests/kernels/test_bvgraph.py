"""The decoder of BVGraphs: the interpreted and the compiled tier give the same bits."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from flipwise import read_graph
from tests.graphs.formats import bvgraph_twin as twin
from tests.kernels.tiers import assert_same_graph_in_both_tiers

pytestmark = pytest.mark.kernels


def test_tiers_agree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Copied blocks, intervals and residuals, in codes of several kinds."""
    rng = np.random.default_rng(11)
    lists = [sorted(set(rng.integers(0, 60, 6).tolist()) | set(range(x, min(60, x + x % 9)))) for x in range(60)]
    twin.write(tmp_path / "g", lists, rng, codes={"BLOCKS": "DELTA"})
    assert_same_graph_in_both_tiers(monkeypatch, lambda: read_graph(tmp_path / "g", symmetrise="sum"))
