"""The trace of a run, drawn with matplotlib (the `plot` extra)."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from flipwise.foundation.errors import MissingDependency

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from flipwise.engine.result import Result
    from flipwise.engine.trace import Trace

BLUE, GREY, RED = "#0b6e99", "#9aa5b1", "#c0392b"
"""What was found, what is beside the point, and what is proven or wrong."""


def plot_trace(trace: Trace, axes: Axes | None = None) -> Axes:
    """Draw the value of each iteration, the best value and, where known, the bound, against time.

    Parameters
    ----------
    trace
        What a run recorded.
    axes
        Where to draw; a new figure by default.

    Returns
    -------
    Axes
        What was drawn into.
    """
    ends = [record.seconds for record in trace.records[-1:]]
    return _draw_trace(trace, axes, lambda value: value, "objective", ends[0] if ends else 0.0, None)


def plot_result(result: Result, axes: Axes | None = None) -> Axes:
    """The same for a result: in the unit of its value, up to its end, with the bound that was proven after the search.

    Parameters
    ----------
    result
        What a function has returned.
    axes
        Where to draw; a new figure by default.

    Returns
    -------
    Axes
        What was drawn into.
    """
    return _draw_trace(result.trace, axes, result.in_unit, result.measure, result.seconds, result.bound)


def _draw_trace(
    trace: Trace,
    axes: Axes | None,
    unit: Callable[[float], float],
    name: str,
    end: float,
    last_bound: float | None,
) -> Axes:
    """The values, the best so far and the bound against time."""
    axes = axes or import_pyplot().subplots(figsize=(6.4, 4.0), layout="constrained")[1]
    records = trace.records
    seconds = [record.seconds for record in records]
    best = [unit(record.best) for record in records]
    axes.plot(seconds, [unit(record.value) for record in records], ".", color=GREY, markersize=4, label=name)
    axes.step([*seconds, end], [*best, *best[-1:]][: len(seconds) + 1], where="post", color=BLUE, label="best so far")
    known = {*trace.bounds, *((record.seconds, record.bound) for record in records if record.bound is not None)}
    bounds = [(when, unit(bound)) for when, bound in sorted(known)]
    if last_bound is not None:
        bounds.append((end, last_bound))
    if bounds:
        times, proven = zip(*bounds, strict=True)
        axes.step(times, proven, where="post", color=RED, linestyle="--", marker="_", label="proven bound")
    axes.set_xlabel("seconds")
    axes.set_ylabel(name)
    axes.legend(frameon=False)
    return axes


def import_pyplot() -> Any:
    """The module `matplotlib.pyplot`; an error with the install line where matplotlib is not installed."""
    try:
        from matplotlib import pyplot
    except ImportError:
        raise MissingDependency("matplotlib", "plot", "drawing") from None
    return pyplot
