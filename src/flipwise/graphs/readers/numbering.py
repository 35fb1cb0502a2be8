"""From the node numbers of a file to 0..n-1."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Sequence

import numpy as np
import numpy.typing as npt

from flipwise.errors import InvalidFile
from flipwise.graphs.build import Arcs, index_type
from flipwise.graphs.readers.text import LARGEST_NODE, from_base

SPARSE_NODES, SPARSE_FACTOR = 1 << 24, 64
"""With `base` given, isolated nodes up to these many, and these many times the arcs, are believed."""
MARKED_NODES, MARKED_FACTOR = 1 << 20, 16
"""Numbers up to these many, and these many times the arcs, are marked in a table; larger ones are sorted."""

Change = Callable[[Arcs], Arcs]


class NodeNumbers:
    """The node numbers that occur in a file, gathered block by block."""

    def __init__(self) -> None:
        self.largest = -1
        self.bounds = (0, LARGEST_NODE)
        """The numbers that may occur: any at first, those found once settled (the file might change meanwhile)."""
        self._arcs = 0
        self._marked = np.zeros(0, dtype=np.bool_)
        self._sorted: npt.NDArray[np.int64] | None = None

    def look(self, block: Arcs) -> None:
        """Take in the numbers of a block."""
        self._arcs += block.sources.size
        self.largest = max(self.largest, *(int(side.max(initial=-1)) for side in block[:2]))
        if self._sorted is None and self.largest >= MARKED_NODES + MARKED_FACTOR * self._arcs:
            self._sorted = np.flatnonzero(self._marked).astype(np.int64)
            self._marked = np.zeros(0, dtype=np.bool_)
        if self._sorted is not None:
            self._sorted = np.unique(np.concatenate([self._sorted, *(np.unique(side) for side in block[:2])]))
            return
        if self.largest >= self._marked.size:
            grown = np.zeros(max(self.largest + 1, 2 * self._marked.size), dtype=np.bool_)
            grown[: self._marked.size] = self._marked
            self._marked = grown
        for side in block[:2]:
            self._marked[side] = True

    def settle(self, base: int | None, what: str) -> tuple[int, Sequence[int] | None, Change]:
        """The number of nodes, their numbers in the file (None: 0..n-1), and how to change a block.

        With `base` None the nodes are the numbers that occur, ascending; otherwise all from `base` to the largest.
        """
        self.bounds = (base or 0, self.largest)
        if base is not None:
            n = self.largest + 1 - base
            if n > SPARSE_NODES + SPARSE_FACTOR * self._arcs:
                raise InvalidFile(
                    f"{what}: the largest node number, {self.largest:,}, would make {n:,} nodes for {self._arcs:,} "
                    "arcs. Leave `base` out to keep only the nodes that occur."
                )
            return n, None if base == 0 else range(base, self.largest + 1), from_base(base, n)
        numbers = np.flatnonzero(self._marked) if self._sorted is None else self._sorted
        n, first = numbers.size, int(numbers[0])
        self.bounds = (first, self.largest)
        if self.largest - first + 1 == n:
            return n, None if first == 0 else range(first, self.largest + 1), from_base(first, n)
        names = array("q", numbers.astype(np.int64).tobytes())
        return n, names, _by_search(numbers) if self._sorted is not None else _by_table(numbers, self.largest)


def _by_table(numbers: npt.NDArray[np.int64], largest: int) -> Change:
    rank = np.zeros(largest + 1, dtype=index_type(numbers.size))
    rank[numbers] = np.arange(numbers.size, dtype=rank.dtype)
    return lambda block: Arcs(rank[block.sources], rank[block.targets], block.weights)


def _by_search(numbers: npt.NDArray[np.int64]) -> Change:
    kind = index_type(numbers.size)

    def changed(block: Arcs) -> Arcs:
        sources, targets = (np.searchsorted(numbers, side).astype(kind) for side in block[:2])
        return Arcs(sources, targets, block.weights)

    return changed
