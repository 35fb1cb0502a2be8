"""Binary codes that know their number of bits and the order of the bits in a byte.

Padding bits are 0 on both sides of a comparison, so they never change a Hamming distance.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from flipwise.foundation.arrays import Signs
from flipwise.foundation.checks import check_whole
from flipwise.foundation.errors import InvalidInput

Bytes = npt.NDArray[np.uint8]
"""Packed codes, one row of bytes for each item."""
CodeMatrix = Signs
"""Codes as -1/+1, a row for each item or label set."""
BitOrder = Literal["big", "little"]
"""Whether the first bit of a code is the most ("big") or the least ("little") significant bit of its first byte."""


@dataclass(frozen=True, eq=False)
class Codes:
    """The codes of n items, packed eight bits to a byte.

    Hamming distances do not depend on the bit order as long as both sides agree on it, so a mix-up gives wrong
    neighbours without an error; that is why the order travels with the bytes.

    Parameters
    ----------
    packed
        Bytes of shape (n, ceil(n_bits / 8)). Padding bits at the end of the last byte must be 0.
    n_bits
        The number of bits of a code.
    bit_order
        "big" (as in `numpy.packbits`, sentence-transformers, pgvector) or "little" (as in faiss' own encoders).

    Examples
    --------
    >>> from flipwise.hashing import Codes
    >>> codes = Codes.from_signs([[1, -1, -1, 1], [-1, -1, 1, 1]])
    >>> codes.packed.tolist(), codes.n_bits
    ([[144], [48]], 4)
    >>> codes.signs().tolist()
    [[1, -1, -1, 1], [-1, -1, 1, 1]]
    """

    packed: Bytes
    n_bits: int
    bit_order: BitOrder = "big"

    def __post_init__(self) -> None:
        check_whole("n_bits", self.n_bits, 1)
        _check_order(self.bit_order)
        packed = np.asarray(self.packed)
        width = (self.n_bits + 7) // 8
        if packed.dtype != np.uint8 or packed.ndim != 2 or packed.shape[1] != width:
            raise InvalidInput(
                f"`packed` must be a uint8 array of shape (n, {width}) for {self.n_bits} bits, "
                f"got {packed.dtype} of shape {packed.shape}."
            )
        if self.n_bits % 8 and packed.size and (packed[:, -1] & ~_last_byte_mask(self.n_bits, self.bit_order)).any():
            raise InvalidInput(
                f"`packed` has ones after bit {self.n_bits}: padding bits must be 0. "
                "Is `bit_order` right, and `n_bits` the length the codes were packed with?"
            )
        object.__setattr__(self, "packed", np.ascontiguousarray(packed))
        object.__setattr__(self, "n_bits", int(self.n_bits))

    @classmethod
    def from_signs(cls, values: npt.ArrayLike, bit_order: BitOrder = "big") -> Codes:
        """Codes from real values of shape (n, n_bits): a bit is 1 where the value is >= 0 (sgn(0) = 1)."""
        array = np.asarray(values)
        if array.ndim != 2:
            raise InvalidInput(f"`values` must have shape (n, n_bits), got shape {array.shape}.")
        if array.dtype.kind == "f" and np.isnan(array).any():
            raise InvalidInput("`values` must not hold NaN: it has no sign.")
        return cls.from_bits(array >= 0, bit_order)

    @classmethod
    def from_bits(cls, bits: npt.ArrayLike, bit_order: BitOrder = "big") -> Codes:
        """Codes from 0/1 or boolean values of shape (n, n_bits)."""
        array = np.asarray(bits)
        if array.ndim != 2 or array.shape[1] == 0:
            raise InvalidInput(f"`bits` must have shape (n, n_bits) with n_bits >= 1, got shape {array.shape}.")
        if array.dtype != np.bool_ and not ((array == 0) | (array == 1)).all():
            raise InvalidInput("`bits` must hold only 0 and 1; use `Codes.from_signs` for -1/+1.")
        _check_order(bit_order)
        return cls(np.packbits(array.astype(np.bool_), axis=1, bitorder=bit_order), array.shape[1], bit_order)

    def bits(self) -> Bytes:
        """The codes as 0/1 values, one byte a bit."""
        return np.unpackbits(self.packed, axis=1, count=self.n_bits, bitorder=self.bit_order)

    def signs(self) -> Signs:
        """The codes as -1/+1 values."""
        return (2 * self.bits().astype(np.int8) - 1).astype(np.int8)

    def with_order(self, bit_order: BitOrder) -> Codes:
        """The same codes in another bit order."""
        _check_order(bit_order)
        return self if bit_order == self.bit_order else Codes.from_bits(self.bits(), bit_order)

    def words(self) -> npt.NDArray[np.uint64]:
        """The bytes in 64-bit words, padded with zeros: what the search kernels read."""
        n, width = self.packed.shape
        if width % 8 == 0:
            return self.packed.view(np.uint64)
        padded = np.zeros((n, 8 * ((width + 7) // 8)), dtype=np.uint8)
        padded[:, :width] = self.packed
        return padded.view(np.uint64)

    def __len__(self) -> int:
        return int(self.packed.shape[0])

    def __getitem__(self, rows: Any) -> Codes:
        return Codes(np.atleast_2d(self.packed[rows]), self.n_bits, self.bit_order)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Codes):
            return NotImplemented
        return self.n_bits == other.n_bits and np.array_equal(self.packed, other.with_order(self.bit_order).packed)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"Codes(n={len(self)}, n_bits={self.n_bits}, bit_order={self.bit_order!r})"


def check_match(queries: Codes, database: Codes) -> Codes:
    """`queries` in the bit order of `database`, refused when the lengths differ."""
    for name, codes in (("queries", queries), ("database", database)):
        if not isinstance(codes, Codes):
            raise InvalidInput(
                f"`{name}` must be flipwise.hashing.Codes, got {type(codes).__name__}: wrap packed bytes as "
                "Codes(packed, n_bits), or -1/+1 values by Codes.from_signs(values)."
            )
    if queries.n_bits != database.n_bits:
        raise InvalidInput(f"`queries` have {queries.n_bits} bits, `database` has {database.n_bits}.")
    return queries.with_order(database.bit_order)


def _last_byte_mask(n_bits: int, bit_order: BitOrder) -> np.uint8:
    """The bits of the last byte that belong to a code."""
    used = n_bits % 8
    return np.uint8((0xFF << (8 - used)) & 0xFF if bit_order == "big" else (1 << used) - 1)


def _check_order(bit_order: object) -> None:
    """Raise unless the bit order is one of the two."""
    if bit_order not in ("big", "little"):
        raise InvalidInput(f'`bit_order` must be "big" or "little", got {bit_order!r}.')


def random_codes(shape: tuple[int, int], rng: np.random.Generator) -> CodeMatrix:
    """Codes of which every bit is as likely -1 as +1."""
    return (2 * rng.integers(0, 2, size=shape, dtype=np.int8) - 1).astype(np.int8)
