"""When and why a run ends: its limits, the time it has taken, and the status it ends with."""

from __future__ import annotations

import enum
import math
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from flipwise.foundation.arrays import Floats
from flipwise.foundation.checks import check_whole, is_number
from flipwise.foundation.errors import InvalidInput
from flipwise.kernels.compile_time import Moment, compile_seconds, working_time


class Status(enum.Enum):
    """Why a run ended; the value is the sentence shown to the user.

    Examples
    --------
    >>> import flipwise
    >>> flipwise.Status.TIME_LIMIT.value, flipwise.Status.TIME_LIMIT.success
    ('the time limit was reached', False)
    """

    LOCAL_OPTIMUM = "no single move improves the point"
    PARTIAL_OPTIMUM = "no move that was looked at improves the point; there were too many to look at all"
    CONVERGED = "the method has converged"
    OPTIMAL = "the point is proven optimal"
    CYCLE = "the method alternates between two points"
    TARGET = "the target value was reached"
    GAP = "the proven gap is as small as was asked for"
    EFFORT = "the effort that was asked for is spent"
    ITERATION_LIMIT = "the iteration limit was reached"
    TIME_LIMIT = "the time limit was reached"
    EVALUATION_LIMIT = "as many evaluations as were allowed are made"
    PATIENCE = "no improvement for as many iterations as `patience` allows"
    CALLBACK = "the callback asked to stop"
    INTERRUPTED = "interrupted; this is the best point so far"

    @property
    def success(self) -> bool:
        """Whether the method came to its own end rather than to a limit."""
        optimal = self in (Status.LOCAL_OPTIMUM, Status.PARTIAL_OPTIMUM, Status.OPTIMAL)
        return optimal or self in (Status.CONVERGED, Status.EFFORT, Status.TARGET, Status.GAP)

    @property
    def resumable(self) -> bool:
        """Whether somebody ended the run before it was over, so that a checkpoint of it is worth keeping."""
        stopped = self in (Status.INTERRUPTED, Status.CALLBACK)
        return stopped or self in (Status.TIME_LIMIT, Status.EVALUATION_LIMIT)


@dataclass(frozen=True)
class Limits:
    """What a run may spend and when it is good enough, whichever comes first; None means no limit of that kind.

    `max_iterations` and `patience` count iterations of one descent; `time_limit` (seconds), `max_evaluations`, `target`
    and `gap` hold for the whole run. The time is counted from the moment at which the limits are stated, which every
    function does first.
    """

    time_limit: float | None = None
    max_iterations: int | None = None
    target: float | None = None
    patience: int | None = None
    gap: float | None = None
    max_evaluations: int | None = None
    began: Moment = field(default_factory=Moment, repr=False, compare=False)

    def __post_init__(self) -> None:
        if self.time_limit is not None and not (is_number(self.time_limit) and self.time_limit >= 0):
            raise InvalidInput(f"`time_limit` must be None or seconds of at least 0, got {self.time_limit!r}.")
        if self.target is not None and not is_number(self.target):
            raise InvalidInput(f"`target` must be None or a finite number, got {self.target!r}.")
        if self.gap is not None and not (is_number(self.gap) and self.gap >= 0):
            raise InvalidInput(f"`gap` must be None or a share of at least 0, such as 0.01 for 1 %, got {self.gap!r}.")
        for name in ("max_iterations", "patience", "max_evaluations"):
            check_whole(name, getattr(self, name), 1, optional=True)

    def bound_to_prove(self, bound: str | None) -> Any:
        """The bound that is named, or "auto" where none is but a gap is asked for. To refuse one then is an error."""
        if self.gap is None:
            return bound
        if bound == "none":
            raise InvalidInput(
                f'`gap` needs a bound to be proven, got gap={self.gap!r} with bound="none". Leave one out.'
            )
        return bound or "auto"


class OutOfTime(Exception):
    """The time limit was reached in the middle of an iteration; the engine returns the best point so far."""

    def __init__(self, x: Floats | None = None) -> None:
        super().__init__()
        self.x = x
        """Where a relaxation had come to, if anywhere."""


class Clock:
    """The time of a run, for all its threads: when it began, when it must end, and whether it was told to stop.

    It stands still while kernels are compiled: that is not the work the user has given time for.
    """

    def __init__(
        self, seconds: float | None = None, *, began: Moment | None = None, parent: Clock | None = None
    ) -> None:
        began = began or Moment()
        self.started = began.working
        self._compiled_before = began.compiled
        self._deadline = math.inf if seconds is None else self.started + seconds
        self._parent = parent
        self._stopped = False

    @property
    def seconds(self) -> float:
        """Seconds since the start."""
        return working_time() - self.started

    @property
    def compile_seconds(self) -> float:
        """Seconds since the start in which machine code was made or loaded; the clock stood still."""
        return compile_seconds() - self._compiled_before

    @property
    def seconds_left(self) -> float:
        """Seconds until the end (inf without a limit, at most 0 when it is over)."""
        if self._stopped:
            return 0.0
        left = self._deadline - working_time()
        return left if self._parent is None else min(left, self._parent.seconds_left)

    @property
    def expired(self) -> bool:
        """Whether all work must end now."""
        over = self._stopped or working_time() >= self._deadline
        return over or (self._parent is not None and self._parent.expired)

    def stop(self) -> None:
        """Let all work end at its next look at the clock."""
        self._stopped = True

    def set_limit(self, seconds: float | None) -> None:
        """Change the limit, counted from the start; a stopped clock stays stopped."""
        self._deadline = math.inf if seconds is None else self.started + seconds

    def add_spent(self, seconds: float) -> None:
        """Count seconds that an earlier part of the run, now resumed, has taken."""
        self.started -= seconds
        self._deadline -= seconds


def peak_bytes() -> int | None:
    """The largest resident size of this process so far, or None where the system does not say."""
    try:
        for line in Path("/proc/self/status").read_text(encoding="ascii").splitlines():
            if line.startswith("VmHWM:"):
                return 1024 * int(line.split()[1])
    except (OSError, ValueError):
        pass
    try:
        import resource
    except ImportError:
        return None
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return most if sys.platform == "darwin" else 1024 * most
