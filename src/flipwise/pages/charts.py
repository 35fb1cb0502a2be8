"""Figures as inline SVG, written without a plotting library: light, and coloured by the page's own style sheet.

A chart has lines, points and bands on two axes, with a legend in HTML that wraps on narrow screens. The paper's 2-d
figure has routes over the corners of a square.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from itertools import pairwise

WIDTH, HEIGHT = 440, 290
TOP, BOTTOM, RIGHT = 12, 44, 14
COLOURS = 10
"""Colours of the style sheet; lines beyond them repeat the colours with other dashes."""
DASHES = ("", "6 3", "2 3", "8 3 2 3")
SIDE, EDGE = 300, 34
"""Of the figure of routes: its width, and the room around the square."""
Point = tuple[float, float]


@dataclass(frozen=True)
class Line:
    """A named curve. `colour` is an index into the page's colours.

    `steps` holds each value until the next one, `stems` draws a thin bar from zero to each value instead of a curve.
    """

    name: str
    points: Sequence[Point]
    colour: int = 0
    steps: bool = False
    markers: bool = False
    stroke: bool = True
    stems: bool = False


@dataclass(frozen=True)
class Band:
    """The region between two curves over common x: what is still possible between the found and the proven."""

    name: str
    points: Sequence[tuple[float, float, float]]
    colour: int = 0


@dataclass(frozen=True)
class Chart:
    """What to draw; `svg` draws it."""

    title: str
    x_label: str
    y_label: str
    lines: Sequence[Line]
    bands: Sequence[Band] = ()
    x_log: bool = False
    y_log: bool = False
    x_ticks: Sequence[float] = ()
    y_from_zero: bool = False
    note: str = ""

    def html(self) -> str:
        """The figure element: title, drawing, legend, note."""
        swatches: list[tuple[Line | Band, str]] = [(line, _swatch(line)) for line in self.lines]
        swatches += [(band, '<rect width="26" height="12" class="band"/>') for band in self.bands]
        legend = "".join(
            f'<li class="c{shown.colour % COLOURS}"><svg width="26" height="12" viewBox="0 0 26 12" aria-hidden="true">'
            f"{swatch}</svg>{escape(shown.name)}</li>"
            for shown, swatch in swatches
        )
        note = f"<p>{escape(self.note)}</p>" if self.note else ""
        return (
            f"<figure><h4>{escape(self.title)}</h4>{self.svg()}<figcaption>"
            f'<ul class="legend">{legend}</ul>{note}</figcaption></figure>'
        )

    def svg(self) -> str:
        """The drawing."""
        xs = [x for line in self.lines for x, _ in line.points] + [p[0] for b in self.bands for p in b.points]
        ys = [y for line in self.lines for _, y in line.points] + [
            v for b in self.bands for p in b.points for v in p[1:]
        ]
        if self.y_from_zero:
            ys.append(0.0)
        y = make_scale(ys, HEIGHT - BOTTOM, TOP, self.y_log)
        y_ticks = ticks(y)
        left = 26 + 6.4 * max((len(label) for label in labels(y_ticks)), default=1)
        x = make_scale(xs, left, WIDTH - RIGHT, self.x_log)
        x_ticks = list(self.x_ticks) or ticks(x)
        parts = [
            f'<svg class="chart" viewBox="0 0 {WIDTH} {HEIGHT}" role="img" '
            f'aria-label="{escape(self.title, quote=True)}">',
            *_axes(x, y, x_ticks, y_ticks, left),
            f'<text class="label" x="{(left + WIDTH - RIGHT) / 2:.1f}" y="{HEIGHT - 6}" text-anchor="middle">'
            f"{escape(self.x_label)}</text>",
            f'<text class="label" transform="translate(11 {(TOP + HEIGHT - BOTTOM) / 2:.1f}) rotate(-90)" '
            f'text-anchor="middle">{escape(self.y_label)}</text>',
            *(_band(band, x, y) for band in self.bands),
            *(_line(line, x, y) for line in reversed(self.lines)),  # the first on top
            "</svg>",
        ]
        return "".join(parts)


def _axes(x: Scale, y: Scale, x_ticks: Sequence[float], y_ticks: Sequence[float], left: float) -> list[str]:
    floor = HEIGHT - BOTTOM
    parts = []
    for value, label in zip(y_ticks, labels(y_ticks), strict=True):
        at = y(value)
        parts.append(f'<line class="grid" x1="{left:.1f}" x2="{WIDTH - RIGHT}" y1="{at:.1f}" y2="{at:.1f}"/>')
        parts.append(f'<text x="{left - 5:.1f}" y="{at + 4:.1f}" text-anchor="end">{label}</text>')
    for value in x_ticks:
        at = x(value)
        parts.append(f'<line class="tick" x1="{at:.1f}" x2="{at:.1f}" y1="{floor}" y2="{floor + 4}"/>')
        parts.append(f'<text x="{at:.1f}" y="{floor + 16}" text-anchor="middle">{short(value)}</text>')
    parts.append(f'<line class="axis" x1="{left:.1f}" x2="{WIDTH - RIGHT}" y1="{floor}" y2="{floor}"/>')
    return parts


def _line(line: Line, x: Scale, y: Scale) -> str:
    visible = [
        (x(px), y(py), px, py)
        for px, py in line.points
        if math.isfinite(px) and math.isfinite(py) and (px > 0 or not x.log) and (py > 0 or not y.log)
    ]
    if not visible:
        return ""
    parts = [f'<g class="c{line.colour % COLOURS}">']
    if line.stems:
        floor = y(max(0.0, y.low))
        path = "".join(f"M{at_x:.1f} {floor:.1f}V{at_y:.1f}" for at_x, at_y, _, _ in visible)
        parts.append(f'<path class="line" d="{path}"/>')
    elif line.stroke and len(visible) > 1:
        path = f"M{visible[0][0]:.1f} {visible[0][1]:.1f}"
        for at_x, at_y, _, _ in visible[1:]:
            path += f"H{at_x:.1f}V{at_y:.1f}" if line.steps else f"L{at_x:.1f} {at_y:.1f}"
        parts.append(f'<path class="line" d="{path}"{_dash(line.colour)}/>')
    if line.markers or (len(visible) == 1 and not line.stems):
        for at_x, at_y, px, py in visible:
            words = escape(f"{line.name}: {short(px)}, {short(py)}")
            parts.append(f"{_marker(line.colour, at_x, at_y)}<title>{words}</title></path>")
    parts.append("</g>")
    return "".join(parts)


def _band(band: Band, x: Scale, y: Scale) -> str:
    if not band.points:
        return ""
    upper = [f"{x(px):.1f} {y(high):.1f}" for px, _, high in band.points]
    lower = [f"{x(px):.1f} {y(low):.1f}" for px, low, _ in reversed(band.points)]
    return (
        f'<g class="c{band.colour % COLOURS}"><path class="band" d="M{" L".join(upper + lower)}Z"/>'
        f'<path class="edge" d="M{" L".join(upper)}"/></g>'
    )


def _marker(colour: int, x: float, y: float) -> str:
    disc = f"M{x - 3.2:.1f} {y:.1f}a3.2 3.2 0 1 0 6.4 0a3.2 3.2 0 1 0-6.4 0"
    square = f"M{x - 2.9:.1f} {y - 2.9:.1f}h5.8v5.8h-5.8z"
    diamond = f"M{x:.1f} {y - 3.8:.1f}l3.8 3.8l-3.8 3.8l-3.8-3.8z"
    triangle = f"M{x:.1f} {y - 3.6:.1f}l3.6 6.4h-7.2z"
    return f'<path class="dot" d="{(disc, square, diamond, triangle)[colour % 4]}">'


def _dash(colour: int) -> str:
    dash = DASHES[(colour // COLOURS) % len(DASHES)]
    return f' stroke-dasharray="{dash}"' if dash else ""


def _swatch(line: Line) -> str:
    stroke = f'<path class="line" d="M0 6H26"{_dash(line.colour)}/>' if line.stroke else ""
    return stroke + (f"{_marker(line.colour, 13, 6)}</path>" if line.markers else "")


@dataclass(frozen=True)
class Scale:
    """Maps [low, high] to [start, end], linearly or by logarithms."""

    low: float
    high: float
    start: float
    end: float
    log: bool = False

    def __call__(self, value: float) -> float:
        low, high, at = (self.low, self.high, value)
        if self.log:
            low, high, at = math.log10(low), math.log10(high), math.log10(max(value, self.low * 1e-3))
        share = 0.5 if high == low else (at - low) / (high - low)
        return self.start + share * (self.end - self.start)


def make_scale(values: Sequence[float], start: float, end: float, log: bool) -> Scale:
    """A scale that covers the values with a little room on both sides."""
    margin = 0.04
    usable = [v for v in values if math.isfinite(v) and (v > 0 or not log)] or [1.0]
    low, high = min(usable), max(usable)
    if log:
        width = max(math.log10(high / low), 0.1)
        return Scale(low / 10 ** (margin * width), high * 10 ** (margin * width), start, end, True)
    width = high - low or abs(high) * 0.1 or 1.0
    return Scale(low - margin * width, high + margin * width, start, end)


def ticks(scale: Scale) -> list[float]:
    """About five round values inside the scale."""
    return _log_ticks(scale) if scale.log else _linear_ticks(scale)


def _linear_ticks(scale: Scale) -> list[float]:
    raw = (scale.high - scale.low) / 5
    power = 10.0 ** math.floor(math.log10(raw))
    step = min((m * power for m in (1, 2, 2.5, 5, 10)), key=lambda s: abs(s - raw))
    first = math.ceil(scale.low / step)
    last = math.floor(scale.high / step)
    rounded = (round(i * step, 12) + 0.0 for i in range(first, last + 1))
    return [min(max(value, scale.low), scale.high) for value in rounded]  # rounding may step over an end


def _log_ticks(scale: Scale) -> list[float]:
    first, last = math.floor(math.log10(scale.low)), math.ceil(math.log10(scale.high))
    for factors in ((1,), (1, 3), (1, 2, 5), tuple(range(1, 10))):
        values = [f * 10.0**p for p in range(first, last + 1) for f in factors]
        inside = [v for v in values if scale.low <= v <= scale.high]
        if len(inside) >= 3:
            break
    return inside[:: max(1, math.ceil(len(inside) / 7))]


def labels(values: Sequence[float]) -> list[str]:
    """Short labels of ticks, all with the same unit and all different."""
    largest = max((abs(v) for v in values), default=0.0)
    texts = [short(v) for v in values]
    if 1e4 <= largest < 1e6 and all(v == 0 or abs(v) >= 100 for v in values):
        texts = ["0" if v == 0 else f"{v / 1e3:.4g}k" for v in values]
    if len(set(texts)) < len(set(values)):  # a narrow range far from zero needs more digits
        step = min(b - a for a, b in pairwise(sorted(set(values))))
        return [f"{v:.{max(0, -math.floor(math.log10(step) + 1e-9))}f}" for v in values]
    return texts


def short(value: float) -> str:
    """A number in a few characters: 16k, 23M, 0.004."""
    size = abs(value)
    if size >= 1e15 or (0 < size < 1e-4):
        return f"{value:.0e}".replace("e-0", "e-").replace("e+0", "e")
    for limit, letter in ((1e9, "G"), (1e6, "M"), (1e4, "k")):
        if size >= limit:
            scaled = value / (1e3 if letter == "k" else limit)
            return f"{scaled:.4g}{letter}"
    return f"{value:.4g}"


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
