"""What a fit may spend and what it tells: a time limit and a log around any estimator."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass

from flipwise.engine.log import HEADER, format_row, is_shown, log, shown_on_stderr
from flipwise.engine.result import Record
from flipwise.foundation.errors import InvalidInput


@dataclass
class _Pace:
    started: float
    time_limit: float
    rows: int = 0
    last: float = math.inf
    best: float = math.inf


_pace: ContextVar[_Pace | None] = ContextVar("flipwise_fit", default=None)


@contextmanager
def fitting(time_limit: float | None = None, verbose: bool = False) -> Iterator[None]:
    """Fits inside the block end their rounds after `time_limit` seconds, and log them if `verbose`.

    At least one round is made, and the hash function is always fitted to the codes that are there then.

    Parameters
    ----------
    time_limit
        Seconds from the start of the block; None: no limit.
    verbose
        Log a line for each round to standard error.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from flipwise.hashing import ITQ, fitting
    >>> X, _ = load_digits(return_X_y=True)
    >>> with fitting(time_limit=0.0):
    ...     codes = ITQ(n_bits=16, random_state=0).fit(X).codes_
    >>> codes.n_bits
    16
    """
    if time_limit is not None and not (isinstance(time_limit, int | float) and 0 <= time_limit < math.inf):
        raise InvalidInput(f"`time_limit` must be None or seconds of at least 0, got {time_limit!r}.")
    token = _pace.set(_Pace(time.perf_counter(), math.inf if time_limit is None else float(time_limit)))
    try:
        with shown_on_stderr(verbose):
            yield
    finally:
        _pace.reset(token)


def seconds_left() -> float | None:
    """Seconds that the fit may still take; None without a limit."""
    pace = _pace.get()
    if pace is None or pace.time_limit == math.inf:
        return None
    return max(0.0, pace.started + pace.time_limit - time.perf_counter())


def out_of_time() -> bool:
    """Whether the rounds must end."""
    return seconds_left() == 0.0


def tell_round(value: Callable[[], float], flips: int) -> None:
    """Log one round; `value` is asked for only when somebody reads the log."""
    pace = _pace.get()
    if pace is None or not is_shown():
        return
    if pace.rows == 0:
        log.info(HEADER)
    pace.rows += 1
    now, before = value(), pace.last
    pace.last, improved = now, now < pace.best
    pace.best = min(pace.best, now)
    record = Record(pace.rows, now, pace.best, flips, None, None, time.perf_counter() - pace.started)
    log.info(format_row(record, None if before == math.inf else now - before, improved))
