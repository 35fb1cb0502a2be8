"""What a graph looks like, and where a set of its nodes sits: degrees and core numbers, of all nodes and of the set."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from flipwise.foundation.arrays import Ints
from flipwise.pages.charts import Chart, Line

CORNERS = 160
"""Points of a curve."""


def place_charts(degrees: Ints, cores: Ints, chosen: Ints, called: str) -> list[Chart]:
    """Two charts: how many nodes have a degree, and a core number, of at least so much."""
    said = "How many nodes have at least this {}: in the graph, and in the set."
    return [
        Chart(
            title,
            label,
            "nodes",
            [Line("all nodes", at_least(values), 7), Line(called, at_least(values[chosen]), 0)],
            x_log=True,
            y_log=True,
            note=said.format(label),
        )
        for title, label, values in (
            ("Degrees", "degree", degrees),
            ("Core numbers", "core number", cores),
        )
    ]


def at_least(values: Ints) -> Sequence[tuple[float, float]]:
    """For each value from 1 on, how many are at least that; at most so many points, evenly by their logarithm."""
    positive = np.sort(values[values > 0])
    if not positive.size:
        return []
    found, first = np.unique(positive, return_index=True)
    if found.size > CORNERS:
        wanted = np.geomspace(found[0], found[-1], CORNERS)
        kept = np.unique(np.minimum(np.searchsorted(found, wanted), found.size - 1))
        found, first = found[kept], first[kept]
    return [(float(value), float(positive.size - at)) for value, at in zip(found, first, strict=True)]
