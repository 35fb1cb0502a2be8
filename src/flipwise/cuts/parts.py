"""Partitions as a problem: the part of each node, sizes that are kept, nodes whose part is given, several answers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from flipwise.engine.pool import Collector, Pool, Wanted, parts_apart
from flipwise.foundation.arrays import Floats, Ints
from flipwise.foundation.checks import is_whole
from flipwise.foundation.errors import InvalidInput
from flipwise.graphs.graph import Graph
from flipwise.model.constraints import Free
from flipwise.model.problem import Problem
from flipwise.model.quadratic import accurate_sum

PIECE = 500_000
"""Arcs that are looked at together."""


def cut_between(graph: Graph, parts: npt.NDArray[Any]) -> float:
    """The weight of the edges whose ends are in different parts."""
    small = parts.astype(np.min_scalar_type(int(parts.max(initial=0))))  # one byte each, mostly, to be gathered
    ends, degrees, across, weight = graph.indptr, graph.degrees, 0, []
    each = max(1, PIECE * graph.n // max(1, graph.n_arcs))
    for low in range(0, graph.n, each):  # in pieces that stay in the cache
        rows = slice(low, min(low + each, graph.n))
        arcs = slice(ends[rows.start], ends[rows.stop])
        differ = np.repeat(small[rows], degrees[rows]) != small[graph.indices[arcs]]
        if graph.weights is None:
            across += int(np.count_nonzero(differ))
        else:
            weight.append(graph.weights[arcs][differ])
    return across / 2.0 if graph.weights is None else accurate_sum(np.concatenate([np.zeros(0), *weight])) / 2.0


class CutWeight:
    """The weight of the edges whose ends are in different parts, as a function of the part of each node."""

    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        self.shape = (graph.n,)

    def value(self, x: Floats) -> float:
        """The weight between the parts."""
        return cut_between(self.graph, x)

    def gradient(self, x: Floats) -> Floats:
        """There is none: parts are names, not numbers."""
        raise NotImplementedError


class PartSizes(Free):
    """Each part has exactly its size, or, where an imbalance is allowed, is at most by that share larger."""

    def __init__(self, sizes: Ints, imbalance: float = 0.0, held: Ints | None = None) -> None:
        object.__setattr__(self, "sizes", sizes)
        object.__setattr__(self, "held", held)
        most = sizes + np.floor(imbalance * sizes + 1e-9).astype(np.int64)
        object.__setattr__(self, "most", most)

    sizes: Ints
    most: Ints
    """The most nodes of each part."""
    held: Ints | None
    """The part of each node that is fixed, -1 for the others; None where none is."""

    @property
    def alike(self) -> Ints:
        """A number for each part, the same for parts whose names may be exchanged: of one size, without fixed nodes."""
        kinds = np.unique(np.stack([self.sizes, self.most]), axis=1, return_inverse=True)[1].reshape(-1)
        if self.held is not None:
            named = np.unique(self.held[self.held >= 0])
            kinds[named] = self.sizes.size + np.arange(named.size)
        return np.asarray(kinds, dtype=np.int64)

    @property
    def exact(self) -> bool:
        """Whether no imbalance is allowed."""
        return bool((self.most == self.sizes).all())

    def violation(self, x: npt.NDArray[np.generic]) -> str | None:
        found = np.bincount(np.asarray(x, dtype=np.int64), minlength=self.sizes.size)
        if found.size > self.sizes.size:
            return f"there are only {self.sizes.size} parts"
        wrong = np.flatnonzero(found != self.sizes if self.exact else (found > self.most) | (found == 0))
        if self.held is not None:
            elsewhere = np.flatnonzero((self.held >= 0) & (np.asarray(x) != self.held))
            if elsewhere.size:
                return f"node {elsewhere[0]} must be in part {self.held[elsewhere[0]]}"
        kind = "exactly its size" if self.exact else "a node, and no more than its size and the imbalance allow"
        return f"part {wrong[0]} must have {kind}" if wrong.size else None

    def contains(self, x: npt.NDArray[np.generic]) -> bool:
        return self.violation(x) is None


class PartitionProblem(Problem):
    """The parts of a graph with exact sizes; a point is the part of each node."""

    @classmethod
    def of(
        cls, graph: Graph, sizes: Ints, imbalance: float = 0.0, fixed: Mapping[Any, Any] | None = None
    ) -> PartitionProblem:
        """The problem of a graph, the sizes of its parts, by what share one may be larger, and parts that are given."""
        return cls(CutWeight(graph), PartSizes(sizes, imbalance, held_parts(graph.n, sizes, fixed)))

    def to_user(self, x: Floats) -> npt.NDArray[Any]:
        """The part of each node."""
        return x.astype(np.int64)

    def start(self, given: npt.ArrayLike) -> Floats:
        """A user's partition, refused when it does not fit."""
        parts = np.asarray(given)
        if parts.shape != self.shape or not np.issubdtype(parts.dtype, np.integer) or (parts < 0).any():
            raise InvalidInput(f"`start` must hold the part of each of the {self.n} nodes, as integers from 0 on.")
        wrong = self.constraint.violation(parts)
        if wrong is not None:
            raise InvalidInput(f"`start` breaks the sizes: {wrong}.")
        return parts.astype(np.float64)


def part_sizes(n: int, sizes: Any) -> Ints:
    """The sizes of the parts, checked; one number is that of parts of equal size."""
    if is_whole(sizes):
        if not 1 <= sizes <= n:
            raise InvalidInput(
                f"`sizes` must be between 1 and the {n} nodes when it is a number of parts, got {sizes}."
            )
        return np.array([n // sizes + (k < n % sizes) for k in range(int(sizes))], dtype=np.int64)
    wanted = np.asarray(sizes)
    if wanted.ndim != 1 or wanted.size == 0 or not np.issubdtype(wanted.dtype, np.integer) or (wanted < 1).any():
        raise InvalidInput(f"`sizes` must be a list of integers of at least 1, got {sizes!r}.")
    if int(wanted.sum()) != n:
        raise InvalidInput(f"`sizes` must add up to the {n} nodes of the graph, got {int(wanted.sum())}.")
    return wanted.astype(np.int64)


def held_parts(n: int, sizes: Ints, fixed: Mapping[Any, Any] | None) -> Ints | None:
    """The part of each node that is fixed, -1 for the others, checked; None where none is."""
    if not fixed:
        return None
    held = np.full(n, -1, dtype=np.int64)
    for node, part in fixed.items():
        if not (is_whole(node) and 0 <= node < n):
            raise InvalidInput(f"`fixed` names the node {node!r}, but the nodes are 0 to {n - 1}.")
        if not (is_whole(part) and 0 <= part < sizes.size):
            raise InvalidInput(f"`fixed` must hold parts from 0 to {sizes.size - 1}, got {part!r} for node {node!r}.")
        held[node] = part
    given = np.bincount(held[held >= 0], minlength=sizes.size)
    full = np.flatnonzero(given > sizes)
    if full.size:
        raise InvalidInput(
            f"`fixed` cannot be kept: it puts {given[full[0]]} nodes into part {full[0]}, "
            f"whose size is {sizes[full[0]]}."
        )
    return held


@dataclass(frozen=True)
class WantedParts(Wanted):
    """Several partitions: two are one answer where only the names of equal parts differ."""

    def collector(self, problem: Problem) -> Collector:
        """What collects partitions; it has none yet."""
        assert isinstance(problem.constraint, PartSizes)
        return PartsCollector(self, mirrored=False, alike=problem.constraint.alike)


@dataclass(eq=False)
class PartsCollector(Collector):
    """The partitions of a run so far."""

    alike: Ints = field(default_factory=lambda: np.zeros(0, dtype=np.int64))

    def _stored_point(self, x: Floats) -> Any:
        return x.astype(np.int64)

    def _spins_of(self, point: Any) -> Floats:
        return np.asarray(point, dtype=np.float64)

    def _identity(self, point: Any) -> bytes:
        """The parts renamed in the order in which they come, among those whose names may be exchanged."""
        first = np.full(self.alike.size, point.size, dtype=np.int64)
        np.minimum.at(first, point, np.arange(point.size))
        names = np.empty(self.alike.size, dtype=np.int64)
        for kind in np.unique(self.alike):
            own = np.flatnonzero(self.alike == kind)
            names[own[np.argsort(first[own], kind="stable")]] = own
        return bytes(names[point].tobytes())

    def _distance(self, one: Any, other: Any) -> int:
        return parts_apart(one, other, self.alike)

    def _as_pool(self, points: Any, values: Floats) -> Pool:
        return Pool(points, values, alike=self.alike)
