"""What the report reads from cells: groups of them, their numbers, and names for them."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from flipwise_studies.experiments.cells import Cell, Key


def done(cells: Iterable[Cell]) -> list[Cell]:
    """The finished cells."""
    return [cell for cell in cells if cell.outcome.status == "done"]


def grouped(cells: Iterable[Cell], group: Callable[[Cell], str]) -> dict[str, list[Cell]]:
    """Cells by the name of their group, in order of appearance."""
    groups: dict[str, list[Cell]] = {}
    for cell in cells:
        groups.setdefault(group(cell), []).append(cell)
    return groups


def instance_of(cell: Cell) -> str:
    """The name of a cell's instance."""
    return cell.key.instance


def method_of(cell: Cell) -> str:
    """The name of a cell's method."""
    return cell.key.method


def by_instance(cells: Iterable[Cell]) -> dict[str, list[Cell]]:
    """Cells by instance, in order of appearance."""
    return grouped(cells, instance_of)


def by_method(cells: Iterable[Cell]) -> dict[str, list[Cell]]:
    """Cells by method, in order of appearance."""
    return grouped(cells, method_of)


def value_of(cell: Cell) -> float | None:
    """The quantity that is compared."""
    return cell.outcome.value


def seconds_of(cell: Cell) -> float | None:
    """The time of the method itself."""
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


def run_name(key: Key) -> str:
    """Which run it is, in a line."""
    return f"{key.study}: {key.method} on {key.instance} ({parameters_in_words(key)}; seed {key.seed})"


def parameters_in_words(key: Key) -> str:
    """The parameters of a run, in a line."""
    return ", ".join(f"{name} {value}" for name, value in key.options.items())


def environments_of(cells: Iterable[Cell]) -> list[Mapping[str, Any]]:
    """The different environments of the cells, in order of appearance."""
    found: list[Mapping[str, Any]] = []
    for cell in cells:
        if cell.environment and cell.environment not in found:
            found.append(cell.environment)
    return found


def versions_in_words(environment: Mapping[str, Any]) -> str:
    """The packages of an environment with their versions, in a line."""
    return ", ".join(f"{name} {number}" for name, number in environment.get("versions", {}).items())


def typical_load(cells: Iterable[Cell]) -> float | None:
    """The median load of the machine while the cells ran."""
    loads = [cell.outcome.metrics["load_average"] for cell in cells if "load_average" in cell.outcome.metrics]
    return statistics.median(loads) if loads else None


def mean(values: Iterable[float | None]) -> float | None:
    """The mean of the numbers that are there."""
    numbers = [value for value in values if value is not None]
    return statistics.fmean(numbers) if numbers else None
