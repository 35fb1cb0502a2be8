"""Batches of flips and swaps: shortened until they improve, evaluated where nothing cheaper is known.

A batch is shortened until it improves, for objectives whose flips cannot be accepted one by one cheaply; and an
objective that only has a value and a gradient gets flips whose changes are differences of evaluations.
"""

from __future__ import annotations

from typing import Protocol

import numpy as np

from flipwise.foundation.arrays import Floats, Ints
from flipwise.model.evaluation import Slopes
from flipwise.model.objective import Objective

PAIR_LIMIT = 4096
"""How many single flips or swaps are tried at the end of a descent; of more, those that look best."""


class BatchFlips(Protocol):
    """What the shortening needs: the exact change of a batch, and the batch carried out."""

    def flip_change(self, x: Floats, g: Floats, batch: Ints) -> float: ...

    def flip(self, x: Floats, g: Floats, batch: Ints) -> float: ...


def flip_shortened(objective: BatchFlips, x: Floats, g: Floats, moves: Ints) -> tuple[int, float]:
    """Make the longest of `moves`, its first half, quarter, ... that lowers f; (0, 0.0) if the first does not.

    A move is one index, or a row of indices that flip together.
    """
    size = len(moves)
    while size:
        part = moves[:size].reshape(-1)
        rounding = 1e-13 * float(np.abs(g.reshape(-1)[part]).sum())  # f must fall by more than rounding can feign
        if objective.flip_change(x, g, part) < -rounding:
            return size, objective.flip(x, g, part)
        size //= 2
    return 0, 0.0


def swap_shortened(objective: BatchFlips, x: Floats, g: Floats, pairs: Ints) -> tuple[int, float]:
    """The same for swaps; pairs that share an index with an earlier one are left out."""
    seen: set[int] = set()
    kept = []
    for i, j in pairs.tolist():
        if i not in seen and j not in seen:
            seen.update((i, j))
            kept.append((i, j))
    return flip_shortened(objective, x, g, np.array(kept, dtype=np.int64).reshape(-1, 2))


class EvaluatedFlips:
    """Any objective with the interface of `SupportsFlips`; every accepted batch costs one gradient."""

    def __init__(self, objective: Objective) -> None:
        self.objective = objective
        self.shape = objective.shape
        self.looked_at_all = True
        """Whether the last search for a single improving move has looked at every one there is."""
        self._known: tuple[bytes, float] | None = None

    def value(self, x: Floats) -> float:
        key = x.tobytes()
        if self._known is None or self._known[0] != key:
            self._known = (key, self.objective.value(x))
        return self._known[1]

    def gradient(self, x: Floats) -> Floats:
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
        return self.objective.value(flipped) - before

    def flip(self, x: Floats, g: Floats, batch: Ints) -> float:
        before = self.value(x)
        x.reshape(-1)[batch] *= -1.0
        g[...] = self.objective.gradient(x)
        after = self.objective.value(x)
        self._known = (x.tobytes(), after)
        return after - before

    def flip_improving(self, x: Floats, g: Floats, batch: Ints, *, follow: bool) -> tuple[int, float]:
        steepest_first = batch[np.argsort(-(x * g).reshape(-1)[batch], kind="stable")]
        flips, change = flip_shortened(self, x, g, steepest_first)
        if flips or not follow:
            return flips, change
        # Nothing in the gradient's order improves: try every coordinate by itself, most promising first.
        return self._flip_singly(x, g)

    def swap_improving(self, x: Floats, g: Floats, pairs: Ints) -> tuple[int, float]:
        slopes = g.reshape(-1)
        order = np.argsort(slopes[pairs[:, 1]] - slopes[pairs[:, 0]], kind="stable")
        return swap_shortened(self, x, g, pairs[order])

    def improving_swaps(self, x: Floats, g: Floats, labels: Ints) -> Ints:
        candidates, self.looked_at_all = single_moves(x, g, labels)
        for pair in candidates:
            if self.flip_change(x, g, pair) < -_value_slack(self.value(x)):
                return np.asarray(pair[None, :])
        return np.empty((0, 2), dtype=np.int64)

    def _flip_singly(self, x: Floats, g: Floats) -> tuple[int, float]:
        """The single flips that improve, made one after another in one pass; (0, 0.0) when none does."""
        candidates, self.looked_at_all = single_moves(x, g, None)
        flips, change = 0, 0.0
        for one in candidates:
            if self.flip_change(x, g, one) < -_value_slack(self.value(x)):
                change += self.flip(x, g, one)
                flips += 1
        return flips, change


def single_moves(x: Floats, g: Slopes, labels: Ints | None) -> tuple[Ints, bool]:
    """All single flips, or with `labels` all pairs (i at +1, j at -1) of a group, in rows, the most promising first.

    Of more than `PAIR_LIMIT` only those that look best; says whether these are all there are.
    """
    spins, slopes = x.reshape(-1), g.reshape(-1)
    if labels is None:
        order = np.argsort(-spins * slopes, kind="stable")
        return order[:PAIR_LIMIT, None], order.size <= PAIR_LIMIT
    ones: Ints = np.flatnonzero(spins > 0)
    zeros: Ints = np.flatnonzero(spins < 0)
    ones = ones[np.lexsort((-slopes[ones], labels[ones]))]
    zeros = zeros[np.lexsort((slopes[zeros], labels[zeros]))]
    groups = np.arange(int(labels.max(initial=-1)) + 2)
    ends, other_ends = np.searchsorted(labels[ones], groups), np.searchsorted(labels[zeros], groups)
    complete = True
    candidates = []
    for group in groups[:-1]:
        out: Ints = ones[ends[group] : ends[group + 1]]
        into: Ints = zeros[other_ends[group] : other_ends[group + 1]]
        if out.size * into.size > PAIR_LIMIT:
            complete = False
            out, into = _best_sides(out, into)
        candidates.append(np.stack(np.meshgrid(out, into, indexing="ij"), axis=-1).reshape(-1, 2))
    pairs = np.concatenate(candidates) if candidates else np.empty((0, 2), dtype=np.int64)
    return pairs[np.argsort(slopes[pairs[:, 1]] - slopes[pairs[:, 0]], kind="stable")], complete


def _best_sides(out: Ints, into: Ints) -> tuple[Ints, Ints]:
    """The best of both sides, so many that there are at most `PAIR_LIMIT` pairs; all of a side that is short."""
    side = min(out.size, into.size, int(PAIR_LIMIT**0.5))
    longer = max(1, PAIR_LIMIT // side)
    return (out[:side], into[:longer]) if out.size <= into.size else (out[:longer], into[:side])


def _value_slack(value: float) -> float:
    """A difference of values below this is rounding, not an improvement."""
    return 1e-12 * abs(value)
