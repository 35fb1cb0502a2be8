"""Two stored runs side by side."""

from __future__ import annotations

from pathlib import Path

from flipwise_studies import render
from flipwise_studies.experiments.results import write_results
from studies.tests.report.cells import made_up_cells


def test_two_runs_are_compared(store: Path, tmp_path: Path) -> None:
    """Against worse values the new ones count as better, against themselves as the same."""
    write_results(made_up_cells(0.5), tmp_path / "before.json")
    text = render(store, tmp_path / "report.md", compare=tmp_path / "before.json")[0].read_text(encoding="utf-8")
    head = text.split("## Compared with before.json")[1].split("### Cells whose value changed")[0]
    row = next(line for line in head.splitlines() if line.startswith("| densities |"))
    _, cells, better, same, worse, _ = (entry.strip() for entry in row.strip("|").split("|"))
    assert cells == better != "0" and same == worse == "0"
    text = render(store, tmp_path / "same.md", compare=store)[0].read_text(encoding="utf-8")
    row = next(line for line in text.splitlines() if line.startswith("| densities |"))
    assert [entry.strip() for entry in row.strip("|").split("|")][2:5] == ["0", cells, "0"]
    page = render(store, tmp_path / "compared.html", compare=tmp_path / "before.json")[0].read_text(encoding="utf-8")
    assert '<section id="comparison">' in page
