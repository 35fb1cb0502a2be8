"""Flips for an objective that only has a value and a gradient: changes are differences of evaluations."""

from __future__ import annotations

import numpy as np

from flipwise.arrays import Floats, Ints
from flipwise.objectives.batches import flip_shortened, swap_shortened
from flipwise.objectives.protocol import Objective, SupportsFlips

PAIR_LIMIT = 4096
"""How many exchanges are tried one by one at the end of a descent; of more, those that look best."""


class EvaluatedFlips:
    """Any objective with the interface of `SupportsFlips`; every accepted batch costs one gradient."""

    def __init__(self, objective: Objective) -> None:
        self.objective = objective
        self.shape = objective.shape
        self.evaluations = 0
        self._known: tuple[bytes, float] | None = None

    def value(self, x: Floats) -> float:
        key = x.tobytes()
        if self._known is None or self._known[0] != key:
            self.evaluations += 1
            self._known = (key, self.objective.value(x))
        return self._known[1]

    def gradient(self, x: Floats) -> Floats:
        self.evaluations += 1
        return self.objective.gradient(x)

    def value_at(self, x: Floats, g: Floats) -> float:
        return self.value(x)

    def flip_gradient(self, x: Floats, g: Floats) -> Floats:
        """The gradient itself: to first order, `-2 * x_i * g_i` is the change of one flip."""
        return g.copy()

    def flip_change(self, x: Floats, g: Floats, batch: Ints) -> float:
        before = self.value(x)
        flipped = x.copy()
        flipped.reshape(-1)[batch] *= -1.0
        self.evaluations += 1
        return self.objective.value(flipped) - before

    def flip(self, x: Floats, g: Floats, batch: Ints) -> float:
        before = self.value(x)
        x.reshape(-1)[batch] *= -1.0
        g[...] = self.gradient(x)
        return self.value(x) - before

    def flip_improving(self, x: Floats, g: Floats, batch: Ints, *, follow: bool) -> tuple[int, float]:
        if not follow:
            return flip_shortened(self, x, g, batch)
        flips, change = flip_shortened(self, x, g, batch)
        if flips:
            return flips, change
        # Nothing in the gradient's order improves: try every coordinate by itself, most promising first.
        promise = (x * g).reshape(-1)
        for i in np.argsort(-promise, kind="stable")[:PAIR_LIMIT]:
            one = np.array([i])
            if self.flip_change(x, g, one) < -_slack(self.value(x)):
                return 1, self.flip(x, g, one)
        return 0, 0.0

    def swap_improving(self, x: Floats, g: Floats, pairs: Ints) -> tuple[int, float]:
        return swap_shortened(self, x, g, pairs)

    def improving_swaps(self, x: Floats, g: Floats, labels: Ints) -> Ints:
        spins, slopes = x.reshape(-1), g.reshape(-1)
        candidates = []
        for group in range(int(labels.max(initial=-1)) + 1):
            ones = np.flatnonzero((spins > 0) & (labels == group))
            zeros = np.flatnonzero((spins < 0) & (labels == group))
            side = max(1, int(PAIR_LIMIT**0.5))
            if ones.size * zeros.size > PAIR_LIMIT:
                ones = ones[np.argsort(-slopes[ones], kind="stable")[:side]]
                zeros = zeros[np.argsort(slopes[zeros], kind="stable")[:side]]
            candidates.append(np.stack(np.meshgrid(ones, zeros, indexing="ij"), axis=-1).reshape(-1, 2))
        pairs = np.concatenate(candidates) if candidates else np.empty((0, 2), dtype=np.int64)
        order = np.argsort(-(slopes[pairs[:, 0]] - slopes[pairs[:, 1]]), kind="stable")
        for pair in pairs[order]:
            if self.flip_change(x, g, pair) < -_slack(self.value(x)):
                return np.asarray(pair[None, :])
        return np.empty((0, 2), dtype=np.int64)


def _slack(value: float) -> float:
    """A difference of values below this is rounding, not an improvement."""
    return 1e-12 * abs(value)


def with_flips(objective: Objective) -> SupportsFlips:
    """The objective itself where it supports flips, otherwise the evaluated stand-in."""
    return objective if isinstance(objective, SupportsFlips) else EvaluatedFlips(objective)
