"""The paper's 2-d figure: the routes of a method over the corners of a square, on the contours of the objective."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from itertools import pairwise

SIDE, EDGE = 300, 34
"""The width of the figure, and the room around the square."""


def routes_figure(
    title: str, beta: tuple[float, float], routes: Sequence[Sequence[Sequence[float]]], colour: int, note: str
) -> str:
    """The figure element of the routes from several starts on min 1/2 |x + beta|^2; the ring marks the optimum.

    A step that is taken in both directions is drawn as two arrows side by side.
    """
    steps = {(tuple(a), tuple(b)) for route in routes for a, b in pairwise(route) if list(a) != list(b)}
    arrows = "".join(_arrow(a, b, aside=(b, a) in steps) for a, b in sorted(steps))
    unit = _position(1, 0)[0] - _position(0, 0)[0]
    left, top = _position(-1, 1)
    best_x, best_y = _position(-1.0 if beta[0] > 0 else 1.0, -1.0 if beta[1] > 0 else 1.0)
    return (
        f'<figure><h4>{escape(title)}</h4><svg class="chart square" viewBox="0 0 {SIDE} {SIDE}" role="img" '
        f'aria-label="{escape(title, quote=True)}"><defs><clipPath id="square-{colour}"><rect width="{SIDE}" '
        f'height="{SIDE}"/></clipPath></defs><g clip-path="url(#square-{colour})">{_contours(beta, unit)}</g>'
        f'<rect class="frame" x="{left}" y="{top}" width="{2 * unit}" height="{2 * unit}"/>'
        f'<circle class="best" cx="{best_x:.1f}" cy="{best_y:.1f}" r="9"/>{_corners()}'
        f'<g class="c{colour}">{arrows}</g></svg><figcaption><p>{escape(note)}</p></figcaption></figure>'
    )


def _arrow(a: Sequence[float], b: Sequence[float], *, aside: bool) -> str:
    """An arrow from a to b that leaves room for the corners; `aside`, to the right of the straight line."""
    (x1, y1), (x2, y2) = _position(*a), _position(*b)
    length = ((x2 - x1) ** 2 + (y2 - y1) ** 2) ** 0.5
    ux, uy = (x2 - x1) / length, (y2 - y1) / length
    shift = 5.0 if aside else 0.0
    x1, y1, x2, y2 = x1 - uy * shift, y1 + ux * shift, x2 - uy * shift, y2 + ux * shift
    x1, y1, x2, y2 = x1 + 10 * ux, y1 + 10 * uy, x2 - 11 * ux, y2 - 11 * uy
    head = (
        f"M{x2 + 7 * ux:.1f} {y2 + 7 * uy:.1f}L{x2 - 4 * uy:.1f} {y2 + 4 * ux:.1f}L{x2 + 4 * uy:.1f} {y2 - 4 * ux:.1f}Z"
    )
    return f'<path class="line" d="M{x1:.1f} {y1:.1f}L{x2:.1f} {y2:.1f}"/><path class="dot" d="{head}"/>'


def _contours(beta: tuple[float, float], unit: float) -> str:
    """Circles around the unconstrained minimum, -beta."""
    x, y = _position(-beta[0], -beta[1])
    return "".join(
        f'<circle class="contour" cx="{x:.1f}" cy="{y:.1f}" r="{0.35 * level * unit:.1f}"/>' for level in range(1, 7)
    )


def _corners() -> str:
    """The four feasible points with their coordinates."""
    parts = []
    for corner_x in (-1, 1):
        for corner_y in (-1, 1):
            x, y = _position(corner_x, corner_y)
            parts.append(
                f'<circle class="corner" cx="{x:.1f}" cy="{y:.1f}" r="5"/>'
                f'<text x="{x:.1f}" y="{y + (22 if corner_y < 0 else -12):.1f}" text-anchor="middle">'
                f"({corner_x:+d}, {corner_y:+d})</text>"
            )
    return "".join(parts)


def _position(x: float, y: float) -> tuple[float, float]:
    """Where a point of the plane stands in the drawing."""
    unit = (SIDE - 2 * EDGE) / 2
    return EDGE + (x + 1) * unit, EDGE + (1 - y) * unit
