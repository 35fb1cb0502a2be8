"""The two ways to carry out an update: to the letter of the paper, and keeping only the flips that improve."""

from __future__ import annotations

import numpy as np

from flipwise.foundation.arrays import Floats, Ints
from flipwise.model.constraints import Cardinality, Constraint
from flipwise.model.objective import Objective, SupportsExchange, SupportsFlips


class LiteralUpdate:
    """Algorithm 1 to the letter: the gradient as it is, every selected coordinate flipped, the gradient made anew."""

    def __init__(self, objective: Objective) -> None:
        self.objective = objective

    def gauge(self, x: Floats, g: Floats) -> Floats:
        return g

    def make(self, x: Floats, g: Floats, moves: Ints, *, follow: bool) -> tuple[int, float]:
        if not moves.size:
            return 0, 0.0
        before = self.objective.value(x)
        x.reshape(-1)[moves.reshape(-1)] *= -1.0
        g[...] = self.objective.gradient(x)
        return moves.size, self.objective.value(x) - before

    def lower(self, alpha: tuple[float, float], flips: int) -> tuple[float, float]:
        """The paper keeps alpha as it is."""
        return alpha

    def finish(self, x: Floats, g: Floats) -> tuple[int, float]:
        """The paper has no step after the thresholds have let nothing through."""
        return 0, 0.0


class ImprovingUpdate:
    """The gauges fixed, alpha lowered until something passes, flips made only where the exact change is negative."""

    LEVELS = 4.0
    """Alpha is divided by this when it is lowered, and is 0 where that would be at most 0.1, the paper's least."""
    FEW = 4
    """Alpha is lowered when an update flips at most one coordinate in so many."""

    def __init__(self, objective: SupportsFlips, constraint: Constraint) -> None:
        self.objective = objective
        self.constraint = constraint
        self._one_count = isinstance(constraint, Cardinality)
        self._labels = constraint.labels(objective.shape) if constraint.swaps else None
        self.size = int(np.prod(objective.shape))

    def gauge(self, x: Floats, g: Floats) -> Floats:
        return self.objective.flip_gradient(x, g)

    def make(self, x: Floats, g: Floats, moves: Ints, *, follow: bool) -> tuple[int, float]:
        if not moves.size:
            return 0, 0.0
        if self.constraint.swaps:
            swaps, change = self.objective.swap_improving(x, g, moves)
            if follow and self._one_count and isinstance(self.objective, SupportsExchange):
                more, further = self.objective.exchange(x, g)
                swaps, change = swaps + more, change + further
            return 2 * swaps, change
        return self.objective.flip_improving(x, g, moves, follow=follow)

    def lower(self, alpha: tuple[float, float], flips: int) -> tuple[float, float]:
        """The next alpha: lower once an update changes little."""
        if self.FEW * flips > self.size:
            return alpha
        a1, a2 = (0.0 if a <= 0.1 * self.LEVELS else a / self.LEVELS for a in alpha)
        return a1, a2

    def finish(self, x: Floats, g: Floats) -> tuple[int, float]:
        """A single flip or swap that improves, wherever it is; (0, 0.0) is the proof that there is none."""
        if self._labels is not None:
            return self.make(x, g, self.objective.improving_swaps(x, g, self._labels), follow=True)
        improving = np.flatnonzero((x * self.objective.flip_gradient(x, g)).reshape(-1) > 0.0)
        return self.objective.flip_improving(x, g, improving, follow=True)
