"""What sets that keep conditions weigh at most, for every size at once, by loads and by the pairs that they make."""

from __future__ import annotations

import numpy as np

from flipwise.densest.conditions import ConditionedGraph
from flipwise.foundation.arrays import Floats

_EPS = float(np.finfo(np.float64).eps)


def most_of_any(graph: ConditionedGraph, loads: Floats) -> Floats:
    """What t free nodes and those chosen anyway weigh at most, for t = 0, 1, ...: by their loads and by their pairs."""
    counts = np.arange(loads.size + 1.0)
    pairs = 0.5 * max(graph.whole.weight_range[1], 0.0) * counts * (counts - 1.0)
    best = np.minimum(_largest_sums(loads), _largest_sums(graph.bonus) + pairs * (1.0 + 4.0 * _EPS))
    best = best + graph.extra
    return np.asarray(best + 4.0 * _EPS * (np.abs(best) + 2.0 * abs(graph.extra)))


def densest_of_any(graph: ConditionedGraph, tops: Floats) -> float:
    """No set that keeps the conditions is denser, by what so many nodes weigh at most."""
    sizes = np.arange(max(graph.least, 0), graph.most + 1)
    sizes = sizes[sizes + graph.paid > 0]
    best, counts = tops[sizes], sizes + graph.paid
    if graph.unit:
        return float((2.0 * (np.floor(best / graph.unit) * graph.unit) / counts).max())
    best = best + graph.rounding * counts + 8.0 * _EPS * np.abs(best)
    return float(np.nextafter(2.0 * best / counts, np.inf).max())


def _largest_sums(numbers: Floats) -> Floats:
    """At least the sum of the t largest, for t = 0, 1, ..., n."""
    falling = -np.sort(-numbers)
    sums = np.concatenate([[0.0], np.cumsum(falling, dtype=np.longdouble)])
    slack = np.concatenate([[0.0], np.cumsum(np.abs(falling))]) * 2.0**-52
    return np.asarray(sums + slack * (1.0 + numbers.size * 2.0**-11), dtype=np.float64)
