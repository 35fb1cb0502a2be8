"""The building blocks of a section, and what several sections share: colours, anytime curves, tables of cells."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from flipwise.pages.charts import Chart, Line
from flipwise_studies.experiments.cells import Cell, Key
from flipwise_studies.report.tables import Entry, Table

_FIRST = ("flipwise", "dpcd")
"""Methods that always have the first colours."""


@dataclass(frozen=True)
class Drawing:
    """A figure that is not a chart, as HTML, with words for formats that cannot show it."""

    html: str
    words: str


@dataclass(frozen=True)
class Figures:
    """Figures that stand side by side where there is room."""

    figures: Sequence[Chart | Drawing]


@dataclass(frozen=True)
class Text:
    """A paragraph."""

    words: str


Block = Figures | Table | Text


@dataclass(frozen=True)
class Section:
    """One part of the report."""

    name: str
    title: str
    question: str
    blocks: Sequence[Block]


class Palette:
    """A colour for every method, the same in all figures of a section."""

    def __init__(self, cells: Iterable[Cell]) -> None:
        names = list(by_method(cells))
        names.sort(key=lambda name: _FIRST.index(name) if name in _FIRST else len(_FIRST))
        self._places = {name: place for place, name in enumerate(names)}

    def __call__(self, method: str) -> int:
        return self._places[method]


def done(cells: Iterable[Cell]) -> list[Cell]:
    return [cell for cell in cells if cell.outcome.status == "done"]


def by(cells: Iterable[Cell], group: Callable[[Cell], str]) -> dict[str, list[Cell]]:
    """Cells by the name of their group, in order of appearance."""
    groups: dict[str, list[Cell]] = {}
    for cell in cells:
        groups.setdefault(group(cell), []).append(cell)
    return groups


def instance_of(cell: Cell) -> str:
    return cell.key.instance


def method_of(cell: Cell) -> str:
    return cell.key.method


def by_instance(cells: Iterable[Cell]) -> dict[str, list[Cell]]:
    return by(cells, instance_of)


def by_method(cells: Iterable[Cell]) -> dict[str, list[Cell]]:
    return by(cells, method_of)


def value_of(cell: Cell) -> float | None:
    return cell.outcome.value


def seconds_of(cell: Cell) -> float | None:
    return cell.outcome.seconds


def metric(name: str) -> Callable[[Cell], float | None]:
    """A further number of a cell."""
    return lambda cell: cell.outcome.metrics.get(name)


def option(name: str) -> Callable[[Cell], str | float]:
    """A parameter of a cell."""

    def read(cell: Cell) -> str | float:
        found: str | float = cell.key.options.get(name, "")
        return found

    return read


def anytime(title: str, cells: Sequence[Cell], palette: Palette, y_label: str, most: int = 8) -> list[Chart]:
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
        rows.append([key.instance, key.method, _parameters(key), key.seed, status, *numbers])
    return Table("Every cell", headers, rows, folded=True)


def run_name(key: Key) -> str:
    """Which run it is, in a line."""
    return f"{key.study}: {key.method} on {key.instance} ({_parameters(key)}; seed {key.seed})"


def _parameters(key: Key) -> str:
    return ", ".join(f"{name} {value}" for name, value in key.options.items())


def environments_of(cells: Iterable[Cell]) -> list[Mapping[str, Any]]:
    """The different environments of the cells, in order of appearance."""
    found: list[Mapping[str, Any]] = []
    for cell in cells:
        if cell.environment and cell.environment not in found:
            found.append(cell.environment)
    return found


def versions_in_words(environment: Mapping[str, Any]) -> str:
    return ", ".join(f"{name} {number}" for name, number in environment.get("versions", {}).items())


def typical_load(cells: Iterable[Cell]) -> float | None:
    """The median load of the machine while the cells ran."""
    loads = [cell.outcome.metrics["load_average"] for cell in cells if "load_average" in cell.outcome.metrics]
    return statistics.median(loads) if loads else None


def mean(values: Iterable[float | None]) -> float | None:
    """The mean of the numbers that are there."""
    numbers = [value for value in values if value is not None]
    return statistics.fmean(numbers) if numbers else None
