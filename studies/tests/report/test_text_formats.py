"""The report as Markdown and as CSV."""

from __future__ import annotations

import csv
from pathlib import Path

from flipwise_studies import render
from flipwise_studies.studies.catalogue import STUDIES
from studies.tests.report.cells import made_up_cells


def test_markdown_and_csv_hold_the_cells(store: Path, tmp_path: Path) -> None:
    """The CSV has a line for each cell and a column for each metric; the Markdown has a table for each study."""
    (table,) = render(store, tmp_path / "cells.csv")
    with table.open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == len(made_up_cells())
    assert {"study", "checksum", "peak_memory_mb", "commit", "map_learned"} <= set(rows[0])
    (words,) = render(store, tmp_path / "report.md")
    text = words.read_text(encoding="utf-8")
    assert text.count("\n## ") == len(STUDIES) + 1
    for line in text.splitlines():
        if line.startswith("| "):
            assert line.endswith(" |")
