"""The one life of a run: start, search with restarts, proof, check, result.

Every function of the library that searches is a short wiring into `solve`. It alone handles clocks, Ctrl-C, threads,
checkpoints, logs and proofs, so what is true of one function is true of all.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from flipwise.engine.certificate import Certificate
from flipwise.engine.checkpoint import Checkpoint, open_checkpoint
from flipwise.engine.fingerprint import data_hash, problem_data
from flipwise.engine.limits import Limits, OutOfTime, Status
from flipwise.engine.pool import Wanted
from flipwise.engine.result import Result
from flipwise.engine.resumption import Resumption
from flipwise.engine.run import Callback, Run
from flipwise.engine.solver import Solver
from flipwise.engine.trace import Trace
from flipwise.foundation.arrays import Floats
from flipwise.foundation.blas import one_blas_thread
from flipwise.foundation.checks import as_generator, check_whole, seed_of
from flipwise.foundation.errors import InfeasibleAnswer, InvalidInput
from flipwise.foundation.interrupts import Interrupts, guarded_interrupts
from flipwise.kernels.jit import threads as limited_threads
from flipwise.model.problem import Problem, summary

if TYPE_CHECKING:
    from flipwise.engine.log import RunLog

SEARCH_SHARE = 0.8
"""Share of the time limit that the search gets when a costly bound is wanted too."""
SMALL_ALGEBRA = 2000
"""Variables up to which the linear algebra of a run gains nothing from threads, and on a busy machine loses much."""


@dataclass(frozen=True)
class Proof:
    """How a lower bound is proven after the search, and whether that needs a share of the time limit.

    `begin` is called before the search, for what is proven in a blink: a run whose bound is met ends at its next step.
    `close` is called after `prove`, where its bound is not met, until it is or time is up; both tell the run.
    `search_share` is asked after `begin`. `report` says what was done, for `Result.info`; `certify` gives the proof of
    the result's bound as an object, where it has one.
    """

    prove: Callable[[], float | None]
    costly: bool = False
    begin: Callable[[Run], None] | None = None
    close: Callable[[Run], None] | None = None
    report: Callable[[], dict[str, Any]] | None = None
    certify: Callable[[Result], Certificate | None] | None = None
    search_share: Callable[[], float] = lambda: SEARCH_SHARE


def solve(
    problem: Problem,
    solver: Solver,
    *,
    limits: Limits | None = None,
    start: npt.ArrayLike | None = None,
    restarts: int = 1,
    seed: int | np.random.Generator | None = None,
    callback: Callback | None = None,
    threads: int | None = None,
    verbose: bool = False,
    trace_file: str | Path | None = None,
    checkpoint: str | Path | Checkpoint | None = None,
    every: float = 60.0,
    part: str = "run",
    data: Any = None,
    bound: Proof | None = None,
    pool: Wanted | None = None,
) -> Result:
    """Run a solver on a problem, from `start` (or a random point) and `restarts - 1` further random points.

    `part` names this run in a checkpoint that several runs share; `data` is what the problem was made from, where that
    is not to be found in its objective; `pool` says how many answers are wanted. Returns the best point; Ctrl-C returns
    it too, and is a `KeyboardInterrupt` only before there is one; SIGTERM and SIGHUP do the same. Whoever turns the
    result into one of its own kind does so inside `guarded_interrupts`, so that no signal can lose it there either.
    """
    limits = limits or Limits()
    check_whole("restarts", restarts, 1)
    if callback is not None and not callable(callback):
        raise InvalidInput(f"`callback` must be callable, got {type(callback).__name__}.")
    rng = as_generator(seed)
    first = None if start is None else problem.start(start)
    name = getattr(solver, "name", type(solver).__name__)
    with ExitStack() as stack:
        interrupts = stack.enter_context(guarded_interrupts())
        opened = None if checkpoint is None else stack.enter_context(open_checkpoint(checkpoint, every))
        _limit_threads(stack, problem, threads)
        trace = Trace()
        log = _shown_log(stack, problem, name, seed_of(seed)) if verbose else None
        if trace_file is not None:
            stack.enter_context(trace.written_to(trace_file))
        resumption = None
        if opened is not None:
            held = problem_data(problem) if data is None else data
            resumption = Resumption(opened, part, _fingerprint(problem, solver, name, restarts, held, opened))
        searched, unit = problem.on_safe_scale()
        run = Run(
            searched, limits, callback=callback, trace=trace, log=log, resumption=resumption, interrupts=interrupts,
            unit=unit, pool=None if pool is None else pool.collector(searched),
        )  # fmt: skip
        resumed = None if resumption is None else resumption.earlier(searched)
        if bound is not None:
            _begin_proof(run, bound, limits)
        status = _search(run, solver, first, rng, restarts, resumed, interrupts, bound)
        run.save_end(status)
        proven_at = run.seconds
        run.clock.set_limit(limits.time_limit)
        if bound is not None and status is not Status.INTERRUPTED:
            status = _prove(run, bound, status, interrupts, opened, part)
        result = _result_of(run, problem, status, name, seed_of(seed))
        if bound is not None:
            _report_proof(bound, result)
        if opened is not None:
            result.info.update(resumed=resumed is not None, checkpoint_error=opened.error)
        if log is not None:
            log.end(result, None if bound is None else run.seconds - proven_at)
        return result


def _limit_threads(stack: ExitStack, problem: Problem, threads: int | None) -> None:
    """Hold to the number of threads until the stack is closed."""
    if threads is not None:  # a limit that the caller has set around this call stays
        stack.enter_context(limited_threads(threads))
    if problem.n <= SMALL_ALGEBRA and not problem.is_users_own:
        stack.enter_context(one_blas_thread())


def _shown_log(stack: ExitStack, problem: Problem, method: str, seed: int | None) -> RunLog:
    """The log of a run, shown until the stack is closed."""
    from flipwise.engine.log import RunLog, shown_on_stderr

    stack.enter_context(shown_on_stderr())
    return RunLog(problem, method, seed)


def _begin_proof(run: Run, bound: Proof, limits: Limits) -> None:
    """Prove what takes a blink, unless there is a target (who has one wants no more), and limit the search."""
    if bound.begin is not None and limits.target is None:
        bound.begin(run)
    if bound.costly and limits.time_limit is not None:
        run.clock.set_limit(bound.search_share() * limits.time_limit)


def _search(
    run: Run,
    solver: Solver,
    first: Floats | None,
    rng: np.random.Generator,
    restarts: int,
    resumed: dict[str, Any] | None,
    interrupts: Interrupts,
    proof: Proof | None,
) -> Status:
    """Run the solver from each start in turn and say why it ended; there is an answer when this returns.

    Every descent has a generator of its own, so that none depends on how long others took. With a gap to
    be reached, the `proof` comes before them.
    """
    problem = run.problem.counting(run.count_in_time if run.problem.is_users_own else run.count_evaluation)
    status, begin = Status.CONVERGED, 0
    if resumed is not None:
        begin, rng, status = run.restore(resumed)
        if "ended" in resumed:
            return Status[resumed["ended"]]
    begins_itself = restarts == 1 and getattr(solver, "begins_itself", False)
    try:
        with interrupts.raised_here():
            _prove_ahead(run, proof)
            for index in range(begin, restarts):
                run.begin_restart(index, rng, status)
                own = rng if begins_itself else rng.spawn(1)[0]
                x = first.copy() if index == 0 and first is not None else None
                if x is None and not begins_itself:
                    x = problem.constraint.random(problem.shape, own)
                before = run.best_value
                ended = solver.solve(problem, x, own, run)  # type: ignore[arg-type]  # None where a solver says so
                if run.stopped is not None:
                    return run.stopped
                if index == 0 or run.best_value < before:
                    status = ended
    except KeyboardInterrupt:
        run.clock.stop()
        if run.best_x is None:
            raise
        return Status.INTERRUPTED
    except OutOfTime:
        return run.stopped or Status.TIME_LIMIT
    return status


def _prove(
    run: Run, bound: Proof, status: Status, interrupts: Interrupts, checkpoint: Checkpoint | None, part: str
) -> Status:
    """Prove a bound; the point is optimal when it meets it. A checkpoint whose proof was interrupted stays."""
    if run.gap_reached:
        return status
    try:
        with interrupts.raised_here():
            if run.limits.gap is None or run.bound is None:
                _raise_bound(run, bound)
            if bound.close is not None and not run.gap_reached:
                bound.close(run)
    except KeyboardInterrupt:
        if checkpoint is not None:
            checkpoint.reopen(part)
        return Status.INTERRUPTED
    return status


def _prove_ahead(run: Run, proof: Proof | None) -> None:
    """Where a gap is to be reached, the bound comes first: the search knows when it is good enough."""
    if proof is not None and run.limits.gap is not None and run.bound is None:
        _raise_bound(run, proof)


def _raise_bound(run: Run, proof: Proof) -> None:
    """Prove a bound and tell the run."""
    found = proof.prove()
    if found is not None:
        run.raise_bound(found / run.unit)


def _report_proof(bound: Proof, result: Result) -> None:
    """Let the result hold what the proof did, and the proof itself as an object."""
    if bound.report is not None:
        result.info.update(bound.report())
    if bound.certify is not None and result.bound is not None:
        result.certificate = bound.certify(result)


def _result_of(run: Run, problem: Problem, status: Status, method: str, seed: int | None) -> Result:
    """The result of a run: its value recomputed from scratch, its point checked."""
    if run.best_x is None:
        raise InvalidInput(f'method="{method}" ended without a point: it must call `run.offer` or `run.step`.')
    broken = problem.violation(run.best_x)
    if broken is not None:
        raise InfeasibleAnswer(
            f"the answer of {method} breaks the constraint {type(problem.given.constraint).__name__}: {broken}. "
            "A constraint of your own must keep its rule in `random`, `project` and `pair` "
            "(flipwise.testing.check_constraint tests it), and the method must keep to it."
        )
    counted = problem.counting(run.count_evaluation) if problem.is_users_own else problem
    value = counted.value(run.best_x)
    if not math.isfinite(value):
        raise InvalidInput(f"the objective is {value} at the best point; its numbers are too large for float64.")
    rounding = 0.0 if problem.reduction is None else problem.reduction.rounding
    bound = None if run.bound is None else min(run.bound * run.unit - rounding, value)
    if bound == value and status is not Status.INTERRUPTED:
        status = Status.OPTIMAL
    elif run.gap_reached and status is not Status.INTERRUPTED:
        status = Status.GAP
    elif status is Status.OPTIMAL:  # a method says so, but what it has proven is off in the last digit
        status = Status.CONVERGED
    info: dict[str, Any] = {"problem": summary(problem), "compile_seconds": run.clock.compile_seconds, **run.info}
    if run.last is not None and run.last[1] != run.best_value:
        info.update(last_x=problem.to_user(run.last[0]), last_value=run.last[1] * run.unit)
    return Result(
        x=problem.to_user(run.best_x),
        value=value,
        status=status,
        method=method,
        variables=problem.variables,
        bound=bound,
        iterations=run.iterations,
        evaluations=run.evaluations,
        seconds=run.seconds,
        seed=seed,
        trace=run.trace,
        info=info,
        pool=None if run.pool is None else run.pool.finished(counted, run.best_x, value),
    )


def _fingerprint(
    problem: Problem, solver: Solver, name: str, restarts: int, data: Any, checkpoint: Checkpoint
) -> dict[str, Any]:
    """What must be the same for a checkpoint to be continued; of the data, a hash."""
    return {
        "shape": list(problem.shape),
        "constraint": type(problem.constraint).__name__,
        "method": name,
        "options": repr(solver),
        "restarts": int(restarts),
        "data": data_hash(data, checkpoint.memo),
    }
