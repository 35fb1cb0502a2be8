"""Node labels that take little memory: many strings in two arrays."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, overload

import numpy as np
import numpy.typing as npt


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
        """Pack a sequence of strings."""
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


def plain_names(names: Sequence[Any]) -> Sequence[Any] | None:
    """The labels, or None when they are just 0, 1, 2, ..."""
    if all(type(name) is int and name == i for i, name in enumerate(names)):
        return None
    return names
