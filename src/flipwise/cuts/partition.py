"""Partition into parts of exact sizes: recursive bisection, then pairs of parts cut again until nothing improves."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from itertools import combinations
from typing import ClassVar

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from flipwise.cuts.bisection import Bisection, bisected, cut_weight, level_of
from flipwise.cuts.parts import CutWeight, PartSizes
from flipwise.engine.limits import Clock, Limits, OutOfTime, Status
from flipwise.engine.pool import Bools, Wanted
from flipwise.engine.run import Run
from flipwise.engine.states import check_array
from flipwise.foundation.arrays import Floats, Ints, Signs
from flipwise.foundation.checks import check_numbers
from flipwise.graphs.graph import Graph
from flipwise.kernels.jit import entries_in_rows
from flipwise.model.constraints import Cardinality
from flipwise.model.forms import ising_form
from flipwise.model.problem import Problem, without_ranges
from flipwise.model.quadratic import Quadratic
from flipwise.solvers.portfolio.algorithm import Portfolio
from flipwise.solvers.portfolio.neighbours import NeighbourSearch

LOOSE_TRIES, MOST_TRIES = 12, 200
"""Cuts of a pair of parts of no exact sizes: at the effort of a partition, and at most with a time limit."""
SLICING = 3e-7
"""About the seconds that a part of a large graph takes to be cut out, for each of its arcs."""
ROUNDS_SHARE = 1.0 / 3.0
"""The effort of each bisection in a partition, of that of a bisection on its own."""


@dataclass
class ImprovementState:
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
        exact, most, held = problem.constraint.exact, problem.constraint.most, problem.constraint.held
        cutting = _Partition(problem.objective.graph, rng, run, Bisection(self.effort * ROUNDS_SHARE), held)
        pairs = list(combinations(range(sizes.size), 2)) if sizes.size > 2 or not exact else []
        pair, improved = 0, False
        before = run.resume(ImprovementState)
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
            state = ImprovementState(cutting.parts, pair, improved, cutting.rng)
            if better:
                value = problem.objective.value(cutting.parts)  # type: ignore[arg-type]
                stop = run.step(cutting.parts.astype(np.float64), value, state=state)
            else:
                run.keep(state)
                stop = run.check_time()
        return stop or (Status.TIME_LIMIT if cutting.hurried else Status.CONVERGED)


class _Partition:
    """A partition in the making: `parts` is the part of each node."""

    def __init__(
        self, graph: Graph, rng: np.random.Generator, run: Run, bisection: Bisection, held: Ints | None
    ) -> None:
        self.W = graph.to_scipy()
        self.held = held
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
            self._fill_parts(nodes, sizes, first)
            return
        middle = sizes.size // 2
        limit = None if seconds is None else seconds * nodes.size
        sides = self._fixed_sides(nodes, first + middle)
        ones = int(sizes[middle:].sum())
        found, _, others = self._best_split(self._inner_quadratic(nodes), Cardinality(ones), limit, sides)
        up = found > 0
        if nodes.size == self.parts.size and sizes.size == 2:
            self._offer_partitions(nodes, first, first + 1, others, 0.0)
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
        return self._cut_pair(nodes, a, b, None, seconds)

    def _cut_pair(self, nodes: Ints, a: int, b: int, count: Cardinality | None, seconds: float | None) -> bool:
        """Cut the nodes of two parts again, with so many in the second (as many as now); whether it became better."""
        before = np.where(self.parts[nodes] == b, 1.0, -1.0)
        objective = self._inner_quadratic(nodes)
        value = objective.value(before)
        count = count or Cardinality(int(np.count_nonzero(before > 0)))
        found, reached, others = self._best_split(objective, count, seconds, self._fixed_sides(nodes, b), before)
        self._offer_partitions(nodes, a, b, others, self.run.best_value - value)
        if not reached < value:
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
        if self._fixed_sides(nodes, b) is not None:  # the multilevel cuts know of no fixed nodes
            return self._cut_pair(nodes, a, b, Cardinality(at_least=least, at_most=largest), seconds)
        goal, tolerance = (least + largest) // 2, (largest - least) // 2
        level = level_of(self._edges_within(nodes))
        s = np.where(self.parts[nodes] == b, 1, -1).astype(np.int8)
        before = cut_weight(level, s)
        rest = self.run.best_value - before
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
            if self.run.pool is not None:
                self._offer_partitions(nodes, a, b, [(found > 0, cut_weight(level, found))], rest)
            if cut_weight(level, found) < cut_weight(level, s):
                s = found
        if self.run.pool is not None and not cut_weight(level, s) < before:  # else the pair comes again
            others = self._cuts_beside(nodes, s, Cardinality(at_least=least, at_most=largest))
            self._offer_partitions(nodes, a, b, others, rest)
            if others and others[0][1] < cut_weight(level, s):
                s = np.where(others[0][0], 1, -1).astype(np.int8)
        if not cut_weight(level, s) < before:
            return False
        self.parts[nodes] = np.where(s > 0, b, a)
        return True

    def _best_split(
        self,
        objective: Quadratic,
        count: Cardinality,
        seconds: float | None,
        sides: dict[int, int] | None,
        start: Floats | None = None,
    ) -> tuple[Floats, float, list[tuple[Bools, float]]]:
        """The best cut with so many nodes at +1 that is found, its weight, and others where a pool is wanted."""
        problem = without_ranges(Problem(objective, count), sides)
        inner = self.run.part(problem, Limits(time_limit=None if seconds is None else max(0.0, seconds)))
        if self.run.pool is not None:
            inner.pool = Wanted(self.run.pool.wanted.size, self.run.pool.wanted.distance).collector(problem)
        own = self.rng.spawn(1)[0]
        if problem.reduction is None:
            self.bisection.solve(problem, start, own, inner)
        else:
            x = problem.constraint.random(problem.shape, own) if start is None else problem.reduction.reduced(start)
            inner.offer(x, problem.objective.value(x))
            with suppress(OutOfTime):
                Portfolio(self.bisection.effort).solve(problem, x, own, inner)
        assert inner.best_x is not None
        found = inner.best_x if problem.reduction is None else problem.reduction.embedded(inner.best_x)
        return found, objective.value(found), self._other_answers(problem, inner)

    def _cuts_beside(self, nodes: Ints, s: Signs, count: Cardinality) -> list[tuple[Bools, float]]:
        """Cuts beside `s`, one of two parts with so many nodes in the second."""
        assert self.run.pool is not None
        objective = self._inner_quadratic(nodes)
        problem = without_ranges(Problem(objective, count))
        inner = self.run.part(problem)
        inner.pool = Wanted(self.run.pool.wanted.size, self.run.pool.wanted.distance).collector(problem)
        x = s.astype(np.float64)
        inner.pool.offer(s > 0 if problem.reduction is None else problem.reduction.reduced(x) > 0, objective.value(x))
        form = ising_form(problem.objective) if isinstance(problem.objective, Quadratic) else None
        if form is not None:
            labels = problem.constraint.labels(problem.shape) if problem.constraint.swaps else None
            NeighbourSearch(form, labels, inner.pool).explore_to_the_end(inner, 0)
        return self._other_answers(problem, inner)

    def _other_answers(self, problem: Problem, inner: Run) -> list[tuple[Bools, float]]:
        """The answers in the pool of one cut, as points of all its nodes."""
        if inner.pool is None:
            return []
        inner.pool.settle()
        points = [np.where(point, 1.0, -1.0) for point in inner.pool.points]
        whole = points if problem.reduction is None else [problem.reduction.embedded(x) for x in points]
        return [(x > 0, value) for x, value in zip(whole, inner.pool.values, strict=True)]

    def _offer_partitions(self, nodes: Ints, a: int, b: int, others: list[tuple[Bools, float]], rest: float) -> None:
        """Offer other cuts of two parts as partitions, whose remaining edges weigh `rest`."""
        if self.run.pool is None:
            return
        for up, value in others:
            parts = self.parts.copy()
            parts[nodes] = np.where(up, b, a)
            self.run.pool.offer(parts, value + rest)

    def _fixed_sides(self, nodes: Ints, first_up: int) -> dict[int, int] | None:
        """The sides of fixed nodes where parts from `first_up` on are the +1 side; None where none is fixed."""
        if self.held is None:
            return None
        held = self.held[nodes]
        return {int(k): 1 if held[k] >= first_up else -1 for k in np.flatnonzero(held >= 0)} or None

    def _fill_parts(self, nodes: Ints, sizes: Ints, first: int) -> None:
        """Parts of these sizes as they come, fixed nodes in theirs."""
        held = np.full(nodes.size, -1) if self.held is None else self.held[nodes]
        left = sizes - np.bincount(held[held >= 0] - first, minlength=sizes.size)
        self.parts[nodes[held >= 0]] = held[held >= 0]
        self.parts[nodes[held < 0]] = np.repeat(np.arange(first, first + sizes.size), left)

    def _edges_within(self, nodes: Ints) -> sp.csr_array:
        """The edges within `nodes`."""
        if nodes.size == self.W.shape[0]:
            return self.W
        inner = self.W[nodes][:, nodes]
        inner.sort_indices()
        return inner

    def _inner_quadratic(self, nodes: Ints) -> Quadratic:
        """The cut within `nodes` as a quadratic."""
        inner = self._edges_within(nodes)
        return Quadratic(inner * -0.25, d=float(inner.data.sum()) / 4.0)
