"""Many independent points of one quadratic, each by one anneal: what samplers ask for.

The structure is looked at once: bound spins are one (`contraction`), sets with conflicts are mended and walked on
(`conflicts`), rows that are full are polished by tabu search, counts are kept (`exchange`), by swaps at the end. A read
costs about what an anneal of as many sweeps costs.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from flipwise.engine.limits import Clock
from flipwise.foundation.arrays import Floats, Signs
from flipwise.model.constraints import is_built_in
from flipwise.model.forms import IsingForm, ising_form
from flipwise.model.problem import Problem
from flipwise.model.quadratic import Quadratic
from flipwise.solvers.portfolio.annealing import anneal, quench, random_state, temperatures
from flipwise.solvers.portfolio.conflicts import STEPS_A_NODE, PackingWalk, conflict_graph
from flipwise.solvers.portfolio.contraction import contraction_of
from flipwise.solvers.portfolio.exchange import GroupSums, Swaps, anneal_counted, restore_counts
from flipwise.solvers.portfolio.moves import tabu_search
from flipwise.solvers.portfolio.population import HEATS, TABU_STEPS, WARM, Pace

SWEEPS = 3000
"""Sweeps of a read at effort 1."""
UNHURRIED = 10
"""A whole search is worth its while where the time allows as many reads as this."""


class Reads:
    """Points of one problem, each from a start and a generator of its own."""

    def __init__(self, problem: Problem, form: IsingForm, effort: float) -> None:
        self.problem = problem
        self.form = form
        self.sweeps = max(2, round(SWEEPS * effort))
        self.graph = self.contraction = None
        if not problem.constraint.swaps:
            self.graph = conflict_graph(form)
            self.contraction = None if self.graph else contraction_of(form)
        self.inner = self.contraction.form if self.contraction else form
        self.swaps = Swaps(problem)
        self.pace = Pace(max(1, self.inner.n))

    @classmethod
    def of(cls, problem: Problem, effort: float) -> Reads | None:
        """Reads of a quadratic whose matrix can be written down, under a constraint of ours; else None."""
        if not isinstance(problem.objective, Quadratic) or not is_built_in(problem.constraint):
            return None
        form = ising_form(problem.objective)
        return None if form is None else cls(problem, form, effort)

    def are_hurried(self, clock: Clock, count: int) -> bool:
        """Whether the time left for `count` reads is too short for more than an anneal each."""
        return not self.pace.allows(UNHURRIED * count * self.sweeps, clock, 1.0)

    def read(self, start: Floats, rng: np.random.Generator, clock: Clock) -> Signs:
        """A point: the better of an anneal and of the descent from `start`, a feasible point of spins."""
        s = np.where(start.reshape(-1) > 0, 1, -1).astype(np.int8)
        if self.problem.constraint.swaps:
            return self._better_of_both(s, self._anneal_counted, rng, clock)
        if self.contraction is None:
            return self._better_of_both(s, self._anneal_free, rng, clock)
        point = self._better_of_both(self.contraction.restrict(s), self._anneal_free, rng, clock)
        if self.inner.width == 0.0:  # decided; of a point and its mirror image either is as good
            point = np.where(self.inner.h > 0, -1, np.where(self.inner.h < 0, 1, point)).astype(np.int8)
        return self.contraction.expand(point)

    def _better_of_both(
        self,
        start: Signs,
        annealed: Callable[[Signs, np.random.Generator, Clock], Signs | None],
        rng: np.random.Generator,
        clock: Clock,
    ) -> Signs:
        """The better of the start, improved, and of what an anneal from it finds."""
        form, f = self.inner, self.inner.fields(start)
        if self.problem.constraint.swaps:
            restore_counts(form, GroupSums.of(self._group_labels, start), start, f)
        else:
            quench(form, start, f)
        if form.width == 0.0:
            return start
        with self.pace.timing(self.sweeps):
            found = annealed(start, rng, clock)
        if found is None or form.energy(found, form.fields(found)) > form.energy(start, f):
            return start
        return found

    @property
    def _group_labels(self) -> np.ndarray:
        """The group of each spin."""
        return np.asarray(self.problem.constraint.labels(self.problem.shape))

    def _anneal_free(self, start: Signs, rng: np.random.Generator, clock: Clock) -> Signs | None:
        """Anneal without counts, then improve; None where time was too short."""
        form, state, s = self.inner, random_state(rng), start.copy()
        f = form.fields(s)
        heat = HEATS[0] if form.dense else WARM
        if not anneal(form, s, f, temperatures(form, heat, self.sweeps), state, clock):
            return None
        if self.graph is not None:
            walk = PackingWalk(self.graph, self.graph.without_conflicts(s), rng, "pack")
            walk(max(1, STEPS_A_NODE * self.graph.n * self.sweeps // SWEEPS))
            return self.graph.spins(walk.best, form.n)
        if form.dense:
            s = tabu_search(form, s, TABU_STEPS * form.n, state, clock)
            quench(form, s, form.fields(s))
        return s

    def _anneal_counted(self, start: Signs, rng: np.random.Generator, clock: Clock) -> Signs | None:
        """Anneal with the counts kept, then improve by swaps; None where time was too short."""
        form, s = self.inner, start.copy()
        counts = GroupSums.of(self._group_labels, start)
        schedule = temperatures(form, HEATS[0], self.sweeps)
        if not anneal_counted(form, counts, s, form.fields(s), schedule, random_state(rng), clock):
            return None
        return self.swaps(s, rng, clock)
