"""One run as a solver sees it: its clock, the best point so far, its checkpoint, and who hears of each iteration."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from flipwise.engine.limits import Clock, Limits, OutOfTime, Status
from flipwise.engine.pool import Collector
from flipwise.engine.resumption import Resumption
from flipwise.engine.trace import Record, Trace
from flipwise.foundation.arrays import Floats
from flipwise.foundation.interrupts import Interrupts
from flipwise.model.problem import Problem

if TYPE_CHECKING:
    from flipwise.engine.log import RunLog

S = TypeVar("S")


def relative_gap(value: float, bound: float | None) -> float | None:
    """|bound - value| / |value|: how far the answer can be from the best; None without a bound."""
    if bound is None:
        return None
    difference = abs(bound - value)
    if difference == 0.0:
        return 0.0
    return math.inf if value == 0.0 else difference / abs(value)


@dataclass
class Incumbent:
    """The best point so far, its value, and the best proven lower bound."""

    x: Floats | None = None
    value: float = math.inf
    bound: float | None = None

    def offer(self, x: Floats, value: float) -> bool:
        """Remember a point if it is the best; returns whether it is. One that is proven stays: less was rounded."""
        if self.x is not None and (not value < self.value or (self.bound is not None and self.bound >= self.value)):
            return False
        self.x, self.value = x.copy(), value
        return True

    def prove(self, x: Floats, value: float) -> None:
        """Take a point that is a minimum, whatever the rounded values of others say."""
        self.x, self.value, self.bound = x.copy(), value, value

    def raise_bound(self, bound: float) -> None:
        """Keep a proven bound if it is better than the one known."""
        self.bound = bound if self.bound is None else max(self.bound, bound)


@dataclass(frozen=True)
class Progress:
    """What a callback is given after each iteration; `x` is made only when it is asked for.

    Examples
    --------
    >>> import flipwise, numpy as np
    >>> def enough(progress):
    ...     return progress.best < -1.0  # True stops the run
    >>> flipwise.minimize(1.0 - np.eye(4), method="dpcd", callback=enough, seed=0).status.name
    'CALLBACK'
    """

    iteration: int
    value: float
    best: float
    bound: float | None
    seconds: float
    _best_point: Callable[[], np.ndarray]
    evaluations: int = 0
    since_improvement: int = 0
    """Iterations of this descent since the best point was found."""

    @property
    def gap(self) -> float | None:
        """|bound - best| / |best|; None while nothing is proven."""
        return relative_gap(self.best, self.bound)

    @property
    def x(self) -> np.ndarray:
        """A copy of the best point so far, in the user's variables."""
        return self._best_point()


Callback = Callable[[Progress], object]
"""Called after each iteration; a return value of True stops the run."""


class Run:
    """The state of one run. Solvers call `step` after each iteration; when it returns a status, they stop.

    Examples
    --------
    >>> import flipwise, numpy as np
    >>> problem = flipwise.Problem(flipwise.Quadratic(np.eye(2)), flipwise.Free())
    >>> run = flipwise.Run(problem)  # the engine makes one; by hand it is good for trying a solver
    >>> run.step(np.array([1.0, -1.0]), 2.0) is None, run.best_value
    (True, 2.0)
    """

    def __init__(
        self,
        problem: Problem,
        limits: Limits | None = None,
        *,
        callback: Callback | None = None,
        trace: Trace | None = None,
        log: RunLog | None = None,
        resumption: Resumption | None = None,
        clock: Clock | None = None,
        interrupts: Interrupts | None = None,
        unit: float = 1.0,
        pool: Collector | None = None,
    ) -> None:
        self.problem = problem
        self.unit = unit
        """What values are multiplied by before anybody hears of them: a power of two, 1 for all but extreme numbers."""
        self.limits = limits or Limits()
        self.clock = clock or Clock(self.limits.time_limit, began=self.limits.began)
        self.incumbent = Incumbent()
        self.pool = pool
        """Where several answers are collected, if they are wanted."""
        self.last: tuple[Floats, float] | None = None
        """Where the last iteration ended, and its value."""
        self.resumption = resumption
        self.info: dict[str, Any] = {}
        """What a solver has to say beside its point, for `Result.info`."""
        self.trace = trace or Trace()
        self.iterations = 0
        self.evaluations = 0
        self.stopped: Status | None = None
        self._callback = callback
        self._log = log
        self._interrupts = interrupts or Interrupts()
        self._descent_iterations = 0
        self._since_improvement = 0

    # --- what solvers read -----------------------------------------------------------------------------------------

    @property
    def seconds(self) -> float:
        """Seconds since the start."""
        return self.clock.seconds

    @property
    def seconds_left(self) -> float:
        """Seconds until the time limit (inf without one)."""
        return self.clock.seconds_left

    @property
    def best_x(self) -> Floats | None:
        """The best point so far, as spins."""
        return self.incumbent.x

    @property
    def best_value(self) -> float:
        """Its value; inf before there is a point."""
        return self.incumbent.value

    @property
    def bound(self) -> float | None:
        """The best proven lower bound."""
        return self.incumbent.bound

    @property
    def is_proven(self) -> bool:
        """Whether the bound has met the best value."""
        best = self.incumbent
        return best.bound is not None and best.value <= best.bound

    @property
    def gap_reached(self) -> bool:
        """Whether so much is proven as was asked for: the optimum, or a gap of at most `limits.gap`."""
        if self.limits.gap is None or self.is_proven:
            return self.is_proven
        gap = relative_gap(self.incumbent.value, self.incumbent.bound) if self.incumbent.x is not None else None
        return gap is not None and gap <= self.limits.gap

    @property
    def ended_by_proof(self) -> Status | None:
        """The status of a run that what is proven ends: not while answers for a pool may still be as good."""
        waits = self.limits.gap is None and self.pool is not None and not self.pool.is_settled(self.bound)
        if waits or not self.gap_reached:
            return None
        return Status.OPTIMAL if self.is_proven else Status.GAP

    # --- what solvers tell -----------------------------------------------------------------------------------------

    def offer(self, x: Floats, value: float) -> bool:
        """Remember `x` if it is the best so far, without counting an iteration."""
        if self.pool is not None:
            self.pool.watch(x, value)
        return self.incumbent.offer(x, value)

    def raise_bound(self, bound: float) -> None:
        """Keep a proven lower bound if it is better than the one known."""
        before = self.incumbent.bound
        self.incumbent.raise_bound(bound)
        if before is None or bound > before:
            self.trace.add_bound(self.clock.seconds, bound * self.unit)

    def count_evaluation(self) -> None:
        """Somebody has asked for a value or a gradient."""
        self.evaluations += 1

    def count_in_time(self) -> None:
        """The same for a function that may be slow: once there is an answer, no evaluation begins past a limit."""
        if self.incumbent.x is not None and self.check_time() is not None:
            raise OutOfTime
        self.evaluations += 1

    def step(
        self,
        x: Floats,
        value: float,
        *,
        flips: int = 0,
        alpha: float | None = None,
        state: Any = None,
    ) -> Status | None:
        """Record one iteration that ended at the feasible point `x`; a status means: stop now.

        `state` is what the solver could go on from exactly here (a dataclass, see `engine.states`), or makes it when
        it is called; None where there is nothing to go on with.
        """
        if self.pool is not None:
            self.pool.watch(x, value)
        improved = self.incumbent.offer(x, value)
        self.last = x, value
        self.iterations += 1
        self._descent_iterations += 1
        self._since_improvement = 0 if improved else self._since_improvement + 1
        best = self.incumbent
        unit = self.unit
        bound = None if best.bound is None else best.bound * unit
        record = Record(self.iterations, value * unit, best.value * unit, flips, alpha, bound, self.clock.seconds)
        self.trace.add(record)
        if self._log is not None:
            self._log.row(record)
        if self.resumption is not None and self.problem.is_users_own:
            self.resumption.probes.offer(self.iterations, x, value)
        stop = self._stop_reason(record)
        # a limit of this descent ends it: there is nothing left in it to go on with
        if state is not None and (stop is None or self.stopped is not None):
            self.keep(state)
        return stop

    def begin_descent(self) -> None:
        """A new start: the limits that count iterations of one descent begin again."""
        self._descent_iterations = 0
        self._since_improvement = 0

    def check_time(self) -> Status | None:
        """For long stretches between steps: a status when time is up or the user wants an end."""
        if self._interrupts.requested:
            self.stopped = Status.INTERRUPTED
        elif self.clock.expired:
            self.stopped = Status.TIME_LIMIT
        elif self.limits.max_evaluations is not None and self.evaluations >= self.limits.max_evaluations - 1:
            self.stopped = Status.EVALUATION_LIMIT  # one is left for the value of the answer
        return self.stopped

    def _stop_reason(self, record: Record) -> Status | None:
        """Why to stop now, if so: what the callback says, then the limits."""
        limits = self.limits
        if self._callback is not None:
            progress = Progress(
                record.iteration, record.value, record.best, record.bound, record.seconds, self._best_point,
                self.evaluations, self._since_improvement,
            )  # fmt: skip
            with self._interrupts.raised_here():
                wanted = self._callback(progress) is True
            if wanted:
                self.stopped = Status.CALLBACK
                return self.stopped
        if limits.target is not None and record.best <= limits.target:
            self.stopped = Status.TARGET
            return self.stopped
        if (proven := self.ended_by_proof) is not None:
            self.stopped = proven
            return self.stopped
        if self.check_time() is not None:
            return self.stopped
        if limits.max_iterations is not None and self._descent_iterations >= limits.max_iterations:
            return Status.ITERATION_LIMIT  # ends this descent, not the restarts that may follow
        if limits.patience is not None and self._since_improvement >= limits.patience:
            return Status.PATIENCE
        return None

    def _best_point(self) -> np.ndarray:
        assert self.incumbent.x is not None
        return self.problem.to_user(self.incumbent.x)

    def uninterrupted(self) -> AbstractContextManager[None]:
        """A block that no signal breaks off, for what must come to its end; the clock stops instead.

        A pool of threads needs it: an exception at the wrong moment leaves a lock locked, for which its threads wait.
        """
        return self._interrupts.held(self.clock.stop)

    # --- runs inside this one --------------------------------------------------------------------------------------

    def part(self, problem: Problem, limits: Limits | None = None) -> Run:
        """A run of another problem inside this one: it ends with this one, and Ctrl-C ends both."""
        limits = limits or Limits()
        clock = Clock(limits.time_limit, parent=self.clock)
        return Run(problem, limits, clock=clock, interrupts=self._interrupts)

    # --- checkpoints: nothing happens without one --------------------------------------------------------------------

    def keep(self, state: Any) -> None:
        """Offer a state to the checkpoint; it is written when it is time, or when the run ends early."""
        if self.resumption is not None:
            self.resumption.keep([state() if callable(state) else state], self._position())

    @contextmanager
    def inside(self, state: Any) -> Iterator[None]:
        """States that are kept inside the block come with this one, which belongs to the solver around them."""
        enclosing = [] if self.resumption is None else self.resumption.enclosing
        enclosing.append(state)
        try:
            yield
        finally:
            enclosing.pop()

    def resume(self, kind: type[S]) -> S | None:
        """The state of this kind that the checkpoint holds, once; None when the solver begins anew."""
        return None if self.resumption is None else self.resumption.take(kind)

    def holds(self, kind: type[Any]) -> bool:
        """Whether the checkpoint holds a state of this kind that nobody has taken."""
        return self.resumption is not None and kind.__name__ in self.resumption.waiting

    @property
    def resuming(self) -> bool:
        """Whether a state of the checkpoint still waits to be taken."""
        return self.resumption is not None and bool(self.resumption.waiting)

    def begin_restart(self, index: int, rng: np.random.Generator, status: Status) -> None:
        """A descent is about to begin: a place from which any solver can go on."""
        if self.resumption is not None:
            self.resumption.begin(index, rng, status)
            if self.incumbent.x is not None and not self.resuming:
                self.resumption.keep([], self._position())
        if self.pool is not None:
            self.pool.settle()
        if not self.resuming:
            self.begin_descent()

    def _position(self, *, since_the_start: bool = True) -> tuple[Any, ...]:
        """What `Position` holds besides the restart."""
        best = self.incumbent
        counts = self.iterations, self.evaluations, self.seconds, self._descent_iterations, self._since_improvement
        if not since_the_start:
            counts = 0, 0, self.seconds, 0, 0
        return *counts, best.x, best.value, best.bound

    def save_end(self, status: Status) -> None:
        """The search is over: what is left to go on with is written, or the end itself, for what follows the search."""
        if self.resumption is not None:
            if self.incumbent.x is not None and not status.resumable:
                self.resumption.keep([], self._position())
            elif self.incumbent.x is not None and self.resumption.lacks_state:
                self.resumption.keep([], self._position(since_the_start=False))  # its first descent begins anew
            self.resumption.end(status)

    def restore(self, state: dict[str, Any]) -> tuple[int, np.random.Generator, Status]:
        """Go back to where an earlier run stood; solvers find their part with `resume`. Returns its restart."""
        assert self.resumption is not None
        position = self.resumption.take_over(state)
        self.iterations, self.evaluations = position.iterations, position.evaluations
        self._descent_iterations = position.descent_iterations
        self._since_improvement = position.since_improvement
        self.clock.add_spent(position.seconds)
        self.incumbent = Incumbent(position.best_x, position.best_value, position.bound)
        return position.restart, position.rng, Status[position.status]
