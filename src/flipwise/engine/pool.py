"""Several answers of one run: what passes is kept if it is good and far enough from what is better.

The points of a descent come one after another, each better than the one before; only where it stops is an answer. What
a population finds is offered as it is found. At the end every value is computed anew.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal, NamedTuple

import numpy as np
import numpy.typing as npt
from scipy.optimize import linear_sum_assignment

from flipwise.foundation.arrays import Floats, Ints, Signs
from flipwise.foundation.checks import check_whole
from flipwise.foundation.errors import InvalidInput
from flipwise.foundation.tables import html_table
from flipwise.model.polynomial import Polynomial
from flipwise.model.problem import Problem
from flipwise.model.quadratic import Quadratic
from flipwise.model.rows import LinearConstraints

Bools = npt.NDArray[np.bool_]
ROWS_SHOWN = 20
"""Rows of the table of a pool."""


class Answer(NamedTuple):
    """One point of a pool and its value."""

    x: Signs
    value: float


@dataclass(frozen=True, eq=False)
class Pool(Sequence[Answer]):
    """Distinct good points of one run, the best first: `result.pool`.

    Attributes
    ----------
    points
        One row for each point, in the objective's own variables.
    values
        Their values, as `Result.value` has them.
    mirrored
        Whether a point and its negation are the same answer, as of a cut.

    Examples
    --------
    >>> import flipwise
    >>> square = (4, [[0, 1], [1, 2], [2, 3], [3, 0]])
    >>> pool = flipwise.maxcut(square, pool=3, seed=0).pool
    >>> pool.values
    array([4., 2., 2.])
    >>> x, value = pool[0]
    """

    points: Signs
    values: Floats
    mirrored: bool = False
    alike: Ints | None = None
    """Of partitions, whose points are the part of each node: a number for each part, the same for parts whose names may
    be exchanged. None where points are binary."""

    def __len__(self) -> int:
        return self.values.size

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            return [Answer(x, float(value)) for x, value in zip(self.points[index], self.values[index], strict=True)]
        return Answer(self.points[index], float(self.values[index]))

    def __iter__(self) -> Iterator[Answer]:
        return iter(self[:])

    @property
    def distances(self) -> npt.NDArray[np.int64]:
        """In how many variables each two points differ; of mirrored ones the nearer pair counts."""
        if self.alike is not None:
            pairs = [[parts_apart(one, other, self.alike) for other in self.points] for one in self.points]
            return np.array(pairs, dtype=np.int64).reshape(len(self), len(self))
        flat = (self.points.reshape(len(self), -1) > 0).astype(np.float32)
        together = flat @ flat.T
        ones = flat.sum(axis=1)
        apart = np.rint(ones[:, None] + ones[None, :] - 2.0 * together).astype(np.int64)
        return np.asarray(np.minimum(apart, flat.shape[1] - apart) if self.mirrored else apart)

    def _table_rows(self) -> tuple[list[str], list[list[str]]]:
        """The head of the table, and a row for each of the best points."""
        names = ["", "value", "behind", "from best", "nearest"]
        apart = self.distances
        rows = []
        for place in range(min(len(self), ROWS_SHOWN)):
            others = np.delete(apart[place], place)
            nearest = f"{others.min()}" if others.size else "-"
            behind = abs(float(self.values[place] - self.values[0]))
            rows.append([f"{place + 1}", f"{self.values[place]:.12g}", f"{behind:.6g}", f"{apart[0, place]}", nearest])
        return names, rows

    def __str__(self) -> str:
        names, rows = self._table_rows()
        widths = [max(len(row[column]) for row in [names, *rows]) for column in range(len(names))]
        lines = [
            "  ".join(f"{text:>{width}}" for text, width in zip(row, widths, strict=True)) for row in [names, *rows]
        ]
        more = len(self) - len(rows)
        return "\n".join([*lines, f"... and {more:,} more"] if more else lines)

    def __repr__(self) -> str:
        return f"<Pool of {len(self)} points>"

    def _repr_html_(self) -> str:
        names, rows = self._table_rows()
        more = f" (the best {len(rows)} of {len(self):,})" if len(self) > len(rows) else ""
        return html_table(f"Pool{more}", names, rows)


@dataclass(frozen=True)
class Wanted:
    """How many answers are wanted (inf: all optima), and in how many variables they must differ at least.

    `nearby` says whether the surroundings of good points are searched for more of them.
    """

    size: float
    distance: int = 1
    nearby: bool = True

    def collector(self, problem: Problem) -> Collector:
        """What collects the answers to a problem; it has none yet."""
        kept = None if problem.reduction is None else problem.n - problem.reduction.selection.dummies
        return Collector(self, is_mirrored(problem), kept)


def wanted_answers(pool: int | Literal["optima"] | None, distance: int) -> Wanted | None:
    """What a user asked for; None where no pool is."""
    check_whole("distance", distance, 1)
    if pool is None:
        if distance != 1:
            raise InvalidInput(f"`distance` is that of the points of a pool, got {distance} without `pool`.")
        return None
    if isinstance(pool, str):
        if pool != "optima":
            raise InvalidInput(f'`pool` must be a number of points or "optima", got {pool!r}.')
        if distance != 1:
            raise InvalidInput(f'`distance` must be left out with pool="optima", which is all of them, got {distance}.')
        return Wanted(math.inf)
    check_whole("pool", pool, 1)
    return Wanted(pool, distance)


@dataclass(eq=False)
class Collector:
    """The answers of a run so far."""

    wanted: Wanted
    mirrored: bool
    kept: int | None = None
    """The first so many entries tell points apart: the others are dummies. None: all."""
    points: list[Any] = field(default_factory=list)
    values: list[float] = field(default_factory=list)
    _keys: set[bytes] = field(default_factory=set)
    """The points themselves, where being another point is all that is asked for."""
    _passing: tuple[Any, float] | None = None

    def watch(self, x: Floats, value: float) -> None:
        """A point on the way of a search: it is an answer if the next one is no better."""
        if self._passing is not None and value >= self._passing[1]:
            self.offer(*self._passing)
            self._passing = None
        if self._can_enter(value):
            self._passing = self._stored_point(x), value

    def settle(self) -> None:
        """A search is over: where it has stopped is an answer."""
        if self._passing is not None:
            self.offer(*self._passing)
            self._passing = None

    def _can_enter(self, value: float) -> bool:
        return not self.is_full or value < self.values[-1]

    def offer(self, point: Any, value: float) -> None:
        """Keep a point if it is good enough and far enough from those that are better; it ousts worse ones nearby."""
        if not self._can_enter(value):
            return
        if self.wanted.distance == 1:
            key = self._identity(point)
            if key in self._keys:
                return
            self._keys.add(key)
        else:
            apart = [self._distance(point, other) for other in self.points]
            near = [place for place, distance in enumerate(apart) if distance < self.wanted.distance]
            if near and self.values[near[0]] <= value:
                return
            for place in reversed(near):
                del self.points[place], self.values[place]
        place = bisect_right(self.values, value)
        self.points.insert(place, point)
        self.values.insert(place, value)
        if len(self.values) > self.wanted.size:
            self._keys.discard(self._identity(self.points.pop()))
            self.values.pop()

    def _stored_point(self, x: Floats) -> Any:
        """What is kept of a point of the search."""
        return x.reshape(-1) > 0

    def _spins_of(self, point: Any) -> Floats:
        """The flat point of the search again."""
        return np.where(point, 1.0, -1.0)

    def _identity(self, point: Any) -> bytes:
        """The same bytes for points that are one answer."""
        point = point[: self.kept]
        return np.packbits(~point if self.mirrored and point[0] else point).tobytes()

    def replace(self, points: list[Floats], values: list[float]) -> None:
        """Take these in place of all others."""
        self.points, self.values, self._passing = [], [], None
        self._keys = set()
        for x, value in zip(points, values, strict=True):
            self.offer(self._stored_point(x), value)

    def _distance(self, one: Any, other: Any) -> int:
        """In how many variables two points differ; of mirrored ones the nearer pair counts."""
        different = (one != other)[: self.kept]
        apart = int(np.count_nonzero(different))
        return min(apart, different.size - apart) if self.mirrored else apart

    @property
    def is_full(self) -> bool:
        """Whether there are as many answers as are wanted."""
        return len(self.values) >= self.wanted.size

    def is_settled(self, bound: float | None) -> bool:
        """Whether nothing better can come: as many points as wanted, all as good as the bound."""
        return bound is not None and self.is_full and self.values[-1] <= bound

    def finished(self, problem: Problem, best: Floats, value: float) -> Pool:
        """The answers with their values in the unit of `problem`, `best` the first of them."""
        self.settle()
        own = replace(self, points=[], values=[], _keys=set(), _passing=None)
        own.offer(self._stored_point(best), -math.inf)  # whatever rounding says, nothing ousts the answer of the run
        for point in self.points:
            x = self._spins_of(point).reshape(problem.shape)
            if problem.violation(x) is None:
                own.offer(point, problem.value(x))
        points = [problem.to_user(self._spins_of(point).reshape(problem.shape)) for point in own.points]
        return self._as_pool(np.stack(points), np.array([value, *own.values[1:]]))

    def _as_pool(self, points: Signs, values: Floats) -> Pool:
        """The pool of these points."""
        return Pool(points, values, self.mirrored)


def parts_apart(one: Ints, other: Ints, alike: Ints) -> int:
    """How many nodes change their part, the names of parts exchanged where they may be as it fits best."""
    together = np.bincount(one * alike.size + other, minlength=alike.size**2).reshape(alike.size, alike.size)
    same = 0
    for kind in np.unique(alike):
        own = np.flatnonzero(alike == kind)
        block = together[np.ix_(own, own)]
        rows, columns = linear_sum_assignment(block, maximize=True)
        same += int(block[rows, columns].sum())
    return one.size - same


def is_mirrored(problem: Problem) -> bool:
    """Whether every point and its negation are both feasible and have the same value."""
    objective = problem.objective
    if isinstance(problem.constraint, LinearConstraints) or (
        problem.reduction is not None and problem.reduction.selection.fixes
    ):
        return False
    if isinstance(objective, Quadratic):
        even = not objective.c.any()
    elif isinstance(objective, Polynomial):
        even = not objective.binary and not (np.diff(objective.offsets) % 2).any()
    else:
        return False
    middle = problem.constraint.project(np.zeros(problem.shape))
    return bool(even) and problem.constraint.violation(-middle) is None
