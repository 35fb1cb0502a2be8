"""The time of a search: when its jobs must end, and how fast sweeps are, to fit jobs into what is left."""

from __future__ import annotations

import math
import time
from collections.abc import Iterator
from contextlib import contextmanager


class Clock:
    """A deadline that worker threads look at between chunks of work."""

    def __init__(self, seconds: float = math.inf) -> None:
        self._deadline = time.perf_counter() + seconds
        self._stopped = False

    def stop(self) -> None:
        """End all jobs at their next look at the clock."""
        self._stopped = True

    @property
    def seconds_left(self) -> float:
        """Seconds until the deadline (inf without one, at most 0 when it is over)."""
        return 0.0 if self._stopped else self._deadline - time.perf_counter()

    @property
    def expired(self) -> bool:
        return self.seconds_left <= 0.0


class Pace:
    """Seconds for one sweep, learnt from the jobs; a guess until the first has ended."""

    QUANTUM = 5_000_000
    """Spins that one job visits at least (about 50 ms): less would be lost to its overhead."""

    def __init__(self, n: int) -> None:
        self._seconds = (2e-8 if n <= 50_000 else 1e-7) * n  # large problems do not fit into the cache

    def shortened(self, sweeps: float, clock: Clock, share: float) -> int:
        """`sweeps`, or as many as fit into this share of the time left; unchanged without a time limit."""
        return int(max(4, min(sweeps, self._fitting(clock, share))))

    def lengthened(self, sweeps: float, clock: Clock, share: float) -> float:
        """`sweeps`, or as many as fill this share of the time left; unchanged without a time limit."""
        fitting = self._fitting(clock, share)
        return max(sweeps, fitting) if math.isfinite(fitting) else sweeps

    def allows(self, sweeps: float, clock: Clock, share: float) -> bool:
        """Whether so many sweeps fit into this share of the time left."""
        return sweeps <= self._fitting(clock, share)

    def _fitting(self, clock: Clock, share: float) -> float:
        return share * clock.seconds_left / self._seconds

    @contextmanager
    def timing(self, sweeps: int) -> Iterator[None]:
        """Learn from the sweeps made inside."""
        start = time.perf_counter()
        yield
        self._seconds = 0.5 * self._seconds + 0.5 * (time.perf_counter() - start) / sweeps
