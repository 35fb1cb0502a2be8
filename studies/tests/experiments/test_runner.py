"""The runner: finished cells are not repeated, failures and skips are cells, the time left is told."""

from __future__ import annotations

from pathlib import Path

from flipwise_studies.experiments.progress import RunnerProgress
from flipwise_studies.experiments.results import read_cells
from studies.tests.experiments.toy import CELLS, run_all


def test_failures_and_skips_are_cells_with_a_reason(tmp_path: Path) -> None:
    """Every task leaves exactly one cell, also one that raised."""
    path = tmp_path / "cells.sqlite"
    run_all(str(path))
    cells = read_cells(path)
    assert len(cells) == CELLS
    reasons = {cell.key.seed: cell.outcome.reason for cell in cells if cell.outcome.status != "done"}
    assert reasons == {3: "seed 3 is not for this machine", 4: "RuntimeError: seed 4 always fails"}
    done = [cell for cell in cells if cell.outcome.status == "done"]
    assert all(cell.peak_memory and cell.environment["versions"]["numpy"] and cell.finished for cell in done)
    assert len({cell.key.checksum for cell in cells}) == 4


def test_nothing_is_run_twice_unless_asked(tmp_path: Path) -> None:
    """A second run does nothing; with `retry` it repeats failures and skips only, as further attempts."""
    path = tmp_path / "cells.sqlite"
    told: list[RunnerProgress] = []
    run_all(str(path), callback=told.append)
    assert len(told) == CELLS and told[-1].finished == CELLS and told[-1].seconds_left == 0
    assert "toy | matrix 0 | dpcd" in str(told[0])
    run_all(str(path), callback=told.append)
    assert len(told) == CELLS
    run_all(str(path), callback=told.append, retry=True)
    assert {progress.cell.key.seed for progress in told[CELLS:]} == {3, 4}
    assert all(progress.cell.attempt == 1 for progress in told[CELLS:])
    assert len(read_cells(path)) == CELLS
