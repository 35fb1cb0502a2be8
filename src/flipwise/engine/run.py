"""One run: what it may spend, the best point it has seen, who is told, and when it must stop."""

from __future__ import annotations

import math
import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from types import FrameType
from typing import Any

import numpy as np

from flipwise.engine.checkpoint import Keeper, generator_state
from flipwise.engine.log import RunLog
from flipwise.engine.result import Record, Status, Trace
from flipwise.foundation.arrays import Floats
from flipwise.foundation.checks import check_whole, is_number
from flipwise.foundation.container import State
from flipwise.foundation.errors import InvalidInput
from flipwise.model.objective import from_spins
from flipwise.model.problem import Problem


@dataclass(frozen=True)
class Limits:
    """What a run may spend; None means no limit of that kind.

    `max_iterations` and `patience` count iterations of one descent, `time_limit` (seconds) and `target` hold for the
    whole run.
    """

    time_limit: float | None = None
    max_iterations: int | None = None
    target: float | None = None
    patience: int | None = None

    def __post_init__(self) -> None:
        if self.time_limit is not None and not (is_number(self.time_limit) and self.time_limit >= 0):
            raise InvalidInput(f"`time_limit` must be None or seconds of at least 0, got {self.time_limit!r}.")
        if self.target is not None and not is_number(self.target):
            raise InvalidInput(f"`target` must be None or a finite number, got {self.target!r}.")
        for name in ("max_iterations", "patience"):
            check_whole(name, getattr(self, name), 1, optional=True)


@dataclass(frozen=True)
class Progress:
    """What a callback is given after each iteration; `x` is made only when it is asked for.

    Examples
    --------
    >>> import flipwise, numpy as np
    >>> def enough(progress):
    ...     return progress.best < -1.0  # True stops the run
    >>> flipwise.minimize(1.0 - np.eye(4), callback=enough, seed=0).status.name
    'CALLBACK'
    """

    iteration: int
    value: float
    best: float
    bound: float | None
    seconds: float
    _run: Run

    @property
    def x(self) -> np.ndarray:
        """A copy of the best point so far, in the user's variables."""
        assert self._run.best_x is not None
        return from_spins(self._run.best_x, self._run.problem.variables)


Callback = Callable[[Progress], object]
"""Called after each iteration; a return value of True stops the run."""


class Run:
    """The state of one solve that every method shares. Methods call `step`; when it returns a status, they stop."""

    def __init__(
        self,
        problem: Problem,
        limits: Limits | None = None,
        callback: Callback | None = None,
        trace: Trace | None = None,
        log: RunLog | None = None,
        keeper: Keeper | None = None,
    ) -> None:
        self.problem = problem
        self.limits = limits or Limits()
        self.callback = callback
        self.trace = trace or Trace()
        self.log = log
        self.keeper = keeper
        self.fingerprint: State = {}
        self.started = time.perf_counter()
        self.best_x: Floats | None = None
        self.best_value = math.inf
        self.bound: float | None = None
        self.iterations = 0
        self.evaluations = 0
        self.stopped: Status | None = None
        self._interrupted = False
        self._descent_iterations = 0
        self._since_improvement = 0
        self.round: int | None = None
        self._position: dict[str, object] = {}
        self._kept: dict[str, object] | None = None

    @property
    def seconds(self) -> float:
        return time.perf_counter() - self.started

    @property
    def seconds_left(self) -> float:
        """Seconds until the time limit (inf without one)."""
        return math.inf if self.limits.time_limit is None else self.limits.time_limit - self.seconds

    def begin_descent(self) -> None:
        """A new start: the limits that count iterations of one descent begin again."""
        self._descent_iterations = 0
        self._since_improvement = 0

    def offer(self, x: Floats, value: float) -> bool:
        """Remember `x` if it is the best so far."""
        if self.best_x is not None and not value < self.best_value:
            return False
        self.best_x = x.copy()
        self.best_value = value
        return True

    def raise_bound(self, bound: float) -> None:
        """Keep a proven lower bound if it is better than the one known."""
        self.bound = bound if self.bound is None else max(self.bound, bound)

    def step(
        self,
        x: Floats,
        value: float,
        *,
        flips: int = 0,
        alpha: float | None = None,
        keep: Callable[[], State] | None = None,
    ) -> Status | None:
        """Record one iteration that ended at the feasible point `x`; a status means: stop now.

        `keep` gives the state from which the method could go on exactly here, for a checkpoint.
        """
        improved = self.offer(x, value)
        self.iterations += 1
        self._descent_iterations += 1
        self._since_improvement = 0 if improved else self._since_improvement + 1
        record = Record(self.iterations, value, self.best_value, flips, alpha, self.bound, self.seconds)
        self.trace.add(record)
        if self.log is not None:
            self.log.row(record)
        stop = self._stop_reason()
        if keep is not None and self.keeper is not None:
            # a limit of this descent ends it: there is nothing left in it to go on with
            over = stop is not None and self.stopped is None
            if not over and (self.stopped is not None or self.keeper.due()):
                self.keeper.save(self._snapshot(keep()))
        return stop

    @contextmanager
    def heeding_interrupts(self) -> Iterator[None]:
        """Remember Ctrl-C too: its exception is lost when it meets a finaliser or a callback of compiled code."""
        usual = signal.default_int_handler
        if threading.current_thread() is not threading.main_thread() or signal.getsignal(signal.SIGINT) is not usual:
            yield
            return

        def interrupt(number: int, frame: FrameType | None) -> None:
            self._interrupted = True
            usual(number, frame)

        signal.signal(signal.SIGINT, interrupt)
        try:
            yield
        finally:
            signal.signal(signal.SIGINT, usual)

    # --- checkpoints -----------------------------------------------------------------------------------------------

    def at_restart(self, index: int, rng: np.random.Generator, status: Status) -> None:
        """A descent is about to begin: a place from which any method can go on."""
        self._position = {"restart": index, "parent": generator_state(rng), "status": status.name}
        if self.has_kept:
            return  # goes on inside this descent, and the file says so already
        self.round = None
        if self.best_x is not None and self.keeper is not None and self.keeper.due():
            self.keeper.save(self._snapshot({}))

    def _snapshot(self, solver: State) -> State:
        counters = {"iterations": self.iterations, "evaluations": self.evaluations, "seconds": self.seconds}
        descent = {"descent_iterations": self._descent_iterations, "since_improvement": self._since_improvement}
        own = {f"solver.{name}": value for name, value in solver.items()}
        best = {"best_x": self.best_x, "best_value": self.best_value, "bound": self.bound}
        position = {**self._position, "round": self.round}
        return {"fingerprint": self.fingerprint, **position, **counters, **descent, **best, **own}

    def save_end(self, status: Status) -> None:
        """The search has come to its end, but not the work of whoever opened its checkpoint."""
        if self.keeper is not None and self.best_x is not None and not status.resumable:
            self.keeper.ended = True
            self.keeper.save({**self._snapshot({}), "ended": status.name})

    def restore(self, state: dict[str, Any]) -> None:
        """Go back to a snapshot; the method finds its part with `take_kept`."""
        self.iterations, self.evaluations = int(state["iterations"]), int(state["evaluations"])
        self.started -= float(state["seconds"])
        self._descent_iterations = int(state["descent_iterations"])
        self._since_improvement = int(state["since_improvement"])
        self.best_x, self.best_value = state["best_x"], float(state["best_value"])
        self.bound = None if state["bound"] is None else float(state["bound"])
        self.round = None if state["round"] is None else int(state["round"])
        kept = {name.removeprefix("solver."): v for name, v in state.items() if name.startswith("solver.")}
        self._kept = kept or None

    @property
    def has_kept(self) -> bool:
        """Whether a method's state waits to be taken."""
        return self._kept is not None

    def take_kept(self, having: str | None = None) -> dict[str, Any] | None:
        """The method's own state at the checkpoint, once; None when the descent begins anew.

        A method inside which another one runs names an entry that only its own state has.
        """
        if having is not None and (self._kept is None or having not in self._kept):
            return None
        kept, self._kept = self._kept, None
        return kept

    # --- stopping --------------------------------------------------------------------------------------------------

    def check_time(self) -> Status | None:
        """For long stretches between steps: a status when time is up or the user wants an end."""
        if self._interrupted:
            self.stopped = Status.INTERRUPTED
        elif self.seconds_left <= 0:
            self.stopped = Status.TIME_LIMIT
        return self.stopped

    def _stop_reason(self) -> Status | None:
        limits = self.limits
        if self.callback is not None:
            told = Progress(
                self.iterations, self.trace.records[-1].value, self.best_value, self.bound, self.seconds, self
            )
            if self.callback(told) is True:
                self.stopped = Status.CALLBACK
                return self.stopped
        if limits.target is not None and self.best_value <= limits.target:
            self.stopped = Status.TARGET
            return self.stopped
        if self.check_time() is not None:
            return self.stopped
        if limits.max_iterations is not None and self._descent_iterations >= limits.max_iterations:
            return Status.ITERATION_LIMIT  # ends this descent, not the restarts that may follow
        if limits.patience is not None and self._since_improvement >= limits.patience:
            return Status.PATIENCE
        return None
