"""A batch of flips shortened until it improves: for objectives whose flips cannot be accepted one by one cheaply."""

from __future__ import annotations

from typing import Protocol

import numpy as np

from flipwise.arrays import Floats, Ints


class BatchFlips(Protocol):
    """What the shortening needs: the exact change of a batch, and the batch carried out."""

    def flip_change(self, x: Floats, g: Floats, batch: Ints) -> float: ...

    def flip(self, x: Floats, g: Floats, batch: Ints) -> float: ...


def flip_shortened(objective: BatchFlips, x: Floats, g: Floats, batch: Ints) -> tuple[int, float]:
    """Flip the longest of `batch`, its first half, quarter, ... that lowers f; (0, 0.0) if the first does not."""
    size = batch.size
    while size:
        part = batch[:size]
        if _improves(objective, x, g, part):
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
    size = len(kept)
    while size:
        part = np.array(kept[:size], dtype=np.int64).reshape(-1)
        if _improves(objective, x, g, part):
            return size, objective.flip(x, g, part)
        size //= 2
    return 0, 0.0


def _improves(objective: BatchFlips, x: Floats, g: Floats, part: Ints) -> bool:
    """Whether the batch lowers f by more than rounding can feign."""
    size = float(np.abs(g.reshape(-1)[part]).sum())
    return objective.flip_change(x, g, part) < -1e-13 * size
