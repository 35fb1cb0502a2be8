"""A found subgraph as a drawing with names: the nodes on a circle, neighbours near each other, edges as bows inside.

In a dense set the edges say little one by one, and any other place for the nodes has names upon names. On a circle each
name has room of its own; the order is that of the Fiedler vector, so groups inside the set show as bundles.
"""

from __future__ import annotations

import math
from html import escape

import numpy as np

from flipwise.foundation.arrays import Floats, Ints
from flipwise.graphs.graph import Graph

DRAWN_NODES = 300
"""Larger sets have too little room for their names."""
DRAWN_EDGES = 12_000
"""The heaviest edges are drawn where there are more."""
LETTERS = 20
"""Longer names are cut; the whole name is shown when the pointer rests on it."""
LETTER, LINE = 6.6, 12.5
"""Width and height of a letter, in the units of the drawing."""
LEAST_RADIUS = 120.0
SHADES = 4
"""Sizes of the dots, by the degree inside."""


def network_svg(inner: Graph, names: list[str]) -> str:
    """The drawing of a graph of at most `DRAWN_NODES` nodes."""
    n = inner.n
    order = circle_order(inner)
    place = np.empty(n, dtype=np.int64)
    place[order] = np.arange(n)
    radius = max(LEAST_RADIUS, n * LINE / (2 * math.pi))
    angles = 2 * math.pi * place / max(n, 1) - math.pi / 2
    points = radius * np.stack([np.cos(angles), np.sin(angles)], axis=1)
    shown = [name if len(name) <= LETTERS else name[: LETTERS - 1] + "…" for name in names]
    room = radius + 14 + LETTER * max((len(name) for name in shown), default=1)
    side = 2 * room
    bows, drawn = _edge_paths(inner, points)
    degrees = inner.degrees
    most = max(int(degrees.max(initial=1)), 1)
    parts = [
        f"<svg class='network' viewBox='{-room:.0f} {-room:.0f} {side:.0f} {side:.0f}' role='img' "
        f"style='min-width:{side / 1.25:.0f}px' aria-label='the subgraph: {n} nodes, {inner.n_edges} edges'>",
        f"<g class='bows' style='stroke-opacity:{_edge_opacity(drawn):.3f}'>{bows}</g>",
    ]
    for i in range(n):
        x, y = points[i]
        turn = math.degrees(angles[i])
        left = math.cos(angles[i]) < -1e-9
        size = 2.0 + 2.5 * math.ceil(SHADES * degrees[i] / most) / SHADES
        title = escape(f"{names[i]}: {degrees[i]} of {n - 1} others")
        anchor, turned, shift = ("end", turn + 180.0, -8.0) if left else ("start", turn, 8.0)
        parts.append(
            f"<g transform='translate({x:.1f} {y:.1f})'><title>{title}</title><circle class='node' r='{size:.1f}'/>"
            f"<text transform='rotate({turned:.1f})' x='{shift}' y='4' text-anchor='{anchor}'>"
            f"{escape(shown[i])}</text></g>"
        )
    return "".join([*parts, "</svg>"])


def circle_order(inner: Graph) -> Ints:
    """The nodes in the order of the Fiedler vector, so that neighbours stand near each other."""
    if inner.n < 3:
        return np.arange(inner.n)
    weights: Floats = np.abs(inner.to_scipy().toarray())
    laplacian = np.diag(weights.sum(axis=0)) - weights
    vectors = np.linalg.eigh(laplacian)[1]
    order: Ints = np.argsort(vectors[:, 1].round(9), kind="stable")
    return order


def _edge_paths(inner: Graph, points: Floats) -> tuple[str, int]:
    """The edges bent towards the middle, a path for each node with those to later ones, and how many there are."""
    rows = np.repeat(np.arange(inner.n), inner.degrees)
    once = rows < inner.indices
    first, second = rows[once], inner.indices[once]
    if first.size > DRAWN_EDGES:
        size = np.ones(inner.n_arcs) if inner.weights is None else np.abs(inner.weights)
        heaviest = np.sort(np.argsort(-size[once], kind="stable")[:DRAWN_EDGES])
        first, second = first[heaviest], second[heaviest]
    middle = 0.35 * (points[first] + points[second]) / 2
    paths: list[str] = []
    for i in np.unique(first).tolist():
        bows = (
            f"M{points[i, 0]:.0f} {points[i, 1]:.0f}Q{middle[e, 0]:.0f} {middle[e, 1]:.0f} "
            f"{points[second[e], 0]:.0f} {points[second[e], 1]:.0f}"
            for e in np.flatnonzero(first == i).tolist()
        )
        paths.append(f"<path d='{''.join(bows)}'/>")
    return "".join(paths), int(first.size)


def _edge_opacity(edges: int) -> float:
    """Fainter where there are more."""
    return float(np.clip(10.0 / math.sqrt(edges + 1), 0.1, 0.8))
