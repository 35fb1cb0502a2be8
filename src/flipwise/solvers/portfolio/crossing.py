"""A population for sparse problems of moderate size: what two good points disagree on is annealed anew.

Anneals from scratch agree on most of a good point and differ in a few regions. A job takes two members, frees the spins
in which they differ (and their neighbours, and theirs) and anneals these alone, the others held: the crossover of
memetic algorithms (Wu, Hao: A memetic approach for the max-cut problem, PPSN 2012) with annealing in place of tabu
search. When a population has nothing new to give, it is built again from longer anneals; the best point is kept.
"""

from __future__ import annotations

from functools import partial

import numpy as np

from flipwise.engine.limits import Clock
from flipwise.foundation.arrays import Ints, Signs
from flipwise.model.forms import IsingForm
from flipwise.solvers.portfolio.annealing import anneal_part, random_state, temperatures
from flipwise.solvers.portfolio.moves import take_better_components
from flipwise.solvers.portfolio.population import (
    FIRST_SWEEPS,
    HEATS,
    LENGTHS,
    MOST_PULLS,
    WARM,
    Member,
    Pace,
    PopulationState,
    Task,
    admit,
    anneal_afresh,
    reheat,
)

LARGEST = 2500
"""Up to this size an anneal from scratch is cheap enough for a whole population of them, again and again."""
CAPACITY = 16
"""Members; half as many where so many short anneals do not fit into the time for building a population."""
FILL_SHARE = 0.4
"""A population is built in at most this share of the time left; the rest is for crossing its members."""
PATIENCE = 4
"""A population is built again after so many jobs in vain for each member."""
LONGER = 1.15
"""By how much each anneal from scratch is longer than the one before it."""
LONGEST = 10_000
"""Sweeps of the longest (longer ones find no more for their time; measured on Gset's planar graphs)."""
CROSSED = 0.9
"""The share of crossings among the jobs of a full population; the others reheat a member as a whole."""
REHEATS = (0.55, 0.45, 0.35, 0.25)
"""Temperatures at which the freed spins begin, in units of the form's width."""
SHARES = (0.1, 0.3, 1.0)
"""Sweeps over the freed spins, as a share of an anneal's."""
GROWTH = 3
"""The freed region grows by fewer than so many steps to neighbours."""


class CrossedPopulation:
    """Members of a sparse problem without constraint."""

    def __init__(self, form: IsingForm, start: Signs, rng: np.random.Generator) -> None:
        self.form = form
        self.rng = rng
        self.champion = Member(start, form.energy(start, form.fields(start)))
        self.members: list[Member] = []
        self.sweeps = float(min(FIRST_SWEEPS, 100 + 10 * form.n))
        self.capacity = CAPACITY
        self.vain = 0
        self.building = True
        self.until: float | None = None  # seconds left when building the population ends; None: it has not begun
        self.pace = Pace(form.n)

    @property
    def best(self) -> Member:
        return self.champion

    def state(self) -> PopulationState:
        own = {"sweeps": self.sweeps, "vain": self.vain, "building": self.building}
        return PopulationState([self.champion, *self.members], self.rng, own)

    def restore(self, state: PopulationState) -> None:
        state.check(self.form.n)
        (self.champion, *self.members), self.rng = state.members, state.rng
        self.sweeps, self.vain = state.sweeps, int(state.details["vain"])
        self.building = bool(state.details["building"])

    def tasks(self, count: int, clock: Clock) -> list[Task]:
        self._choose_phase(count, clock)
        if self.building:
            return [self._fresh_task(clock) for _ in range(count)]
        return [
            self._cross_task(clock) if self.rng.random() < CROSSED else self._reheat_task(clock) for _ in range(count)
        ]

    def _choose_phase(self, count: int, clock: Clock) -> None:
        """Build a population, cross its members once anneals from scratch no longer lead it, build again when spent."""
        full = len(self.members) >= self.capacity
        spent = self.vain >= PATIENCE * self.capacity or (full and len({member.energy for member in self.members}) == 1)
        if not self.building and spent and self.pace.allows(self.capacity / count * self.sweeps, clock, FILL_SHARE):
            self.members, self.vain, self.building, self.until = [], 0, True, None
        if self.until is None:
            unhurried = self.pace.allows(CAPACITY * FIRST_SWEEPS, clock, FILL_SHARE)
            self.capacity = CAPACITY if unhurried else CAPACITY // 2
            self.until = (1.0 - FILL_SHARE) * clock.seconds_left
        # a problem with few good points never fills the population: that is no reason not to cross them
        hopeful = self.vain < self.capacity and self.pace.allows(self.sweeps, clock, 0.3)
        if self.building and len(self.members) >= 2 and not (hopeful and clock.seconds_left >= self.until):
            self.building, self.vain = False, 0

    def _fresh_task(self, clock: Clock) -> Task:
        """An anneal from a random point."""
        sweeps = self.pace.shortened(self.sweeps, clock, 0.2)
        self.sweeps = min(self.sweeps * LONGER, LONGEST)
        heat = HEATS[0] if self.rng.random() < 0.5 else WARM
        return partial(anneal_afresh, self.form, -1, heat, sweeps, self.rng.spawn(1)[0], clock, self.pace)

    def _reheat_task(self, clock: Clock) -> Task:
        """An anneal of a good point from a lower temperature."""
        chosen = self.members[int(self.rng.integers(len(self.members)))]
        sweeps = self.pace.shortened(LENGTHS[int(self.rng.integers(len(LENGTHS)))], clock, 0.1)
        pulls = max(1, min(MOST_PULLS, round(self.pace.QUANTUM / (sweeps * self.form.n))))
        plan = [(int(heat), sweeps) for heat in self.rng.integers(len(HEATS), size=pulls)]
        return partial(reheat, self.form, chosen.s, -1, plan, self.rng.spawn(1)[0], clock, self.pace)

    def _cross_task(self, clock: Clock) -> Task:
        """Two members to be crossed."""
        a, b = (self.members[int(k)] for k in self.rng.permutation(len(self.members))[:2])
        return partial(_anneal_difference, self.form, a.s, b.s, self.sweeps, self.rng.spawn(1)[0], clock)

    def merge(self, found: list[Member]) -> None:
        for member in found:
            self._admit_member(member)

    def _admit_member(self, member: Member) -> None:
        """It replaces the member it nearly equals, or the worst; equally good points keep the population moving."""
        leads = all(member.energy < other.energy for other in self.members)
        self.vain = 0 if leads else self.vain + 1
        if member.energy < self.champion.energy:
            self.champion = Member(member.s, member.energy)
        for k, other in enumerate(self.members):
            if self.form.distance(member.s, other.s) <= self.form.n // 100:
                if member.energy <= other.energy:
                    self.members[k] = member
                return
        if len(self.members) < self.capacity:
            self.vain = 0
        admit(self.members, member, self.capacity)


def _anneal_difference(
    form: IsingForm, one: Signs, other: Signs, sweeps: float, rng: np.random.Generator, clock: Clock
) -> Member | None:
    """Anneal only where two members differ."""
    part = within_steps(form, one != form.aligned(one, other), int(rng.integers(GROWTH)))
    if part.size == 0:
        part = np.arange(form.n)
    heat = REHEATS[int(rng.integers(len(REHEATS)))]
    share = SHARES[int(rng.integers(len(SHARES)))]
    length = int(np.clip(share * sweeps * form.n / part.size, min(100, sweeps), sweeps))
    kept, fields = one.copy(), form.fields(one)
    s, f = one.copy(), fields.copy()
    if not anneal_part(form, s, f, part, temperatures(form, heat, length), random_state(rng), clock):
        return None
    energy = form.energy(s, f)
    before = form.energy(kept, fields)
    if energy >= before:  # worse as a whole, but perhaps not in every component
        change = take_better_components(form, kept, fields, s)
        if change < 0.0:
            return Member(kept, before + change)
    return Member(s, energy)


def within_steps(form: IsingForm, inside: np.ndarray, steps: int) -> Ints:
    """The spins of a set and those at most `steps` couplings away from it."""
    for _ in range(steps):
        reached = form.indices[np.repeat(inside, np.diff(form.indptr))]
        inside = inside.copy()
        inside[reached] = True
    return np.flatnonzero(inside)
