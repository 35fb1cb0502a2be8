"""What happened in a run, iteration by iteration, in memory and on request in a JSON-lines file."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@dataclass(frozen=True, slots=True)
class Record:
    """One iteration: its number, the value reached, what was done, and the seconds since the start."""

    iteration: int
    value: float
    best: float
    flips: int
    alpha: float | None
    bound: float | None
    seconds: float


@dataclass
class Trace:
    """The records of a run, thinned to every second one when there are more than `limit`.

    Examples
    --------
    >>> import flipwise, numpy as np
    >>> trace = flipwise.minimize(np.diag([1.0, 2.0]) - 1.0, seed=0).trace
    >>> trace.records[-1].best <= trace.records[0].value
    True
    """

    records: list[Record] = field(default_factory=list)
    limit: int = 20_000
    _every: int = 1
    _seen: int = 0
    _file: TextIO | None = None

    def add(self, record: Record) -> None:
        """Keep a record (and write it to the file)."""
        if self._file is not None:
            self._file.write(json.dumps(asdict(record)) + "\n")
            self._file.flush()
        if self._seen % self._every == 0:
            self.records.append(record)
        self._seen += 1
        if len(self.records) > self.limit:
            self.records = self.records[::2]
            self._every *= 2

    def open(self, path: str | Path) -> None:
        """Write every further record as a line of JSON to `path`."""
        self._file = Path(path).open("w", encoding="utf-8")  # noqa: SIM115 - closed by close()

    def close(self) -> None:
        """Close the file, if one is open."""
        if self._file is not None:
            self._file.close()
            self._file = None

    def plot(self, axes: Axes | None = None) -> Axes:
        """Draw the value and the best value against time (needs the `plot` extra)."""
        from flipwise.report.drawings import plot_trace

        return plot_trace(self, axes)

    def to_dicts(self) -> list[dict[str, Any]]:
        """The records as plain dictionaries."""
        return [asdict(record) for record in self.records]
