"""Multilevel bisection with exact sizes, and its evolution.

A graph is coarsened by matchings, the coarsest graph is cut, and the cut is refined on the way back (see
`kernels.multilevel`). New members of the population come from scratch, or from two parents by coarsening only where
both agree, which keeps the better parent's cut through all levels: the child is never worse (Sanders, Schulz:
Distributed evolutionary graph partitioning, ALENEX 2012); or from one parent through new levels, or by annealing along
its cut. Where a graph has no geometry that levels could follow, annealing from scratch is far ahead of them (Johnson,
Aragon, McGeoch, Schevon: Optimization by simulated annealing, part I, Operations Research 37, 1989): both are tried,
and the better one fills the population.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any, ClassVar

import numpy as np

from flipwise.engine.limits import Clock, Status
from flipwise.engine.run import Run
from flipwise.foundation.arrays import Floats, Ints, Signs
from flipwise.foundation.checks import check_numbers
from flipwise.foundation.errors import InvalidFile
from flipwise.kernels import multilevel as kernels
from flipwise.model.constraints import Cardinality
from flipwise.model.forms import IsingForm, Numbers, ising_form
from flipwise.model.problem import Problem
from flipwise.model.quadratic import Quadratic
from flipwise.model.terms import Sparse
from flipwise.solvers.portfolio.algorithm import improve, rounds_for
from flipwise.solvers.portfolio.annealing import random_state, temperatures
from flipwise.solvers.portfolio.exchange import GroupSums, anneal_counted
from flipwise.solvers.portfolio.population import (
    LONGEST,
    Member,
    Pace,
    PopulationState,
    Task,
    admit,
)

COARSEST = 80
"""Nodes of the coarsest graph."""
PASSES = 12
"""The most passes of one refinement."""
STARTS = 8
"""Cuts grown on the coarsest graph."""
BUCKETS = 1 << 16
"""The most buckets of a queue; gains that need more share buckets."""
FEWEST, MOST = 4, 12
"""Members of the population: fewer for large graphs, where each costs a second."""
IDLE = 40
"""Results in a row that do not enter, after which all members but the best give way to new ones."""
HEATS = (1.0, 0.7, 0.5, 0.35, 0.25, 0.18, 0.12)
"""Temperatures of the annealing. A good cut of a mesh melts above a half; one of a graph with hubs only begins to."""
LENGTHS = (50, 200, 800)
"""Sweeps of one annealing along a cut, in the beginning."""
HOTTEST = 1.5
"""Where annealing from scratch begins; from 1 on, hubs sometimes freeze on the wrong sides."""
FIRST_SWEEPS, SWEPT_ARCS, GROWTH = 400, 4e7, 1.1
"""Sweeps of the first annealing from scratch; fewer where those would visit more arcs; how much longer each next is."""
FAVOUR = 0.85
"""Share of the first members that come the way that has found the better cut, by levels or by annealing."""
FORMING, COARSENING, PASS = 3e-8, 3e-7, 1e-7
"""About the seconds that the finest level with a first cut, coarser ones, and a pass of refinement, take for each arc
of a large graph: none of them is begun where less time is left."""
SCRATCH = ("levels", "annealed")
"""From scratch: by levels, by annealing."""
KINDS = (*SCRATCH, "combined", "again", *(f"annealed from {heat}" for heat in HEATS))
"""And from two parents, from one parent through new levels, by annealing a member."""
ODDS = dict.fromkeys(KINDS, 1.0) | {f"annealed from {heat}": 0.2 if heat <= 0.5 else 0.04 for heat in HEATS}
"""In what proportion they are chosen at first; a tenth of it remains."""


@dataclass(frozen=True, eq=False)
class Level:
    """A weighted graph on one level: CSR with edge weights, node sizes."""

    indptr: Ints
    indices: Ints
    w: Numbers
    sizes: Ints

    @property
    def n(self) -> int:
        return self.sizes.size

    @property
    def arcs(self) -> tuple[Ints, Ints, Numbers]:
        """The edges as the kernels take them."""
        return self.indptr, self.indices, self.w

    def gains(self, s: Signs) -> tuple[Numbers, float]:
        """By how much moving each node to the other side lowers the cut, and the weight of the cut."""
        gain = np.empty(self.n, dtype=self.w.dtype)
        return gain, float(kernels.csr_gains(*self.arcs, s, gain)) / 2.0

    @cached_property
    def reach(self) -> float:
        """The largest weighted degree: no gain is larger."""
        total = np.concatenate([[0.0], np.cumsum(np.abs(self.w.astype(np.float64)))])
        return float((total[self.indptr[1:]] - total[self.indptr[:-1]]).max(initial=0.0))


def level_of(W: Any) -> Level:
    """The finest level of a graph in CSR form: every node of size 1."""
    kind = np.int64 if (W.data == np.rint(W.data)).all() and np.abs(W.data).sum() < 2**53 else np.float64
    sizes = np.ones(W.shape[0], dtype=np.int64)
    return Level(W.indptr.astype(np.int64), W.indices, W.data.astype(kind), sizes)


def bisected(
    level: Level,
    goal: int,
    rng: np.random.Generator,
    parents: tuple[Signs, ...] = (),
    tolerance: int = 0,
    clock: Clock | None = None,
) -> Signs:
    """A cut whose +1 side has `goal` nodes, or is off by at most `tolerance`; with parents (the best first), one at
    least as good as the first. Where the time of `clock` is too short there are fewer levels and passes."""
    classes = np.zeros(level.n, dtype=np.int64)
    for parent in parents:
        classes = 2 * classes + (parent > 0)
    start = parents[0] if parents else None
    levels: list[tuple[Level, Ints]] = []
    largest = max(1, int(1.5 * level.n / COARSEST))
    current = level
    while current.n > COARSEST and _in_time(clock, COARSENING, current):
        smaller, coarse = _coarser_level(current, classes, largest, rng)
        if smaller.n > 0.95 * current.n:
            break
        levels.append((current, coarse))
        first = np.zeros(smaller.n, dtype=np.int64)
        first[coarse] = np.arange(current.n)
        classes = classes[first]
        start = None if start is None else start[first]
        current = smaller
    s = _first_cut(current, goal, rng, clock) if start is None else start.copy()
    s = refined(current, s, goal, rng, tolerance, clock)
    for finer, coarse in reversed(levels):
        s = refined(finer, s[coarse], goal, rng, tolerance, clock)
    s = exact(level, s, goal, tolerance)
    # levels of large nodes cannot keep the sizes exactly, so what was won there may have to be given back at the end
    return parents[0].copy() if parents and cut_weight(level, parents[0]) < cut_weight(level, s) else s


def _in_time(clock: Clock | None, seconds: float, level: Level) -> bool:
    """Whether there is time for something that takes so many seconds for each arc."""
    return clock is None or seconds * level.indices.size < clock.seconds_left


def exact(level: Level, s: Signs, goal: int, tolerance: int = 0) -> Signs:
    """`s` with `goal` nodes at +1, off by at most `tolerance`; the best ones are moved where it has not."""
    s = s.copy()
    while abs(off := int(np.count_nonzero(s > 0)) - goal) > tolerance:
        gain, _ = level.gains(s)
        movable = np.flatnonzero((s > 0) == (off > 0))
        moved = movable[np.argsort(-gain[movable], kind="stable")[: (abs(off) - tolerance + 1) // 2]]
        s[moved] *= -1
    return s


def _coarser_level(level: Level, classes: Ints, largest: int, rng: np.random.Generator) -> tuple[Level, Ints]:
    partner = np.empty(level.n, dtype=np.int64)
    order = rng.permutation(level.n)
    count = kernels.csr_heavy_matching(*level.arcs, level.sizes, largest, order, classes, partner)
    coarse = np.full(level.n, -1, dtype=np.int64)
    indptr = np.empty(count + 1, dtype=np.int64)
    indices = np.empty(level.indices.size, dtype=level.indices.dtype)
    w = np.empty_like(level.w)
    sizes = np.empty(count, dtype=np.int64)
    place = np.full(count, -1, dtype=np.int64)
    arcs = kernels.csr_contract(*level.arcs, level.sizes, partner, coarse, place, indptr, indices, w, sizes)
    return Level(indptr, indices[:arcs].copy(), w[:arcs].copy(), sizes), coarse


def _first_cut(level: Level, goal: int, rng: np.random.Generator, clock: Clock | None) -> Signs:
    best: Signs | None = None
    least = np.inf
    for _ in range(STARTS):
        s = np.empty(level.n, dtype=np.int8)
        queue = np.empty(level.n, dtype=np.int64)
        kernels.csr_grow(level.indptr, level.indices, level.sizes, goal, rng.permutation(level.n), s, queue)
        s = refined(level, s, goal, rng, clock=clock)
        off = abs(int(level.sizes[s > 0].sum()) - goal)
        cut = cut_weight(level, s) + (1e-3 * off * level.reach if off else 0.0)
        if cut < least:
            best, least = s, cut
        if not _in_time(clock, PASS, level):
            break
    assert best is not None
    return best


def _grown_cut(A: Sparse, goal: int, rng: np.random.Generator) -> Floats:
    """A cut with `goal` nodes at +1 that grew from one node: what a graph gets in no time."""
    s, queue = np.empty(A.n, dtype=np.int8), np.empty(A.n, dtype=np.int64)
    indptr, indices, _ = A.arrays
    kernels.csr_grow(indptr.astype(np.int64), indices, np.ones(A.n, np.int64), goal, rng.permutation(A.n), s, queue)
    return s.astype(np.float64)


def refined(
    level: Level, s: Signs, goal: int, rng: np.random.Generator, tolerance: int = 0, clock: Clock | None = None
) -> Signs:
    """Passes of refinement, at most `PASSES`, until two in a row bring nothing or the time is over."""
    n = level.n
    s = np.ascontiguousarray(s, dtype=np.int8)
    if not _in_time(clock, PASS, level):
        return s
    gain, _ = level.gains(s)
    reach = level.reach
    whole = np.issubdtype(level.w.dtype, np.integer)
    steps = 1.0 if whole and 2 * reach + 2 <= BUCKETS else (BUCKETS - 2) / max(2.0 * reach, 1e-300)
    buckets = int(2 * reach * steps) + 2
    heaviest = int(level.sizes.max())
    nearly = max(tolerance, 0 if heaviest == 1 else heaviest)
    off = int(level.sizes[s > 0].sum()) - goal
    patience = max(100, min(n, 300 + n // 50))
    quiet = 0
    for turn in range(PASSES):
        slack = tolerance + (int(heaviest * (1 + rng.integers(0, 8))) if turn % 2 else max(1, heaviest))
        scratch = (
            np.full((2, buckets), -1, dtype=np.int64),
            np.empty(n, dtype=np.int64),
            np.empty(n, dtype=np.int64),
            np.full(n, -1, dtype=np.int64),
            np.zeros(n, dtype=np.bool_),
            np.empty(n, dtype=np.int64),
        )
        before = off
        fixed = (*level.arcs, level.sizes, reach, steps)
        decrease, off = kernels.csr_pass(*fixed, off, nearly, slack, patience, int(rng.integers(n)), s, gain, *scratch)
        quiet = 0 if decrease > 0 or abs(off) < abs(before) else quiet + 1
        if quiet == 2 or not _in_time(clock, PASS, level):
            break
    return s


def cut_weight(level: Level, s: Signs) -> float:
    return level.gains(s)[1]


class BisectionPopulation:
    """Members are cuts of a graph with `goal` nodes at +1; their energy is the weight of the cut."""

    def __init__(self, level: Level, form: IsingForm, start: Signs, rng: np.random.Generator) -> None:
        self.level = level
        self.form = form
        self.rng = rng
        self.goal = int(np.count_nonzero(start > 0))
        self.counts = GroupSums.of(np.zeros(level.n, dtype=np.int64), start)
        self.champion = Member(start, cut_weight(level, start))
        self.members: list[Member] = []
        self.capacity = int(np.clip(600_000 // level.n, FEWEST, MOST))
        self.idle = 0
        self.success = dict(ODDS)
        self.least = {"levels": self.champion.energy, "annealed": math.inf}
        self.first_sweeps = float(np.clip(SWEPT_ARCS / max(1, level.indices.size), 20, FIRST_SWEEPS))
        self.sweeps = self.first_sweeps
        self.pace = Pace(level.n)

    @property
    def best(self) -> Member:
        return self.champion

    def state(self) -> PopulationState:
        own = {"success": self.success, "least": self.least, "idle": self.idle, "sweeps": self.sweeps}
        return PopulationState([self.champion, *self.members], self.rng, own)

    def restore(self, state: PopulationState) -> None:
        state.check(self.level.n)
        (self.champion, *self.members), self.rng = state.members, state.rng
        if any(np.count_nonzero(each.s > 0) != self.goal for each in (self.champion, *self.members)):
            raise InvalidFile("the checkpoint's population breaks the constraint.")
        self.success = {kind: max(0.1 * ODDS[kind], float(state.details["success"][kind])) for kind in KINDS}
        self.least = {kind: float(state.details["least"][kind]) for kind in SCRATCH}
        self.idle = int(state.details["idle"])
        self.sweeps = state.sweeps

    def tasks(self, count: int, clock: Clock) -> list[Task]:
        return [self._next_task(clock) for _ in range(count)]

    def _next_task(self, clock: Clock) -> Task:
        if len(self.members) < self.capacity:
            kind = self._way_from_scratch()
        else:
            odds = np.array([self.success[name] for name in KINDS])
            kind = KINDS[int(self.rng.choice(len(KINDS), p=odds / odds.sum()))]
        own = self.rng.spawn(1)[0]
        if kind == "levels":
            return partial(self._from_levels, kind, (), own, clock)
        if kind == "annealed":
            sweeps = self.pace.shortened(self.sweeps, clock, 0.25)
            if self.least["annealed"] < self.least["levels"]:  # on a mesh longer ones would only take the others' time
                self.sweeps = min(GROWTH * self.sweeps, LONGEST)
            return partial(self._from_annealing, kind, own.permutation(self.champion.s), HOTTEST, sweeps, own, clock)
        a, b = (self.members[int(k)] for k in self.rng.permutation(len(self.members))[:2])
        if kind == "combined":
            better, other = (a, b) if a.energy <= b.energy else (b, a)
            return partial(self._from_levels, kind, (better.s, other.s), own, clock)
        if kind == "again":
            return partial(self._from_levels, kind, (a.s,), own, clock)
        heat = HEATS[KINDS.index(kind) - len(KINDS) + len(HEATS)]
        longer = self.sweeps / self.first_sweeps
        sweeps = self.pace.shortened(longer * LENGTHS[int(self.rng.integers(len(LENGTHS)))], clock, 0.2)
        return partial(self._from_annealing, kind, a.s, heat, sweeps, own, clock)

    def _way_from_scratch(self) -> str:
        """By levels or by annealing: mostly the way that has found the better cut, once both have been tried."""
        better, other = sorted(SCRATCH, key=lambda kind: self.least[kind])
        share = FAVOUR if math.isfinite(self.least[other]) else 0.5
        return better if self.rng.random() < share else other

    def merge(self, found: list[Member]) -> None:
        for member in found:
            entered = self._admit_member(member)
            kind = KINDS[member.origin]
            self.success[kind] = max(0.1 * ODDS[kind], 0.95 * self.success[kind] + 0.1 * entered)
            if kind in SCRATCH:
                self.least[kind] = min(self.least[kind], member.energy)
            self.idle = 0 if entered else self.idle + 1
            if member.energy < self.champion.energy:
                self.champion = member
        if self.idle >= IDLE:
            self.members = [self.champion]
            self.idle = 0

    def _admit_member(self, member: Member) -> bool:
        """Into the population unless it is there already or worse than all."""
        for other in self.members:
            apart = int(np.count_nonzero(member.s != other.s))
            if other.energy == member.energy and min(apart, self.level.n - apart) == 0:
                return False
        return admit(self.members, member, self.capacity)

    def _from_levels(self, kind: str, parents: tuple[Signs, ...], rng: np.random.Generator, clock: Clock) -> Member:
        s = bisected(self.level, self.goal, rng, parents, clock=clock)
        if not parents:  # a second time through new levels: the first such repetition gains the most
            s = bisected(self.level, self.goal, rng, (s,), clock=clock)
        return Member(s, cut_weight(self.level, s), KINDS.index(kind))

    def _from_annealing(
        self, kind: str, start: Signs, heat: float, sweeps: int, rng: np.random.Generator, clock: Clock
    ) -> Member | None:
        s = start.copy()
        f = self.form.fields(s)
        with self.pace.timing(sweeps):
            schedule = temperatures(self.form, heat, sweeps)
            if not anneal_counted(self.form, self.counts, s, f, schedule, random_state(rng), clock):
                return None
        s = refined(self.level, s, self.goal, rng, clock=clock)
        return Member(s, cut_weight(self.level, s), KINDS.index(kind))


@dataclass(frozen=True)
class Bisection:
    """Two parts of exact sizes: a multilevel cut first, then the evolution of a population of them until a limit.

    Parameters
    ----------
    effort
        How long to search without any other limit: at most 30 rounds at 1.
    """

    name: ClassVar[str] = "bisection"
    begins_itself: ClassVar[bool] = True
    effort: float = 1.0

    def __post_init__(self) -> None:
        check_numbers(self, "effort", least=0.0)

    def solve(self, problem: Problem, x: Floats | None, rng: np.random.Generator, run: Run) -> Status:
        """Minimise the weight of a cut, a quadratic without linear part, under a `Cardinality`."""
        objective, constraint = problem.objective, problem.constraint
        assert isinstance(objective, Quadratic) and isinstance(constraint, Cardinality)
        A = objective.matrix
        if x is None and isinstance(A, Sparse) and run.seconds_left < FORMING * A.A.nnz:
            x = _grown_cut(A, constraint.count, rng)
            run.offer(x, objective.value(x))
            return run.check_time() or Status.TIME_LIMIT
        form = ising_form(objective, dense_from=math.inf)
        assert form is not None
        weights = -form.data  # the couplings that reward agreement
        kind = np.int64 if np.issubdtype(weights.dtype, np.integer) else np.float64
        level = Level(form.indptr, form.indices, weights.astype(kind), np.ones(form.n, dtype=np.int64))
        start = bisected(level, constraint.count, rng, clock=run.clock) if x is None else x.astype(np.int8)
        first = start.astype(np.float64)
        run.offer(first, objective.value(first))
        late = None if _in_time(run.clock, PASS, level) else Status.TIME_LIMIT  # another cut would be as rough
        stop = run.check_time() or late
        if stop is not None or level.n <= 2:
            return stop or Status.CONVERGED
        return improve(problem, BisectionPopulation(level, form, start, rng), run, rounds_for(run, self.effort))
