"""When the jobs of a search must end: at a moment, or as soon as somebody says so."""

from __future__ import annotations

import math
import time


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
        """Whether work must end now."""
        return self.seconds_left <= 0.0
