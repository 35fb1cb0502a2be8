"""Whether a checkpoint belongs to a problem: a hash of the problem's data, and values at points that its run visited.

The objectives and constraints of the library are hashed, every number of them. A function of the user's own says
nothing about itself; it must give the values again that it gave at some of the points that the run went through.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from flipwise.foundation.arrays import Floats
from flipwise.model.problem import Problem

PROBES = 8
"""Points whose values are kept: after 1, 2, 4, ... iterations."""
_SPARSE = ("format", "shape", "data", "indices", "indptr", "coords")
_PLAIN = (type(None), bool, int, float, str, bytes)

Memo = dict[int, tuple[Any, bytes]]
"""Arrays by their id, each with its hash: several runs with one checkpoint share a graph."""


def problem_data(problem: Problem) -> Any:
    """What of a problem is to be hashed."""
    if not problem.is_users_own:
        return problem
    fixed = None if problem.reduction is None else problem.reduction.selection
    return (problem.shape, problem.variables, problem.constraint, fixed)


def data_hash(data: Any, memo: Memo) -> str:
    """The same for the same numbers, in any process; other numbers, types or shapes give another one."""
    hashed = hashlib.sha256()
    for piece in _identifying_bytes(data, memo):
        hashed.update(len(piece).to_bytes(8, "little"))
        hashed.update(piece)
    return hashed.hexdigest()


def _identifying_bytes(data: Any, memo: Memo) -> Iterator[bytes]:
    """What identifies the data, part by part; what is no data, such as a function, is its type's name."""
    if isinstance(data, np.generic):
        data = data.item()
    if isinstance(data, _PLAIN):
        yield repr(data).encode()
    elif isinstance(data, np.ndarray):
        yield _array_hash(data, memo)
    elif sp.issparse(data):
        yield from _bytes_of_members({name: getattr(data, name, None) for name in _SPARSE}, memo)
    elif isinstance(data, dict):
        yield from _bytes_of_members(data, memo)
    elif isinstance(data, list | tuple):
        yield str(len(data)).encode()
        if all(isinstance(each, _PLAIN) for each in data):
            yield repr(list(data)).encode()
        else:
            for each in data:
                yield from _identifying_bytes(each, memo)
    else:
        kind = type(data)
        yield f"{kind.__module__}.{kind.__qualname__}".encode()
        if kind.__module__.partition(".")[0] == "flipwise":
            yield from _bytes_of_members(getattr(data, "identity", None) or _given_attributes(data), memo)


def _bytes_of_members(members: Any, memo: Memo) -> Iterator[bytes]:
    """The same of each member, in the order of their names."""
    for name in sorted(members, key=str):
        yield repr(name).encode()
        yield from _identifying_bytes(members[name], memo)


def _given_attributes(data: Any) -> dict[str, Any]:
    """The attributes of an object that were not computed from the others later on."""
    names = getattr(data, "__dataclass_fields__", None) or getattr(data, "__dict__", {})
    kind = type(data)
    return {name: getattr(data, name) for name in names if not isinstance(getattr(kind, name, None), cached_property)}


def _array_hash(array: npt.NDArray[Any], memo: Memo) -> bytes:
    """The hash of an array, which is made once for each."""
    if id(array) not in memo:
        hashed = hashlib.sha256(repr((array.dtype.str, array.shape)).encode())
        if array.dtype.hasobject:
            hashed.update(repr(array.tolist()).encode())
        else:
            hashed.update(np.ascontiguousarray(array).data if array.size else b"")
        memo[id(array)] = array, hashed.digest()  # with the array, so that nothing else gets its id
    return memo[id(array)][1]


@dataclass
class Probes:
    """Some points of a run and the values there."""

    points: list[npt.NDArray[np.int8]] = field(default_factory=list)
    values: list[float] = field(default_factory=list)

    def offer(self, iteration: int, x: Floats, value: float) -> None:
        """Keep the point of this iteration if it is one of those that are kept."""
        if len(self.points) < PROBES and iteration >= 1 << len(self.points):
            self.points.append(x.astype(np.int8))
            self.values.append(float(value))

    def to_state(self) -> dict[str, Any]:
        """As a checkpoint holds them."""
        return {"probes.values": list(self.values), **{f"probes.{i}": x for i, x in enumerate(self.points)}}

    @classmethod
    def of_state(cls, state: dict[str, Any]) -> Probes:
        """What a checkpoint holds; a KeyError where it lacks a point."""
        values = [float(value) for value in state["probes.values"]]
        return cls([np.asarray(state[f"probes.{i}"], dtype=np.int8) for i in range(len(values))], values)

    def difference(self, problem: Problem) -> str | None:
        """What a problem has to say about these points that differs; None when nothing does."""
        for x, value in zip(self.points, self.values, strict=True):
            wrong = value_difference(problem, x.astype(np.float64), value)
            if wrong is not None:
                return wrong
        return None


def value_difference(problem: Problem, x: Floats, claimed: float) -> str | None:
    """Whether a point of an earlier run breaks the constraint or has another value now; None when it does not."""
    if x.shape != problem.shape:
        return f"its points have the shape {x.shape}, not {problem.shape}"
    broken = problem.constraint.violation(x)
    if broken is not None:
        return f"a point of it does not fit the constraint: {broken}"
    value = problem.objective.value(x)
    if not math.isclose(value, claimed, rel_tol=1e-6, abs_tol=1e-9):
        return f"a point of it has the value {claimed!r} there and {value!r} here"
    return None
