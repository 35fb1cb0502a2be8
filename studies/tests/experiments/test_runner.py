"""The runner: finished cells are not repeated, failures and skips are cells, a kill at any moment costs nothing."""

from __future__ import annotations

import random
import signal
import sqlite3
import subprocess
import sys
import time
from contextlib import closing
from pathlib import Path

import pytest

from flipwise_studies.experiments.cells import Cell
from flipwise_studies.experiments.progress import RunnerProgress
from flipwise_studies.experiments.results import read_cells
from flipwise_studies.experiments.store import Store
from flipwise_studies.report.text_formats import write_csv
from studies.tests.experiments.toy import CELLS, run_all

KILLS = 20
ROOT = Path(__file__).parents[3]


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


def _start(store: Path) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", "studies.tests.experiments.toy", str(store)]
    return subprocess.Popen(command, cwd=ROOT, stderr=subprocess.DEVNULL)


def _without_circumstances(cells: list[Cell]) -> list[str]:
    """The table without times, memory and dates, which differ from run to run."""
    kept = [
        (cell.key, cell.outcome.status, cell.outcome.reason, cell.outcome.value, cell.outcome.series) for cell in cells
    ]
    return [repr(row) for row in kept]


def _rows(store: Path) -> list[Cell]:
    with Store(store) as opened:
        return opened.cells()


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="needs SIGKILL")
def test_twenty_kills_lose_and_double_nothing(tmp_path: Path) -> None:
    """SIGKILL at 20 random moments, resumed each time: every cell once, the tables as of an undisturbed run."""
    undisturbed, killed = tmp_path / "undisturbed.sqlite", tmp_path / "killed.sqlite"
    run_all(str(undisturbed))
    rng = random.Random(7)
    kept: list[str] = []
    grown = 0
    for _ in range(KILLS):
        process = _start(killed)
        before = len(kept)
        deadline = time.monotonic() + 30
        # Wait for the run to be at work (or to have ended), so that kills fall among the cells and not in the imports.
        while process.poll() is None and time.monotonic() < deadline:
            if killed.exists() and _count(killed) > min(before, CELLS - 1):
                break
            time.sleep(0.002)
        time.sleep(rng.uniform(0.0, 0.04))
        process.send_signal(signal.SIGKILL)
        process.wait()
        now = _without_circumstances(_rows(killed))
        assert now[:before] == kept, "a stored cell was lost or changed"
        grown += len(now) > before
        kept = now
    assert grown >= 5, "the kills did not fall among the cells"
    assert _start(killed).wait(timeout=60) == 0
    rows = _rows(killed)
    assert len(rows) == len({cell.key for cell in rows}) == CELLS
    assert _without_circumstances(rows) == _without_circumstances(_rows(undisturbed))
    assert _table(killed) == _table(undisturbed)


def _count(store: Path) -> int:
    try:
        with closing(sqlite3.connect(store, timeout=5)) as connection:
            return int(connection.execute("SELECT count(*) FROM cells").fetchone()[0])
    except sqlite3.OperationalError:
        return 0


def _table(store: Path) -> list[list[str]]:
    lines = [line.split(",") for line in write_csv(read_cells(store)).splitlines()]
    place = lines[0].index("seconds")
    return [line[:place] for line in lines]
