"""From the node numbers of a file to 0..n-1."""

from __future__ import annotations

from array import array
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from flipwise.errors import InvalidFile
from flipwise.graphs.build import Arcs, index_type
from flipwise.graphs.readers.text import shift

SPARSE_NODES, SPARSE_FACTOR = 1 << 24, 64
"""With `base` given, isolated nodes up to these many, and these many times the arcs, are believed."""


def number_nodes(blocks: list[Arcs], largest: int, base: int | None, what: str) -> tuple[int, Sequence[int] | None]:
    """Renumber the arcs in place; return the number of nodes and their numbers in the file (None: 0..n-1).

    With `base` None the nodes are the numbers that occur, in ascending order; otherwise all from `base` to the largest.
    """
    arcs = sum(block.sources.size for block in blocks)
    if base is not None:
        n = largest + 1 - base
        if n > SPARSE_NODES + SPARSE_FACTOR * arcs:
            raise InvalidFile(
                f"{what}: the largest node number, {largest:,}, would make {n:,} nodes for {arcs:,} arcs. "
                "Leave `base` out to keep only the nodes that occur."
            )
        shift(blocks, base)
        return n, None if base == 0 else range(base, largest + 1)
    numbers = _numbers_by_marking(blocks, largest) if largest < (1 << 20) + 16 * arcs else _numbers_by_sorting(blocks)
    n = numbers.size
    first = int(numbers[0])
    if largest - first + 1 == n:
        shift(blocks, first)
        return n, None if first == 0 else range(first, largest + 1)
    if largest < (1 << 20) + 16 * arcs:
        rank = np.zeros(largest + 1, dtype=index_type(n))
        rank[numbers] = np.arange(n, dtype=rank.dtype)
        for p, block in enumerate(blocks):
            blocks[p] = Arcs(rank[block.sources], rank[block.targets], block.weights)
    else:
        for p, block in enumerate(blocks):
            sources, targets = (np.searchsorted(numbers, side).astype(index_type(n)) for side in block[:2])
            blocks[p] = Arcs(sources, targets, block.weights)
    return n, array("q", numbers.tobytes())


def _numbers_by_marking(blocks: list[Arcs], largest: int) -> npt.NDArray[np.int64]:
    seen = np.zeros(largest + 1, dtype=np.bool_)
    for block in blocks:
        seen[block.sources] = True
        seen[block.targets] = True
    return np.flatnonzero(seen).astype(np.int64)


def _numbers_by_sorting(blocks: list[Arcs]) -> npt.NDArray[np.int64]:
    """For numbers too far apart to mark; only distinct numbers are held."""
    numbers = np.empty(0, dtype=np.int64)
    for block in blocks:
        numbers = np.unique(np.concatenate([numbers, np.unique(block.sources), np.unique(block.targets)]))
    return numbers
