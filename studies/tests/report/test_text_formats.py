"""The report as Markdown and as CSV."""

from __future__ import annotations

import csv
import re
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flipwise_studies import render
from flipwise_studies.experiments.store import Store
from flipwise_studies.report.tables import plain_markdown
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


HOSTILE = "<img src=x onerror=alert(1)> [a](javascript:b) ![c](d) **e** `f` | g \x1b[31m"


def test_what_comes_from_cells_is_no_markup(tmp_path: Path) -> None:
    """Names of instances, machines and reasons with tags, links, emphasis and escapes are words in every format."""
    with Store(tmp_path / "cells.sqlite") as opened:
        for cell in made_up_cells():
            machine = cell.environment | {"commit": HOSTILE, "machine": {"processor": HOSTILE, "cores": 2}}
            key = replace(cell.key, instance=f"{cell.key.instance} {HOSTILE}")
            opened.add(replace(cell, key=key, environment=machine, outcome=replace(cell.outcome, reason=HOSTILE)))
    for name in ("report.md", "report.html"):
        (path,) = render(tmp_path / "cells.sqlite", tmp_path / name, title=f"A title {HOSTILE}")
        text = path.read_text(encoding="utf-8")
        assert "<img" not in text and "onerror" in text
        if name == "report.md":
            assert "\x1b" not in text
            assert not re.search(r"(?<!\\)\]\(|(?<!\\)`f", text)


@given(st.text(max_size=60))
def test_markdown_shows_the_text(text: str) -> None:
    """Rendered by a Markdown library, what was escaped has no element inside its paragraph."""
    markdown = pytest.importorskip("markdown")
    shown = markdown.markdown("x" + plain_markdown(text) + "x")
    assert re.fullmatch(r"<p>[^<]*</p>", shown), shown
