"""Cells: which of them count, and equal parameters as equal text."""

from __future__ import annotations

from dataclasses import replace

from flipwise_studies.experiments.cells import Cell, Outcome, canonical, current
from studies.tests.experiments.toy_cell import CELL


def test_a_cell_survives_plain_data() -> None:
    """A cell made into plain data and back is the same cell."""
    assert Cell.from_dict(CELL.to_dict()) == CELL
    assert CELL.key.options == {"alpha": [1, 2], "k": 3}


def test_the_order_of_parameters_does_not_matter() -> None:
    """Equal parameters give equal text, so that a resumed run finds its cells."""
    assert canonical({"k": 3, "a": 1}) == canonical({"a": 1, "k": 3}) != canonical({"a": 1, "k": 4})


def test_a_finished_twin_hides_skips_and_failures() -> None:
    """Of several attempts the last counts; a skip for want of data gives way to the finished cell with a checksum."""
    no_data = replace(CELL, key=replace(CELL.key, checksum=""), outcome=Outcome(status="skipped", reason="no data"))
    failed = replace(CELL, outcome=Outcome(status="failed", reason="x"))
    again = replace(CELL, attempt=1)
    assert current([no_data, failed, again]) == [again]
    assert current([no_data]) == [no_data]
