"""The time of compilation, apart from all other: it is nobody's work, and no time limit pays for it.

`working_time` stands still while Numba is imported and while machine code is made or loaded from the cache, so a run
gets as far within its limit when every kernel must be compiled as when none has to.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from flipwise.foundation.interrupts import held_interrupts


class _Compilation:
    """The time in which machine code was made or loaded, by any thread, and how often it was made."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._state = 0, 0.0, 0.0
        """How many threads are at it, since when, and the seconds before that; read as a whole, without the lock."""
        self.made = 0
        """Specialisations compiled so far."""
        self.listeners: list[Callable[[str], None]] = []

    def seconds(self) -> float:
        """Seconds in which this process has made or loaded machine code so far, the import of Numba included."""
        under_way, since, seconds = self._state
        return seconds + (time.perf_counter() - since if under_way else 0.0)

    def time_without(self) -> float:
        """A clock like `time.perf_counter` that stands still while machine code is made or loaded."""
        under_way, since, seconds = self._state
        return (since if under_way else time.perf_counter()) - seconds

    def begin(self, name: str) -> None:
        """A specialisation of this kernel is about to be compiled."""
        self.made += 1
        for listener in self.listeners:
            listener(name)

    @contextmanager
    def timed(self) -> Iterator[None]:
        """Count the seconds inside; those of several threads at once count once.

        Ctrl-C waits for the end of the block: a compiler that is broken off fails or hangs in a later call.
        """
        with held_interrupts():
            self._count_under_way(+1)
            try:
                yield
            finally:
                self._count_under_way(-1)

    def _count_under_way(self, step: int) -> None:
        with self._lock:
            under_way, since, seconds = self._state
            now = time.perf_counter()
            if under_way + step == 0:
                seconds += now - since
            self._state = under_way + step, now if under_way == 0 else since, seconds


compilation = _Compilation()


working_time = compilation.time_without
compile_seconds = compilation.seconds


@dataclass(frozen=True)
class Moment:
    """A moment by `working_time`, and the `compile_seconds` until then."""

    working: float = field(default_factory=working_time)
    compiled: float = field(default_factory=compile_seconds)


def compiled_count() -> int:
    """How many specialisations of kernels this process has compiled; those that the cache held are not counted."""
    return compilation.made


@contextmanager
def told_of_compilation(listener: Callable[[str], None]) -> Iterator[None]:
    """Call `listener` with the name of every kernel that is about to be compiled (not loaded) inside the block."""
    compilation.listeners.append(listener)
    try:
        yield
    finally:
        compilation.listeners.remove(listener)
