"""Lemma 1 of the paper."""

from __future__ import annotations

from pathlib import Path

import pytest

from flipwise_studies import read_cells, reproduce


def test_lemma_1(tmp_path: Path) -> None:
    """DPCD converges to the optimum from every start, SGM from none, as Lemma 1 says."""
    reproduce(only="convergence", store=tmp_path / "cells.sqlite")
    for cell in read_cells(tmp_path / "cells.sqlite"):
        if cell.key.method == "dpcd":
            assert cell.outcome.metrics["converged"] == 1
            assert cell.outcome.value == pytest.approx(cell.outcome.bound)
            assert len(cell.outcome.series.get("route", [])) <= 2
        else:
            assert cell.outcome.metrics["converged"] == 0
            if "route" in cell.outcome.series:
                a, b = cell.outcome.series["route"][:2]
                assert [-x for x in a] == b
