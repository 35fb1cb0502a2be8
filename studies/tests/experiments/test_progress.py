"""The time that is left."""

from __future__ import annotations

from dataclasses import replace

from flipwise_studies.experiments.cells import Outcome
from flipwise_studies.experiments.progress import RemainingTime, RunnerProgress
from studies.tests.experiments.toy_cell import CELL


def test_a_study_is_judged_by_its_own_cells() -> None:
    """Cells of the same study tell its time, those of others where it has none; stored cells tell nothing."""
    remaining = RemainingTime([3, 2])
    assert remaining.seconds_left() == 0.0
    remaining.finish(0, 2.0, ran=True)
    assert remaining.seconds_left() == 2 * 2.0 + 2 * 2.0
    remaining.finish(1, 10.0, ran=True)
    assert remaining.seconds_left() == 2 * 2.0 + 10.0
    remaining.finish(1, 0.0, ran=False)
    assert remaining.seconds_left() == 2 * 2.0


def test_a_line_for_a_log() -> None:
    """Counts, time left, which cell, and what it gave or why not."""
    assert str(RunnerProgress(1, 9, CELL, 1.0, 30.0)) == "[1/9, 30 s left] toy | line | dpcd: 1.5 in 0.25 s"
    skipped = replace(CELL, outcome=Outcome(status="skipped", reason="no data"))
    assert str(RunnerProgress(2, 9, skipped, 1.0, 600.0)) == "[2/9, 10 min left] toy | line | dpcd: no data"
