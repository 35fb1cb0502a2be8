"""`flipwise.minimize`: from what the user has to a `Result`. Wiring only; the work is elsewhere."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt

from flipwise.engine.checkpoint import Keeper, same_problem
from flipwise.engine.log import RunLog, shown_on_stderr
from flipwise.engine.result import Result, Status, Trace
from flipwise.engine.run import Callback, Limits, Run
from flipwise.foundation.arrays import Floats
from flipwise.foundation.checks import as_generator, check_whole, seed_of
from flipwise.foundation.errors import InvalidFile, InvalidInput
from flipwise.kernels.jit import threads as limited_threads
from flipwise.model.constraints import Constraint
from flipwise.model.objective import from_spins, to_spins
from flipwise.model.problem import Problem, as_problem
from flipwise.solvers.portfolio.restarts import descend_from_starts
from flipwise.solvers.registry import find_method, make_options

_SHARED = ("max_iterations", "target", "patience", "restarts", "trace", "checkpoint", "every")
"""Options that every method takes."""


def minimize(
    objective: Any,
    n_or_shape: int | tuple[int, ...] | None = None,
    *,
    constraint: Constraint | None = None,
    method: str = "dpcd",
    x0: npt.ArrayLike | None = None,
    seed: int | np.random.Generator | None = None,
    time_limit: float | None = None,
    callback: Callback | None = None,
    threads: int | None = None,
    verbose: bool = False,
    **options: Any,
) -> Result:
    """Minimise a function of binary variables.

    Parameters
    ----------
    objective
        A `Quadratic`, `Smooth`, `from_torch(...)`, `from_jax(...)` or your own objective; a square matrix A (for x'Ax);
        or a callable that returns `(value, gradient)`.
    n_or_shape
        Number of variables or shape of x; only needed with a bare callable.
    constraint
        `Free()` (the default), `Cardinality(r)`, `ColumnCounts(...)` or `GroupCounts(...)`.
    method
        "dpcd" or another name that `flipwise.methods()` lists.
    x0
        A feasible start, in the objective's own variables.
    seed
        None, an integer, or a generator. The same integer gives the same answer on any number of threads.
    time_limit
        Seconds; the best point so far is returned when they are over.
    callback
        Called after each iteration with a `Progress`; return True to stop.
    threads
        The most threads the compiled kernels may use.
    verbose
        Log the run to standard error.
    **options
        For every method: `max_iterations`, `target`, `patience`, `restarts`, `trace` (a path for a JSON-lines file),
        `checkpoint` (a path: the run is saved there `every` so many seconds, 60 by default, and goes on from there
        when the file exists; the file is deleted when the run has come to its end).
        Others belong to the method, such as `literal` or `alpha` of DPCD.

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
    chosen = find_method(method)
    problem = as_problem(objective, n_or_shape, constraint)
    chosen.check(problem)
    solve, options_class = chosen.load()
    shared = {name: options.pop(name) for name in _SHARED if name in options}
    method_options = make_options(options_class, options, also=_SHARED)
    restarts = shared.pop("restarts", 1)
    check_whole("restarts", restarts, 1)
    trace_path = shared.pop("trace", None)
    checkpoint, every = shared.pop("checkpoint", None), shared.pop("every", 60.0)
    limits = Limits(time_limit=time_limit, **shared)
    if callback is not None and not callable(callback):
        raise InvalidInput(f"`callback` must be callable, got {type(callback).__name__}.")
    rng = as_generator(seed)
    start = None if x0 is None else _checked_start(problem, x0)

    lent = isinstance(checkpoint, Keeper)  # by a caller whose work goes on after the search
    keeper = checkpoint if checkpoint is None or lent else Keeper(checkpoint, every)
    run = Run(problem, limits, callback, Trace(), RunLog() if verbose else None, keeper)
    run.fingerprint = _fingerprint(problem, method, method_options, restarts)
    status, resumed = Status.INTERRUPTED, None
    with limited_threads(threads), shown_on_stderr(verbose), run.heeding_interrupts():
        if run.log is not None:
            run.log.start(problem, method, seed_of(seed))
        if trace_path is not None:
            run.trace.open(trace_path)
        try:
            resumed = resumed_state(run)
            if resumed is not None and "ended" in resumed:
                status = Status[resumed["ended"]]
            else:
                status = descend_from_starts(problem, start, rng, run, solve, method_options, restarts, resumed)
        except KeyboardInterrupt:
            if run.best_x is None:
                raise
        finally:
            run.trace.close()
            if keeper is not None:
                keeper.ended = not status.resumable
                if lent:
                    run.save_end(status)
                else:
                    keeper.close(remove=keeper.ended)
        result = finished(run, status, method, seed_of(seed))
        if keeper is not None:
            result.info.update(resumed=resumed is not None, checkpoint_error=keeper.error)
        if run.log is not None:
            run.log.end(result)
    return result


def finished(run: Run, status: Status, method: str, seed: int | None) -> Result:
    """The result of a run, its value recomputed from scratch."""
    assert run.best_x is not None
    value = run.problem.objective.value(run.best_x)
    if not math.isfinite(value):
        raise InvalidInput(f"the objective is {value} at the best point; its numbers are too large for float64.")
    return Result(
        x=from_spins(run.best_x, run.problem.variables),
        value=value,
        status=status,
        method=method,
        variables=run.problem.variables,
        bound=run.bound,
        iterations=run.iterations,
        evaluations=run.evaluations,
        seconds=run.seconds,
        seed=seed,
        trace=run.trace,
    )


def _fingerprint(problem: Problem, method: str, options: Any, restarts: int) -> dict[str, Any]:
    """What must be the same for a checkpoint to be continued. The objective is checked by its value."""
    return {
        "shape": list(problem.shape),
        "constraint": type(problem.constraint).__name__,
        "method": method,
        "options": repr(options),
        "restarts": int(restarts),
    }


def resumed_state(run: Run) -> dict[str, Any] | None:
    """The state of an earlier run in the checkpoint file, put back into `run`; None when there is no file."""
    state = None if run.keeper is None else run.keeper.load()
    if run.keeper is None or state is None:
        return None
    wrong = same_problem(state, run.fingerprint)
    if wrong is None:
        try:
            run.restore(state)
            assert run.best_x is not None
            value = run.problem.objective.value(run.best_x)
        except (KeyError, TypeError, ValueError, AssertionError):
            raise InvalidFile(f"{run.keeper.path}: the checkpoint lacks a part of the state.") from None
        broken = run.problem.constraint.violation(run.best_x)
        if broken is not None:
            wrong = f"its best point does not fit the constraint: {broken}"
        elif not math.isclose(value, run.best_value, rel_tol=1e-6, abs_tol=1e-9):
            wrong = f"its best point has the value {run.best_value!r} there and {value!r} here"
    if wrong is not None:
        raise InvalidInput(
            f"`checkpoint`: {run.keeper.path} belongs to another run: {wrong}. Delete it or choose another file."
        )
    return state


def _checked_start(problem: Problem, x0: npt.ArrayLike) -> Floats:
    start = to_spins("x0", x0, problem.shape, problem.variables)
    wrong = problem.constraint.violation(start)
    if wrong is not None:
        raise InvalidInput(f"`x0` breaks the constraint: {wrong}. Use constraint.project(x0) for the nearest point.")
    return start
