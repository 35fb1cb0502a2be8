"""Bisection of a graph with an exact size, as a run: multilevel cuts first, then their evolution until a limit."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from flipwise.checkpoint import Keeper
from flipwise.checks import as_generator, seed_of
from flipwise.constraints import Cardinality
from flipwise.errors import InvalidInput
from flipwise.kernels.jit import threads as limited_threads
from flipwise.log import RunLog, shown_on_stderr
from flipwise.minimization import finished, resumed_state
from flipwise.objectives.ising import IsingForm, ising_form
from flipwise.objectives.protocol import to_spins
from flipwise.objectives.quadratic import Quadratic
from flipwise.problem import Problem
from flipwise.result import Result, Status
from flipwise.run import Callback, Limits, Run
from flipwise.search.bisection import BisectionPopulation, Level, bisected
from flipwise.search.portfolio import improve

ROUNDS = 30
"""Rounds when no limit is given."""


def split_graph(
    objective: Quadratic,
    ones: int,
    *,
    x0: npt.ArrayLike | None = None,
    seed: int | np.random.Generator | None = None,
    time_limit: float | None = None,
    callback: Callback | None = None,
    threads: int | None = None,
    rounds: int | None = None,
    verbose: bool = False,
    checkpoint: Keeper | None = None,
) -> Result:
    """Minimise the weight of a cut (a quadratic without linear part) with exactly `ones` nodes at +1."""
    constraint = Cardinality(ones)
    constraint.check(objective.shape)
    if rounds is not None and (isinstance(rounds, bool) or not isinstance(rounds, int | np.integer) or rounds < 1):
        raise InvalidInput(f"`rounds` must be None or an integer of at least 1, got {rounds!r}.")
    problem = Problem(objective, constraint)
    rng = as_generator(seed)
    limits = Limits(time_limit=time_limit, max_iterations=rounds)
    run = Run(problem, limits, callback, log=RunLog() if verbose else None, keeper=checkpoint)
    run.fingerprint = {"method": "bisection", "nodes": objective.n, "ones": ones}
    resumed = resumed_state(run)
    form = ising_form(objective, dense_from=math.inf)
    assert form is not None
    level = level_of(form)
    if x0 is None:
        start = bisected(level, ones, rng)
    else:
        given = to_spins("x0", x0, objective.shape, "spin")
        wrong = constraint.violation(given)
        if wrong is not None:
            raise InvalidInput(f"`x0` breaks the constraint: {wrong}.")
        start = given.astype(np.int8)
    first = start.astype(np.float64)
    run.offer(first, objective.value(first))
    ended = None if resumed is None else resumed.get("ended")
    status = run.check_time() or Status[ended or "CONVERGED"]
    with limited_threads(threads), shown_on_stderr(verbose), run.heeding_interrupts():
        if run.log is not None:
            run.log.start(problem, "bisection", seed_of(seed))
        if status is Status.CONVERGED and level.n > 2 and ended is None:
            population = BisectionPopulation(level, form, start, rng)
            try:
                status = improve(problem, population, run, math.inf if time_limit is not None or rounds else ROUNDS)
            except KeyboardInterrupt:
                status = Status.INTERRUPTED
        run.save_end(status)
        result = finished(run, status, "bisection", seed_of(seed))
        if run.log is not None:
            run.log.end(result)
    return result


def level_of(form: IsingForm) -> Level:
    """The finest level: the graph whose weights are the couplings that reward agreement."""
    weights = -form.data
    kind = np.int64 if np.issubdtype(weights.dtype, np.integer) else np.float64
    return Level(form.indptr, form.indices, weights.astype(kind), np.ones(form.n, dtype=np.int64))
