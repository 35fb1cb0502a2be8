"""What several sections share: a colour for each method, curves over time, the table of all cells."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from flipwise.pages.charts import Chart, Line
from flipwise_studies.experiments.cells import Cell
from flipwise_studies.report.cell_reading import by_method, done, parameters_in_words
from flipwise_studies.report.tables import Entry, Table

_FIRST = ("flipwise", "dpcd")
"""Methods that always have the first colours."""


class Palette:
    """A colour for every method, the same in all figures of a section."""

    def __init__(self, cells: Iterable[Cell]) -> None:
        names = list(by_method(cells))
        names.sort(key=lambda name: _FIRST.index(name) if name in _FIRST else len(_FIRST))
        self._places = {name: place for place, name in enumerate(names)}

    def __call__(self, method: str) -> int:
        """The place of a method's colour."""
        return self._places[method]


def anytime_charts(title: str, cells: Sequence[Cell], palette: Palette, y_label: str, most: int = 8) -> list[Chart]:
    """Best value against time, one curve a method: of its seeds the one with the median value. No curves, no chart."""
    lines = []
    for method, own in by_method(c for c in done(cells) if len(c.outcome.series.get("best", [])) > 0).items():
        ranked = sorted(own, key=lambda c: c.outcome.value or 0.0)
        chosen = ranked[len(ranked) // 2]
        points = [(max(x, 1e-4), y) for x, y in chosen.outcome.series["best"]]
        lines.append(Line(method, points, palette(method), steps=True, markers=len(points) == 1))
    return [Chart(title, "seconds", y_label, lines[:most], x_log=True)] if lines else []


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
