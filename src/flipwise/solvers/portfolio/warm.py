"""The portfolio from points that are known: good answers to a problem whose numbers have changed a little.

The points descend and are the population. In sparse problems one long anneal from a temperature at which the best point
is not forgotten mends what the change has spoilt; jobs begin with low temperatures and go higher where that pays.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

from flipwise.engine.limits import Clock, Status
from flipwise.engine.run import Run
from flipwise.foundation.arrays import Floats, Signs
from flipwise.foundation.checks import check_numbers
from flipwise.kernels.compile_time import working_time
from flipwise.model.forms import IsingForm, ising_form
from flipwise.model.problem import Problem
from flipwise.model.quadratic import Quadratic
from flipwise.solvers.portfolio.algorithm import Portfolio, improve, rounds_for
from flipwise.solvers.portfolio.annealing import anneal, quench, random_state, temperatures
from flipwise.solvers.portfolio.crossing import LARGEST, CrossedPopulation
from flipwise.solvers.portfolio.exchange import CountedPopulation, restore_counts
from flipwise.solvers.portfolio.moves import take_better_components
from flipwise.solvers.portfolio.population import LONGEST, FreePopulation, Member, Population

HEATS = (0.3, 0.8)
"""Between these the first anneal of sparse problems begins (in widths of the form): the hotter the longer it is."""
COOL_SWEEPS = 75
"""Up to so many sweeps the least heat is best; the heat grows with their square root."""
MENDING = 0.85
"""Its share of a time limit."""
PROBE = 8
"""Sweeps by which its pace is measured: so short a time leaves none for a guess that is too careful."""
SWEEPS = 10_000
"""Its sweeps at effort 1, where there is none."""
READINESS = (0.05, 0.05, 0.1, 0.3, 1.0, 1.0, 1.0)
"""How often each temperature is drawn at first, for the heats of `population`."""


@dataclass(frozen=True)
class WarmPortfolio:
    """The portfolio, whose population begins with `points`, spins that are feasible, the best first."""

    name: ClassVar[str] = "portfolio"
    begins_itself: ClassVar[bool] = True
    effort: float = 1.0
    points: tuple[Signs, ...] = field(default=(), repr=False, compare=False)

    def __post_init__(self) -> None:
        check_numbers(self, "effort", least=0.0)

    def solve(self, problem: Problem, x: Floats | None, rng: np.random.Generator, run: Run) -> Status:
        """Improve the points until a limit; without any, or without couplings, the usual portfolio."""
        form = ising_form(problem.objective) if isinstance(problem.objective, Quadratic) else None
        if form is None or form.width == 0.0 or not self.points:
            start = problem.constraint.random(problem.shape, rng) if x is None else x
            return Portfolio(self.effort).solve(problem, start, rng, run)
        population = self._full_population(problem, form, rng)
        if not problem.constraint.swaps and not form.dense:
            self._anneal_best(form, population, rng, run)
        best = population.best.s.astype(np.float64).reshape(problem.shape)
        stop = run.step(best, problem.objective.value(best))
        return stop or improve(problem, population, run, rounds_for(run, self.effort))

    def _anneal_best(self, form: IsingForm, population: Population, rng: np.random.Generator, run: Run) -> None:
        """One long anneal of the best point from a temperature at which it is not forgotten."""
        clock = Clock(MENDING * run.seconds_left if math.isfinite(run.seconds_left) else None, parent=run.clock)
        state = random_state(rng)
        before = population.best
        s = before.s.copy()
        f = form.fields(s)
        sweeps = SWEEPS * self.effort
        if clock.seconds_left < math.inf:
            began = working_time()
            if not anneal(form, s, f, temperatures(form, HEATS[0], PROBE), state, clock):
                return
            sweeps = min(LONGEST, PROBE * clock.seconds_left / max(1e-9, working_time() - began))
            s = before.s.copy()
            f = form.fields(s)
        schedule = temperatures(form, mending_heat(sweeps), max(4, int(sweeps)))
        if anneal(form, s, f, schedule, state, clock):
            kept, fields = before.s.copy(), form.fields(before.s)
            take_better_components(form, kept, fields, s)
            population.merge([Member(kept, form.energy(kept, fields), 0, heats=[(4, True)])])

    def _full_population(self, problem: Problem, form: IsingForm, rng: np.random.Generator) -> Population:
        """The population of the structure at hand, full of the points."""
        first = self.points[0].reshape(-1).copy()
        if problem.constraint.swaps:
            counted = CountedPopulation(form, problem, first, rng)
            counted.members = []
            for point in self.points:
                s = point.reshape(-1).copy()
                f = form.fields(s)
                restore_counts(form, counted.counts, s, f)
                counted.members.append(Member(s, form.energy(s, f)))
            counted.capacity = max(2, len(counted.members))
            return counted
        members = []
        for point in self.points:
            s = point.reshape(-1).copy()
            f = form.fields(s)
            quench(form, s, f)
            members.append(Member(s, form.energy(s, f)))
        if not form.dense and form.n <= LARGEST and len(members) > 1:
            crossed = CrossedPopulation(form, min(members, key=lambda member: member.energy).s, rng)
            crossed.members, crossed.building = members, False
            return crossed
        free = FreePopulation(form, first, rng)
        if form.dense:  # where every spin feels every change, anneals from scratch are soon as good: room for them
            free.members = [min(members, key=lambda member: member.energy)]
        else:
            free.members = members
            free.capacity, free.success = len(members), np.array(READINESS)
        return free


def mending_heat(sweeps: float) -> float:
    """Where an anneal of so many sweeps begins: what is hotter, and does not cool slowly, only melts the point."""
    least, most = HEATS
    return min(most, least * math.sqrt(max(1.0, sweeps / COOL_SWEEPS)))
