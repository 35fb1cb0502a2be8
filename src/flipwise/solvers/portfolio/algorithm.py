"""Search past one descent, the moves chosen by the structure of the problem.

DPCD gives the first answer. Then rounds follow until a limit: in each, a few independent jobs improve members of a
small population, and their results are merged in a fixed order.

    sparse   anneals from scratch; reheating a member and keeping, component by component, what became better;
             up to 2,500 variables also what two members differ in, annealed anew (`portfolio.crossing`)
    dense    anneals from scratch and reheating, polished by tabu search; path relinking between members
    conflict independent sets and the like, recognised by their penalties: walks that cross them (`portfolio.conflicts`)
    bound    spins that follow others in some optimum are one first (`portfolio.contraction`)
    rows     all points where they are few; else chains of flips that keep linear rows, or pass through points that
             break them (`portfolio.chains`)
    counts   the same with exact numbers of ones (`portfolio.exchange`)
    degree 3 and more, or any `Polynomial`: anneals, reheating and tabu walks on its terms (`portfolio.polynomials`)
    functions that only have a value and a gradient: first-order schemes that share the run (`dpcd.schemes`)
    others   DPCD again from perturbed points, where no matrix can be written down or the constraint is not ours

A job's random numbers depend on the seed, the round and its place in the round only. With a limit in iterations a round
has `JOBS` jobs whatever the number of threads, so one seed gives one answer; with a time limit alone it has one for
each thread.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from flipwise.bounds.rows import is_listed, least_with_rows
from flipwise.engine.limits import Status
from flipwise.engine.run import Run
from flipwise.engine.solver import Solver
from flipwise.foundation.arrays import Floats, Signs
from flipwise.foundation.checks import check_numbers
from flipwise.foundation.errors import InvalidInput
from flipwise.kernels.jit import thread_count
from flipwise.model.constraints import is_built_in
from flipwise.model.forms import IsingForm, ising_form
from flipwise.model.objective import SupportsFlips
from flipwise.model.polynomial import Polynomial
from flipwise.model.problem import Problem
from flipwise.model.quadratic import Quadratic
from flipwise.model.rows import LinearConstraints
from flipwise.model.terms import Sparse
from flipwise.solvers.dpcd.algorithm import DPCD
from flipwise.solvers.dpcd.schemes import improve_by_schemes
from flipwise.solvers.portfolio.chains import RowsPopulation, walk_by_projections
from flipwise.solvers.portfolio.conflicts import ConflictPopulation, conflict_graph
from flipwise.solvers.portfolio.contraction import ContractedPopulation, DecidedPopulation, contraction_of
from flipwise.solvers.portfolio.crossing import LARGEST, CrossedPopulation
from flipwise.solvers.portfolio.exchange import CountedPopulation
from flipwise.solvers.portfolio.neighbours import NeighbourSearch
from flipwise.solvers.portfolio.polynomials import PolynomialPopulation
from flipwise.solvers.portfolio.population import FreePopulation, Member, Population, PopulationState, Task
from flipwise.solvers.registry import Method, as_solver

JOBS = 4
"""Jobs in a round when iterations are counted."""
FIRST_ROUND = 3e-8
"""About the seconds that the form for the search and one round take for each entry of a large sparse matrix: they are
not begun where less time is left."""
ROUNDS = 30
"""Rounds at effort 1 when nothing else limits the run."""
STALE_ROUNDS, STALE_SHARE = 10, 1 / 3
"""Rounds without a better point that end the run, and as a share of all rounds; at least as many as it took to find it:
later rounds are longer, so that it has then searched many times as long for a better one in vain."""
PERTURBED_SHARES = (0.3, 0.1, 0.03, 0.01)
"""Share of the variables whose order of preference is disturbed before another descent, in turn."""
_DESCENT = DPCD(neighbourhood=0)
"""The first answer, at once: what a walk would add, the rounds that follow find faster."""
_WALK = DPCD()
"""The first answer under counts, where a walk by swaps is soon better than an anneal."""


@dataclass(frozen=True)
class Portfolio:
    """The method "portfolio": annealing, tabu search and recombination.

    Parameters
    ----------
    effort
        How long to search without any other limit: 30 rounds at 1, fewer where ten in a row, and as many as it took
        to find the best point, have found none that is better; on functions that have only a value and a gradient
        1,000 evaluations. With `time_limit` or `max_iterations` those decide.

    Examples
    --------
    >>> import flipwise, numpy as np
    >>> flipwise.minimize(1.0 - np.eye(6), method=flipwise.Portfolio(effort=0.1), seed=0).value
    -6.0
    """

    name: ClassVar[str] = "portfolio"
    effort: float = 1.0

    def __post_init__(self) -> None:
        check_numbers(self, "effort", least=0.0)

    def solve(self, problem: Problem, x: Floats, rng: np.random.Generator, run: Run) -> Status:
        """Improve on the descent from `x` until a limit."""
        if isinstance(problem.constraint, LinearConstraints):
            return _improve_under_rows(problem, problem.constraint, x, rng, run, self.effort)
        if not isinstance(problem.objective, SupportsFlips):
            return improve_by_schemes(problem, x, rng, run, self.effort)
        if not run.holds(Rounds) and not run.holds(Perturbed):
            (_WALK if problem.constraint.swaps else _DESCENT).solve(problem, x, rng, run)
            if run.stopped is not None:
                return run.stopped
            run.begin_descent()
        rounds = rounds_for(run, self.effort)
        A = problem.objective.matrix if isinstance(problem.objective, Quadratic) else None
        if isinstance(A, Sparse) and run.seconds_left < FIRST_ROUND * A.A.nnz:
            return run.check_time() or Status.TIME_LIMIT
        if isinstance(problem.objective, Polynomial) and is_built_in(problem.constraint):
            return improve(problem, _polynomial_population(problem, problem.objective, rng, run), run, rounds)
        form = None
        if isinstance(problem.objective, Quadratic) and is_built_in(problem.constraint):
            form = ising_form(problem.objective)
        if form is None:
            return descend_from_perturbed(problem, x, rng, run, rounds)
        if form.width == 0.0 and not problem.constraint.swaps:
            if isinstance(problem.objective, Quadratic) and problem.objective.grain:
                run.raise_bound(run.best_value)
            return Status.CONVERGED  # no couplings: the descent has set every spin by itself
        return improve(problem, _fitting_population(problem, form, rng, run), run, rounds)


def _improve_under_rows(
    problem: Problem, rows: LinearConstraints, x: Floats, rng: np.random.Generator, run: Run, effort: float
) -> Status:
    """The same under linear rows, from a point that keeps them."""
    if run.pool is None and not problem.is_users_own and is_listed(problem):
        return _look_at_all_points(problem, x, run)
    form = ising_form(problem.objective) if isinstance(problem.objective, Quadratic) else None
    if form is None:
        run.info["rows"] = "projections"
        return walk_by_projections(problem, x, rng, run, effort)
    if run.best_x is None:
        run.offer(x, problem.objective.value(x))
    assert run.best_x is not None
    start = np.where(run.best_x.reshape(-1) > 0, 1, -1).astype(np.int8)
    population = RowsPopulation(form, rows, start, rng)
    run.info["rows"] = population.way
    return improve(problem, population, run, rounds_for(run, effort))


def _look_at_all_points(problem: Problem, x: Floats, run: Run) -> Status:
    """The best point of a problem whose points are few; `x` is the answer where time runs out before."""
    run.offer(x, problem.objective.value(x))
    run.info["rows"] = "enumeration"
    found = least_with_rows(problem, lambda: run.check_time() is not None)
    if found is None:
        return run.stopped or Status.TIME_LIMIT
    if found:
        x = found[0].astype(np.float64).reshape(problem.shape)
    return run.step(x, problem.objective.value(x)) or Status.CONVERGED


def portfolio_or_other(
    method: str | Solver, effort: float, problem: Problem, options: Mapping[str, Any], methods: Mapping[str, Method]
) -> Solver:
    """The portfolio, unless another method was named, which knows no effort."""
    if method == "portfolio" and not options:
        return Portfolio(effort)
    if effort != 1.0:
        raise InvalidInput(f'`effort` is for method="portfolio" only, got {effort!r} with {method!r}.')
    return as_solver(method, problem, options, methods)


@dataclass
class Rounds:
    """Where the portfolio stands between two rounds: how many are over, and in which the lowest was found."""

    done: int
    found_in: int
    lowest: float
    population: PopulationState


@dataclass
class Perturbed:
    """How many descents from perturbed points are over."""

    done: int


def rounds_for(run: Run, effort: float) -> float:
    """How many rounds may follow when nothing else limits the run."""
    limited = run.limits.time_limit is not None or run.limits.max_iterations is not None
    return math.inf if limited else max(1, round(ROUNDS * effort))


def _fitting_population(problem: Problem, form: IsingForm, rng: np.random.Generator, run: Run) -> Population:
    """The population that fits the structure of the problem, beginning with the best point so far."""
    assert run.best_x is not None
    start = np.where(run.best_x.reshape(-1) > 0, 1, -1).astype(np.int8)
    if problem.constraint.swaps:
        return CountedPopulation(form, problem, start, rng)
    graph = conflict_graph(form)
    if graph is not None:
        return ConflictPopulation(form, graph, start, _annealing_population(form, start, rng), rng)
    contraction = contraction_of(form)
    if contraction is None or (run.pool is not None and contraction.form.width == 0.0):  # one point is not enough
        return _annealing_population(form, start, rng)
    inner = _annealing_population(contraction.form, contraction.restrict(start), rng)
    return ContractedPopulation(form, contraction, inner)


def _annealing_population(form: IsingForm, start: Signs, rng: np.random.Generator) -> Population:
    if form.width == 0.0:
        return DecidedPopulation(form, rng)
    return FreePopulation(form, start, rng) if form.dense or form.n > LARGEST else CrossedPopulation(form, start, rng)


def _polynomial_population(problem: Problem, objective: Polynomial, rng: np.random.Generator, run: Run) -> Population:
    """The population of a polynomial, beginning with the best point so far."""
    assert run.best_x is not None
    start = np.where(run.best_x.reshape(-1) > 0, 1, -1).astype(np.int8)
    labels = problem.constraint.labels(problem.shape) if problem.constraint.swaps else None
    return PolynomialPopulation(objective, labels, start, rng)


def improve(problem: Problem, population: Population, run: Run, rounds: float) -> Status:
    """Rounds of jobs until a limit; `run` is told the best member after each."""
    threads = thread_count()
    jobs = threads if run.limits.time_limit is not None and run.limits.max_iterations is None else JOBS
    assert run.best_x is not None
    best_x, best_value = run.best_x, run.best_value
    lowest, done, found_in, stop, finished = math.inf, 0, 0, None, False
    patience = max(STALE_ROUNDS, STALE_SHARE * rounds)
    before = run.resume(Rounds)
    if before is not None:
        population.restore(before.population)
        lowest, done, found_in = before.lowest, before.done, before.found_in
    neighbours = None if run.pool is None else NeighbourSearch.of(problem, population, run.pool)
    with run.uninterrupted(), ThreadPoolExecutor(max_workers=threads) as pool:
        try:
            while done < rounds and done < max(found_in + patience, 2 * found_in):
                done += 1
                tasks = population.tasks(jobs, run.clock)
                finished = not tasks  # nothing is left to search for
                found = list(pool.map(_do_task, tasks)) if threads > 1 else [task() for task in tasks]
                _offer_to_pool(problem, population, found, run, neighbours)
                population.merge([member for member in found if member is not None])
                if population.best.energy < lowest:
                    lowest, found_in = population.best.energy, done
                    best_x = population.best.s.astype(np.float64).reshape(problem.shape)
                    best_value = problem.objective.value(best_x)
                now = Rounds(done, found_in, lowest, population.state()) if run.resumption else None
                stop = run.step(best_x, best_value, state=now)
                if stop is not None or finished:
                    break
        except BaseException:  # of the callback: the jobs end at their next look at the clock
            run.clock.stop()
            raise
    if neighbours is not None:
        neighbours.explore_to_the_end(run, done)
        _take_best_of_pool(problem, run)
    return stop or (Status.CONVERGED if finished else Status.EFFORT)


def _take_best_of_pool(problem: Problem, run: Run) -> None:
    """What was found beside the best points may be better than these: then it is the answer."""
    assert run.pool is not None
    if run.pool.values and run.pool.values[0] < run.best_value:
        x = np.where(run.pool.points[0], 1.0, -1.0).reshape(problem.shape)
        if problem.constraint.violation(x) is None:
            run.offer(x, problem.objective.value(x))


def _offer_to_pool(
    problem: Problem,
    population: Population,
    found: Sequence[Member | None],
    run: Run,
    neighbours: NeighbourSearch | None,
) -> None:
    """Offer what the jobs of a round have found to the pool, if there is one."""
    if run.pool is None:
        return
    expand = population.contraction.expand if isinstance(population, ContractedPopulation) else np.asarray
    for member in found:
        if member is not None:
            s = expand(member.s)
            run.pool.offer(s > 0, problem.objective.value(s.astype(np.float64).reshape(problem.shape)))
    if neighbours is not None and run.limits.time_limit is not None:
        neighbours.explore_in_time(run)


def descend_from_perturbed(problem: Problem, x: Floats, rng: np.random.Generator, run: Run, rounds: float) -> Status:
    """Repeat: disturb the best point, make it feasible, descend. For objectives that have no matrix to work on."""
    before = run.resume(Perturbed)
    done = 0 if before is None else before.done
    while done < rounds:
        assert run.best_x is not None
        if not run.resuming:  # a descent that a checkpoint holds goes on from there
            share = PERTURBED_SHARES[done % len(PERTURBED_SHARES)]
            disturbed = run.best_x + 4.0 * rng.standard_normal(problem.shape) * (rng.random(problem.shape) < share)
            x = problem.constraint.project(disturbed)
        with run.inside(Perturbed(done)):
            status = _DESCENT.solve(problem, x, rng, run)
        if run.stopped is not None or status is Status.ITERATION_LIMIT:
            return run.stopped or status
        done += 1
    return Status.EFFORT


def _do_task(task: Task) -> Member | None:
    """Do one job of a round, for `map`."""
    return task()
