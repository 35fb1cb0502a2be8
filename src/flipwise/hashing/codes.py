"""Binary codes that know their number of bits and the order of the bits in a byte, and the formats of search engines.

    "faiss"          uint8 (n, ceil(n_bits/8)), order kept; the dimension of an `IndexBinary*` is 8 x columns
    "faiss-lsh"      uint8, little order: the bytes of `IndexLSH.sa_encode`
    "usearch"        uint8, big order; `Index(ndim=8 * columns, dtype="b1", metric="hamming")`, ndim counts bits
    "pgvector"       list of 0/1 text, any length, for columns `bit(n_bits)`
    "elasticsearch"  list of hex text padded to whole bytes, for `dense_vector` with `element_type: bit`
    "vespa"          int8, the big-order bytes reinterpreted, for `tensor<int8>` with distance `hamming`
    "ubinary"        uint8, big order, as in sentence-transformers
    "binary"         int8, the big-order bytes minus 128 (not reinterpreted), as in sentence-transformers
    "float"          float32 -1/+1 for Qdrant and Weaviate (0/1 would collapse where the engine thresholds by sign)

Padding bits are 0 on both sides of a comparison, so they never change a Hamming distance.
"""

from __future__ import annotations

import difflib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from flipwise.foundation.arrays import Signs
from flipwise.foundation.checks import check_whole
from flipwise.foundation.errors import InvalidInput

Bytes = npt.NDArray[np.uint8]
"""Packed codes, one row of bytes for each item."""
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
    used = n_bits % 8
    return np.uint8((0xFF << (8 - used)) & 0xFF if bit_order == "big" else (1 << used) - 1)


def _check_order(bit_order: object) -> None:
    if bit_order not in ("big", "little"):
        raise InvalidInput(f'`bit_order` must be "big" or "little", got {bit_order!r}.')


def _big(codes: Codes) -> Bytes:
    return codes.with_order("big").packed


def _from_bytes(data: Any, n_bits: int) -> Codes:
    return Codes(_typed(data, np.uint8), n_bits)


def _typed(data: Any, dtype: type[np.generic]) -> Any:
    array = np.asarray(data)
    if array.dtype != dtype or array.ndim != 2:
        raise InvalidInput(f"`data` must be a {np.dtype(dtype)} array of shape (n, bytes), got {array.dtype}.")
    return array


def _from_text(data: Any, n_bits: int) -> Codes:
    rows = list(data)
    for row in rows:
        if not isinstance(row, str) or len(row) != n_bits or set(row) - {"0", "1"}:
            raise InvalidInput(f"`data` must be texts of {n_bits} characters 0 and 1, got {row!r}.")
    return Codes.from_bits(np.array([[int(c) for c in row] for row in rows]).reshape(len(rows), n_bits))


def _from_hex(data: Any, n_bits: int) -> Codes:
    try:
        rows = [np.frombuffer(bytes.fromhex(row), dtype=np.uint8) for row in data]
    except (TypeError, ValueError) as error:
        raise InvalidInput(f"`data` must be hex texts: {error}.") from None
    width = (n_bits + 7) // 8
    if any(row.size != width for row in rows):
        raise InvalidInput(f"`data` must be hex texts of {width} bytes for {n_bits} bits.")
    return Codes(np.array(rows, dtype=np.uint8).reshape(len(rows), width), n_bits)


def _from_float(data: Any, n_bits: int) -> Codes:
    array = np.asarray(data)
    if array.ndim != 2 or array.shape[1] != n_bits or not (np.abs(array) == 1).all():
        raise InvalidInput(f"`data` must hold -1 and +1 in shape (n, {n_bits}).")
    return Codes.from_signs(array)


class _Format(NamedTuple):
    encode: Callable[[Codes], Any]
    decode: Callable[[Any, int], Codes]


_FLOAT = _Format(lambda codes: codes.signs().astype(np.float32), _from_float)
_FORMATS = {
    "faiss": _Format(lambda codes: codes.packed, _from_bytes),
    "faiss-lsh": _Format(
        lambda codes: codes.with_order("little").packed,
        lambda data, n_bits: Codes(_typed(data, np.uint8), n_bits, "little"),
    ),
    "usearch": _Format(_big, _from_bytes),
    "pgvector": _Format(lambda codes: ["".join(map(str, row)) for row in codes.bits().tolist()], _from_text),
    "elasticsearch": _Format(lambda codes: [row.tobytes().hex() for row in _big(codes)], _from_hex),
    "vespa": _Format(
        lambda codes: _big(codes).view(np.int8),
        lambda data, n_bits: Codes(_typed(data, np.int8).view(np.uint8), n_bits),
    ),
    "ubinary": _Format(_big, _from_bytes),
    "binary": _Format(
        lambda codes: (_big(codes).astype(np.int16) - 128).astype(np.int8),
        lambda data, n_bits: Codes((_typed(data, np.int8).astype(np.int16) + 128).astype(np.uint8), n_bits),
    ),
    "float": _FLOAT,
    "qdrant": _FLOAT,
    "weaviate": _FLOAT,
}


def export_codes(codes: Codes, to: str) -> Any:
    """Codes in a format of the table above.

    Parameters
    ----------
    codes
        The codes.
    to
        "faiss", "faiss-lsh", "usearch", "pgvector", "elasticsearch", "vespa", "ubinary", "binary", "float", or
        "qdrant" / "weaviate" for "float".

    Examples
    --------
    >>> from flipwise.hashing import Codes, export_codes
    >>> codes = Codes.from_signs([[1, -1, -1, -1, -1, -1, -1, -1]])
    >>> export_codes(codes, "vespa").tolist(), export_codes(codes, "binary").tolist(), export_codes(codes, "pgvector")
    ([[-128]], [[0]], ['10000000'])
    """
    if not isinstance(codes, Codes):
        raise InvalidInput(f"`codes` must be flipwise.hashing.Codes, got {type(codes).__name__}.")
    return _find(to, "to").encode(codes)


def import_codes(data: Any, n_bits: int, source: str) -> Codes:
    """The inverse of `export_codes`; "faiss" bytes are taken to be in big order.

    Examples
    --------
    >>> from flipwise.hashing import import_codes
    >>> import_codes(["1010", "0001"], 4, "pgvector").signs().tolist()
    [[1, -1, 1, -1], [-1, -1, -1, 1]]
    """
    return _find(source, "source").decode(data, n_bits)


def _find(name: str, argument: str) -> _Format:
    known = list(_FORMATS)
    if name not in known:
        near = difflib.get_close_matches(str(name), known, n=1)
        hint = f' Did you mean "{near[0]}"?' if near else ""
        raise InvalidInput(f"`{argument}` must be one of {', '.join(known)}, got {name!r}.{hint}")
    return _FORMATS[name]
