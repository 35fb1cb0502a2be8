"""Single runs in detail: convergence, flips a step, and the gap between the found and the proven closing."""

from __future__ import annotations

from collections.abc import Sequence

from flipwise.pages.charts import Band, Chart, Line
from flipwise_studies.experiments.cells import Cell
from flipwise_studies.report.blocks import Figures
from flipwise_studies.report.cell_reading import done


def notable_runs(cells: Sequence[Cell]) -> list[Cell]:
    """For each study the run of our own method with the longest story; at most eight."""
    chosen: dict[str, Cell] = {}
    for cell in done(cells):
        ours = cell.key.method.startswith(("dpcd", "flipwise"))
        if not ours or "flips" not in cell.outcome.series:
            continue
        longest = chosen.get(cell.key.study)
        if longest is None or _story_length(cell) > _story_length(longest):
            chosen[cell.key.study] = cell
    return sorted(chosen.values(), key=_story_length, reverse=True)[:8]


def run_figures(cell: Cell) -> Figures:
    """Value by iteration, flips by iteration, best value and bound by time."""
    series = {name: [(x, y) for x, y in points] for name, points in cell.outcome.series.items()}
    charts = []
    if series.get("value"):
        line = Line("value after the step", series["value"], 0, markers=True)
        charts.append(Chart("Convergence", "iteration", "value", [line]))
    if any(flips > 0 for _, flips in series.get("flips", [])):
        line = Line("flips", series["flips"], 1, stems=True)
        charts.append(Chart("Flips a step", "iteration", "variables changed", [line], y_from_zero=True))
    if series.get("best"):
        charts.append(_gap_chart(cell, series["best"], series.get("bound", [])))
    return Figures(charts)


def _gap_chart(cell: Cell, best: list[tuple[float, float]], bound: list[tuple[float, float]]) -> Chart:
    """Best value and bound by time; a bound that is known only at the end holds from the start."""
    lines = [Line("best so far", best, 0, steps=True)]
    bands = []
    end = best[-1][0]
    if not bound and cell.outcome.bound is not None:
        bound = [(0.0, cell.outcome.bound)]
    if bound:
        held = [*bound, (max(end, bound[-1][0]), bound[-1][1])]
        lines.append(Line("proven bound", held, 7, steps=True))
        times = sorted({t for t, _ in best} | {t for t, _ in held})
        both = [(t, _value_at(best, t), _value_at(held, t)) for t in times]
        bands.append(Band("gap", [(t, a, b) for t, a, b in both if a is not None and b is not None], 7))
    title = "The gap closing" if bound else "Best value over time"
    return Chart(title, "seconds", "value", lines, bands)


def _value_at(points: Sequence[tuple[float, float]], time: float) -> float | None:
    """The value of a step function at a time, None before its first step."""
    before = [y for x, y in points if x <= time]
    return before[-1] if before else None


def _story_length(cell: Cell) -> int:
    """How much there is to tell: steps that changed something, improvements, above all a proven bound beside them."""
    series = cell.outcome.series
    flips = sum(count > 0 for _, count in series.get("flips", []))
    improvements = len({best for _, best in series.get("best", [])})
    bounds = len({bound for _, bound in series.get("bound", [])})
    return min(100, flips) + 5 * min(20, improvements) + 200 * min(2, bounds)
