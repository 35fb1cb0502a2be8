"""The portfolio under linear rows: a population whose members keep all of them, moved by chains of flips.

Where chains that keep all rows are found easily (budgets, assignments, conflicts), every point of an anneal keeps them.
Elsewhere (equalities of many different numbers) an anneal passes through points that break rows, whose price grows
while they are broken; only points that keep all rows become members.

Objectives that are no quadratics are searched by steps against the gradient, or from a changed variable, to the nearest
point that keeps the rows.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import scipy.sparse as sp

from flipwise.engine.limits import Clock, Status
from flipwise.engine.run import Run
from flipwise.foundation.arrays import Floats, Signs
from flipwise.foundation.errors import InvalidFile
from flipwise.kernels import chains as kernels
from flipwise.model.feasibility import RowChains, fields_at, row_units
from flipwise.model.forms import IsingForm
from flipwise.model.problem import Problem
from flipwise.model.rows import LinearConstraints
from flipwise.solvers.portfolio.annealing import paced
from flipwise.solvers.portfolio.population import (
    LONGEST,
    Member,
    Pace,
    PopulationState,
    Task,
    admit,
)

HEATS = (1.0, 0.5, 0.3, 0.2, 0.1)
"""Temperatures to which members are reheated, in units of what a chain costs on average."""
COLD = 0.01
"""The last temperature, in the same units."""
LENGTHS = (50, 100, 200, 400)
FIRST_SWEEPS = 200
"""Sweeps of the first anneal from scratch; later ones are longer, ..."""
FILLING = 20.0
"""... those that are to fill the population at most so many times: few points may keep the rows."""
STEERING = 10.0
"""What a broken row costs where no such point is accepted: it chooses the next flip of a chain."""
MOVING_SHARE = 0.05
"""Share of chains that keep all rows from which on nothing else is accepted."""
USUAL = 0.75
"""Share of the anneals in the way that the probe has chosen; the rest is made in the other."""
PROBED = 2000
"""Chains by which that is found out."""
VISITS = 150
"""What a chain costs, in visits of a spin."""
CAPACITY = 8
STEPS = 1000
"""Steps to a projection at effort 1, where nothing else limits the run."""
CYCLE = 25
"""Steps in which what may be worse than before cools down; then the best point is gone on from, or another one."""
INERTIA = (0.0, 0.5, 1.0, 2.0)
"""How much a step stays where it is, beside a gradient of mean size 1."""


class RowsPopulation:
    """Members of a quadratic problem with linear rows."""

    def __init__(self, form: IsingForm, rows: LinearConstraints, start: Signs, rng: np.random.Generator) -> None:
        self.form, self.rows, self.rng = form, rows, rng
        J: Any = form.matrix
        if J is None:
            J = sp.csr_array((form.data, form.indices, form.indptr), shape=(form.n, form.n))
        J = sp.csr_array(J)
        J.sort_indices()
        self.couplings: tuple[Any, ...] = (
            J.indptr.astype(np.int64),
            J.indices.astype(np.int64),
            J.data.astype(np.float64),
        )
        self.h = form.h.astype(np.float64)
        self.units = row_units(rows)
        self.members = [Member(start, form.energy(start, form.fields(start)))]
        self.sweeps = self.first = float(np.clip(2e7 // form.n, 20, min(FIRST_SWEEPS, 20 + 2 * form.n)))
        self.longest = min(float(LONGEST), max(self.first, 2.0 ** min(form.n, 1000)))
        self.pace = Pace(VISITS * form.n)
        self._measure_chains(start)

    def _measure_chains(self, start: Signs) -> None:
        """What a chain costs, and how many keep all rows."""
        unit = 2.0 * float(np.sqrt(np.mean(np.square(fields_at(self.couplings, self.h, start))))) or 1.0
        chains = self._chains_from(start, STEERING * unit, np.random.default_rng(0))
        chains.run(np.full(max(1, PROBED // self.form.n), 1e3 * unit), kernels.HARD)
        kept, tried = chains.counts.tolist()
        self.unit = float(chains.totals[2]) / kept if kept and chains.totals[2] > 0.0 else unit
        self.moves = kept >= MOVING_SHARE * tried

    def _chains_from(self, start: Signs, weight: float, rng: np.random.Generator) -> RowChains:
        """The chains of moves from a point, with rows at this weight."""
        return RowChains(self.rows, self.couplings, self.h, start, weight / self.units, int(rng.integers(1, 2**63)))

    @property
    def way(self) -> str:
        """How rows are kept."""
        return "moves" if self.moves else "penalty"

    @property
    def best(self) -> Member:
        return min(self.members, key=lambda member: member.energy)

    def state(self) -> PopulationState:
        return PopulationState(self.members, self.rng, {"sweeps": self.sweeps})

    def restore(self, state: PopulationState) -> None:
        state.check(self.form.n)
        if not all(self.rows.contains(member.s) for member in state.members):
            raise InvalidFile("the checkpoint's population breaks the constraint.")
        self.members, self.rng = state.members, state.rng
        self.sweeps = state.sweeps

    def tasks(self, count: int, clock: Clock) -> list[Task]:
        return [self._next_task(clock) for _ in range(count)]

    def _next_task(self, clock: Clock) -> Task:
        """The next job: an anneal afresh, or a reheating of a good point."""
        start = self.best.s
        filling = len(self.members) < CAPACITY and self.sweeps < FILLING * self.first
        if filling or self.rng.random() < 0.3:
            heat, sweeps = HEATS[0] if self.rng.random() < 0.5 else HEATS[2], self.sweeps
            self.sweeps = min(1.1 * self.sweeps, self.longest)
        else:
            heat = HEATS[int(self.rng.integers(1, len(HEATS)))]
            sweeps = min(LENGTHS[int(self.rng.integers(len(LENGTHS)))], self.sweeps)
            if self.rng.random() < 0.5:
                start = self.members[int(self.rng.integers(len(self.members)))].s
        usual, other = (kernels.HARD, kernels.SOFT) if self.moves else (kernels.SOFT, kernels.HARD)
        mode = usual if self.rng.random() < USUAL else other
        fitted = self.pace.shortened(sweeps, clock, 0.25)
        return partial(self._anneal_chains, start, heat, fitted, mode, self.rng.spawn(1)[0], clock)

    def _anneal_chains(
        self, start: Signs, heat: float, sweeps: int, mode: int, rng: np.random.Generator, clock: Clock
    ) -> Member | None:
        """Anneal by chains of moves; the best point met that keeps all rows, or None."""
        chains = self._chains_from(start, (STEERING if mode == kernels.HARD else 1.0) * self.unit, rng)
        chains.totals[1] = np.inf
        schedule = np.geomspace(heat * self.unit, COLD * self.unit, sweeps)
        kernels.anneal_by_chains.expect(VISITS * sweeps * self.form.n)
        with self.pace.timing(sweeps):
            for part in paced(schedule, VISITS * self.form.n, clock):
                if part.size:
                    chains.run(part, mode)
            found = chains.found
            if found is None:
                return None
            chains.begin(found)
            chains.run(np.zeros(2), kernels.HARD)
            s = chains.found
        if s is None:
            return None
        s = s.copy()
        return Member(s, self.form.energy(s, self.form.fields(s)))

    def merge(self, found: list[Member]) -> None:
        for member in found:
            if not any(np.array_equal(member.s, other.s) for other in self.members):
                admit(self.members, member, CAPACITY)


def walk_by_projections(problem: Problem, x: Floats, rng: np.random.Generator, run: Run, effort: float) -> Status:
    """Steps to the feasible point that is nearest to a step against the gradient, or to a point with flips."""
    objective, project = problem.objective, problem.constraint.project
    limited = any(
        limit is not None for limit in (run.limits.time_limit, run.limits.max_iterations, run.limits.max_evaluations)
    )
    value = objective.value(x)
    stop = run.step(x, value)
    slopes, steps, spread = None, 0, 0.0
    while stop is None and (limited or steps < max(1, round(STEPS * effort))):
        steps += 1
        if slopes is None:
            slopes = np.asarray(objective.gradient(x), dtype=np.float64)
            slopes = slopes / (float(np.abs(slopes).mean()) or 1.0)
        inertia = INERTIA[steps % (2 * len(INERTIA))] if steps % (2 * len(INERTIA)) < len(INERTIA) else 3.0
        target = inertia * x - slopes + 0.5 * rng.standard_normal(x.shape)
        if inertia == 3.0:
            flipped = rng.integers(0, x.size, int(rng.integers(1, 3)))
            target.reshape(-1)[flipped] = -8.0 * x.reshape(-1)[flipped]
        found = project(target)
        if np.array_equal(found, x):
            stop = run.step(x, value)
            continue
        at = objective.value(found)
        stop = run.step(found, at)
        spread += (abs(at - value) - spread) / min(steps, CYCLE)
        heat = 0.5 * spread * (1.0 - (steps % CYCLE) / CYCLE)
        if at <= value or rng.random() < np.exp(-(at - value) / max(heat, 1e-300)):
            x, value, slopes = found, at, None
        if steps % CYCLE == 0 and run.best_x is not None:
            x, value, slopes = run.best_x, run.best_value, None
            if steps % (2 * CYCLE) == 0:
                x, slopes = project(rng.standard_normal(x.shape)), None
                value = objective.value(x)
                stop = stop or run.step(x, value)
    return stop or Status.EFFORT
