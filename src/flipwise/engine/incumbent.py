"""The best point of a run so far, and what is proven of it."""

from __future__ import annotations

import math
from dataclasses import dataclass

from flipwise.foundation.arrays import Floats


def relative_gap(value: float, bound: float | None) -> float | None:
    """|bound - value| / |value|: how far the answer can be from the best; None without a bound."""
    if bound is None:
        return None
    difference = abs(bound - value)
    if difference == 0.0:
        return 0.0
    return math.inf if value == 0.0 else difference / abs(value)


@dataclass
class Incumbent:
    """The best point so far, its value, and the best proven lower bound."""

    x: Floats | None = None
    value: float = math.inf
    bound: float | None = None

    def offer(self, x: Floats, value: float) -> bool:
        """Remember a point if it is the best; returns whether it is. One that is proven stays: less was rounded."""
        if self.x is not None and (not value < self.value or (self.bound is not None and self.bound >= self.value)):
            return False
        self.x, self.value = x.copy(), value
        return True

    def prove(self, x: Floats, value: float) -> None:
        """Take a point that is a minimum, whatever the rounded values of others say."""
        self.x, self.value, self.bound = x.copy(), value, value

    def raise_bound(self, bound: float) -> None:
        """Keep a proven bound if it is better than the one known."""
        self.bound = bound if self.bound is None else max(self.bound, bound)
