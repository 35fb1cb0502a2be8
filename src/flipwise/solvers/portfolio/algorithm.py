"""Search past one descent, the moves chosen by the structure of the problem.

DPCD gives the first answer. Then rounds follow until a limit: in each, a few independent jobs improve members of a
small population, and their results are merged in a fixed order.

    sparse   anneals from scratch; reheating a member and keeping, component by component, what became better;
             up to 2,500 variables also what two members differ in, annealed anew (`search.crossing`)
    dense    anneals from scratch and reheating, polished by tabu search; path relinking between members
    counts   the same with exact numbers of ones (`search.exchange`)
    others   DPCD again from perturbed points (`search.restarts`), where no matrix can be written down

A job's random numbers depend on the seed, the round and its place in the round only. With a limit in iterations a round
has `JOBS` jobs whatever the number of threads, so one seed gives one answer; with a time limit alone it has one for
each thread.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from flipwise.engine.checkpoint import taking_over
from flipwise.engine.result import Status
from flipwise.engine.run import Run
from flipwise.foundation.arrays import Floats
from flipwise.foundation.checks import check_wholes
from flipwise.kernels.jit import thread_count
from flipwise.model.forms import ising_form
from flipwise.model.problem import Problem
from flipwise.model.quadratic import Quadratic
from flipwise.solvers.dpcd import Options as DescentOptions
from flipwise.solvers.dpcd import solve as descend
from flipwise.solvers.portfolio.clock import Clock
from flipwise.solvers.portfolio.crossing import LARGEST, CrossedPopulation
from flipwise.solvers.portfolio.exchange import CountedPopulation
from flipwise.solvers.portfolio.population import FreePopulation, Member, Population
from flipwise.solvers.portfolio.restarts import descend_from_perturbed

JOBS = 4
"""Jobs in a round when iterations are counted."""


@dataclass(frozen=True)
class Options:
    """Options of the portfolio.

    Parameters
    ----------
    rounds
        Rounds without any other limit; with `time_limit` or `max_iterations` those decide.
    """

    rounds: int = 30

    def __post_init__(self) -> None:
        check_wholes(self, "rounds")


def solve(problem: Problem, x: Floats, rng: np.random.Generator, run: Run, options: Options) -> Status:
    """Improve on the descent from `x` until a limit."""
    counted = problem.constraint.swaps
    if run.round is None:
        descend(problem, x, rng, run, DescentOptions())
        if run.stopped is not None:
            return run.stopped
        run.begin_descent()
    form = ising_form(problem.objective) if isinstance(problem.objective, Quadratic) else None
    if form is None:
        return descend_from_perturbed(problem, x, rng, run, rounds_of(run, options))
    assert run.best_x is not None
    start = np.where(run.best_x.reshape(-1) > 0, 1, -1).astype(np.int8)
    if form.width == 0.0 and not counted:
        return Status.OPTIMAL  # no couplings: the descent has set every spin by itself
    population: Population
    if counted:
        population = CountedPopulation(form, start, problem.constraint.labels(problem.shape), rng)
    elif form.dense or form.n > LARGEST:
        population = FreePopulation(form, start, rng)
    else:
        population = CrossedPopulation(form, start, rng)
    return improve(problem, population, run, rounds_of(run, options))


def rounds_of(run: Run, options: Options) -> float:
    """How many rounds may follow when nothing else limits the run."""
    limited = run.limits.time_limit is not None or run.limits.max_iterations is not None
    return math.inf if limited else options.rounds


def improve(problem: Problem, population: Population, run: Run, rounds: float) -> Status:
    """Rounds of jobs until a limit; `run` is told the best member after each."""
    threads = thread_count()
    jobs = threads if run.limits.time_limit is not None and run.limits.max_iterations is None else JOBS
    clock = Clock(run.seconds_left)
    assert run.best_x is not None
    best_x, best_value = run.best_x, run.best_value
    lowest = population.best.energy
    kept = run.take_kept("members")
    if kept is not None:
        with taking_over():
            population.restore(kept)
            lowest = float(kept["lowest"])
    done = run.round or 0
    with ThreadPoolExecutor(max_workers=threads) as pool:
        try:
            while done < rounds:
                done += 1
                run.round = done
                tasks = population.tasks(jobs, clock)
                found = list(pool.map(_call, tasks)) if threads > 1 else [task() for task in tasks]
                population.merge([member for member in found if member is not None])
                if population.best.energy < lowest:
                    lowest = population.best.energy
                    best_x = population.best.s.astype(np.float64).reshape(problem.shape)
                    best_value = problem.objective.value(best_x)
                stop = run.step(best_x, best_value, keep=partial(_state, population, lowest))
                if stop is not None:
                    return stop
        except BaseException:  # Ctrl-C among them: the jobs end at their next look at the clock
            clock.stop()
            raise
    return Status.ITERATION_LIMIT


def _state(population: Population, lowest: float) -> dict[str, Any]:
    return {**population.state(), "lowest": lowest}


def _call(task: Callable[[], Member | None]) -> Member | None:
    return task()
