"""The nodes' own labels: many strings in two arrays, and the numbers that nodes have in a file."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Sequence
from typing import NamedTuple, overload

import numpy as np
import numpy.typing as npt

from flipwise.foundation.arrays import Ints
from flipwise.foundation.errors import InvalidFile
from flipwise.graphs.graph import ArcBlock, index_type

LARGEST_NODE = 10**18 - 1
"""Node numbers of a text file have at most 18 digits."""
SPARSE_NODES, SPARSE_FACTOR = 1 << 24, 64
"""With `base` given, isolated nodes up to these many, and these many times the arcs, are believed."""
MARKED_NODES, MARKED_FACTOR = 1 << 20, 16
"""Numbers up to these many, and these many times the arcs, are marked in a table; larger ones are sorted."""


class PackedNames(Sequence[str]):
    """Strings in one UTF-8 buffer, decoded when asked for; name i is `data[offsets[i]:offsets[i + 1]]`.

    Examples
    --------
    >>> names = PackedNames.pack(["Ada", "Zoë"])
    >>> names[1], len(names), list(names)
    ('Zoë', 2, ['Ada', 'Zoë'])
    """

    def __init__(self, data: npt.NDArray[np.uint8], offsets: npt.NDArray[np.int64]) -> None:
        self.data = data
        self.offsets = offsets

    @classmethod
    def pack(cls, names: Sequence[str]) -> PackedNames:
        """The packed form of a sequence of strings."""
        encoded = [name.encode() for name in names]
        offsets = np.zeros(len(encoded) + 1, dtype=np.int64)
        np.cumsum([len(name) for name in encoded], out=offsets[1:])
        return cls(np.frombuffer(b"".join(encoded), dtype=np.uint8), offsets)

    def __len__(self) -> int:
        return self.offsets.size - 1

    @overload
    def __getitem__(self, index: int) -> str: ...
    @overload
    def __getitem__(self, index: slice) -> list[str]: ...
    def __getitem__(self, index: int | slice) -> str | list[str]:
        if isinstance(index, slice):
            return [self[i] for i in range(*index.indices(len(self)))]
        position = int(index)
        if position < 0:
            position += len(self)
        if not 0 <= position < len(self):
            raise IndexError(f"name {index} of {len(self)}")
        return self.data[self.offsets[position] : self.offsets[position + 1]].tobytes().decode(errors="replace")

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and len(self) == len(other) and all(a == b for a, b in zip(self, other))

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        shown = ", ".join(repr(name) for name in self[:3])
        return f"PackedNames([{shown}{', ...' if len(self) > 3 else ''}], {len(self):,} names)"


def compact(column: npt.NDArray[np.int64]) -> Ints:
    """A copy, in 4 bytes a number where they fit."""
    return column.astype(np.int32 if int(column.max(initial=0)) < 2**31 else np.int64)


class Numbering(NamedTuple):
    """How the nodes of a file become 0..n-1."""

    n: int
    names: Sequence[int] | None
    """The numbers that the nodes have in the file; None where they are 0..n-1 already."""
    renumber: Callable[[ArcBlock], ArcBlock]
    """A block of the file with its nodes as 0..n-1."""


class NodeNumbers:
    """The node numbers that occur in a file, gathered block by block."""

    def __init__(self) -> None:
        self.largest = -1
        self.bounds = (0, LARGEST_NODE)
        """The numbers that may occur: any at first, those found afterwards (the file might change meanwhile)."""
        self._arcs = 0
        self._marked = np.zeros(0, dtype=np.bool_)
        self._sorted: npt.NDArray[np.int64] | None = None

    def add(self, block: ArcBlock) -> None:
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

    def numbering(self, base: int | None, what: str) -> Numbering:
        """The numbering of the nodes, once all blocks were added.

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
            return self._consecutive_numbering(base, n)
        numbers = np.flatnonzero(self._marked) if self._sorted is None else self._sorted
        n, first = numbers.size, int(numbers[0])
        self.bounds = (first, self.largest)
        if self.largest - first + 1 == n:
            return self._consecutive_numbering(first, n)
        names = array("q", numbers.astype(np.int64).tobytes())
        return Numbering(n, names, _by_search(numbers) if self._sorted is not None else _by_table(numbers))

    def _consecutive_numbering(self, first: int, n: int) -> Numbering:
        """The numbering of first, first + 1, ..., of n nodes."""
        return Numbering(n, None if first == 0 else range(first, first + n), shifted_by(first, n))


def shifted_by(base: int, n: int) -> Callable[[ArcBlock], ArcBlock]:
    """A function that renumbers base, base + 1, ..., of n nodes, to 0, 1, ..."""
    kind = index_type(n)

    def renumber(block: ArcBlock) -> ArcBlock:
        if base == 0 and all(side.dtype == kind for side in block[:2]):
            return block
        sources, targets = ((side - base).astype(kind) for side in block[:2])
        return ArcBlock(sources, targets, block.weights)

    return renumber


def _by_table(numbers: npt.NDArray[np.int64]) -> Callable[[ArcBlock], ArcBlock]:
    """A function that renumbers by looking every number up in a table as long as the largest one."""
    rank = np.zeros(int(numbers[-1]) + 1, dtype=index_type(numbers.size))
    rank[numbers] = np.arange(numbers.size, dtype=rank.dtype)
    return lambda block: ArcBlock(rank[block.sources], rank[block.targets], block.weights)


def _by_search(numbers: npt.NDArray[np.int64]) -> Callable[[ArcBlock], ArcBlock]:
    """A function that renumbers by bisection, for numbers too large for a table."""
    kind = index_type(numbers.size)

    def renumber(block: ArcBlock) -> ArcBlock:
        sources, targets = (np.searchsorted(numbers, side).astype(kind) for side in block[:2])
        return ArcBlock(sources, targets, block.weights)

    return renumber
