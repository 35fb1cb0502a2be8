"""`flipwise.minimize`: from what the user has to a `Result`, and all methods by name."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from flipwise.bounds.choice import Bound, proof_of, proof_of_small
from flipwise.densest.methods import DENSEST
from flipwise.engine.limits import Limits
from flipwise.engine.pool import Wanted, wanted_answers
from flipwise.engine.result import Result
from flipwise.engine.run import Callback
from flipwise.engine.solve import Proof, solve
from flipwise.engine.solver import Solver
from flipwise.foundation.errors import InvalidInput
from flipwise.foundation.numbers import labelled_matrix
from flipwise.model.constraints import Constraint
from flipwise.model.counts import Count
from flipwise.model.objective import Objective
from flipwise.model.problem import Problem, as_problem
from flipwise.model.quadratic import Quadratic
from flipwise.model.reduction import Fixed
from flipwise.model.rows import LinearConstraints, Rows
from flipwise.model.smooth import Smooth
from flipwise.solvers.optima import Optima
from flipwise.solvers.portfolio.algorithm import Portfolio, portfolio_or_other
from flipwise.solvers.registry import GENERAL, Method, as_solver

METHODS: dict[str, Method] = {**GENERAL, **DENSEST}
"""Every method of the library by its name."""

DEFAULT_EFFORT = 0.1
"""The effort of the portfolio where neither a method nor a limit is given: three rounds."""
DEFAULT_ENTRIES = 1_000_000
"""The most entries of a quadratic for which that effort is spent unasked."""
SMALL_ENTRIES = 40_000
"""Up to so many, DPCD with its walks answers before a compiler could be loaded."""

SHARED = (
    *(
        "max_iterations",
        "target",
        "patience",
        "gap",
        "max_evaluations",
        "restarts",
        "bound",
        "pool",
        "distance",
        "start",
        "seed",
        "gradient",
        "fixed",
        "include",
        "exclude",
    ),
    *("time_limit", "callback", "threads", "verbose", "trace_file", "checkpoint", "every"),
)
"""Keywords that every method takes, for the error that lists what there is."""


def methods() -> tuple[Method, ...]:
    """All methods with what each supports.

    Examples
    --------
    >>> import flipwise
    >>> [method.name for method in flipwise.methods()][:2]
    ['dpcd', 'portfolio']
    """
    return tuple(METHODS.values())


def minimize(
    objective: Any,
    n_or_shape: int | tuple[int, ...] | None = None,
    *,
    gradient: Callable[..., Any] | None = None,
    count: Count = None,
    constraint: Constraint | None = None,
    rows: Rows = None,
    fixed: Fixed | None = None,
    include: Iterable[Any] | None = None,
    exclude: Iterable[Any] | None = None,
    method: str | Solver = "auto",
    bound: Bound | None = None,
    pool: int | Literal["optima"] | None = None,
    distance: int = 1,
    start: npt.ArrayLike | None = None,
    restarts: int = 1,
    seed: int | np.random.Generator | None = None,
    time_limit: float | None = None,
    max_iterations: int | None = None,
    target: float | None = None,
    patience: int | None = None,
    gap: float | None = None,
    max_evaluations: int | None = None,
    callback: Callback | None = None,
    threads: int | None = None,
    verbose: bool = False,
    trace_file: str | Path | None = None,
    checkpoint: str | Path | None = None,
    every: float = 60.0,
    **options: Any,
) -> Result:
    """Minimise a function of binary variables.

    Parameters
    ----------
    objective
        A `Quadratic`, `Polynomial`, `Smooth`, `from_torch(...)`, `from_jax(...)` or your own objective; a square matrix
        A (for x'Ax); a dictionary {(i, j, ...): coefficient} of products of spins; or a callable that returns
        `(value, gradient)`.
    n_or_shape
        Number of variables or shape of x; only needed with a bare callable, where no `start` says it.
    gradient
        The gradient of a bare callable that returns its value alone. Its variables are spins, as for all callables:
        `flipwise.Smooth(function, n, variables="binary")` is for functions of 0/1.
    count
        Exactly so many variables are 1; short for `constraint=flipwise.Cardinality(count)`. A pair (5, 10) is a range;
        `flipwise.at_most(10)` and `flipwise.at_least(5)` are its one-sided forms. Beside counts in groups or columns it
        is their total.
    constraint
        `Free()` (the default), `Cardinality(...)`, `ColumnCounts(...)`, `GroupCounts(...)` or your own; of the first
        three exact numbers of ones, or ranges.
    rows
        Linear inequalities and equalities, also beside counts: `flipwise.LinearConstraints(A, lower, upper)`, the tuple
        (A, lower, upper), or a list of ({variable: coefficient}, "<=", number), with "<=", ">=" or "==".
    fixed
        Variables that have one value in every point, by index: {3: 1, 7: 0} (in spins 1 and -1); (i, j) in a matrix; by
        name where `objective` is a table of pandas.
    include, exclude
        Lists of variables that are 1, and that are 0 (in spins -1), in every point; short for `fixed`.
    method
        "auto" (the default): the first answer by DPCD, then whatever improves it (the method "portfolio") until
        `time_limit`; without one, for three rounds on quadratics of 40,000 to a million entries, for 1,000 evaluations
        on functions that only have a value and a gradient. Options of DPCD, `restarts`, `max_iterations` and `patience`
        speak of descents and choose "dpcd" alone. Or a name that `flipwise.methods()` lists; or a solver such as
        `flipwise.DPCD(alpha=2.0)`, also one of your own with `solve(problem, x, rng, run)`.
    bound
        A lower bound to prove for a quadratic or a polynomial, as in `flipwise.solve_qubo`. When left out, a problem
        that is small enough to be enumerated in a blink is, unless a method or descents are spoken of.
    pool, distance
        So many answers in `result.pool`: distinct good points, each differing from all better ones in `distance`
        variables at least; where f(x) = f(-x), a point and its negation are one answer. There are fewer where the
        search has passed fewer. `pool="optima"`: all optima of a problem small enough to be enumerated.
    start
        A feasible start, in the objective's own variables.
    restarts
        Descents: from `start` (or a random point) and from `restarts - 1` further random points.
    seed
        None, an integer, or a generator. The same integer gives the same answer on any number of threads.
    time_limit
        Seconds; the best point so far is returned when they are over.
    max_iterations, patience
        The most iterations of one descent, and the most without an improvement.
    target
        Stop at a value of at most this.
    gap
        Stop, in the search or in the proof, when the answer is proven to be within this share of the best possible:
        0.01 is 1 %. Without `bound`, what "auto" proves; the bound comes before the search.
    max_evaluations
        Stop after so many values and gradients: never one more of a function of your own, of quadratics and polynomials
        at the next look. Of all limits the first that is reached ends the run.
    callback
        Called after each iteration with a `Progress`; return True to stop. It can join conditions with `and`:
        `lambda now: now.seconds > 5 and now.since_improvement > 3`.
    threads
        The most threads the compiled kernels may use.
    verbose
        Log the run to standard error.
    trace_file
        A path: every iteration is written there as a line of JSON.
    checkpoint, every
        A path: the run is saved there every so many seconds and goes on from there when the file exists; the file is
        deleted when the run has come to its end.
    **options
        Options of a method that is given by its name, such as `literal` or `alpha` of DPCD.

    Returns
    -------
    Result
        The best point found. Ctrl-C also returns it.

    Examples
    --------
    >>> import numpy as np, flipwise
    >>> A = np.array([[0.0, 1.0, -2.0], [1.0, 0.0, 1.0], [-2.0, 1.0, 0.0]])
    >>> flipwise.minimize(A, seed=0).value
    -8.0
    """
    limits = Limits(time_limit, max_iterations, target, patience, gap, max_evaluations)
    objective, labels = labelled_matrix("objective", objective)
    objective = _with_gradient(objective, n_or_shape, gradient, start)
    problem = as_problem(objective, n_or_shape, constraint, count, fixed, rows, labels, include, exclude)
    wanted = wanted_answers(pool, distance)
    chosen = _default_solver(problem, options, limits, restarts, wanted) if method == "auto" else method
    if pool == "optima":
        chosen = Optima.named(problem, method, "auto")
    solver = as_solver(chosen, problem, options, METHODS, also=SHARED)
    result = solve(
        problem,
        solver,
        limits=limits,
        start=start,
        restarts=restarts,
        seed=seed,
        callback=callback,
        threads=threads,
        verbose=verbose,
        trace_file=trace_file,
        checkpoint=checkpoint,
        every=every,
        pool=wanted,
        bound=_proof_wanted(problem, bound, limits, descends=method != "auto" or bool(options) or restarts > 1),
    )
    if labels is not None:
        result.info["labels"] = list(labels)
    return result


def _with_gradient(objective: Any, shape: Any, gradient: Any, start: Any) -> Any:
    """A bare callable as an objective, with the gradient that is given apart, of as many variables as `start` has."""
    if isinstance(objective, Objective) or not callable(objective):
        if gradient is not None:
            raise InvalidInput(
                "`gradient` is for a function that returns its value alone, as in minimize(function, n, gradient=...); "
                f"{type(objective).__name__} has its own."
            )
        return objective
    shape = np.shape(start) if shape is None and start is not None else shape
    return objective if shape is None else Smooth(objective, shape, gradient=gradient)


def solver_of(
    method: str | Solver, effort: float, problem: Problem, options: Mapping[str, Any], wanted: Wanted | None
) -> Solver:
    """The solver of the functions whose default is the portfolio; where all optima are wanted, what lists them."""
    if wanted is not None and wanted.size == math.inf:
        return Optima.named(problem, method, "portfolio")
    return portfolio_or_other(method, effort, problem, options, METHODS)


def _proof_wanted(problem: Problem, bound: Bound | None, limits: Limits, *, descends: bool) -> Proof | None:
    """How a bound is proven; who speaks of descents wants to see these, and gets no proof unasked."""
    bound = limits.bound_to_prove(bound)
    if bound is None:
        descends = descends or limits.max_iterations is not None or limits.patience is not None
        return None if descends else proof_of_small(problem)
    return None if bound == "none" else proof_of(problem, bound, limits.time_limit)


def _default_solver(
    problem: Problem, options: Mapping[str, Any], limits: Limits, restarts: int, wanted: Wanted | None
) -> Solver | str:
    """The method for those who name none: what improves on DPCD, unless the other arguments speak of its descents."""
    if options:
        return "portfolio" if "effort" in options else "dpcd"
    if restarts > 1 or limits.max_iterations is not None or limits.patience is not None:
        return "dpcd"
    objective = problem.objective
    if isinstance(problem.constraint, LinearConstraints):
        return Portfolio(DEFAULT_EFFORT) if limits.time_limit is None else "portfolio"
    if isinstance(objective, Quadratic) and limits.time_limit is None:
        fits = (SMALL_ENTRIES if wanted is None else 0) < objective.entries <= DEFAULT_ENTRIES
        return Portfolio(DEFAULT_EFFORT) if fits else "dpcd"
    return "portfolio"
