"""Kernels whose rows are independent of each other: dealt out in blocks to threads, each of which gives up the lock.

Such a kernel is a plain function of `start, stop` and its arguments that does the rows from `start` to `stop - 1`. It
is called without the first two. A machine of its own for parallel loops (Numba has one) would compile each loop several
times as long, and its threads do not survive a fork. Blocks are taken by whoever is free, so a thread that wakes up
late holds up nobody; no result depends on who did a row.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from flipwise.foundation.interrupts import held_interrupts
from flipwise.kernels.jit import SERIAL_WORK, Kernel, compile_function, compile_lock, thread_count

if TYPE_CHECKING:
    from concurrent.futures import ThreadPoolExecutor

BLOCKS_EACH = 16
"""Blocks for each thread: enough to even out rows of very different lengths, and few enough to cost nothing."""

_pools: dict[int, ThreadPoolExecutor] = {}

if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_pools.clear)  # threads do not survive a fork: a child starts its own


class BlockKernel(Kernel):
    """A kernel on rows, with an interpreted and a compiled tier, the latter on several threads."""

    def __init__(
        self,
        function: Any,
        rows: Callable[..., int] | None = None,
        operations: Callable[..., float] | None = None,
        vectorised: Callable[..., Any] | None = None,
        speed: float = 1.0,
    ) -> None:
        super().__init__(function, operations, vectorised, speed)
        self.on_rows = function
        self.rows = rows or _rows_of_last
        self.interpreted = self._all_rows_interpreted  # type: ignore[assignment]

    def _all_rows_interpreted(self, *arguments: Any) -> None:
        self.on_rows(0, self.rows(*arguments), *arguments)

    def compile(self) -> Callable[..., Any]:
        """Move to the compiled tier; returns what runs the compiled twin on all rows."""
        with compile_lock:
            self.compiled = self.compiled or _OnThreads(self, compile_function(self.on_rows))
            return self.compiled


class _OnThreads:
    """The compiled twin of a block kernel, called for all rows."""

    def __init__(self, kernel: BlockKernel, twin: Callable[..., Any]) -> None:
        self.kernel = kernel
        self.twin = twin

    @property
    def signatures(self) -> Any:
        """The combinations of types for which there is machine code."""
        return getattr(self.twin, "signatures", ())

    def __call__(self, *arguments: Any) -> None:
        rows = self.kernel.rows(*arguments)
        threads = min(threads_for(self.kernel.count(*arguments)), rows)
        if threads <= 1:
            self.twin(0, rows, *arguments)
            return
        each = max(1, rows // (threads * BLOCKS_EACH))
        run_blocks(lambda start, stop: self.twin(start, stop, *arguments), rows, each, threads)


def block_kernel(
    function: Any = None,
    *,
    rows: Callable[..., int] | None = None,
    operations: Callable[..., float] | None = None,
    vectorised: Callable[..., Any] | None = None,
    speed: float = 1.0,
) -> Any:
    """Declare a kernel on rows.

    `rows` takes the arguments of a call and says how many rows there are (else: as many as the last argument has).
    The rest is as for any kernel.
    """
    if function is None:
        return lambda function: BlockKernel(function, rows, operations, vectorised, speed)
    return BlockKernel(function, rows, operations, vectorised, speed)


def threads_for(operations: float) -> int:
    """How many threads so much work is worth, of those that may be used."""
    return 1 if operations < SERIAL_WORK else thread_count()


def run_blocks(work: Callable[[int, int], None], rows: int, each: int, threads: int) -> None:
    """Call `work(start, stop)` for all rows in blocks of `each`, on several threads."""
    blocks = _Blocks(range(0, rows, each))

    def take_blocks() -> None:
        for start in blocks:
            work(start, min(start + each, rows))

    with held_interrupts():  # nobody may write into the arrays after the call has ended
        others = [_thread_pool(threads - 1).submit(take_blocks) for _ in range(threads - 1)]
        try:
            take_blocks()
        finally:
            blocks.end()
            for other in others:
                if not other.cancel():
                    other.result()


def _rows_of_last(*arguments: Any) -> int:
    return len(arguments[-1])


class _Blocks:
    """The first rows of the blocks that nobody has taken yet."""

    def __init__(self, starts: range) -> None:
        self._starts: Iterator[int] = iter(starts)
        self._lock = threading.Lock()

    def __iter__(self) -> Iterator[int]:
        return self

    def __next__(self) -> int:
        with self._lock:
            return next(self._starts)

    def end(self) -> None:
        """Leave nothing to take."""
        with self._lock:
            self._starts = iter(())


def _thread_pool(threads: int) -> ThreadPoolExecutor:
    """Threads that wait for blocks, as many as this at least."""
    from concurrent.futures import ThreadPoolExecutor

    pool = _pools.get(threads)
    if pool is None:
        pool = _pools.setdefault(threads, ThreadPoolExecutor(threads, "flipwise-blocks"))
    return pool
