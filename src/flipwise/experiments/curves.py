"""From the trace of a run to the curves that are stored with its cell."""

from __future__ import annotations

from collections.abc import Sequence

from flipwise.experiments.cells import Outcome, Series
from flipwise.result import Result, Trace

MOST_POINTS = 120
"""Points kept of a curve: enough for a drawing, small in the file."""


def outcome_of(result: Result, **metrics: float) -> Outcome:
    """The outcome of a run of `minimize`: value, bound, seconds, and its curves."""
    return Outcome(
        value=result.value,
        bound=result.bound,
        seconds=result.seconds,
        metrics={"iterations": float(result.iterations), **metrics},
        series=run_curves(result.trace),
    )


def run_curves(trace: Trace, scale: float = 1.0) -> Series:
    """Best value and bound against seconds, value and flips against iterations; values are multiplied by `scale`.

    A maximisation that was turned into a minimisation by a change of sign is turned back by a negative `scale`.
    """
    records = trace.records
    best = [[record.seconds, scale * record.best] for record in records]
    curves: Series = {
        "best": thinned(_changes(best)),
        "value": thinned([[record.iteration, scale * record.value] for record in records]),
        "flips": thinned([[record.iteration, record.flips] for record in records]),
    }
    bounds = [[record.seconds, scale * record.bound] for record in records if record.bound is not None]
    if bounds:
        curves["bound"] = thinned(_changes(bounds))
    return curves


def thinned(points: Sequence[list[float]], most: int = MOST_POINTS) -> list[list[float]]:
    """At most `most` of the points, evenly chosen, the first and the last among them."""
    if len(points) <= most:
        return [list(point) for point in points]
    last = len(points) - 1
    return [list(points[round(place * last / (most - 1))]) for place in range(most)]


def _changes(points: list[list[float]]) -> list[list[float]]:
    """The points at which y changes, and the last one."""
    kept = [point for place, point in enumerate(points) if place == 0 or point[1] != points[place - 1][1]]
    if points and kept[-1] is not points[-1]:
        kept.append(points[-1])
    return kept
