"""The paper's 2-d figure: the routes of two methods over the corners of a square, on the contours of the objective."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from itertools import pairwise

SIDE = 300
EDGE = 34


def routes_figure(
    title: str, beta: tuple[float, float], routes: Sequence[Sequence[Sequence[float]]], colour: int, note: str
) -> str:
    """The routes from several starts; a step that is taken in both directions is drawn with two arrowheads."""
    steps = {(tuple(a), tuple(b)) for route in routes for a, b in pairwise(route) if list(a) != list(b)}
    arrows = []
    for a, b in sorted(steps):
        (x1, y1), (x2, y2) = _at(*a), _at(*b)
        length = ((x2 - x1) ** 2 + (y2 - y1) ** 2) ** 0.5
        ux, uy = (x2 - x1) / length, (y2 - y1) / length
        shift = 5.0 if (b, a) in steps else 0.0  # the way there and the way back side by side
        x1, y1, x2, y2 = x1 - uy * shift, y1 + ux * shift, x2 - uy * shift, y2 + ux * shift
        x1, y1, x2, y2 = x1 + 10 * ux, y1 + 10 * uy, x2 - 11 * ux, y2 - 11 * uy
        head = (
            f"M{x2 + 7 * ux:.1f} {y2 + 7 * uy:.1f}L{x2 - 4 * uy:.1f} {y2 + 4 * ux:.1f}"
            f"L{x2 + 4 * uy:.1f} {y2 - 4 * ux:.1f}Z"
        )
        arrows.append(f'<path class="line" d="M{x1:.1f} {y1:.1f}L{x2:.1f} {y2:.1f}"/><path class="dot" d="{head}"/>')
    centre = _at(-beta[0], -beta[1])
    unit = _at(1, 0)[0] - _at(0, 0)[0]
    circles = "".join(
        f'<circle class="contour" cx="{centre[0]:.1f}" cy="{centre[1]:.1f}" r="{0.35 * level * unit:.1f}"/>'
        for level in range(1, 7)
    )
    corners = "".join(
        f'<circle class="corner" cx="{_at(x, y)[0]:.1f}" cy="{_at(x, y)[1]:.1f}" r="5"/>'
        f'<text x="{_at(x, y)[0]:.1f}" y="{_at(x, y)[1] + (22 if y < 0 else -12):.1f}" text-anchor="middle">'
        f"({x:+d}, {y:+d})</text>"
        for x in (-1, 1)
        for y in (-1, 1)
    )
    best = _at(-1.0 if beta[0] > 0 else 1.0, -1.0 if beta[1] > 0 else 1.0)
    return (
        f'<figure><h4>{escape(title)}</h4><svg class="chart square" viewBox="0 0 {SIDE} {SIDE}" role="img" '
        f'aria-label="{escape(title, quote=True)}"><defs><clipPath id="square-{colour}"><rect width="{SIDE}" '
        f'height="{SIDE}"/></clipPath></defs><g clip-path="url(#square-{colour})">{circles}</g>'
        f'<rect class="frame" x="{_at(-1, 1)[0]}" y="{_at(-1, 1)[1]}" width="{2 * unit}" height="{2 * unit}"/>'
        f'<circle class="best" cx="{best[0]:.1f}" cy="{best[1]:.1f}" r="9"/>{corners}'
        f'<g class="c{colour}">{"".join(arrows)}</g></svg><figcaption><p>{escape(note)}</p></figcaption></figure>'
    )


def _at(x: float, y: float) -> tuple[float, float]:
    unit = (SIDE - 2 * EDGE) / 2
    return EDGE + (x + 1) * unit, EDGE + (1 - y) * unit
