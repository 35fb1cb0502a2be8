"""How fast sweeps are on this machine and problem: used only to fit jobs into a time limit."""

from __future__ import annotations

import math
import time
from collections.abc import Iterator
from contextlib import contextmanager

from flipwise.search.clock import Clock


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
