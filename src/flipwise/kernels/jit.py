"""Two tiers for every kernel: interpreted while little work is done, compiled by Numba when it pays.

A kernel is an ordinary Python function on arrays and scalars. It starts interpreted, so a small problem never waits
for a compiler and never imports Numba; large arrays, or a quarter of a second spent interpreting, switch it to the
compiled tier for good. Both tiers give the same bits: kernels add in explicit loops and Numba runs without fastmath.

`FLIPWISE_NUMBA_CACHE=0` turns the on-disk cache off; where no cache folder is writable it is off by itself.
"""

from __future__ import annotations

import logging
import os
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from contextvars import ContextVar
from types import FunctionType
from typing import Any

import numpy as np

from flipwise.foundation.checks import check_whole

log = logging.getLogger("flipwise.kernels")

INTERPRETED_ELEMENTS = 100_000
"""Arrays with more elements in total than this go to the compiled tier at once."""
INTERPRETED_OPERATIONS = 100_000
"""Elements looked at in one call that may run interpreted (about 0.2 s); see `Kernel.expect`."""
INTERPRETED_SECONDS = 0.25
"""Time a kernel may spend interpreted before it is compiled."""

SERIAL_WORK = 1_000_000
"""Parallel kernels that read fewer elements than this are better off on one thread."""

ROWS_AT_A_TIME = 8192
"""The chunk of a row kernel: many for a large problem, and each worth the trouble."""

prange = range
"""Replaced by `numba.prange` inside compiled kernels."""

_requested_threads: ContextVar[int | None] = ContextVar("flipwise_threads", default=None)
_compile_lock = threading.RLock()


class _Fork:
    """Whether threads of Numba run in this process, and whether they ran in the process it was forked from.

    Such threads do not survive a fork, and OpenMP ends a child that tries to use them: there, parallel kernels run on
    one thread. Their results do not depend on that.
    """

    threaded = False
    orphaned = False

    @classmethod
    def in_child(cls) -> None:
        cls.orphaned = cls.orphaned or cls.threaded


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_Fork.in_child)


class Kernel:
    """A function with an interpreted and a compiled tier."""

    def __init__(self, function: FunctionType, parallel: bool, chunk: int = 0) -> None:
        self.interpreted = function
        self.parallel = parallel
        self.chunk = chunk
        self.compiled: Callable[..., Any] | None = None
        self._serial: Callable[..., Any] | None = None
        self._interpreted_seconds = 0.0
        self.__name__ = function.__name__
        self.__doc__ = function.__doc__

    def __call__(self, *arguments: Any) -> Any:
        if self.compiled is None:
            elements = sum(a.size for a in arguments if isinstance(a, np.ndarray))
            if elements <= INTERPRETED_ELEMENTS and self._interpreted_seconds < INTERPRETED_SECONDS:
                start = time.perf_counter()
                try:
                    return self.interpreted(*arguments)
                finally:
                    self._interpreted_seconds += time.perf_counter() - start
            with _compile_lock:
                self.compiled = self.compiled or _compile(self.interpreted, self.parallel)
        assert self.compiled is not None
        if not self.parallel:
            return self.compiled(*arguments)
        if _Fork.orphaned:
            if self._serial is None:
                self._serial = _compile(self.interpreted, parallel=False, suffix="_serial")
            return self._serial(*arguments)
        _Fork.threaded = True
        with _numba_threads(self.chunk):
            return self.compiled(*arguments)

    def expect(self, operations: float) -> None:
        """Compile before a call, or a series of them, that would take long interpreted (a call cannot change tiers)."""
        if self.compiled is None and operations > INTERPRETED_OPERATIONS:
            self.compile()

    def compile(self) -> None:
        """Move to the compiled tier (machine code is made or loaded at the next call)."""
        with _compile_lock:
            self.compiled = self.compiled or _compile(self.interpreted, self.parallel)


_helpers: dict[FunctionType, Any] = {}
"""The helpers, each with its compiled twin once there is one."""


def kernel(function: Any) -> Kernel:
    """Declare a serial kernel."""
    return Kernel(function, parallel=False)


def parallel_kernel(function: Any) -> Kernel:
    """Declare a kernel whose `prange` loops run on several threads; its result must not depend on how many."""
    return Kernel(function, parallel=True)


def row_kernel(function: Any) -> Kernel:
    """Declare a parallel kernel whose `prange` runs over many rows, dealt out in chunks.

    A thread that wakes up late, as after a serial stretch, then holds up nobody: the others take its rows.
    """
    return Kernel(function, parallel=True, chunk=ROWS_AT_A_TIME)


def helper(function: Any) -> Any:
    """Declare a function that kernels of the same file call. (Numba's cache only notices changes in that file.)"""
    _helpers[function] = None
    return function


def _compile(function: FunctionType, parallel: bool, suffix: str = "") -> Callable[..., Any]:
    """Compile a kernel. Numba's cache tells twins apart by their name only."""
    import numba

    twin = _twin(function)
    twin.__qualname__ = function.__qualname__ + suffix
    if os.environ.get("FLIPWISE_NUMBA_CACHE", "1") != "0":
        try:
            return numba.njit(twin, cache=True, nogil=True, parallel=parallel)
        except RuntimeError as error:  # "cannot cache function ...: no locator available"
            log.debug("kernel cache off: %s", error)
    return numba.njit(twin, nogil=True, parallel=parallel)


def _twin(function: FunctionType) -> FunctionType:
    """The function with the names that the compiled tier uses: Numba's `prange`, and helpers compiled."""
    import numba

    names = {**function.__globals__, "prange": numba.prange}
    for name in function.__code__.co_names:
        value = names.get(name)
        if isinstance(value, FunctionType) and value in _helpers and value is not function:
            _helpers[value] = _helpers[value] or numba.njit(_twin(value), nogil=True)
            names[name] = _helpers[value]
    twin = FunctionType(function.__code__, names, function.__name__, function.__defaults__, function.__closure__)
    twin.__module__ = function.__module__
    return twin


@contextmanager
def threads(count: int | None) -> Iterator[None]:
    """Run the parallel kernels inside on at most `count` threads (None: Numba's own limit)."""
    check_whole("threads", count, 1, optional=True)
    token = _requested_threads.set(None if count is None else int(count))
    try:
        yield
    finally:
        _requested_threads.reset(token)


def thread_count() -> int:
    """How many threads a computation may use: what `threads` was asked for, else all cores of this process.

    NUMBA_NUM_THREADS limits the latter.
    """
    wanted = _requested_threads.get()
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    numba_limit = os.environ.get("NUMBA_NUM_THREADS", "")
    if numba_limit.isdigit() and int(numba_limit) > 0:
        cores = min(cores, int(numba_limit))
    return cores if wanted is None else wanted


def threads_worth(work: int) -> AbstractContextManager[None]:
    """One thread inside when `work` (elements read) is too little to share: starting threads would cost more."""
    return threads(1) if work < SERIAL_WORK else nullcontext()


@contextmanager
def threads_put_back() -> Iterator[None]:
    """Give Numba its number of threads and its chunk back after the block, whatever interrupted a kernel inside."""
    threaded = _Fork.threaded  # before the first parallel kernel both are what Numba begins with
    if threaded:
        import numba

        before = numba.get_num_threads(), numba.get_parallel_chunksize()
    try:
        yield
    finally:
        if _Fork.threaded:
            import numba

            most: int = numba.config.NUMBA_NUM_THREADS  # type: ignore[attr-defined]
            threads_before, chunk_before = before if threaded else (most, 0)
            if (numba.get_num_threads(), numba.get_parallel_chunksize()) != (threads_before, chunk_before):
                numba.set_num_threads(threads_before)
                numba.set_parallel_chunksize(chunk_before)


@contextmanager
def _numba_threads(chunk: int) -> Iterator[None]:
    """Apply the requested number of threads and the chunk to Numba for one kernel call, then restore both."""
    wanted = _requested_threads.get()
    if wanted is None and chunk == 0:
        yield
        return
    import numba

    before, chunk_before = numba.get_num_threads(), numba.get_parallel_chunksize()
    most: int = numba.config.NUMBA_NUM_THREADS  # type: ignore[attr-defined]
    try:
        numba.set_num_threads(before if wanted is None else min(wanted, most))
        numba.set_parallel_chunksize(chunk)
        yield
    finally:
        numba.set_num_threads(before)
        numba.set_parallel_chunksize(chunk_before)
