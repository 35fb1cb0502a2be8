"""Partition into parts of exact sizes: recursive bisection, then pairs of parts cut again until nothing improves."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from flipwise.cuts.bisection import Bisection, bisected, cut_weight, level_of
from flipwise.engine.limits import Clock, Limits, Status
from flipwise.engine.run import Run
from flipwise.engine.states import check_array
from flipwise.foundation.arrays import Floats, Ints
from flipwise.foundation.checks import check_numbers, is_whole
from flipwise.foundation.errors import InvalidInput
from flipwise.graphs.graph import Graph
from flipwise.kernels.jit import entries_in_rows
from flipwise.model.constraints import Cardinality, Free
from flipwise.model.problem import Problem
from flipwise.model.quadratic import Quadratic, accurate_sum

LOOSE_TRIES, MOST_TRIES = 12, 200
"""Cuts of a pair of parts of no exact sizes: at the effort of a partition, and at most with a time limit."""
SLICING = 3e-7
"""About the seconds that a part of a large graph takes to be cut out, for each of its arcs."""
ROUNDS_SHARE = 1.0 / 3.0
"""The effort of each bisection in a partition, of that of a bisection on its own."""


def cut_between(graph: Graph, parts: npt.NDArray[Any]) -> float:
    """The weight of the edges whose ends are in different parts."""
    small = parts.astype(np.min_scalar_type(int(parts.max(initial=0))))  # one byte each, mostly, to be gathered
    across = np.repeat(small, graph.degrees) != small[graph.indices]
    if graph.weights is None:
        return int(np.count_nonzero(across)) / 2.0
    return accurate_sum(graph.weights[across]) / 2.0


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

    def __init__(self, sizes: Ints, imbalance: float = 0.0) -> None:
        object.__setattr__(self, "sizes", sizes)
        most = sizes + np.floor(imbalance * sizes + 1e-9).astype(np.int64)
        object.__setattr__(self, "most", most)

    sizes: Ints
    most: Ints
    """The most nodes of each part."""

    @property
    def exact(self) -> bool:
        """Whether no imbalance is allowed."""
        return bool((self.most == self.sizes).all())

    def violation(self, x: npt.NDArray[np.generic]) -> str | None:
        found = np.bincount(np.asarray(x, dtype=np.int64), minlength=self.sizes.size)
        if found.size > self.sizes.size:
            return f"there are only {self.sizes.size} parts"
        wrong = np.flatnonzero(found != self.sizes if self.exact else (found > self.most) | (found == 0))
        kind = "exactly its size" if self.exact else "a node, and no more than its size and the imbalance allow"
        return f"part {wrong[0]} must have {kind}" if wrong.size else None

    def contains(self, x: npt.NDArray[np.generic]) -> bool:
        return self.violation(x) is None


class PartitionProblem(Problem):
    """The parts of a graph with exact sizes; a point is the part of each node."""

    @classmethod
    def of(cls, graph: Graph, sizes: Ints, imbalance: float = 0.0) -> PartitionProblem:
        """The problem of a graph, the sizes of its parts, and by what share a part may be larger."""
        return cls(CutWeight(graph), PartSizes(sizes, imbalance))

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


@dataclass
class Parting:
    """Where the improvement of a partition stands: the pair of parts to be cut next, and whether this pass helped."""

    parts: npt.NDArray[np.int64]
    pair: int
    improved: bool
    rng: np.random.Generator


@dataclass(frozen=True)
class RecursiveBisection:
    """Parts of given sizes by bisection: exact first, then, where an imbalance is allowed, pairs of parts loosely.

    Parameters
    ----------
    effort
        How long to search without a time limit.
    """

    name: ClassVar[str] = "recursive bisection"
    begins_itself: ClassVar[bool] = True
    effort: float = 1.0

    def __post_init__(self) -> None:
        check_numbers(self, "effort", least=0.0)

    def solve(self, problem: Problem, x: Floats | None, rng: np.random.Generator, run: Run) -> Status:
        """Cut recursively (or begin with the parts `x`), then cut pairs of parts again until a pass improves none."""
        assert isinstance(problem.objective, CutWeight) and isinstance(problem.constraint, PartSizes)
        sizes = problem.constraint.sizes
        cutting = _Partition(problem.objective.graph, rng, run, Bisection(self.effort * ROUNDS_SHARE))
        exact, most = problem.constraint.exact, problem.constraint.most
        pairs = list(combinations(range(sizes.size), 2)) if sizes.size > 2 or not exact else []
        pair, improved = 0, False
        before = run.resume(Parting)
        if before is not None:
            check_array("parts", before.parts, problem.shape)
            cutting.parts, cutting.rng, pair, improved = before.parts, before.rng, before.pair, before.improved
        elif x is not None:
            cutting.parts = x.astype(np.int64)
        else:
            # half of the time for the recursion, if pairs follow; its log2(parts) levels share it by the nodes they cut
            depth = max(1, int(np.ceil(np.log2(max(2, sizes.size)))))
            limit = None if run.limits.time_limit is None else (0.5 if pairs else 1.0) * run.limits.time_limit
            cutting.cut(np.arange(problem.n), sizes, 0, None if limit is None else limit / (depth * problem.n))
        value = problem.objective.value(cutting.parts)  # type: ignore[arg-type]
        stop = run.step(cutting.parts.astype(np.float64), value)
        while stop is None and pairs:
            if pair == len(pairs):
                if not improved:
                    break
                pair, improved = 0, False
            left = None if run.limits.time_limit is None else run.seconds_left / (len(pairs) - pair)
            better = cutting.cut_again(*pairs[pair], left) if exact else cutting.cut_loosely(*pairs[pair], most, left)
            pair, improved = pair + 1, improved or better
            state = Parting(cutting.parts, pair, improved, cutting.rng)
            if better:
                value = problem.objective.value(cutting.parts)  # type: ignore[arg-type]
                stop = run.step(cutting.parts.astype(np.float64), value, state=state)
            else:
                run.keep(state)
                stop = run.check_time()
        return stop or (Status.TIME_LIMIT if cutting.hurried else Status.CONVERGED)


class _Partition:
    """A partition in the making: `parts` is the part of each node."""

    def __init__(self, graph: Graph, rng: np.random.Generator, run: Run, bisection: Bisection) -> None:
        self.W = graph.to_scipy()
        self.parts: npt.NDArray[np.int64] = np.zeros(graph.n, dtype=np.int64)
        self.rng, self.run, self.bisection = rng, run, bisection
        self.hurried = False
        """Whether time was too short for something."""

    def cut(self, nodes: Ints, sizes: Ints, first: int, seconds: float | None) -> None:
        """Cut `nodes` into parts `first`, `first + 1`, ... of the given sizes; `seconds` are for each node cut."""
        if sizes.size == 1:
            self.parts[nodes] = first
            return
        if not self._in_time(nodes):
            self.parts[nodes] = np.repeat(np.arange(first, first + sizes.size), sizes)
            return
        middle = sizes.size // 2
        limit = None if seconds is None else seconds * nodes.size
        up = self._split(self._inner(nodes), int(sizes[middle:].sum()), limit)[0] > 0
        self.cut(nodes[~up], sizes[:middle], first, seconds)
        self.cut(nodes[up], sizes[middle:], first + middle, seconds)

    def _in_time(self, nodes: Ints) -> bool:
        """Whether there is time to cut these nodes out and to look at all of their edges."""
        enough = SLICING * entries_in_rows(self.W.indptr, nodes) < self.run.seconds_left
        self.hurried = self.hurried or not enough
        return enough

    def cut_again(self, a: int, b: int, seconds: float | None) -> bool:
        """Cut the union of two parts again, from the present cut on; whether it became better."""
        nodes = np.flatnonzero((self.parts == a) | (self.parts == b))
        if not self._in_time(nodes):
            return False
        before = np.where(self.parts[nodes] == b, 1.0, -1.0)
        objective = self._inner(nodes)
        found, value = self._split(objective, int(np.count_nonzero(before > 0)), seconds, before)
        if not value < objective.value(before):
            return False
        self.parts[nodes] = np.where(found > 0, b, a)
        return True

    def cut_loosely(self, a: int, b: int, most: Ints, seconds: float | None) -> bool:
        """As `cut_again`, with any sizes that leave the two parts no larger than `most`."""
        nodes = np.flatnonzero((self.parts == a) | (self.parts == b))
        if not self._in_time(nodes):
            return False
        least = max(1, nodes.size - int(most[a]))
        largest = min(nodes.size - 1, int(most[b]))
        goal, tolerance = (least + largest) // 2, (largest - least) // 2
        level = level_of(self._within(nodes))
        s = np.where(self.parts[nodes] == b, 1, -1).astype(np.int8)
        before = cut_weight(level, s)
        clock = Clock(seconds, parent=self.run.clock)
        tries = max(1, round(LOOSE_TRIES * self.bisection.effort))
        for k in range(tries if seconds is None else MOST_TRIES):
            if k > 0 and clock.expired:
                break
            rng = self.rng.spawn(1)[0]
            if k % 2 == 0:  # from the present cut through new levels
                found = bisected(level, goal, rng, (s,), tolerance, clock)
            else:
                fresh = bisected(level, goal, rng, (), tolerance, clock)
                found = bisected(level, goal, rng, (fresh,), tolerance, clock)
            if cut_weight(level, found) < cut_weight(level, s):
                s = found
        if not cut_weight(level, s) < before:
            return False
        self.parts[nodes] = np.where(s > 0, b, a)
        return True

    def _split(
        self, objective: Quadratic, ones: int, seconds: float | None, start: Floats | None = None
    ) -> tuple[Floats, float]:
        """The best cut with exactly `ones` nodes at +1 that the bisection finds, and its weight."""
        problem = Problem(objective, Cardinality(ones))
        inner = self.run.part(problem, Limits(time_limit=None if seconds is None else max(0.0, seconds)))
        self.bisection.solve(problem, start, self.rng.spawn(1)[0], inner)
        assert inner.best_x is not None
        return inner.best_x, inner.best_value

    def _within(self, nodes: Ints) -> sp.csr_array:
        """The edges within `nodes`."""
        if nodes.size == self.W.shape[0]:
            return self.W
        inner = self.W[nodes][:, nodes]
        inner.sort_indices()
        return inner

    def _inner(self, nodes: Ints) -> Quadratic:
        """The cut within `nodes` as a quadratic."""
        inner = self._within(nodes)
        return Quadratic(inner * -0.25, d=float(inner.data.sum()) / 4.0)


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
