"""A cell: one run of one method on one instance, with everything needed to believe it and to repeat it.

Its curves come from the trace of the run. Cells are read from a store or a results file in JSON.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

from flipwise.engine.run import Trace
from flipwise.foundation.errors import InvalidFile

CellStatus = Literal["done", "failed", "skipped"]
Sense = Literal["min", "max"]
Series = dict[str, list[list[float]]]
"""Named curves, each a list of [x, y] points."""
MOST_POINTS = 120
"""Points kept of a curve: enough for a drawing, small in the file."""


@dataclass(frozen=True)
class Key:
    """What makes a cell itself: no two finished cells of a store share it."""

    study: str
    instance: str
    checksum: str
    method: str
    parameters: str
    seed: int
    threads: int

    @property
    def options(self) -> dict[str, Any]:
        """The parameters as a dictionary."""
        options: dict[str, Any] = json.loads(self.parameters)
        return options


@dataclass(frozen=True)
class Outcome:
    """What running a cell gave.

    Attributes
    ----------
    value, bound, sense
        The quantity compared, a proven bound on it where there is one, and whether more is better.
    seconds
        The time of the method itself; loading data and scoring are not in it.
    metrics
        Further numbers by name, such as `map` or `density_doubled`.
    series
        Curves by name, such as `value` against seconds.
    status, reason
        "done", or "failed" / "skipped" with the reason in a sentence.
    """

    value: float | None = None
    bound: float | None = None
    sense: Sense = "min"
    seconds: float | None = None
    metrics: Mapping[str, float] = field(default_factory=dict)
    series: Series = field(default_factory=dict)
    status: CellStatus = "done"
    reason: str = ""


@dataclass(frozen=True)
class Cell:
    """A stored cell: key, outcome, and the circumstances."""

    key: Key
    outcome: Outcome
    scale: str = "quick"
    peak_memory: float | None = None
    environment: Mapping[str, Any] = field(default_factory=dict)
    finished: str = ""
    attempt: int = 0

    def to_dict(self) -> dict[str, Any]:
        """The cell as plain data, for JSON."""
        return asdict(self)

    @classmethod
    def from_dict(cls, record: Mapping[str, Any]) -> Cell:
        """The cell that `to_dict` wrote."""
        rest = {name: value for name, value in record.items() if name not in ("key", "outcome")}
        return cls(Key(**record["key"]), Outcome(**record["outcome"]), **rest)


class Skip(Exception):
    """Raised inside a study when a cell cannot be run here; the message becomes the cell's reason."""


def run_curves(trace: Trace, scale: float = 1.0) -> Series:
    """Best value and bound against seconds, value and flips against iterations; values are multiplied by `scale`.

    A maximisation that was turned into a minimisation by a change of sign is turned back by a negative `scale`.
    """
    records = trace.records
    curves: Series = {
        "best": _thinned(_changes([[record.seconds, scale * record.best] for record in records])),
        "value": _thinned([[record.iteration, scale * record.value] for record in records]),
        "flips": _thinned([[record.iteration, record.flips] for record in records]),
    }
    bounds = [[record.seconds, scale * record.bound] for record in records if record.bound is not None]
    if bounds:
        curves["bound"] = _thinned(_changes(bounds))
    return curves


def _thinned(points: Sequence[list[float]]) -> list[list[float]]:
    """At most `MOST_POINTS` of the points, evenly chosen, the first and the last among them."""
    if len(points) <= MOST_POINTS:
        return list(points)
    last = len(points) - 1
    return [points[round(place * last / (MOST_POINTS - 1))] for place in range(MOST_POINTS)]


def _changes(points: list[list[float]]) -> list[list[float]]:
    """The points at which y changes, and the last one."""
    kept = [point for place, point in enumerate(points) if place == 0 or point[1] != points[place - 1][1]]
    if points and kept[-1] is not points[-1]:
        kept.append(points[-1])
    return kept


def canonical(parameters: Mapping[str, Any]) -> str:
    """Parameters as JSON in which equal parameters give equal text."""
    return json.dumps(dict(parameters), sort_keys=True, separators=(",", ":"))


def current(cells: Iterable[Cell]) -> list[Cell]:
    """The cells that count: of several attempts the last, and no skip or failure for which a finished twin exists.

    A cell skipped for want of data has no checksum; once the data are there its finished twin has one.
    """
    last: dict[Key, Cell] = {}
    for cell in cells:
        if cell.key not in last or cell.attempt >= last[cell.key].attempt:
            last[cell.key] = cell
    finished = {replace(cell.key, checksum="") for cell in last.values() if cell.outcome.status == "done"}
    return [
        cell
        for cell in last.values()
        if cell.outcome.status == "done" or replace(cell.key, checksum="") not in finished
    ]


def read_cells(source: str | Path) -> list[Cell]:
    """The cells of a store (`.sqlite`) or of a committed results file (`.json`), in the order they were finished.

    Examples
    --------
    >>> from flipwise_studies import read_cells
    >>> read_cells("no-such-file.json")
    Traceback (most recent call last):
    flipwise.foundation.errors.InvalidFile: no-such-file.json: no such file; run `flipwise reproduce` first.
    """
    path = Path(source)
    if not path.is_file():
        raise InvalidFile(f"{path}: no such file; run `flipwise reproduce` first.")
    if path.suffix == ".json":
        try:
            record = json.loads(path.read_text(encoding="utf-8"))
            environments = record["environments"]
            return current(
                Cell.from_dict(row | {"environment": environments[row["environment"]]}) for row in record["cells"]
            )
        except (ValueError, KeyError, TypeError, IndexError) as error:
            raise InvalidFile(f"{path}: not a results file of flipwise ({error!r}).") from None
    from flipwise_studies.experiments.store import Store

    with Store(path, read_only=True) as store:
        return current(store.cells())


def write_results(cells: Iterable[Cell], path: str | Path, *, command: str = "", series: bool = False) -> None:
    """Write cells as a small JSON file that can be committed: one line a cell, without the curves unless asked for.

    `command` is what produced them; documents quote it beside the figures.
    """
    environments: list[Mapping[str, Any]] = []
    lines = []
    for cell in cells:
        if cell.environment not in environments:
            environments.append(cell.environment)
        row = cell.to_dict() | {"environment": environments.index(cell.environment)}
        if not series:
            row["outcome"]["series"] = {}
        lines.append(json.dumps(row, sort_keys=True))
    head = f'{{"command": {json.dumps(command)},\n"environments": {json.dumps(environments, sort_keys=True)},\n'
    text = head + '"cells": [\n' + ",\n".join(lines) + "\n]}\n"
    Path(path).write_text(text, encoding="utf-8")
