"""Ranges of counts and fixed variables as a problem that has neither, so that everything made for exact counts works.

A range of a to b ones among m variables is the exact count b among these and b - a dummies, on which the objective does
not depend; a variable that is in no group, beside groups, is one of a group with as many dummies. A fixed variable is
put into the objective. What is left without any count stays free, and is searched by flips. The value of a point, what
is proven of it and the point itself are the user's own: `Problem` translates at its two ends.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from flipwise.foundation.arrays import Floats, Ints
from flipwise.foundation.checks import is_whole
from flipwise.foundation.errors import IncompatibleObjective, InvalidInput
from flipwise.model.constraints import Cardinality, Constraint, Counts, Free, GroupCounts
from flipwise.model.counts import range_in_words
from flipwise.model.restriction import Selection, restricted
from flipwise.model.rows import LinearConstraints

if TYPE_CHECKING:
    from flipwise.model.problem import Problem

_NONE: Ints = np.zeros(0, dtype=np.int64)
Fixed = Mapping[Any, Any]
"""The values of fixed variables by their index, in the user's variables: {3: 1, 7: 0}; (i, j) in a matrix."""


@dataclass(frozen=True, eq=False)
class Reduction:
    """How the points of a reduced problem stand for those of the user's.

    The searched variables come first, in the user's order, and then the dummies.
    """

    given: Problem
    selection: Selection
    labels: Ints
    """The group of each searched variable and dummy; none where the reduced problem is free."""
    least: Ints
    most: Ints
    """How many of a group's variables, without its dummies, may be +1."""
    rounding: float
    """What bounds are lowered by."""

    def embedded(self, x: Floats) -> Floats:
        """The user's point that a reduced one stands for, as spins."""
        return self.selection.embedded(x).reshape(self.given.shape)

    def reduced(self, point: Floats) -> Floats:
        """The reduced point that stands for a feasible one of the user's."""
        return self.completed(point.reshape(-1)[self.selection.free])

    def completed_nearby(self, point: Floats) -> Floats:
        """The reduced point near to one of the user's variables that may break the counts and the fixed values."""
        kept = point.reshape(-1)[self.selection.free].copy()
        for group, (low, high) in enumerate(zip(self.least.tolist(), self.most.tolist(), strict=True)):
            inside = np.flatnonzero(self.labels[: kept.size] == group)
            ones = np.count_nonzero(kept[inside] > 0)
            if ones > high:
                kept[inside[kept[inside] > 0][high:]] = -1.0
            elif ones < low:
                kept[inside[kept[inside] < 0][: low - ones]] = 1.0
        return self.completed(kept)

    def completed(self, kept: npt.NDArray[Any]) -> Floats:
        """Values of the searched variables with those of the dummies."""
        x = np.full(self.selection.size, -1.0)
        x[: kept.size] = kept
        dummies = np.arange(kept.size, x.size)
        if self.most.size:
            missing = self.most - np.bincount(self.labels[: kept.size], weights=kept > 0, minlength=self.most.size)
            for group, ones in enumerate(missing.astype(np.int64).tolist()):
                x[dummies[self.labels[dummies] == group][:ones]] = 1.0
        return x

    @property
    def ranges(self) -> list[tuple[Ints, range]]:
        """The searched variables of each group, and how many of them may be +1."""
        kept = self.labels[: self.labels.size - self.selection.dummies]
        ends = zip(self.least.tolist(), self.most.tolist(), strict=True)
        return [(np.flatnonzero(kept == group), range(low, high + 1)) for group, (low, high) in enumerate(ends)]


def reduced(problem: Problem, fixed: Fixed | None) -> Problem:
    """The problem without the ranges and fixed variables that it has."""
    counts = problem.constraint
    if isinstance(counts, LinearConstraints):
        return _with_rows_left(problem, counts, _fixed_spins(problem, fixed or {}))
    if not isinstance(counts, Counts | Free):
        raise IncompatibleObjective(
            f"`fixed` cannot be kept beside a constraint of your own ({type(counts).__name__}): let the constraint "
            "keep these variables, or use Free(), Cardinality(...), ColumnCounts(...) or GroupCounts(...)."
        )
    spins = _fixed_spins(problem, fixed or {})
    groups: Ints = np.full(problem.n, -1, dtype=np.int64)
    limits: tuple[Ints, Ints] = (_NONE, _NONE)
    if isinstance(counts, Counts):
        groups = counts.labels(problem.shape).copy()
        limits = _limits_of_rest(counts, problem.shape, groups, spins)
    kept, least, most = _numbered_groups(groups[spins == 0.0], *limits)
    dummies = most - least
    labels = np.concatenate([kept, np.repeat(np.arange(most.size), dummies)])
    constraint: Constraint = Free() if not most.size else GroupCounts(labels, most)
    if most.size == 1:
        constraint = Cardinality(int(most[0]))
    # where all is fixed, one dummy is left to be searched
    selection = Selection(spins, max(int(dummies.sum()), 0 if kept.size else 1))
    objective, rounding = restricted(problem.objective, selection)
    return replace(
        problem,
        objective=objective,
        constraint=constraint,
        reduction=Reduction(problem, selection, labels, least, most, rounding),
    )


def _with_rows_left(problem: Problem, rows: LinearConstraints, spins: Floats) -> Problem:
    """The problem of the variables that are not fixed, under linear rows."""
    selection = Selection(spins, 0 if (spins == 0.0).any() else 1)
    left = rows.restricted(spins, selection.dummies)
    left.check((selection.size,))
    objective, rounding = restricted(problem.objective, selection)
    reduction = Reduction(problem, selection, np.zeros(selection.size, dtype=np.int64), _NONE, _NONE, rounding)
    return replace(problem, objective=objective, constraint=left, reduction=reduction)


def with_members(
    fixed: Fixed | None, include: Iterable[Any] | None, exclude: Iterable[Any] | None, low: int
) -> Fixed | None:
    """`fixed` with the variables of `include` at 1 and those of `exclude` at the `low` value."""
    if include is None and exclude is None:
        return fixed
    given: Any = fixed
    if given is not None and not isinstance(given, Mapping):
        return given  # type: ignore[no-any-return]  # which is refused where it is read
    joined = dict(fixed or {})
    for name, members, value in (("include", include, 1), ("exclude", exclude, low)):
        if isinstance(members, str | bytes) or not (members is None or isinstance(members, Iterable)):
            raise InvalidInput(f"`{name}` must be a list of variables, got {members!r}. Write [{members!r}].")
        for key in members if members is not None else ():
            if joined.setdefault(key, value) != value:
                raise InvalidInput(f"`{name}` holds the variable {key!r}, to which another value is given, too.")
    return joined


def by_index(fixed: Fixed | None, labels: Sequence[Any] | None, what: str = "variable") -> Fixed | None:
    """Fixed variables by their index, given by their label where they have labels."""
    if labels is None or not isinstance(fixed, Mapping):
        return fixed
    places = {label: index for index, label in enumerate(labels)}
    for label in fixed:
        if label not in places:
            raise InvalidInput(f"`fixed` names the {what} {label!r}, which is none of the {len(places)} there are.")
    return {places[label]: value for label, value in fixed.items()}


def _fixed_spins(problem: Problem, fixed: Fixed) -> Floats:
    """-1 and +1 where a variable is fixed, 0 elsewhere, flat."""
    if not isinstance(fixed, Mapping):
        raise InvalidInput(f"`fixed` must be a dictionary {{variable: value}}, got {type(fixed).__name__}.")
    spins = np.zeros(problem.n)
    low = -1 if problem.variables == "spin" else 0
    for key, value in fixed.items():
        if value not in (low, 1) or isinstance(value, str):
            raise InvalidInput(f"`fixed` must hold only {low} and 1, got {value!r} for variable {key!r}.")
        spins[_index_of(key, problem.shape)] = 1.0 if value == 1 else -1.0
    return spins


def _index_of(key: Any, shape: tuple[int, ...]) -> int:
    """The flattened index of a variable."""
    index = key if isinstance(key, tuple) else (key,)
    inside = len(index) == len(shape) and all(
        is_whole(i) and 0 <= i < size for i, size in zip(index, shape, strict=True)
    )
    if not inside:
        raise InvalidInput(f"`fixed` names the variable {key!r}, but x has the shape {shape}.")
    return int(np.ravel_multi_index(index, shape))


def _limits_of_rest(counts: Counts, shape: tuple[int, ...], groups: Ints, spins: Floats) -> tuple[Ints, Ints]:
    """How many ones the variables of each group that are not fixed may have.

    What follows of it is put into `spins` (a group without any choice), and into `groups` (one without any rule is
    none).
    """
    low, high = (end.copy() for end in counts.limits(shape))
    for group, inside in enumerate(counts.members(shape)):
        given = spins[inside]
        ones, left = int(np.count_nonzero(given > 0)), int(np.count_nonzero(given == 0))
        if ones > high[group] or low[group] > ones + left:
            where = "" if low.size == 1 else f" of {counts.group_in_words(group)}"
            raise InvalidInput(
                f"`fixed` cannot be kept: {ones} of the {inside.size} variables{where} are fixed at 1 and {left} are "
                f"not fixed, but {range_in_words(int(low[group]), int(high[group]))} must be 1."
            )
        low[group], high[group] = max(0, low[group] - ones), min(high[group] - ones, left)
        if high[group] == 0 or low[group] == left:
            spins[inside[given == 0]] = -1.0 if high[group] == 0 else 1.0
        elif low[group] == 0 and high[group] == left:
            groups[inside] = -1
    return low, high


def _numbered_groups(groups: Ints, low: Ints, high: Ints) -> tuple[Ints, Ints, Ints]:
    """The groups that are left as 0, 1, 2, ..., the free variables as one of them, unless there is no other."""
    names, labels = np.unique(groups, return_inverse=True)
    if names.size == 0 or (names.size == 1 and names[0] < 0):
        return np.zeros(groups.size, dtype=np.int64), _NONE, _NONE
    least, most = low[names], high[names]  # of -1 the last, which the next lines put right
    if names[0] < 0:
        least[0], most[0] = 0, int(np.count_nonzero(labels == 0))
    return labels.astype(np.int64), least, most
