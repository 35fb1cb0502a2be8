"""The answer of every solver: why it ended, what happened iteration by iteration, and the point with what is known.

A result is readable, answers to scipy's names, and is saved without pickle.
"""

from __future__ import annotations

import enum
import json
import math
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self, TextIO

import numpy as np

from flipwise.foundation.arrays import Signs
from flipwise.foundation.container import decode, encode, write_atomically
from flipwise.foundation.errors import InvalidFile
from flipwise.foundation.memory import peak_bytes
from flipwise.model.objective import Variables

if TYPE_CHECKING:
    from matplotlib.axes import Axes


class Status(enum.Enum):
    """Why a run ended; the value is the sentence shown to the user.

    Examples
    --------
    >>> import flipwise
    >>> flipwise.Status.TIME_LIMIT.value, flipwise.Status.TIME_LIMIT.success
    ('the time limit was reached', False)
    """

    LOCAL_OPTIMUM = "no single move improves the point"
    CONVERGED = "the method has converged"
    OPTIMAL = "the point is proven optimal"
    CYCLE = "the method alternates between two points"
    TARGET = "the target value was reached"
    ITERATION_LIMIT = "the iteration limit was reached"
    TIME_LIMIT = "the time limit was reached"
    PATIENCE = "no improvement for as many iterations as `patience` allows"
    CALLBACK = "the callback asked to stop"
    INTERRUPTED = "interrupted by the user; this is the best point so far"

    @property
    def success(self) -> bool:
        """Whether the method came to its own end rather than to a limit."""
        return self in (Status.LOCAL_OPTIMUM, Status.CONVERGED, Status.OPTIMAL, Status.TARGET)

    @property
    def resumable(self) -> bool:
        """Whether somebody ended the run before it was over, so that a checkpoint of it is worth keeping."""
        return self in (Status.INTERRUPTED, Status.TIME_LIMIT, Status.CALLBACK)


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
        from flipwise.pages.drawings import plot_trace

        return plot_trace(self, axes)

    def to_dicts(self) -> list[dict[str, Any]]:
        """The records as plain dictionaries."""
        return [asdict(record) for record in self.records]


@dataclass
class Result:
    """The best point of a run and what is known about it.

    Attributes
    ----------
    x
        The point, int8, in the objective's own variables: -1/+1 or 0/1.
    value
        f(x), recomputed from scratch at the end.
    status, message
        Why the run ended.
    bound
        A proven lower bound on the minimum, where one is known.
    iterations, evaluations, seconds, seed
        What the run cost and how to repeat it.
    peak_memory
        The largest resident size of the whole process from its start to the end of the run, in bytes: with everything
        else that the process holds, so an upper limit to what the run needed. None where the system does not say.
    trace
        The history of the run.

    Examples
    --------
    >>> import flipwise, numpy as np
    >>> result = flipwise.minimize(np.ones((3, 3)), constraint=flipwise.Cardinality(1), seed=0)
    >>> result.value, result.success
    (1.0, True)
    """

    x: Signs
    value: float
    status: Status
    method: str = "dpcd"
    variables: Variables = "spin"
    bound: float | None = None
    iterations: int = 0
    evaluations: int = 0
    seconds: float = 0.0
    seed: int | None = None
    trace: Trace = field(default_factory=Trace, repr=False)
    info: dict[str, Any] = field(default_factory=dict)
    peak_memory: int | None = field(default_factory=peak_bytes, repr=False, compare=False)

    @property
    def message(self) -> str:
        """The reason for stopping, as a sentence."""
        return self.status.value

    @property
    def gap(self) -> float | None:
        """(value - bound) / |value|, or None without a bound."""
        if self.bound is None:
            return None
        difference = max(0.0, self.value - self.bound)
        if difference == 0.0:
            return 0.0
        return math.inf if self.value == 0.0 else difference / abs(self.value)

    @property
    def spins(self) -> Signs:
        """The point as -1/+1."""
        return np.where(self.x > 0, 1, -1).astype(np.int8)

    @property
    def bits(self) -> Signs:
        """The point as 0/1."""
        return (self.x > 0).astype(np.int8)

    # scipy's names
    @property
    def fun(self) -> float:
        """scipy's name of `value`."""
        return self.value

    @property
    def nit(self) -> int:
        """scipy's name of `iterations`."""
        return self.iterations

    @property
    def nfev(self) -> int:
        """scipy's name of `evaluations`."""
        return self.evaluations

    @property
    def success(self) -> bool:
        """Whether the method came to its own end rather than to a limit."""
        return self.status.success

    def __str__(self) -> str:
        ones = int(np.count_nonzero(self.x > 0))
        lines = [
            f"method      {self.method}",
            f"value       {self.value:.12g}",
            f"status      {self.message}",
            f"variables   {self.x.size} ({ones} at +1)",
            f"iterations  {self.iterations}",
            f"seconds     {self.seconds:.3f}",
        ]
        if self.bound is not None and self.gap is not None:
            lines.insert(2, f"bound       {self.bound:.12g} (gap {100 * self.gap:.3g} %)")
        return "\n".join(lines)

    def plot(self, axes: Axes | None = None) -> Axes:
        """Draw the run (needs the `plot` extra)."""
        return self.trace.plot(axes)

    def save(self, path: str | Path) -> None:
        """Write the result to a file of plain values and arrays; nothing in it is executable."""
        state = {name: getattr(self, name) for name in (*_SAVED, "peak_memory")}
        write_atomically(
            Path(path), encode("result", {**state, "status": self.status.name, "trace": self.trace.to_dicts()})
        )

    @classmethod
    def load(cls, path: str | Path) -> Self:
        """Read a result written by `save`."""
        state = decode("result", Path(path).read_bytes(), str(path))
        try:
            status = Status[state["status"]]
            trace = Trace(records=[Record(**row) for row in state["trace"]])
            peak = state.get("peak_memory")  # not in files of earlier versions
            return cls(status=status, trace=trace, peak_memory=peak, **{name: state[name] for name in _SAVED})
        except (KeyError, TypeError) as error:
            raise InvalidFile(f"{path}: a part of the result is missing or unknown ({error}).") from None


_SAVED = ("x", "value", "method", "variables", "bound", "iterations", "evaluations", "seconds", "seed", "info")
