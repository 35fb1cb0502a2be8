"""Ctrl-C, and the signals that ask a process to end (SIGTERM, SIGHUP), while a run is under way.

A run ends at its next safe place and returns the best answer so far. An exception raised wherever the signal happens to
arrive does not suffice: one that meets a finaliser or a callback of compiled code is lost, and one that meets a lock or
a compiler leaves it locked or half-done, so that a later call hangs or fails. So a signal is raised only in blocks that
say so (`raised_here`), in none of their parts that must come to an end (`held`), and remembered everywhere.
"""

from __future__ import annotations

import signal
import sys
import threading
import time
from collections.abc import Callable
from contextlib import AbstractContextManager
from types import FrameType, TracebackType
from typing import Any

SIGNALS = [getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)]
AGAIN = 1.0
"""Seconds after which a second signal is raised again in the same block, for the first exception may have been lost."""

_current: Interrupts | None = None
_last: int | None = None


class Interrupts:
    """What the signals of a run have asked for, and where in the run they are raised."""

    def __init__(self) -> None:
        self.requested = False
        self.number: int = signal.SIGINT
        self.raising = False
        self.stop: Callable[[], None] | None = None
        self.thread = threading.get_ident()
        self.received = 0
        self._raised = -AGAIN

    def raised_here(self) -> _Changed:
        """A block in which a signal is a `KeyboardInterrupt`, also one that came before it."""
        return _Changed(self, True, self.stop)

    def held(self, stop: Callable[[], None] | None = None) -> _Changed:
        """A block that a signal does not break off; it is raised afterwards, if it would have been raised before.

        `stop` is called when it comes, to let the block end soon.
        """
        return _Changed(self, False, stop or self.stop)

    def handle(self, number: int, frame: FrameType | None) -> None:
        """The handler of the signals."""
        self.requested, self.number = True, number
        self.received += 1
        if self.stop is not None:
            self.stop()
        if self.raising and time.monotonic() - self._raised >= AGAIN:
            self._raised = time.monotonic()
            raise KeyboardInterrupt


class _Changed:
    """A block in which signals are raised or not, and call `stop` or not.

    No generator: between the last line of `__enter__` and the block, Python looks at no signals.
    """

    def __init__(self, interrupts: Interrupts, raising: bool, stop: Callable[[], None] | None) -> None:
        self._interrupts = interrupts
        self._inside = raising, stop
        self._outside = interrupts.raising, interrupts.stop
        self._received = interrupts.received

    def __enter__(self) -> None:
        now = self._interrupts
        now.raising, now.stop = self._inside
        if now.requested:
            if now.stop is not None:
                now.stop()
            if now.raising:
                now.raising, now.stop = self._outside
                raise KeyboardInterrupt

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: Any) -> None:
        now = self._interrupts
        now.raising, now.stop = self._outside
        if kind is None and now.raising and now.received > self._received:
            raise KeyboardInterrupt


def raising_interrupts() -> Interrupts | None:
    """The interrupts of the run whose block is `raised_here` around the caller; None outside and in other threads."""
    now = _current
    return now if now is not None and now.raising and now.thread == threading.get_ident() else None


def held_interrupts() -> AbstractContextManager[None]:
    """A block that no signal breaks off, whoever runs it; outside of all runs the signal is sent again after it."""
    if _current is None and threading.current_thread() is threading.main_thread():
        return _Deferred()
    return (raising_interrupts() or Interrupts()).held()


def guarded_interrupts() -> _Guard:
    """Hold Ctrl-C, SIGTERM and SIGHUP back until the block is over, but for the parts of it that are `raised_here`.

    A block inside another shares its interrupts. Where a signal belongs to somebody else (another thread, a handler of
    the program's own, nohup) nothing is changed.

    A `KeyboardInterrupt` that leaves the block because of another signal than Ctrl-C becomes a `SystemExit` with the
    usual code, 128 and the number of the signal. A process of `multiprocessing` ends in this way also when there is an
    answer: whoever asked it to end waits for that.
    """
    return _Guard()


class _Guard:
    """The block of `guarded_interrupts`."""

    def __init__(self) -> None:
        self._before: list[tuple[int, Any]] = []
        self._interrupts: Interrupts | None = None

    def __enter__(self) -> Interrupts:
        global _current
        if threading.current_thread() is not threading.main_thread():
            return Interrupts()
        if _current is not None:
            return _current
        interrupts = Interrupts()
        try:
            for number in SIGNALS:
                before = signal.getsignal(number)
                if before in (signal.default_int_handler if number == signal.SIGINT else signal.SIG_DFL, end_process):
                    self._before.append((number, before))
                    signal.signal(number, interrupts.handle)
            self._interrupts = _current = interrupts
        except BaseException:  # a handler that was still there has raised
            _current = None
            _put_back(self._before)
            raise
        return interrupts

    def leave(self) -> Interrupts | None:
        """Give the handlers back; None where the block around this one, or another thread, has the signals."""
        global _current
        if self._interrupts is not None:
            _current = None
            _put_back(self._before)
        return self._interrupts

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        global _last
        if self._interrupts is not None:
            _last = self._interrupts.number if self._interrupts.requested else None
            self.leave()
        if self._interrupts is None or _last is None or _last == signal.SIGINT:
            return
        if kind is KeyboardInterrupt or (kind is None and _is_child()):
            raise SystemExit(128 + _last) from None


class _Deferred:
    """The block of `held_interrupts` outside of all runs."""

    def __init__(self) -> None:
        self._guard = _Guard()

    def __enter__(self) -> None:
        self._guard.__enter__()

    def __exit__(self, *about: object) -> None:
        interrupts = self._guard.leave()
        if interrupts is not None and interrupts.requested:
            signal.raise_signal(interrupts.number)


def _put_back(handlers: list[tuple[int, Any]]) -> None:
    """Set the handlers from the last to the first. One that is back already may raise: the others come back too."""
    raised: BaseException | None = None
    while handlers:
        try:
            while handlers:
                signal.signal(*handlers[-1])
                handlers.pop()
        except (KeyboardInterrupt, SystemExit) as error:
            raised = error
    if raised is not None:
        raise raised


def _is_child() -> bool:
    """Whether `multiprocessing` has started this process."""
    process: Any = sys.modules.get("multiprocessing.process")  # loaded in every such process
    return process is not None and process.parent_process() is not None


def end_process(number: int, frame: FrameType | None) -> None:
    """A handler for a program of one's own: a `SystemExit` with the usual code, so that half-written files go."""
    raise SystemExit(128 + number)


def interrupted_code() -> int:
    """The exit code of a program whose latest run was interrupted: 128 and the number of the signal."""
    latest = _last if _current is None else _current.number
    return 128 + (latest or signal.SIGINT)
