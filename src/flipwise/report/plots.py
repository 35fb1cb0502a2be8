"""Figures of a run, drawn with matplotlib (the `plot` extra)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flipwise.errors import MissingDependency

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from flipwise.result import Trace


def new_axes() -> Axes:
    """A fresh pair of axes."""
    try:
        from matplotlib import pyplot
    except ImportError:
        raise MissingDependency("matplotlib", "plot", "drawing") from None
    return pyplot.subplots(figsize=(6.4, 4.0), layout="constrained")[1]


def plot_trace(trace: Trace, axes: Axes | None = None) -> Axes:
    """The value of each iteration, the best value and, where known, the bound, against time."""
    axes = axes or new_axes()
    seconds = [record.seconds for record in trace.records]
    axes.plot(seconds, [record.value for record in trace.records], ".", color="#9aa5b1", markersize=4, label="value")
    axes.step(seconds, [record.best for record in trace.records], where="post", color="#0b6e99", label="best so far")
    bounds = [(r.seconds, r.bound) for r in trace.records if r.bound is not None]
    if bounds:
        times, proven = zip(*bounds, strict=True)
        axes.step(times, proven, where="post", color="#c0392b", linestyle="--", marker="_", label="proven bound")
    axes.set_xlabel("seconds")
    axes.set_ylabel("objective")
    axes.legend(frameon=False)
    return axes
