"""Charts as inline SVG, written without a plotting library: light, and coloured by the page's own style sheet.

A chart has lines, points and bands on two axes, with a legend in HTML that wraps on narrow screens, or with the names
of its lines at their ends. A page that shows one has `CHART_STYLE` in its style sheet.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from importlib import resources

from flipwise.pages.scales import Scale, labels, make_scale, short, ticks

WIDTH, HEIGHT = 440, 290
TOP, BOTTOM, RIGHT = 12, 44, 14
"""The room around the axes; that on the left follows from the labels."""
NAME_HEIGHT = 13.0
"""From one name at the end of a line to the next."""
COLOURS = 10
"""Colours of the style sheet; lines beyond them repeat the colours with other dashes."""
DASHES = ("", "6 3", "2 3", "8 3 2 3")
Point = tuple[float, float]


CHART_STYLE = (resources.files("flipwise.pages") / "assets" / "charts.css").read_text(encoding="utf-8")
"""The style sheet of charts, for light and dark pages."""


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
    """What to draw; `svg` draws it, `html` adds the title and the legend.

    `named_ends` writes the name of each line at its end instead of into the legend: for a few lines with short names.
    """

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
    named_ends: bool = False

    def html(self) -> str:
        """The figure element: title, drawing, legend, note."""
        swatches: list[tuple[Line | Band, str]] = []
        if not self.named_ends:
            swatches += [(line, _legend_sample(line)) for line in self.lines]
        swatches += [(band, '<rect width="26" height="12" class="band"/>') for band in self.bands]
        legend = "".join(
            f'<li class="c{shown.colour % COLOURS}"><svg width="26" height="12" viewBox="0 0 26 12" aria-hidden="true">'
            f"{swatch}</svg>{escape(shown.name)}</li>"
            for shown, swatch in swatches
        )
        listed = f'<ul class="legend">{legend}</ul>' if legend else ""
        note = f"<p>{escape(self.note)}</p>" if self.note else ""
        return f"<figure><h4>{escape(self.title)}</h4>{self.svg()}<figcaption>{listed}{note}</figcaption></figure>"

    def svg(self) -> str:
        """The drawing."""
        x, y = self._axis_scales()
        return "".join(
            [
                f'<svg class="chart" viewBox="0 0 {WIDTH} {HEIGHT}" role="img" '
                f'aria-label="{escape(self.title, quote=True)}">',
                *self._axes_svg(x, y),
                *(_band_svg(band, x, y) for band in self.bands),
                *(_line_svg(line, x, y) for line in reversed(self.lines)),  # the first on top
                *(_names_svg(self.lines, x, y) if self.named_ends else ()),
                "</svg>",
            ]
        )

    def _axis_scales(self) -> tuple[Scale, Scale]:
        """The scales of both axes: they cover all points, and leave room for the labels on the left."""
        xs = [x for line in self.lines for x, _ in line.points] + [p[0] for b in self.bands for p in b.points]
        ys = [y for line in self.lines for _, y in line.points]
        ys += [value for band in self.bands for point in band.points for value in point[1:]]
        if self.y_from_zero:
            ys.append(0.0)
        y = make_scale(ys, HEIGHT - BOTTOM, TOP, self.y_log)
        left = 26 + 6.4 * max((len(label) for label in labels(ticks(y))), default=1)
        names = max((len(line.name) for line in self.lines), default=0) if self.named_ends else 0
        return make_scale(xs, left, WIDTH - RIGHT - 6.2 * names, self.x_log), y

    def _axes_svg(self, x: Scale, y: Scale) -> list[str]:
        """Grid lines, ticks, and the labels of both axes."""
        left, right, floor = x.start, x.end, HEIGHT - BOTTOM
        parts = []
        y_ticks = ticks(y)
        for value, label in zip(y_ticks, labels(y_ticks), strict=True):
            at = y(value)
            parts.append(f'<line class="grid" x1="{left:.1f}" x2="{right:.1f}" y1="{at:.1f}" y2="{at:.1f}"/>')
            parts.append(f'<text x="{left - 5:.1f}" y="{at + 4:.1f}" text-anchor="end">{label}</text>')
        for value in self.x_ticks or ticks(x):
            at = x(value)
            parts.append(f'<line class="tick" x1="{at:.1f}" x2="{at:.1f}" y1="{floor}" y2="{floor + 4}"/>')
            parts.append(f'<text x="{at:.1f}" y="{floor + 16}" text-anchor="middle">{short(value)}</text>')
        return [
            *parts,
            f'<line class="axis" x1="{left:.1f}" x2="{right:.1f}" y1="{floor}" y2="{floor}"/>',
            f'<text class="label" x="{(left + right) / 2:.1f}" y="{HEIGHT - 6}" text-anchor="middle">'
            f"{escape(self.x_label)}</text>",
            f'<text class="label" transform="translate(11 {(TOP + floor) / 2:.1f}) rotate(-90)" '
            f'text-anchor="middle">{escape(self.y_label)}</text>',
        ]


def _line_svg(line: Line, x: Scale, y: Scale) -> str:
    """A curve with its markers; points that a logarithmic axis cannot show are left out."""
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
        parts.append(f'<path class="line" d="{path}"{_dash_attribute(line.colour)}/>')
    if line.markers or (len(visible) == 1 and not line.stems):
        for at_x, at_y, px, py in visible:
            words = escape(f"{line.name}: {short(px)}, {short(py)}")
            parts.append(f"{_marker_svg(line.colour, at_x, at_y)}<title>{words}</title></path>")
    parts.append("</g>")
    return "".join(parts)


def _names_svg(lines: Sequence[Line], x: Scale, y: Scale) -> list[str]:
    """The names of the lines to the right of the axes, each as near to the line's last point as the others allow."""
    last = [([py for _, py in line.points if math.isfinite(py) and (py > 0 or not y.log)], line) for line in lines]
    ends = [(y(heights[-1]), line) for heights, line in last if heights]
    ends.sort(key=lambda end: end[0])
    heights = [height for height, _ in ends]
    for i in range(1, len(heights)):  # downwards, then upwards again where the last are below the axis
        heights[i] = max(heights[i], heights[i - 1] + NAME_HEIGHT)
    lowest = float(HEIGHT - BOTTOM)
    for i in reversed(range(len(heights))):
        heights[i] = min(heights[i], lowest)
        lowest = heights[i] - NAME_HEIGHT
    return [
        f'<text class="name c{line.colour % COLOURS}" x="{x.end + 6:.1f}" y="{at + 4:.1f}">{escape(line.name)}</text>'
        for at, (_, line) in zip(heights, ends, strict=True)
    ]


def _band_svg(band: Band, x: Scale, y: Scale) -> str:
    """The region, and its upper edge dashed."""
    if not band.points:
        return ""
    upper = [f"{x(px):.1f} {y(high):.1f}" for px, _, high in band.points]
    lower = [f"{x(px):.1f} {y(low):.1f}" for px, low, _ in reversed(band.points)]
    return (
        f'<g class="c{band.colour % COLOURS}"><path class="band" d="M{" L".join(upper + lower)}Z"/>'
        f'<path class="edge" d="M{" L".join(upper)}"/></g>'
    )


def _marker_svg(colour: int, x: float, y: float) -> str:
    """The opening tag of a disc, square, diamond or triangle, so that lines differ in more than their colour."""
    disc = f"M{x - 3.2:.1f} {y:.1f}a3.2 3.2 0 1 0 6.4 0a3.2 3.2 0 1 0-6.4 0"
    square = f"M{x - 2.9:.1f} {y - 2.9:.1f}h5.8v5.8h-5.8z"
    diamond = f"M{x:.1f} {y - 3.8:.1f}l3.8 3.8l-3.8 3.8l-3.8-3.8z"
    triangle = f"M{x:.1f} {y - 3.6:.1f}l3.6 6.4h-7.2z"
    return f'<path class="dot" d="{(disc, square, diamond, triangle)[colour % 4]}">'


def _dash_attribute(colour: int) -> str:
    """The attribute of the dashes of a line; none for the first ten colours."""
    dash = DASHES[(colour // COLOURS) % len(DASHES)]
    return f' stroke-dasharray="{dash}"' if dash else ""


def _legend_sample(line: Line) -> str:
    """What stands for the line in the legend."""
    stroke = f'<path class="line" d="M0 6H26"{_dash_attribute(line.colour)}/>' if line.stroke else ""
    return stroke + (f"{_marker_svg(line.colour, 13, 6)}</path>" if line.markers else "")
