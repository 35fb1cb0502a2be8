"""What a section draws: few lines, and no method at a point where it was stopped."""

from __future__ import annotations

from dataclasses import replace

from flipwise.pages.charts import Chart
from flipwise_studies.experiments.cells import Cell, Key, Outcome, canonical
from flipwise_studies.report.blocks import Figures
from flipwise_studies.report.sections.contents import sections_of
from flipwise_studies.report.sections.graphs import densities
from flipwise_studies.report.sections.shared import MOST_LINES, Palette, leading
from flipwise_studies.report.tables import Table
from studies.tests.report.cells import made_up_cells


def cell(method: str, value: float, stopped: bool = False, k: int = 10) -> Cell:
    """A density."""
    key = Key("densities", "graph", "c" * 64, method, canonical({"k": k, "time_limit": 4.0}), 0, 1)
    return Cell(key, Outcome(value, None, "max", 1.0, {"stopped_by_limit": float(stopped)}))


CELLS = [
    cell("peeling", 4.0),
    cell("late", 9.0, stopped=True),
    cell("dpcd", 5.0, stopped=True),  # a search: the limit is its end
    *(cell(f"rival {i}", 4.0 + 0.1 * i) for i in range(6)),
]


def test_ours_and_the_best_finished_rivals_lead() -> None:
    """At most five, the first ours; what was stopped ranks last, whatever it had."""
    assert leading(CELLS) == ["dpcd", "rival 5", "rival 4", "rival 3", "rival 2"]
    assert Palette(CELLS)("rival 5") == 1
    assert "5 of 9 methods" in Palette(CELLS).note


def test_an_unfinished_run_says_so_in_its_cell_and_is_not_drawn() -> None:
    """Its figure is no result: neither the best of its column nor a point of a chart."""
    few = [each for each in CELLS if not each.key.method.startswith("rival")]
    blocks = densities([*few, replace(cell("late", 3.0, k=20)), cell("dpcd", 4.0, k=20)])
    figures, table = blocks[1], blocks[2]
    assert isinstance(figures, Figures)
    assert isinstance(table, Table)
    text = table.markdown() + table.note
    assert "not finished (9)" in text and "stopped by the time limit of 4 s" in text
    assert "**5**" in text and "**not finished" not in text
    lines = {line.name: list(line.points) for line in figures.figures[0].lines}
    assert lines["late"] == [(20.0, 3.0)] and lines["dpcd"] == [(10.0, 5.0), (20.0, 4.0)]


def test_no_chart_has_more_lines_than_can_be_told_apart() -> None:
    """In every section of a report, each line in a colour of its own."""
    blocks = [block for section in sections_of(made_up_cells()) for block in section.blocks]
    charts = [chart for block in blocks if isinstance(block, Figures) for chart in block.figures]
    lines = [chart.lines for chart in charts if isinstance(chart, Chart)]
    assert len(lines) > 10
    for drawn in lines:
        assert len({line.colour for line in drawn}) == len(drawn) <= MOST_LINES
