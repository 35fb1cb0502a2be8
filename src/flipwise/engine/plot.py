"""The trace of a run, drawn with matplotlib (the `plot` extra)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from flipwise.foundation.errors import MissingDependency

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from flipwise.engine.run import Trace

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
    axes = axes or import_pyplot().subplots(figsize=(6.4, 4.0), layout="constrained")[1]
    seconds = [record.seconds for record in trace.records]
    axes.plot(seconds, [record.value for record in trace.records], ".", color=GREY, markersize=4, label="value")
    axes.step(seconds, [record.best for record in trace.records], where="post", color=BLUE, label="best so far")
    bounds = [(record.seconds, record.bound) for record in trace.records if record.bound is not None]
    if bounds:
        times, proven = zip(*bounds, strict=True)
        axes.step(times, proven, where="post", color=RED, linestyle="--", marker="_", label="proven bound")
    axes.set_xlabel("seconds")
    axes.set_ylabel("objective")
    axes.legend(frameon=False)
    return axes


def import_pyplot() -> Any:
    """The module `matplotlib.pyplot`; an error with the install line where matplotlib is not installed."""
    try:
        from matplotlib import pyplot
    except ImportError:
        raise MissingDependency("matplotlib", "plot", "drawing") from None
    return pyplot
