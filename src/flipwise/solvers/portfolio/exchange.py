"""The portfolio under exact counts: a population whose members always have the right number of ones in every group."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import numpy as np

from flipwise.engine.limits import Clock
from flipwise.engine.run import Run
from flipwise.foundation.arrays import Floats, Ints, Signs
from flipwise.foundation.errors import InvalidFile
from flipwise.kernels import annealing as kernels
from flipwise.model.forms import IsingForm, Numbers
from flipwise.model.problem import Problem
from flipwise.model.quadratic import Quadratic
from flipwise.solvers.dpcd.walks import make_walk
from flipwise.solvers.portfolio.annealing import paced, random_state, temperatures, visits_of
from flipwise.solvers.portfolio.population import (
    HEATS,
    LENGTHS,
    LONGEST,
    Member,
    Pace,
    PopulationState,
    Task,
)

STIFFNESS = 0.05
"""Stiffness of the counts in units of the temperature: holds the excess to about +-3 spins."""
FIRST_SWEEPS = 400
"""Sweeps of the first anneal from scratch; later ones are longer."""

_QUANTILES = kernels.exponential_quantiles()


@dataclass(frozen=True, eq=False)
class GroupSums:
    """The group of each spin, the spins of each group, and the sum of spins each group must have."""

    labels: Ints
    groups: tuple[Ints, ...]
    sums: Floats

    @classmethod
    def of(cls, labels: Ints, feasible: Signs) -> GroupSums:
        """The counts that a feasible point has."""
        sums = np.bincount(labels, weights=feasible.astype(np.float64))
        return cls(labels, tuple(np.flatnonzero(labels == g) for g in range(sums.size)), np.asarray(sums))

    def excess(self, s: Signs) -> Floats:
        """How far the sum of each group is off."""
        return np.asarray(np.bincount(self.labels, weights=s.astype(np.float64), minlength=self.sums.size) - self.sums)

    def levels(self, f: Numbers) -> Floats:
        """The multiplier of each count with which the fields alone would choose the right number of ones."""
        level = np.zeros(len(self.groups))
        for g, inside in enumerate(self.groups):
            ones = int((inside.size + self.sums[g]) // 2)
            if 0 < ones < inside.size:
                values = np.partition(f[inside], [ones - 1, ones])
                level[g] = -(float(values[ones - 1]) + float(values[ones])) / 2.0
        return level


def anneal_counted(
    form: IsingForm, counts: GroupSums, s: Signs, f: Numbers, schedule: Floats, state: np.ndarray, clock: Clock
) -> bool:
    """Anneal `s` (fields `f`) in place and restore the counts; False, and `s` is worthless, when time ran out first."""
    excess = counts.excess(s)
    level = counts.levels(f)
    kernel = kernels.dense_anneal_counts if form.dense else kernels.csr_anneal_counts
    kernel.expect(schedule.size * form.n)
    for part in paced(schedule, visits_of(form), clock):
        if part.size == 0:
            return False
        kernel(*form.couplings, part, _QUANTILES, STIFFNESS, counts.labels, excess, level, s, f, state)
    restore_counts(form, counts, s, f)
    return True


def restore_counts(form: IsingForm, counts: GroupSums, s: Signs, f: Numbers) -> None:
    """Remove the excess of every group, cheapest flips first, then swap while it helps."""
    kernel = kernels.dense_restore_count if form.dense else kernels.csr_restore_count
    for inside, too_many in zip(counts.groups, counts.excess(s), strict=True):
        kernel(*form.couplings, form.slack, inside, -round(float(too_many)) // 2, s, f)


class Swaps:
    """A walk by swaps from the end of an anneal, which holds counts only loosely; none where it does not pay."""

    def __init__(self, problem: Problem) -> None:
        assert isinstance(problem.objective, Quadratic)
        self.problem = problem
        self.walk = make_walk(problem.objective, problem.constraint)

    def __call__(self, s: Signs, rng: np.random.Generator, clock: Clock) -> Signs:
        """`s`, or a better point."""
        if self.walk is None:
            return s
        x = s.astype(np.float64).reshape(self.problem.shape)
        self.walk(x, np.asarray(self.problem.objective.gradient(x)), rng, Run(self.problem, clock=clock))
        return x.reshape(-1).astype(np.int8)


class CountedPopulation:
    """Members of a problem with exact counts."""

    def __init__(self, form: IsingForm, problem: Problem, start: Signs, rng: np.random.Generator) -> None:
        self.form = form
        self.rng = rng
        self.counts = GroupSums.of(problem.constraint.labels(problem.shape), start)
        self.swaps = Swaps(problem)
        self.members = [Member(start, form.energy(start, form.fields(start)))]
        self.capacity = int(np.clip(40_000 // form.n, 2, 8))
        self.sweeps = float(np.clip(2e8 // form.n, 50, FIRST_SWEEPS))
        self.pace = Pace(form.n)

    @property
    def best(self) -> Member:
        return min(self.members, key=lambda member: member.energy)

    def state(self) -> PopulationState:
        return PopulationState(self.members, self.rng, {"sweeps": self.sweeps})

    def restore(self, state: PopulationState) -> None:
        state.check(self.form.n)
        self.members, self.rng = state.members, state.rng
        if any(self.counts.excess(member.s).any() for member in self.members):
            raise InvalidFile("the checkpoint's population breaks the constraint.")
        self.sweeps = state.sweeps

    def tasks(self, count: int, clock: Clock) -> list[Task]:
        return [self._next_task(clock) for _ in range(count)]

    def _next_task(self, clock: Clock) -> Task:
        """The next job: an anneal afresh, or a reheating of a good point."""
        if len(self.members) < self.capacity or self.rng.random() < 0.3:
            heat, start, sweeps = HEATS[0], None, self.sweeps
            self.sweeps = min(1.1 * self.sweeps, LONGEST)
        else:
            heat = HEATS[int(self.rng.integers(2, len(HEATS)))]
            any_member = self.members[int(self.rng.integers(len(self.members)))]
            start = self.best.s if self.rng.random() < 0.5 else any_member.s
            sweeps = LENGTHS[int(self.rng.integers(len(LENGTHS)))]
        fitted = self.pace.shortened(sweeps, clock, 0.25)
        return partial(self._anneal_and_swap, start, heat, fitted, self.rng.spawn(1)[0], clock)

    def _anneal_and_swap(
        self, start: Signs | None, heat: float, sweeps: int, rng: np.random.Generator, clock: Clock
    ) -> Member | None:
        """Anneal with the counts kept, then improve by swaps; None where time was too short."""
        s = rng.permutation(self.best.s) if start is None else start.copy()
        f = self.form.fields(s)
        schedule = temperatures(self.form, heat, sweeps)
        with self.pace.timing(sweeps):
            if not anneal_counted(self.form, self.counts, s, f, schedule, random_state(rng), clock):
                return None
            s = self.swaps(s, rng, clock)
        return Member(s, self.form.energy(s, self.form.fields(s)))

    def merge(self, found: list[Member]) -> None:
        for member in found:
            if any(self.form.distance(member.s, other.s) == 0 for other in self.members):
                continue
            self.members.append(member)
            if len(self.members) > self.capacity:
                self.members.remove(max(self.members, key=lambda m: m.energy))
