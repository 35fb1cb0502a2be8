"""A small population of points of a free problem, the jobs that improve them, and how results come together."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Protocol

import numpy as np

from flipwise.engine.limits import Clock
from flipwise.engine.states import check_array
from flipwise.foundation.arrays import Floats, Ints, Signs
from flipwise.foundation.errors import InvalidFile
from flipwise.kernels.compile_time import working_time
from flipwise.model.forms import IsingForm
from flipwise.solvers.portfolio.annealing import anneal, quench, random_state, temperatures
from flipwise.solvers.portfolio.moves import relinked, tabu_search, take_better_components

HEATS = (1.0, 0.8, 0.65, 0.5, 0.4, 0.3, 0.2)
"""Temperatures to which a member is reheated, in units of the form's width; an anneal from scratch begins at the first,
where a mean-field glass begins to order."""
WARM = 0.55
"""Where half of the anneals of sparse problems begin: enough on meshes and planar graphs, and a third shorter."""
LENGTHS = (50, 100, 200, 400, 800, 1600)
"""Sweeps of one reheating."""
FIRST_SWEEPS = 1000
"""Sweeps of the first anneal from scratch; later ones are longer."""
LONGEST = 100_000
"""Sweeps of the longest anneal."""
BUILDING_SHARE = 0.4
"""Share of a time limit in which the members of a large sparse problem are annealed: long anneals pay there."""
LARGE_SHARE, MEASURED, FEWEST_SWEEPS = 0.6, 4, 100
"""Of a problem so large that one member is kept: the share of a time limit for one long anneal of it, the jobs before
that, which show how long a sweep takes, and the fewest sweeps that are worth it."""
BALL_STEPS, BALL_NODES, BALLS = 10, 1000, 5
"""Such an anneal pays where from most of some spins so many others are so few steps away: in random graphs, not on
grids, whose parts short reheatings put in order one by one."""
MOST_PULLS = 64
"""The most reheatings in one job: small problems need no more."""
STALE = 4
"""Jobs without success after which a member that is not the best is replaced."""
TABU_STEPS = 10
"""Steps of tabu search after an anneal, for each spin."""


class Pace:
    """Seconds for one sweep, learnt from the jobs; a guess until the first has ended."""

    QUANTUM = 5_000_000
    """Spins that one job visits at least (about 50 ms): less would be lost to its overhead."""

    def __init__(self, n: int) -> None:
        self._seconds = (2e-8 if n <= 50_000 else 1e-7) * n  # large problems do not fit into the cache

    def shortened(self, sweeps: float, clock: Clock, share: float) -> int:
        """`sweeps`, or as many as fit into this share of the time left; unchanged without a time limit."""
        return int(max(4, min(sweeps, self._sweeps_in_share(clock, share))))

    def lengthened(self, sweeps: float, clock: Clock, share: float) -> float:
        """`sweeps`, or as many as fill this share of the time left; unchanged without a time limit."""
        fitting = self._sweeps_in_share(clock, share)
        return max(sweeps, fitting) if math.isfinite(fitting) else sweeps

    def allows(self, sweeps: float, clock: Clock, share: float) -> bool:
        """Whether so many sweeps fit into this share of the time left."""
        return sweeps <= self._sweeps_in_share(clock, share)

    def _sweeps_in_share(self, clock: Clock, share: float) -> float:
        """How many sweeps fit into this share of what is left of the time."""
        return share * clock.seconds_left / self._seconds

    @contextmanager
    def timing(self, sweeps: int) -> Iterator[None]:
        """Learn from the sweeps made inside."""
        start = working_time()
        yield
        self._seconds = 0.5 * self._seconds + 0.5 * (working_time() - start) / sweeps


@dataclass(eq=False)
class Member:
    """A point, its energy, where it came from, and how often work on it has been in vain."""

    s: Signs
    energy: float
    origin: int = -1
    stale: int = 0
    heats: list[tuple[int, bool]] = field(default_factory=list)


Task = Callable[[], Member | None]
"""A job, whose result is None when it ran out of time."""


@dataclass
class PopulationState:
    """All that later rounds of a population depend on."""

    members: list[Member]
    rng: np.random.Generator
    details: dict[str, Any]

    def check(self, n: int) -> None:
        """Refuse what is not the state of a population of points of n spins."""
        if not self.members:
            raise InvalidFile("the checkpoint's population has no member.")
        for member in self.members:
            check_array("members", member.s, (n,), signs=True)

    @property
    def sweeps(self) -> float:
        """The length of the next anneal, checked."""
        sweeps = float(self.details["sweeps"])
        if not 1 <= sweeps <= LONGEST:
            raise InvalidFile(f"the checkpoint's `sweeps` must be between 1 and {LONGEST}, found {sweeps}.")
        return sweeps

    def success(self, kinds: int) -> Floats:
        """How often each kind of job has been successful, checked."""
        success: Floats = self.details["success"]
        check_array("success", success, (kinds,))
        if not (success > 0).all():
            raise InvalidFile("the checkpoint's rates of success must be positive.")
        return success


def admit(members: list[Member], member: Member, capacity: int) -> bool:
    """Add a member where there is room, else in place of the worst if it is better; returns whether it entered."""
    if len(members) < capacity:
        members.append(member)
        return True
    worst = max(range(len(members)), key=lambda k: members[k].energy)
    if member.energy >= members[worst].energy:
        return False
    members[worst] = member
    return True


class Population(Protocol):
    """What the portfolio needs: jobs, and a way to take in their results."""

    @property
    def best(self) -> Member: ...

    def tasks(self, count: int, clock: Clock) -> list[Task]:
        """The jobs of one round."""

    def merge(self, found: list[Member]) -> None:
        """Take in the results, in the order of the jobs."""

    def state(self) -> PopulationState:
        """All that later rounds depend on, for a checkpoint."""

    def restore(self, state: PopulationState) -> None:
        """Go back to a state."""


class FreePopulation:
    """Members of a dense or a large sparse problem without constraint."""

    def __init__(self, form: IsingForm, start: Signs, rng: np.random.Generator) -> None:
        self.form = form
        self.rng = rng
        self.members = [Member(start, form.energy(start, form.fields(start)))]
        self.capacity = 10 if form.dense else int(np.clip(40_000 // form.n, 1, 8))
        self.sweeps = float(np.clip(2e8 // form.n, 50, min(FIRST_SWEEPS, 100 + 10 * form.n)))
        self.success = np.ones(len(HEATS))
        large = not form.dense and self.capacity == 1 and _balls_are_large(form)
        self.due = MEASURED if large else -1
        """Jobs until the long anneal of a large problem; -1 where it has been, or none is to be."""
        self.pace = Pace(form.n)

    @property
    def best(self) -> Member:
        return min(self.members, key=lambda member: member.energy)

    def state(self) -> PopulationState:
        details = {"sweeps": self.sweeps, "success": self.success, "due": self.due}
        return PopulationState(self.members, self.rng, details)

    def restore(self, state: PopulationState) -> None:
        state.check(self.form.n)
        self.members, self.rng = state.members, state.rng
        self.sweeps, self.success = state.sweeps, state.success(len(HEATS))
        self.due = int(state.details["due"])

    # --- jobs ------------------------------------------------------------------------------------------------------

    def tasks(self, count: int, clock: Clock) -> list[Task]:
        missing = self.capacity - len(self.members)
        if missing > 0 and self.pace.allows(self.sweeps, clock, 0.2):
            return [self._fresh_task(-1, clock) for _ in range(count)]
        if self.form.dense:
            return [self._dense_task(clock) for _ in range(count)]
        if self.due > 0:
            self.due = max(0, self.due - count)
        elif self.due == 0:
            self.due = -1
            sweeps = self.pace.lengthened(FIRST_SWEEPS, clock, LARGE_SHARE)
            if self.pace.allows(FEWEST_SWEEPS, clock, LARGE_SHARE):
                return [self._long_task(self.pace.shortened(sweeps, clock, LARGE_SHARE), clock) for _ in range(count)]
        return [self._sparse_task(place, clock) for place in range(count)]

    def _fresh_task(self, origin: int, clock: Clock) -> Task:
        """An anneal from a random point, longer each time."""
        wanted = self.sweeps
        if not self.form.dense and len(self.members) > 1:  # the first has shown how long a sweep takes
            wanted = self.pace.lengthened(wanted, clock, BUILDING_SHARE / self.capacity)
        sweeps = self.pace.shortened(wanted, clock, 0.2)
        self.sweeps = min(self.sweeps * 1.1, LONGEST)
        heat = HEATS[0] if self.form.dense or self.rng.random() < 0.5 else WARM
        return partial(anneal_afresh, self.form, origin, heat, sweeps, self.rng.spawn(1)[0], clock, self.pace)

    def _long_task(self, sweeps: int, clock: Clock) -> Task:
        """One long anneal from a random point: reheatings alone leave what only slow cooling orders."""
        length = min(sweeps, LONGEST)
        return partial(anneal_afresh, self.form, 0, HEATS[0], length, self.rng.spawn(1)[0], clock, self.pace)

    def _sparse_task(self, place: int, clock: Clock) -> Task:
        """A reheating of the best member or of another, or a fresh anneal in the place of a stale one."""
        order = sorted(range(len(self.members)), key=lambda k: self.members[k].energy)
        chosen = order[0]
        if place > 0 and len(order) > 1 and self.rng.random() < 0.6:
            chosen = order[int(self.rng.integers(1, len(order)))]
            if self.members[chosen].stale >= STALE and self.pace.allows(self.sweeps, clock, 0.3):
                return self._fresh_task(chosen, clock)
        plan = self._reheating_plan(clock)
        return partial(reheat, self.form, self.members[chosen].s, chosen, plan, self.rng.spawn(1)[0], clock, self.pace)

    def _reheating_plan(self, clock: Clock) -> list[tuple[int, int]]:
        """(heat, sweeps) of the reheatings of one job; heats that were successful lately are drawn more often."""
        wanted = LENGTHS[int(self.rng.integers(len(LENGTHS)))]
        # many short reheatings find more than one long one, but below the shortest length nothing freezes well
        sweeps = max(self.pace.shortened(wanted, clock, 0.06), self.pace.shortened(LENGTHS[0], clock, 0.25))
        pulls = max(1, min(MOST_PULLS, round(self.pace.QUANTUM / (sweeps * self.form.n))))
        odds = self.success / self.success.sum()
        return [(int(k), sweeps) for k in self.rng.choice(len(HEATS), size=pulls, p=odds)]

    def _dense_task(self, clock: Clock) -> Task:
        """A fresh anneal, a reheating, or a path between two members."""
        kind = self.rng.random()
        if kind < 0.35:
            return self._fresh_task(-1, clock)
        a, b = (int(k) for k in self.rng.permutation(len(self.members))[:2]) if len(self.members) > 1 else (0, 0)
        if kind < 0.7:
            plan = [(int(self.rng.integers(2, len(HEATS))), self.pace.shortened(self.sweeps / 2, clock, 0.2))]
            return partial(reheat, self.form, self.members[a].s, -1, plan, self.rng.spawn(1)[0], clock, self.pace)
        pair = self.members[a].s, self.members[b].s
        return partial(_relink_members, self.form, *pair, self.rng.spawn(1)[0], clock)

    # --- results ---------------------------------------------------------------------------------------------------

    def merge(self, found: list[Member]) -> None:
        for member in found:
            for heat, improved in member.heats:
                self.success[heat] = max(0.05, 0.97 * self.success[heat] + 0.2 * improved)
            if self.form.dense:
                self._replace_worst(member)
            else:
                self._combine_components(member)

    def _combine_components(self, member: Member) -> None:
        """A sparse problem: the better components of the result go to its origin and to the best member."""
        if member.origin < 0:
            self.members.append(member)
        else:
            before = self.members[member.origin]
            afresh = not member.heats
            if member.energy < before.energy or (afresh and before.stale >= STALE and before is not self.best):
                self.members[member.origin] = Member(member.s, member.energy)
            elif not afresh:
                before.stale += 1
                self._take_components(before, member)
        best = self.best
        if best is not member and member.origin != self.members.index(best):
            self._take_components(best, member)

    def _take_components(self, into: Member, other: Member) -> None:
        """Let `into` have those components of the other member that are better."""
        s = into.s.copy()
        f = self.form.fields(s)
        change = take_better_components(self.form, s, f, other.s)
        into.s = s
        if change < 0.0:
            into.energy += change
            into.stale = 0

    def _replace_worst(self, member: Member) -> None:
        """A dense problem: the result replaces the worst member, or the one it nearly equals."""
        near = self.form.n // 100
        for k, other in enumerate(self.members):
            if self.form.distance(member.s, other.s) <= near:
                if member.energy < other.energy:
                    self.members[k] = member
                return
        admit(self.members, member, self.capacity)


def _balls_are_large(form: IsingForm) -> bool:
    """Whether the couplings lead from a spin to many others in a few steps."""
    sizes = []
    for center in np.linspace(0, form.n - 1, BALLS).astype(np.int64):
        ball = newest = {int(center)}
        for _ in range(BALL_STEPS):
            rows = (form.indices[form.indptr[i] : form.indptr[i + 1]][:BALL_NODES] for i in newest)  # a hub has enough
            newest = {int(j) for row in rows for j in row} - ball
            ball = ball | newest
            if len(ball) >= BALL_NODES or not newest:
                break
        sizes.append(len(ball))
    return float(np.median(sizes)) >= BALL_NODES


def anneal_afresh(
    form: IsingForm, origin: int, heat: float, sweeps: int, rng: np.random.Generator, clock: Clock, pace: Pace
) -> Member | None:
    state = random_state(rng)
    s = (2 * rng.integers(0, 2, size=form.n) - 1).astype(np.int8)
    f = form.fields(s)
    with pace.timing(sweeps):
        if not anneal(form, s, f, temperatures(form, heat, sweeps), state, clock):
            return None
    if form.dense:
        return _polished(form, s, state, clock)
    return Member(s, form.energy(s, f), origin)


def reheat(
    form: IsingForm,
    start: Signs,
    origin: int,
    plan: list[tuple[int, int]],
    rng: np.random.Generator,
    clock: Clock,
    pace: Pace,
) -> Member | None:
    state = random_state(rng)
    s = start.copy()
    f = form.fields(s)
    energy = form.energy(s, f)
    heats: list[tuple[int, bool]] = []
    for heat, sweeps in plan:
        other, fields = s.copy(), f.copy()
        with pace.timing(sweeps):
            if not anneal(form, other, fields, temperatures(form, HEATS[heat], sweeps), state, clock):
                break
        if form.dense:
            return _polished(form, other, state, clock)
        change = take_better_components(form, s, f, other)
        energy += change
        heats.append((heat, change < 0.0))
    return Member(s, energy, origin, heats=heats) if heats else None


def _relink_members(form: IsingForm, start: Signs, goal: Signs, rng: np.random.Generator, clock: Clock) -> Member:
    """The best point on a path between two members, improved."""
    return _polished(form, relinked(form, start, goal), random_state(rng), clock)


def _polished(form: IsingForm, s: Signs, state: Ints, clock: Clock) -> Member:
    """Improve a point by a tabu walk, down to a local optimum."""
    best = tabu_search(form, s, TABU_STEPS * form.n, state, clock)
    f = form.fields(best)
    quench(form, best, f)
    return Member(best, form.energy(best, f))
