"""The two drawings of the subgraph page, as inline SVG that follows the page's colours."""

from __future__ import annotations

import base64
import math
import struct
import zlib
from collections.abc import Sequence

import numpy as np

_WIDTH, _HEIGHT = 640, 300
_LEFT, _RIGHT, _TOP, _BOTTOM = 52, 16, 14, 38


def profile_svg(sizes: Sequence[int], densities: Sequence[float], bounds: Sequence[float | None]) -> str:
    """Density against k on a logarithmic axis, the room up to the proven bound as a band."""
    highest = 1.05 * max([*densities, *(bound for bound in bounds if bound is not None), 1e-9])
    low, high = math.log(sizes[0]), math.log(sizes[-1])

    def x(k: float) -> float:
        return _LEFT + (math.log(k) - low) / (high - low or 1.0) * (_WIDTH - _LEFT - _RIGHT)

    def y(value: float) -> float:
        return _HEIGHT - _BOTTOM - value / highest * (_HEIGHT - _TOP - _BOTTOM)

    parts = [f"<svg viewBox='0 0 {_WIDTH} {_HEIGHT}' role='img' aria-label='density and upper bound against k'>"]
    for tick in _ticks(highest):
        parts.append(
            f"<line x1='{_LEFT}' x2='{_WIDTH - _RIGHT}' y1='{y(tick):.1f}' y2='{y(tick):.1f}' stroke='var(--line)'/>"
        )
        parts.append(f"<text x='{_LEFT - 8}' y='{y(tick) + 4:.1f}' text-anchor='end'>{tick:g}</text>")
    for k in _thinned(sizes):
        parts.append(f"<text x='{x(k):.1f}' y='{_HEIGHT - _BOTTOM + 18}' text-anchor='middle'>{k:,}</text>")
    parts.append(f"<text x='{_WIDTH - _RIGHT}' y='{_HEIGHT - 4}' text-anchor='end'>k, nodes in the subgraph</text>")
    proven = [(k, d, b) for k, d, b in zip(sizes, densities, bounds) if b is not None]
    if proven:
        upper = [f"{x(k):.1f},{y(b):.1f}" for k, _, b in proven]
        lower = [f"{x(k):.1f},{y(d):.1f}" for k, d, _ in reversed(proven)]
        parts.append(f"<polygon points='{' '.join(upper + lower)}' fill='var(--band)'/>")
        parts.append(f"<polyline points='{' '.join(upper)}' fill='none' stroke='var(--bound)' stroke-dasharray='5 4'/>")
    line = " ".join(f"{x(k):.1f},{y(d):.1f}" for k, d in zip(sizes, densities))
    parts.append(f"<polyline points='{line}' fill='none' stroke='var(--found)' stroke-width='2'/>")
    for k, d in zip(sizes, densities):
        parts.append(
            f"<circle cx='{x(k):.1f}' cy='{y(d):.1f}' r='3.5' fill='var(--found)'>"
            f"<title>k={k}: {d:.3f}</title></circle>"
        )
    parts.append("</svg><p class='soft'><span style='color:var(--found)'>●</span> found &nbsp; ")
    parts.append(
        "<span style='color:var(--bound)'>- -</span> proven upper bound; between them is what is not known</p>"
    )
    return "".join(parts)


def adjacency_svg(block: np.ndarray) -> str:
    """A square of cells, one for each joined pair: a picture used as a mask, so that it follows the page's colours."""
    side = max(len(block), 1)
    picture = base64.b64encode(_mask_png(block)).decode()
    return (
        f"<svg viewBox='0 0 {side} {side}' role='img' aria-label='adjacency of the subgraph'>"
        f"<mask id='m{side}'><image width='{side}' height='{side}' style='image-rendering:pixelated' "
        f"href='data:image/png;base64,{picture}'/></mask>"
        f"<rect width='{side}' height='{side}' fill='var(--line)' opacity='.35'/>"
        f"<rect width='{side}' height='{side}' fill='var(--cell)' mask='url(#m{side})'/></svg>"
    )


def _mask_png(block: np.ndarray) -> bytes:
    """A PNG of one bit a pixel, white where the block is True."""
    side = max(len(block), 1)
    rows = np.packbits(np.asarray(block, dtype=bool).reshape(side, -1), axis=1)
    raw = np.concatenate([np.zeros((side, 1), np.uint8), rows], axis=1).tobytes()

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    header = struct.pack(">IIBBBBB", side, side, 1, 0, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(raw, 9)) + chunk(b"IEND", b"")


def _ticks(highest: float) -> list[float]:
    step = 10.0 ** math.floor(math.log10(highest))
    for part in (0.1, 0.2, 0.5, 1.0):
        if highest / (step * part) <= 6:
            step *= part
            break
    return [step * i for i in range(int(highest / step) + 1)]


def _thinned(sizes: Sequence[int]) -> list[int]:
    """Sizes far enough apart on the logarithmic axis for their labels."""
    kept = [sizes[0]]
    room = (math.log(sizes[-1]) - math.log(sizes[0]) or 1.0) / 12
    for k in sizes[1:]:
        if math.log(k) - math.log(kept[-1]) >= room:
            kept.append(k)
    return kept
