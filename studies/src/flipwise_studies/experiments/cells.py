"""A cell: one run of one method on one instance, with everything needed to believe it and to repeat it."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import Any, Literal

CellStatus = Literal["done", "failed", "skipped"]
Sense = Literal["min", "max"]
Series = dict[str, list[list[float]]]
"""Named curves, each a list of [x, y] points."""


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
