"""What several sections share: a colour for each method, curves over time, the table of all cells."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

from flipwise.pages.charts import Chart, Line
from flipwise_studies.experiments.cells import Cell
from flipwise_studies.report.cell_reading import by_method, done, parameters_in_words
from flipwise_studies.report.tables import Entry, Table

MOST_LINES = 5
"""More lines than these nobody tells apart; the tables have all methods."""
_FIRST = ("flipwise", "dpcd")
"""Methods that always have the first colours."""
_SEARCHES = ("flipwise", "dpcd")
"""Methods that search on for as long as they may: the limit is their end."""
_SETTINGS = ("k", "bits", "balanced")
"""Parameters of what is asked for; the others say how."""


def unfinished(cell: Cell) -> bool:
    """Whether a method was stopped by the time limit before it came to an end of its own."""
    return cell.outcome.metrics.get("stopped_by_limit", 0) > 0 and cell.key.method not in _SEARCHES


def leading(cells: Iterable[Cell], without: Sequence[str] = ()) -> list[str]:
    """The methods to be drawn, in the order of their colours: ours, then those whose values rank best on the mean.

    An unfinished run ranks last: what it has at the limit says nothing about the method, and bends every chart.
    """
    cells = list(cells)
    ranks: dict[str, list[int]] = {name: [] for name in by_method(cells) if name not in without}
    groups: dict[tuple[object, ...], dict[str, float]] = {}
    for cell in done(cells):
        if cell.outcome.value is not None and cell.key.method in ranks:
            settings = cell.key.options
            asked = cell.key.instance, *(settings.get(name) for name in _SETTINGS)
            sign = -1.0 if cell.outcome.sense == "max" else 1.0
            group = groups.setdefault(asked, {})
            value = math.inf if unfinished(cell) else sign * cell.outcome.value
            group[cell.key.method] = min(value, group.get(cell.key.method, math.inf))
    for group in groups.values():
        for name, own in ranks.items():
            value = group.get(name, math.inf)
            own.append(len(ranks) if math.isinf(value) else sum(other < value for other in group.values()))
    ordered = sorted(ranks, key=lambda name: (_FIRST.index(name) if name in _FIRST else len(_FIRST), sum(ranks[name])))
    return ordered[:MOST_LINES]


class Palette:
    """The methods that a section draws, and their colours, the same in all its figures."""

    def __init__(self, cells: Iterable[Cell], without: Sequence[str] = ()) -> None:
        cells = list(cells)
        self._names = leading(cells, without)
        drawn, every = len(self._names), len(by_method(cells))
        self.note = f"{drawn} of {every} methods, those that do best; the tables have all." if drawn < every else ""

    def __call__(self, method: str) -> int:
        """The place of a method's colour."""
        return self._names.index(method)

    def drawn(self, cells: Iterable[Cell]) -> dict[str, list[Cell]]:
        """The finished cells that are drawn, by method."""
        groups = by_method(cell for cell in done(cells) if not unfinished(cell))
        return {name: groups[name] for name in self._names if name in groups}


def anytime_charts(title: str, cells: Sequence[Cell], palette: Palette, y_label: str) -> list[Chart]:
    """Best value against time, one curve a method: of its seeds the one with the median value. No curves, no chart."""
    lines = []
    for method, own in palette.drawn(c for c in cells if len(c.outcome.series.get("best", [])) > 0).items():
        ranked = sorted(own, key=lambda c: c.outcome.value or 0.0)
        chosen = ranked[len(ranked) // 2]
        points = [(max(x, 1e-4), y) for x, y in chosen.outcome.series["best"]]
        lines.append(Line(method, points, palette(method), steps=True, markers=len(points) == 1))
    chart = Chart(title, "seconds", y_label, lines, x_log=True, note=palette.note, named_ends=True)
    return [chart] if lines else []


def cell_table(cells: Sequence[Cell]) -> Table:
    """Every cell of a study, one a row."""
    headers = ("instance", "method", "parameters", "seed", "status", "value", "bound", "seconds", "peak MB")
    rows: list[list[Entry]] = []
    for cell in cells:
        key, outcome = cell.key, cell.outcome
        status = outcome.status if outcome.status == "done" else f"{outcome.status}: {outcome.reason}"
        memory = None if cell.peak_memory is None else float(round(cell.peak_memory))
        numbers = (outcome.value, outcome.bound, outcome.seconds, memory)
        rows.append([key.instance, key.method, parameters_in_words(key), key.seed, status, *numbers])
    return Table("Every cell", headers, rows, folded=True)
