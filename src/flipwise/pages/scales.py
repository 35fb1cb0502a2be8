"""From data to positions: linear and logarithmic scales, round tick values, short labels."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise


@dataclass(frozen=True)
class Scale:
    """Maps [low, high] to [start, end], linearly or by logarithms."""

    low: float
    high: float
    start: float
    end: float
    log: bool = False

    def __call__(self, value: float) -> float:
        """The position of a value."""
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
    """Multiples of 1, 2, 2.5, 5 or 10 times a power of ten."""
    raw = (scale.high - scale.low) / 5
    power = 10.0 ** math.floor(math.log10(raw))
    step = min((m * power for m in (1, 2, 2.5, 5, 10)), key=lambda s: abs(s - raw))
    first = math.ceil(scale.low / step)
    last = math.floor(scale.high / step)
    rounded = (round(i * step, 12) + 0.0 for i in range(first, last + 1))
    return [min(max(value, scale.low), scale.high) for value in rounded]  # rounding may step over an end


def _log_ticks(scale: Scale) -> list[float]:
    """Powers of ten, with round multiples between them where the scale has fewer than three powers; at most seven."""
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
