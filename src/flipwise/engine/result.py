"""The answer of every function: the best point, what is known about it, and what the run cost.

A result is readable, answers to scipy's names, and is saved without pickle.
"""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from flipwise.engine.certificate import Certificate
from flipwise.engine.explanation import explanation_of
from flipwise.engine.limits import Status, peak_bytes
from flipwise.engine.pool import Pool
from flipwise.engine.run import relative_gap
from flipwise.engine.trace import Record, Trace
from flipwise.foundation.arrays import Signs
from flipwise.foundation.atomic import write_atomically
from flipwise.foundation.checks import Variables
from flipwise.foundation.container import decode, encode
from flipwise.foundation.errors import InvalidFile
from flipwise.foundation.tables import html_facts

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@dataclass
class Result:
    """The best point of a run and what is known about it.

    Attributes
    ----------
    x
        The point, int8, in the objective's own variables: -1/+1 or 0/1.
    value
        What was asked for, recomputed from scratch at the end: f(x), in results of their own kind the cut or density.
    status, message
        Why the run ended.
    bound
        No point has a better value than this, where that is proven; in the unit of `value`.
    iterations, evaluations, seconds, seed
        What the run cost and how to repeat it.
    pool
        Several answers, where `pool=` asked for them: distinct good points and their values, the best first.
    certificate
        The proof of the bound, to be saved and checked apart (`flipwise.verify`), where it has one. `save` leaves it
        out: it has a `save` of its own.
    peak_memory
        The largest resident size of the whole process from its start to the end of the run, in bytes: with everything
        else that the process holds, so an upper limit to what the run needed. None where the system does not say.
    trace
        The history of the run.
    info
        What else is known; `compile_seconds` is the time in which kernels were compiled or loaded, which is neither in
        `seconds` nor counted by a time limit; `last_x` and `last_value` are where the last iteration ended, if that was
        not at the best point (the paper's own answer with `literal=True`).

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
    pool: Pool | None = field(default=None, repr=False)
    certificate: Certificate | None = field(default=None, repr=False, compare=False)
    peak_memory: int | None = field(default_factory=peak_bytes, repr=False, compare=False)

    @property
    def message(self) -> str:
        """The reason for stopping, as a sentence."""
        return self.status.value

    @property
    def gap(self) -> float | None:
        """|bound - value| / |value|: 0 when the answer is proven optimal, None without a bound."""
        return relative_gap(self.value, self.bound)

    @property
    def optimal(self) -> bool:
        """Whether the bound proves that nothing is better."""
        return self.gap == 0.0

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

    def facts(self) -> list[tuple[str, str]]:
        """What a reader wants to know, as names and texts."""
        ones = int(np.count_nonzero(self.x > 0))
        return [
            ("method", self.method),
            ("value", f"{self.value:.12g}"),
            *self.bound_facts(),
            ("status", self.message),
            ("variables", f"{self.x.size} ({ones} at +1)"),
            *([] if self.pool is None else [("pool", _pool_in_words(self.pool))]),
            ("iterations", f"{self.iterations}"),
            ("seconds", f"{self.seconds:.3f}"),
        ]

    def bound_facts(self) -> list[tuple[str, str]]:
        """The bound and its gap, where there is one."""
        if self.bound is None or self.gap is None:
            return []
        proof = "optimal" if self.optimal else f"gap {100 * self.gap:.3g} %"
        return [("bound", f"{self.bound:.12g} ({proof})")]

    def __str__(self) -> str:
        facts = self.facts()
        width = max(len(name) for name, _ in facts) + 2
        return "\n".join(f"{name:<{width}}{text}" for name, text in facts)

    def _repr_html_(self) -> str:
        return html_facts(type(self).__name__, self.facts())

    # --- what a result says about itself, see `engine.explanation` ------------------------------------------------

    @property
    def measure(self) -> str:
        """What `value` is called."""
        return "value"

    @property
    def is_maximum(self) -> bool:
        """Whether more is better."""
        return False

    def explanation(self) -> list[tuple[str, str]]:
        """The lines of `flipwise.explain`."""
        return explanation_of(self)

    def subject(self) -> str:
        """What was solved."""
        size = " x ".join(f"{length:,}" for length in self.x.shape)
        return self._with_constraint(self._problem_words.get("words", f"a problem of {size} variables"))

    def offers_bound(self) -> bool:
        """Whether a bound can be asked for."""
        return self._problem_words.get("objective", "Quadratic") in ("Quadratic", "Polynomial")

    def may_close_gap(self) -> bool:
        """Whether `bound="best"` goes further than what was proven."""
        return self.offers_bound()

    def search_further(self) -> str:
        """What to try where a method has come to its own end."""
        if self.method == "portfolio":
            return "Another `seed`, or a `time_limit` for a longer search"
        return 'A descent ends at a local optimum: `method="portfolio", time_limit=10` searches on'

    def other_answers(self) -> str | None:
        """How others that are as good are found; None where they are not."""
        return "`pool=10` finds others that are as good or nearly"

    def in_unit(self, minimised: float) -> float:
        """What the search has minimised, in the unit of `value`."""
        return minimised

    @property
    def _problem_words(self) -> dict[str, str]:
        """What was solved, in words, as far as that was noted."""
        found = self.info.get("problem")
        return found if isinstance(found, dict) else {}

    def _with_constraint(self, words: str) -> str:
        constraint = self._problem_words.get("constraint")
        return f"{words}, {constraint}" if constraint else words

    def plot(self, axes: Axes | None = None) -> Axes:
        """Draw the value and the bound against time (needs the `plot` extra)."""
        from flipwise.engine.plot import plot_result

        return plot_result(self, axes)

    def save(self, path: str | Path) -> None:
        """Write the result to a file of plain values and arrays; nothing in it is executable.

        Labels that JSON cannot hold become text.
        """
        state = {f.name: getattr(self, f.name) for f in fields(self) if f.name not in _APART}
        state = {name: value if isinstance(value, np.ndarray) else _storable(value) for name, value in state.items()}
        state.update(status=self.status.name, trace=self.trace.to_dicts(), result=type(self).__name__)
        state["trace.bounds"] = [list(pair) for pair in self.trace.bounds]
        if self.pool is not None:
            state.update({f"pool.{f.name}": getattr(self.pool, f.name) for f in fields(Pool)})
        write_atomically(Path(path), encode("result", state))

    @classmethod
    def load(cls, path: str | Path) -> Self:
        """Read a result written by `save`."""
        state = decode("result", Path(path).read_bytes(), str(path))
        kind = state.pop("result", None)
        if not isinstance(kind, str) or kind != cls.__name__:
            found = kind if isinstance(kind, str) else "result of another version"
            raise InvalidFile(f"{path}: a flipwise {found}, not a {cls.__name__}.")
        state["pool"], state["certificate"] = _stored_pool(state, str(path)), None
        missing = {f.name for f in fields(cls)} - state.keys()
        if missing:
            raise InvalidFile(f"{path}: a part of the result is missing ({', '.join(sorted(missing))}).")
        for part in fields(cls):
            if not isinstance(state[part.name], _STORED.get(str(part.type), object)):
                raise InvalidFile(f"{path}: `{part.name}` is no {part.type}.")
        if state["x"].ndim == 0:
            raise InvalidFile(f"{path}: `x` is a single number, not a point.")
        try:
            state["status"] = Status[state["status"]]
            bounds = [(float(when), float(bound)) for when, bound in state.pop("trace.bounds", [])]
            state["trace"] = Trace(records=[Record(**row) for row in state["trace"]], bounds=bounds)
            return cls(**state)
        except (KeyError, TypeError, ValueError) as error:
            raise InvalidFile(f"{path}: a part of the result is unknown ({error}).") from None


_APART = ("status", "trace", "pool", "certificate")
"""Fields that are written in another way, or not at all."""
_NONE = type(None)
_STORED: dict[str, Any] = {
    "float": int | float,
    "float | None": int | float | _NONE,
    "int": int,
    "int | None": int | _NONE,
    "str": str,
    "Signs": np.ndarray,
    "Ints": np.ndarray,
    "npt.NDArray[np.int64]": np.ndarray,
}
"""What a file holds for a field of this type."""


def _pool_in_words(pool: Pool) -> str:
    return f"{len(pool):,} answers, from {pool.values[0]:.12g} to {pool.values[-1]:.12g}"


def _stored_pool(state: dict[str, Any], path: str) -> Pool | None:
    """The pool in a file, if there is one."""
    parts = {f.name: state.pop(f"pool.{f.name}", None) for f in fields(Pool)}
    if all(part is None for part in parts.values()):
        return None
    points, values, mirrored, alike = (parts[f.name] for f in fields(Pool))
    arrays = isinstance(points, np.ndarray) and isinstance(values, np.ndarray) and isinstance(mirrored, bool)
    if not arrays or values.ndim != 1 or not 1 <= values.size == len(np.atleast_1d(points)):
        raise InvalidFile(f"{path}: the points of the pool and their values do not fit together.")
    if (
        points.shape[1:] != getattr(state.get("x"), "shape", None)
        or values.dtype.kind != "f"
        or points.dtype.kind not in "iu"
    ):
        raise InvalidFile(f"{path}: the points of the pool are not of the kind of `x`.")
    if alike is not None and not _are_parts(points, alike):
        raise InvalidFile(f"{path}: the parts in the pool are not those that it says there are.")
    return Pool(points, values, mirrored, alike)


def _are_parts(points: np.ndarray, alike: Any) -> bool:
    """Whether points are the parts of nodes, of as many parts as `alike` has."""
    if not (isinstance(alike, np.ndarray) and alike.ndim == 1 and alike.size and alike.dtype.kind in "iu"):
        return False
    return points.ndim == 2 and (points.size == 0 or bool(0 <= points.min() <= points.max() < alike.size))


def _storable(value: Any) -> Any:
    """A value as JSON can hold it: NumPy's numbers become plain ones, other objects text."""
    if isinstance(value, dict):
        return {key: _storable(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_storable(item) for item in value]
    if isinstance(value, np.generic):
        return value.item()
    return value if value is None or isinstance(value, bool | int | float | str) else str(value)
