"""A population for polynomials of any degree, free or with exact counts, and the jobs that improve it.

A job anneals from scratch, reheats a member, or walks with tabu search from what two members have in common (many short
walks from many starts, as memetic algorithms for low autocorrelation do). Which of them is drawn follows what has
entered the population lately. Under counts an anneal lets the counts float and restores them, and a walk goes by swaps.
Sums of squared autocorrelations are walked on tables of their own, and nothing else is done with them.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property, partial

import numpy as np

from flipwise.engine.limits import Clock
from flipwise.foundation.arrays import Floats, Ints, Signs
from flipwise.foundation.errors import InvalidFile
from flipwise.kernels import polynomial_search as kernels
from flipwise.kernels.annealing import exponential_quantiles
from flipwise.model.polynomial import Polynomial
from flipwise.solvers.portfolio.annealing import paced, random_state
from flipwise.solvers.portfolio.correlations import is_autocorrelation, walk_from_many
from flipwise.solvers.portfolio.exchange import STIFFNESS, GroupSums
from flipwise.solvers.portfolio.population import (
    LONGEST,
    Member,
    Pace,
    PopulationState,
    Task,
    admit,
)

HEATS = (0.7, 0.5, 0.35, 0.25)
"""Temperatures to which a member is reheated, in units of the polynomial's width; an anneal begins at 1."""
COLD = 0.05
"""The last temperature, in the same unit."""
FIRST_SWEEPS = 200
"""Sweeps of the first anneal from scratch; later ones are longer."""
CAPACITY = 10
"""Members of the population."""
QUANTUM = 20_000_000
"""Operations of one job of walks (about 30 ms), and between two looks at the clock."""
TABLES = 300_000_000
"""The same on tables of autocorrelations, whose entries are small and stand side by side (about 50 ms)."""
WALKED = 5_000
"""The most variables for tabu search, each of whose steps looks at all of them."""
SHORT, LONG = 4, 40
"""Steps of a walk for each variable, at least and at most."""
MOST_WALKS = 16
"""The most walks in one job: small problems need no more."""
KINDS = ("anneal", "reheat", "walk")

_QUANTILES = exponential_quantiles()


@dataclass(frozen=True, eq=False)
class SearchForm:
    """A polynomial and its counts as the search needs them."""

    objective: Polynomial
    labels: Ints
    counts: GroupSums | None

    @cached_property
    def width(self) -> float:
        """The root mean square of half the cost of a flip at a random point: the unit of temperature."""
        f = self.objective
        size = np.diff(f.offsets)
        largest = float(np.abs(f.coefficients).max(initial=0.0))
        if largest == 0.0:
            return 0.0
        squares = (f.coefficients / largest) ** 2 * size
        if f.binary:  # at a random point few terms of many bits count, at a good one they do
            squares = squares * 0.25 ** np.minimum(size, 2)
        return largest * math.sqrt(float(squares.sum()) / f.n)

    @cached_property
    def work(self) -> float:
        """Operations of one flip."""
        sizes = np.diff(self.objective.offsets).astype(np.float64)
        return float((sizes * sizes).sum()) / self.objective.n

    @cached_property
    def is_autocorrelation(self) -> bool:
        """Whether the walks of `correlations` fit."""
        return self.counts is None and is_autocorrelation(self.objective)

    @cached_property
    def slack(self) -> float:
        return float(self.objective.slack.max(initial=0.0))

    def point(self, s: Signs) -> Point:
        """The point with all that the kernels keep up to date."""
        f = self.objective
        point = Point(
            s, np.empty(f.coefficients.size, np.int32), np.zeros(f.coefficients.size, np.int64), np.empty(f.n)
        )
        kernels.flip_costs(f.offsets, f.members, f.coefficients, f.binary, *point.arrays)
        return point

    def member(self, s: Signs, kind: int) -> Member:
        """A member with the value of `s` computed anew; its origin is the kind of job that made it."""
        return Member(s, self.objective.value(s.astype(np.float64)), kind)


@dataclass(eq=False)
class Point:
    """A point, what is held for each term, and the cost of every flip."""

    s: Signs
    held: np.ndarray
    zeros: np.ndarray
    d: Floats

    @property
    def arrays(self) -> tuple[np.ndarray, ...]:
        return self.s, self.held, self.zeros, self.d


# --- moves -----------------------------------------------------------------------------------------------------------


def anneal(form: SearchForm, s: Signs, heat: float, sweeps: int, state: Ints, clock: Clock) -> bool:
    """Anneal `s` in place, restore its counts and descend; False, and `s` is worthless, when time ran out first."""
    f, counts = form.objective, form.counts
    point = form.point(s)
    schedule = (
        np.geomspace(heat * form.width, min(heat, COLD) * form.width, sweeps) if form.width > 0.0 else np.zeros(0)
    )
    excess, level = np.zeros(1), np.zeros(1)
    if counts is not None:
        excess, level = counts.excess(s), counts.levels(-0.5 * s * point.d)
    stiffness = 0.0 if counts is None else STIFFNESS
    kernels.anneal_terms.expect(sweeps * f.n)
    for part in paced(schedule, round(f.n + f.n * form.work / 8.0), clock):
        if part.size == 0:
            return False
        kernels.anneal_terms(*f.arrays, part, _QUANTILES, stiffness, form.labels, excess, level, *point.arrays, state)
    if not f.exact:
        point = form.point(s)  # without the roundings of many flips
    if counts is None:
        kernels.quench_terms(*f.arrays, form.slack, *point.arrays)
        return True
    for inside, too_many in zip(counts.groups, counts.excess(s), strict=True):
        kernels.restore_count_terms(*f.arrays, form.slack, inside, -round(float(too_many)) // 2, *point.arrays)
    return True


def walk(form: SearchForm, s: Signs, steps: int, state: Ints, clock: Clock) -> Signs:
    """The best point that `steps` steps of tabu search from `s`, which is changed, meet before time runs out."""
    f = form.objective
    point = form.point(s)
    best = s.copy()
    found = s.copy()
    value = lowest = 0.0
    tenure, spread = max(1, f.n // 10), max(1, f.n // 10)
    free_at = np.zeros(f.n, dtype=np.int64)
    chunk = max(1, round(QUANTUM / (f.n + form.work)))
    kernels.tabu_terms.expect(steps * (f.n + form.work))
    for start in range(0, steps, chunk):
        if clock.expired:
            break
        size = min(chunk, steps - start)
        reached, change = kernels.tabu_terms(
            *f.arrays, form.counts is not None, form.labels, size, tenure, spread, *point.arrays, free_at, found, state
        )
        if value + reached < lowest:
            lowest = value + reached
            best[:] = found
        value += change
        free_at -= size
    return best


# --- the population --------------------------------------------------------------------------------------------------


class PolynomialPopulation:
    """Members of a polynomial problem."""

    def __init__(self, objective: Polynomial, labels: Ints | None, start: Signs, rng: np.random.Generator) -> None:
        counts = None if labels is None else GroupSums.of(labels, start)
        own = np.zeros(objective.n, dtype=np.int64) if labels is None else np.asarray(labels, dtype=np.int64)
        self.form = SearchForm(objective, own, counts)
        self.rng = rng
        self.members = [self.form.member(start, -1)]
        self.sweeps = float(FIRST_SWEEPS)
        self.success = np.ones(len(KINDS))
        self.pace = Pace(objective.n)

    @property
    def best(self) -> Member:
        return min(self.members, key=lambda member: member.energy)

    def state(self) -> PopulationState:
        return PopulationState(self.members, self.rng, {"sweeps": self.sweeps, "success": self.success})

    def restore(self, state: PopulationState) -> None:
        state.check(self.form.objective.n)
        self.members, self.rng = state.members, state.rng
        counts = self.form.counts
        if counts is not None and any(counts.excess(member.s).any() for member in self.members):
            raise InvalidFile("the checkpoint's population breaks the constraint.")
        self.sweeps, self.success = state.sweeps, state.success(len(KINDS))

    def tasks(self, count: int, clock: Clock) -> list[Task]:
        return [self._next_task(place, clock) for place in range(count)]

    def _next_task(self, place: int, clock: Clock) -> Task:
        """The next job, of the kinds that have been successful lately."""
        if self.form.is_autocorrelation:
            return partial(self._walk_on_tables, self.rng.spawn(1)[0], clock)
        kinds = len(KINDS) if self.form.objective.n <= WALKED else len(KINDS) - 1
        odds = self.success[:kinds] / self.success[:kinds].sum()
        kind = int(self.rng.choice(kinds, p=odds))
        if len(self.members) < 3:
            kind = 2 if kinds == 3 and place % 2 else 0
        own = self.rng.spawn(1)[0]
        if kind == 2:
            return partial(self._walk_from_crossed, [member.s for member in self.members], own, clock)
        sweeps = self.pace.shortened(self.sweeps, clock, 0.2)
        if kind == 0:
            self.sweeps = min(1.1 * self.sweeps, LONGEST)
            return partial(self._anneal_point, self._random_point(self.best.s, self.rng), 1.0, sweeps, 0, own, clock)
        chosen = self.members[int(self.rng.integers(len(self.members)))].s
        heat = HEATS[int(self.rng.integers(len(HEATS)))]
        return partial(self._anneal_point, chosen.copy(), heat, max(4, sweeps // 2), 1, own, clock)

    def _anneal_point(
        self, s: Signs, heat: float, sweeps: int, kind: int, rng: np.random.Generator, clock: Clock
    ) -> Member | None:
        """Anneal a point; None where time was too short."""
        with self.pace.timing(sweeps):
            done = anneal(self.form, s, heat, sweeps, random_state(rng), clock)
        return self.form.member(s, kind) if done else None

    def _walk_from_crossed(self, members: list[Signs], rng: np.random.Generator, clock: Clock) -> Member:
        """Short walks from crossed and from random points, as many as one job takes; the best point of all."""
        n = self.form.objective.n
        left = QUANTUM / (n + self.form.work)
        state = random_state(rng)
        best: Member | None = None
        for _ in range(MOST_WALKS):
            steps = int(rng.integers(SHORT * n, LONG * n))
            a, b = rng.integers(len(members), size=2)
            start = self._random_point(members[0], rng) if a == b else self._cross_points(members[a], members[b], rng)
            found = self.form.member(walk(self.form, start, steps, state, clock), 2)
            if best is None or found.energy < best.energy:
                best = found
            left -= steps
            if left < 0 or clock.expired:
                break
        assert best is not None
        return best

    def _walk_on_tables(self, rng: np.random.Generator, clock: Clock) -> Member:
        """Many short walks on tables of autocorrelations; the best point of all."""
        return self.form.member(walk_from_many(self.form.objective.n, TABLES, rng, random_state(rng), clock), 2)

    def _random_point(self, s: Signs, rng: np.random.Generator) -> Signs:
        """A random point; under counts a feasible one."""
        if self.form.counts is None:
            return (2 * rng.integers(0, 2, size=s.size) - 1).astype(np.int8)
        scattered = s.copy()
        for inside in self.form.counts.groups:
            scattered[inside] = rng.permutation(s[inside])
        return scattered

    def _cross_points(self, a: Signs, b: Signs, rng: np.random.Generator) -> Signs:
        """What two points have in common, the rest drawn anew, and a little changed."""
        n = a.size
        crossed = a.copy()
        chosen = (a != b) | (rng.random(n) < 2.0 / n)
        if self.form.counts is None:
            crossed[chosen] = 2 * rng.integers(0, 2, size=int(chosen.sum())) - 1
            return crossed
        for inside in self.form.counts.groups:
            part = inside[chosen[inside]]
            crossed[part] = rng.permutation(crossed[part])
        return crossed

    def merge(self, found: list[Member]) -> None:
        for member in found:
            entered = self._admit_result(member)
            self.success[member.origin] = max(0.05, 0.9 * self.success[member.origin] + 0.1 * entered)

    def _admit_result(self, member: Member) -> bool:
        """Let a result in that is new and better than the worst; returns whether it is in."""
        for k, other in enumerate(self.members):
            if np.count_nonzero(member.s != other.s) <= self.form.objective.n // 100:
                if member.energy < other.energy:
                    self.members[k] = member
                    return True
                return False
        return admit(self.members, member, CAPACITY)
