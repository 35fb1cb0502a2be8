"""The verbose log of a run: banner, a fixed-width table, a closing line. It goes through `logging`, never `print`."""

from __future__ import annotations

import logging
import math
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from flipwise.model.problem import constraint_in_words, objective_in_words

if TYPE_CHECKING:
    from flipwise.engine.result import Result
    from flipwise.engine.trace import Record
    from flipwise.model.problem import Problem

log = logging.getLogger("flipwise")

HEADER = f"  {'iter':>7} {'value':>14} {'change':>10} {'flips':>7} {'alpha':>6} {'bound':>12} {'gap':>7} {'time':>7}"
"""80 columns; a star in the first marks a new best point."""


class RunLog:
    """Writes a run to the `flipwise` logger at level INFO, rows thinned so that a long run stays readable."""

    def __init__(self, problem: Problem, method: str, seed: int | None) -> None:
        from flipwise import __version__

        self._next_row = 0.0
        self._rows = 0
        self._last: float | None = None
        self._best = math.inf
        self._seconds_to_first = 0.0
        self._seconds_to_best = 0.0
        log.info("Flipwise %s   method %s   seed %s", __version__, method, seed)
        log.info("%s, %s", objective_in_words(problem), constraint_in_words(problem) or "no constraint")
        log.info("")
        log.info(HEADER)

    def row(self, record: Record) -> None:
        """One line of the table: the first 20 iterations, then at most ten a second and each new second's first."""
        if self._rows == 0:
            self._seconds_to_first = record.seconds
        improved = record.best < self._best
        if improved:
            self._best, self._seconds_to_best = record.best, record.seconds
        change = None if self._last is None else record.value - self._last
        self._last = record.value
        self._rows += 1
        if self._rows > 20 and record.seconds < self._next_row:
            return
        self._next_row = record.seconds + 0.1
        log.info(format_row(record, change, improved))

    def end(self, result: Result, proof_seconds: float | None = None) -> None:
        """The closing status, and where the time went; `proof_seconds` of it on a bound after the search."""
        log.info("")
        log.info("Status      %s", result.message)
        log.info("Value       %.12g", result.value)
        if result.bound is not None and result.gap is not None:
            took = "" if proof_seconds is None else f", proven in {proof_seconds:.2f} s"
            log.info("Bound       %.12g (gap %.3g %%%s)", result.bound, 100 * result.gap, took)
        log.info("Iterations  %d", result.iterations)
        log.info("Evaluations %d", result.evaluations)
        log.info(
            "Time        %.2f s: %.2f s to the first iteration, %.2f s to the best point",
            result.seconds,
            self._seconds_to_first,
            self._seconds_to_best,
        )
        if result.info.get("compile_seconds"):
            log.info("Compiling   %.2f s, not in the time above", result.info["compile_seconds"])


def format_row(record: Record, change: float | None = None, improved: bool = False) -> str:
    """A record in the columns of `HEADER`."""
    alpha = "-" if record.alpha is None else f"{record.alpha:.3g}"
    bound = "-" if record.bound is None else f"{record.bound:.6g}"
    gap = "-"
    if record.bound is not None and record.best != 0:
        gap = f"{min(999.99, 100 * abs(record.best - record.bound) / abs(record.best)):.2f}%"
    moved = "-" if change is None else f"{change:.3g}"
    return (
        f"{'*' if improved else ' '} {record.iteration:>7} {record.value:>14.8g} {moved:>10} {record.flips:>7} "
        f"{alpha:>6} {bound:>12} {gap:>7} {record.seconds:>6.2f}s"
    )


class _Shown(logging.StreamHandler[Any]):
    """The handler of `shown_on_stderr`, told from handlers that a program has added itself."""


@contextmanager
def shown_on_stderr() -> Iterator[None]:
    """Let INFO messages of the library reach standard error while the block runs.

    A block inside another adds nothing: a run that is part of a larger one is logged once.
    """
    if any(isinstance(handler, _Shown) for handler in log.handlers):
        yield
        return
    handler = _Shown(sys.stderr)
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
