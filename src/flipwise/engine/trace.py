"""The history of a run: a record for each iteration, and when the bound became better."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@dataclass(frozen=True, slots=True)
class Record:
    """One iteration: its number, the value reached, what was done, and the seconds since the start.

    Examples
    --------
    >>> import flipwise, numpy as np
    >>> flipwise.minimize(np.eye(3), seed=0).trace.records[0].iteration
    1
    """

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
    bounds: list[tuple[float, float]] = field(default_factory=list)
    """When the bound became better, in seconds, and to what."""
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

    def add_bound(self, seconds: float, bound: float) -> None:
        """Keep that the bound became better."""
        self.bounds.append((seconds, bound))
        if len(self.bounds) > self.limit:
            self.bounds = [*self.bounds[:-1:2], self.bounds[-1]]

    @contextmanager
    def written_to(self, path: str | Path) -> Iterator[None]:
        """Write every record that is added inside the block as a line of JSON to `path`."""
        with Path(path).open("w", encoding="utf-8") as self._file:
            try:
                yield
            finally:
                self._file = None

    def plot(self, axes: Axes | None = None) -> Axes:
        """Draw the value and the best value against time (needs the `plot` extra)."""
        from flipwise.engine.plot import plot_trace

        return plot_trace(self, axes)

    def to_dicts(self) -> list[dict[str, Any]]:
        """The records as plain dictionaries."""
        return [asdict(record) for record in self.records]
