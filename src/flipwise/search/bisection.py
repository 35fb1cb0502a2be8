"""A population of bisections with exact sizes: multilevel cuts, their combinations, and annealing along the cut."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from flipwise.arrays import Signs
from flipwise.container import State
from flipwise.errors import InvalidFile
from flipwise.objectives.ising import IsingForm
from flipwise.search.annealing import random_state, temperatures
from flipwise.search.clock import Clock, Pace
from flipwise.search.exchange import Counts, anneal_counted
from flipwise.search.multilevel import Level, bisected, cut_weight, refined
from flipwise.search.population import Member, Task, admit, kept_members, members_state

FEWEST, MOST = 4, 12
"""Members of the population: fewer for large graphs, where each costs a second."""
IDLE = 40
"""Results in a row that do not enter, after which all members but the best give way to new ones."""
HEATS = (0.5, 0.35, 0.25, 0.18, 0.12)
"""Temperatures of the annealing; a good cut melts when heated further."""
LENGTHS = (50, 200, 800)
"""Sweeps of one annealing."""
KINDS = ("new", "combined", "again", "annealed")
"""From scratch, from two parents, from one parent through new levels, by annealing a member."""


class BisectionPopulation:
    """Members are cuts of a graph with `goal` nodes at +1; their energy is the weight of the cut."""

    def __init__(self, level: Level, form: IsingForm, start: Signs, rng: np.random.Generator) -> None:
        self.level = level
        self.form = form
        self.rng = rng
        self.goal = int(np.count_nonzero(start > 0))
        self.counts = Counts.of(np.zeros(level.n, dtype=np.int64), start)
        self.champion = Member(start, cut_weight(level, start))
        self.members: list[Member] = []
        self.capacity = int(np.clip(600_000 // level.n, FEWEST, MOST))
        self.idle = 0
        self.success = dict.fromkeys(KINDS, 1.0)
        self.pace = Pace(level.n)

    @property
    def best(self) -> Member:
        return self.champion

    def state(self) -> dict[str, Any]:
        own = {"success": self.success, "idle": self.idle}
        return members_state([self.champion, *self.members], self.rng) | own

    def restore(self, state: State) -> None:
        (self.champion, *self.members), self.rng = kept_members(state, self.level.n)
        if any(np.count_nonzero(each.s > 0) != self.goal for each in (self.champion, *self.members)):
            raise InvalidFile("the checkpoint's population breaks the constraint.")
        self.success = {kind: max(0.1, float(state["success"][kind])) for kind in KINDS}
        self.idle = int(state["idle"])

    def tasks(self, count: int, clock: Clock) -> list[Task]:
        return [self._task(clock) for _ in range(count)]

    def _task(self, clock: Clock) -> Task:
        kind = "new"
        if len(self.members) >= self.capacity:
            odds = np.array([self.success[name] for name in KINDS])
            kind = KINDS[int(self.rng.choice(len(KINDS), p=odds / odds.sum()))]
        own = self.rng.spawn(1)[0]
        if kind == "new":
            return partial(self._multilevel, kind, (), own)
        a, b = (self.members[int(k)] for k in self.rng.permutation(len(self.members))[:2])
        if kind == "combined":
            better, other = (a, b) if a.energy <= b.energy else (b, a)
            return partial(self._multilevel, kind, (better.s, other.s), own)
        if kind == "again":
            return partial(self._multilevel, kind, (a.s,), own)
        heat = HEATS[int(self.rng.integers(len(HEATS)))]
        sweeps = self.pace.shortened(LENGTHS[int(self.rng.integers(len(LENGTHS)))], clock, 0.2)
        return partial(self._annealed, a.s, heat, sweeps, own, clock)

    def merge(self, found: list[Member | None]) -> None:
        for member in found:
            if member is None:
                continue
            entered = self._admit(member)
            kind = KINDS[member.origin]
            self.success[kind] = max(0.1, 0.95 * self.success[kind] + 0.1 * entered)
            self.idle = 0 if entered else self.idle + 1
            if member.energy < self.champion.energy:
                self.champion = member
        if self.idle >= IDLE:
            self.members = [self.champion]
            self.idle = 0

    def _admit(self, member: Member) -> bool:
        """Into the population unless it is there already or worse than all."""
        for other in self.members:
            apart = int(np.count_nonzero(member.s != other.s))
            if other.energy == member.energy and min(apart, self.level.n - apart) == 0:
                return False
        return admit(self.members, member, self.capacity)

    def _multilevel(self, kind: str, parents: tuple[Signs, ...], rng: np.random.Generator) -> Member:
        s = bisected(self.level, self.goal, rng, parents)
        if not parents:  # a second time through new levels: the first such repetition gains the most
            s = bisected(self.level, self.goal, rng, (s,))
        return Member(s, cut_weight(self.level, s), KINDS.index(kind))

    def _annealed(
        self, start: Signs, heat: float, sweeps: int, rng: np.random.Generator, clock: Clock
    ) -> Member | None:
        s = start.copy()
        f = self.form.fields(s)
        with self.pace.timing(sweeps):
            schedule = temperatures(self.form, heat, sweeps)
            if not anneal_counted(self.form, self.counts, s, f, schedule, random_state(rng), clock):
                return None
        s = refined(self.level, s, self.goal, rng)
        return Member(s, cut_weight(self.level, s), KINDS.index("annealed"))
