"""From the trace of a run to the curves that are stored with its cell."""

from __future__ import annotations

from collections.abc import Sequence

from flipwise.engine.trace import Trace
from flipwise_studies.experiments.cells import Series

MOST_POINTS = 120
"""Points kept of a curve: enough for a drawing, small in the file."""


def run_curves(trace: Trace, scale: float = 1.0) -> Series:
    """Best value and bound against seconds, value and flips against iterations; values are multiplied by `scale`.

    A maximisation that was turned into a minimisation by a change of sign is turned back by a negative `scale`.
    """
    records = trace.records
    curves: Series = {
        "best": _thinned(_changes([[record.seconds, scale * record.best] for record in records])),
        "value": _thinned([[record.iteration, scale * record.value] for record in records]),
        "flips": _thinned([[record.iteration, record.flips] for record in records]),
    }
    bounds = [[record.seconds, scale * record.bound] for record in records if record.bound is not None]
    if bounds:
        curves["bound"] = _thinned(_changes(bounds))
    return curves


def _thinned(points: Sequence[list[float]]) -> list[list[float]]:
    """At most `MOST_POINTS` of the points, evenly chosen, the first and the last among them."""
    if len(points) <= MOST_POINTS:
        return list(points)
    last = len(points) - 1
    return [points[round(place * last / (MOST_POINTS - 1))] for place in range(MOST_POINTS)]


def _changes(points: list[list[float]]) -> list[list[float]]:
    """The points at which y changes, and the last one."""
    changed = [point for place, point in enumerate(points) if place == 0 or point[1] != points[place - 1][1]]
    if points and changed[-1] is not points[-1]:
        changed.append(points[-1])
    return changed
