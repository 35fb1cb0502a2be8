"""The verbose log of a run: banner, a fixed-width table, a closing line. It goes through `logging`, never `print`."""

from __future__ import annotations

import logging
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from flipwise.trace import Record

if TYPE_CHECKING:
    from flipwise.problem import Problem
    from flipwise.result import Result

log = logging.getLogger("flipwise")

HEADER = f"{'iter':>7} {'value':>16} {'best':>16} {'flips':>8} {'alpha':>7} {'bound':>14} {'gap':>8} {'time':>8}"


class RunLog:
    """Writes a run to the `flipwise` logger at level INFO, rows thinned so that a long run stays readable."""

    def __init__(self) -> None:
        self._next_row = 0.0
        self._rows = 0

    def start(self, problem: Problem, method: str, seed: int | None) -> None:
        """The banner: what is solved, by which method."""
        from flipwise import __version__

        log.info("Flipwise %s   method %s   seed %s", __version__, method, seed)
        log.info("%d variables, constraint %s", problem.n, type(problem.constraint).__name__)
        log.info(HEADER)

    def row(self, record: Record) -> None:
        """One line of the table: the first 20 iterations, then at most ten a second and each new second's first."""
        self._rows += 1
        if self._rows > 20 and record.seconds < self._next_row:
            return
        self._next_row = record.seconds + 0.1
        log.info(format_row(record))

    def end(self, result: Result) -> None:
        """The closing status."""
        log.info(
            "%s: value %.12g after %d iterations, %.3f s",
            result.message,
            result.value,
            result.iterations,
            result.seconds,
        )


def format_row(record: Record) -> str:
    """A record in the columns of `HEADER`."""
    alpha = "-" if record.alpha is None else f"{record.alpha:.3g}"
    bound = "-" if record.bound is None else f"{record.bound:.8g}"
    gap = "-"
    if record.bound is not None and record.best != 0:
        gap = f"{100 * (record.best - record.bound) / abs(record.best):.2f}%"
    return (
        f"{record.iteration:>7} {record.value:>16.9g} {record.best:>16.9g} {record.flips:>8} {alpha:>7} "
        f"{bound:>14} {gap:>8} {record.seconds:>7.2f}s"
    )


@contextmanager
def shown_on_stderr(verbose: bool) -> Iterator[None]:
    """Let INFO messages of the library reach standard error while the block runs, if `verbose`."""
    if not verbose:
        yield
        return
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(logging.Formatter("%(message)s"))
    level, propagate = log.level, log.propagate
    log.addHandler(handler)
    log.setLevel(logging.INFO)
    log.propagate = False
    try:
        yield
    finally:
        log.removeHandler(handler)
        log.setLevel(level)
        log.propagate = propagate
