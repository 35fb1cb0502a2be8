"""Answers beside the best ones, for a pool: jobs on an easy problem all end at the same few points.

The points of the pool are gone through, the best first. From each, a few spins are flipped that cost little, so many
that the point is as far away as answers must be; these are held, and all others descend. Under counts every flip takes
a partner of the same group along.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from flipwise.engine.limits import Status
from flipwise.engine.pool import Bools, Collector
from flipwise.engine.run import Run
from flipwise.foundation.arrays import Ints, Signs
from flipwise.model.forms import IsingForm, Numbers
from flipwise.model.problem import Problem
from flipwise.model.rows import LinearConstraints

MOST = 50
"""The most ways out of one point."""
SHARE = 0.05
"""Share of the time so far that the search for neighbours may have taken, where there is a time limit."""
LAST_SECONDS = 0.01
"""What it gets at least, at the end."""
VISITS = 3_000_000
"""Spins looked at where there is none, at least; and for each round of the search: a few milliseconds."""
VISITS_A_ROUND = 300_000


@dataclass(eq=False)
class NeighbourSearch:
    """What is known of the surroundings of the points of a pool."""

    form: IsingForm
    labels: Ints | None
    pool: Collector
    _done: set[bytes] = field(default_factory=set)
    _visits: list[int] = field(default_factory=lambda: [0])
    _seconds: float = 0.0

    @classmethod
    def of(cls, problem: Problem, population: object, pool: Collector) -> NeighbourSearch | None:
        """For the form that a population searches; None for polynomials and under rows."""
        form = getattr(population, "form", None)
        if not pool.wanted.nearby or not isinstance(form, IsingForm):
            return None
        if isinstance(problem.constraint, LinearConstraints):
            return None
        labels = np.asarray(problem.constraint.labels(problem.shape)) if problem.constraint.swaps else None
        return cls(form, labels, pool)

    def explore_in_time(self, run: Run) -> None:
        """Go on for a share of the time there was."""
        began = run.seconds
        allowed = SHARE * began - self._seconds
        if allowed > 0.0:
            self._explore_pool(lambda: run.seconds - began >= allowed or run.clock.expired)
            self._seconds += run.seconds - began

    def explore_to_the_end(self, run: Run, rounds: int) -> None:
        """Go on for a fixed amount of work, the same for the same seed; with a time limit for a last share of it."""
        if not self.pool.is_full:  # answers found before may have had to go for better ones: every point is left again
            self._done.clear()
        if run.limits.time_limit is not None:
            end = run.seconds + max(LAST_SECONDS, SHARE * run.seconds)
            if run.stopped is not Status.INTERRUPTED:
                self._explore_pool(lambda: run.seconds >= end)
            return
        most = VISITS + VISITS_A_ROUND * rounds
        self._explore_pool(lambda: self._visits[0] >= most or run.clock.expired)

    def _explore_pool(self, stop: Callable[[], bool]) -> None:
        """Walk out of every point of the pool that has not been left yet."""
        self.pool.settle()
        while not stop():
            waiting = (place for place, point in enumerate(self.pool.points) if point.tobytes() not in self._done)
            place = next(waiting, None)
            if place is None:
                return
            point, value = self.pool.points[place], self.pool.values[place]
            self._done.add(point.tobytes())
            s = np.where(point, 1, -1).astype(np.int8)
            f = self.form.fields(s)
            ways = int(min(MOST, self.form.n, self.pool.wanted.size if self.pool.is_full else MOST))
            cheap = np.argpartition(-(s * f), ways - 1)[:ways]
            for first in cheap[np.argsort(-(s * f)[cheap], kind="stable")].tolist():
                if stop():
                    return
                self._walk_out(_HeldPoint(self.form, s.copy(), f.copy(), self.labels, self._visits), first, value, stop)

    def _walk_out(self, walk: _HeldPoint, first: int, value: float, stop: Callable[[], bool]) -> None:
        """One way out of a point of this value, beginning with the flip of `first`."""
        apart = 0
        step: int | None = first
        while step is not None and apart < self.pool.wanted.distance:
            if stop():
                return
            apart += walk.move(step, hold=True)
            step = walk.cheapest()
        if not self.pool.is_full:  # far enough, if it descends to what is there already
            self.pool.offer(walk.s > 0, value + walk.change / self.form.scale)
        for _ in range(self.form.n):
            if stop() or not walk.descend():
                break
        self.pool.offer(walk.s > 0, value + walk.change / self.form.scale)


@dataclass(eq=False)
class _HeldPoint:
    """A point with its fields, which spins are held, and what the moves have cost."""

    form: IsingForm
    s: Signs
    f: Numbers
    labels: Ints | None
    visits: list[int]
    """Its only entry counts the spins looked at, in all walks."""
    change: float = 0.0
    held: Bools = field(init=False)

    def __post_init__(self) -> None:
        self.held = np.zeros(self.form.n, dtype=np.bool_)

    def move(self, i: int, *, hold: bool) -> int:
        """Flip i, and a partner under counts; returns how many spins that were."""
        self._flip_spin(i)
        self.held[i] |= hold
        if self.labels is None:
            return 1
        partner = self._cheapest_flip((self.labels == self.labels[i]) & (self.s == self.s[i]), but=i)
        if partner is None:  # a group of equal spins
            self._flip_spin(i)
            return 0
        self._flip_spin(partner)
        self.held[partner] |= hold
        return 2

    def cheapest(self) -> int | None:
        """The spin that is not held and costs least."""
        return self._cheapest_flip(np.ones(self.form.n, dtype=np.bool_))

    def descend(self) -> bool:
        """The best move, if it gains."""
        i = self.cheapest()
        if i is None:
            return False
        before = self.change
        moved = self.s.copy(), self.f.copy()
        if self.move(i, hold=False) and self.change < before - self.form.slack:
            return True
        (self.s, self.f), self.change = moved, before
        return False

    def _cheapest_flip(self, allowed: Bools, but: int = -1) -> int | None:
        """The spin whose flip costs least, among those that are allowed and free; None where there is none."""
        self.visits[0] += self.form.n
        allowed = allowed & ~self.held
        if but >= 0:
            allowed[but] = False
        if not allowed.any():
            return None
        return int(np.argmin(np.where(allowed, -2.0 * self.s * self.f, np.inf)))

    def _flip_spin(self, i: int) -> None:
        """Flip a spin and bring the fields along."""
        form, twice = self.form, 2 * int(self.s[i])
        self.change -= float(twice * self.f[i])
        if form.matrix is not None:
            self.f -= np.multiply(form.matrix[i], twice, dtype=self.f.dtype)
        else:
            row = slice(form.indptr[i], form.indptr[i + 1])
            self.f[form.indices[row]] -= np.multiply(form.data[row], twice, dtype=self.f.dtype)
        self.s[i] = -self.s[i]
        self.visits[0] += form.n
