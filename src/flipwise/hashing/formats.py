"""Codes as search engines and vector stores read them.

"faiss"          uint8 (n, ceil(n_bits/8)), order kept; the dimension of an `IndexBinary*` is 8 x columns
"faiss-lsh"      uint8, little order: the bytes of `IndexLSH.sa_encode`
"usearch"        uint8, big order; `Index(ndim=8 * columns, dtype="b1", metric="hamming")`, ndim counts bits
"pgvector"       list of 0/1 text, any length, for columns `bit(n_bits)`
"elasticsearch"  list of hex text padded to whole bytes, for `dense_vector` with `element_type: bit`
"vespa"          int8, the big-order bytes reinterpreted, for `tensor<int8>` with distance `hamming`
"ubinary"        uint8, big order, as in sentence-transformers
"binary"         int8, the big-order bytes minus 128 (not reinterpreted), as in sentence-transformers
"float"          float32 -1/+1 for Qdrant and Weaviate (0/1 would collapse where the engine thresholds by sign)
"""

from __future__ import annotations

import difflib
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from flipwise.foundation.errors import InvalidInput
from flipwise.hashing.codes import Bytes, Codes


def _big_order(codes: Codes) -> Bytes:
    """The bytes of the codes, first bit most significant."""
    return codes.with_order("big").packed


def _from_bytes(data: Any, n_bits: int) -> Codes:
    """Codes from bytes in big order."""
    return Codes(_byte_rows(data, np.uint8), n_bits)


def _byte_rows(data: Any, dtype: type[np.generic]) -> Any:
    """The data as rows of bytes of the type that the format has; others are refused."""
    array = np.asarray(data)
    if array.dtype != dtype or array.ndim != 2:
        raise InvalidInput(f"`data` must be a {np.dtype(dtype)} array of shape (n, bytes), got {array.dtype}.")
    return array


def _from_text(data: Any, n_bits: int) -> Codes:
    """Codes from texts of 0 and 1."""
    rows = list(data)
    for row in rows:
        if not isinstance(row, str) or len(row) != n_bits or set(row) - {"0", "1"}:
            raise InvalidInput(f"`data` must be texts of {n_bits} characters 0 and 1, got {row!r}.")
    return Codes.from_bits(np.array([[int(c) for c in row] for row in rows]).reshape(len(rows), n_bits))


def _from_hex(data: Any, n_bits: int) -> Codes:
    """Codes from hex texts of whole bytes."""
    try:
        rows = [np.frombuffer(bytes.fromhex(row), dtype=np.uint8) for row in data]
    except (TypeError, ValueError) as error:
        raise InvalidInput(f"`data` must be hex texts: {error}.") from None
    width = (n_bits + 7) // 8
    if any(row.size != width for row in rows):
        raise InvalidInput(f"`data` must be hex texts of {width} bytes for {n_bits} bits.")
    return Codes(np.array(rows, dtype=np.uint8).reshape(len(rows), width), n_bits)


def _from_float(data: Any, n_bits: int) -> Codes:
    """Codes from numbers -1 and +1."""
    array = np.asarray(data)
    if array.ndim != 2 or array.shape[1] != n_bits or not (np.abs(array) == 1).all():
        raise InvalidInput(f"`data` must hold -1 and +1 in shape (n, {n_bits}).")
    return Codes.from_signs(array)


class _Format(NamedTuple):
    """How codes become the data of a format, and how the data become codes (given the number of bits)."""

    encode: Callable[[Codes], Any]
    decode: Callable[[Any, int], Codes]


_FLOAT = _Format(lambda codes: codes.signs().astype(np.float32), _from_float)
_FORMATS = {
    "faiss": _Format(lambda codes: codes.packed, _from_bytes),
    "faiss-lsh": _Format(
        lambda codes: codes.with_order("little").packed,
        lambda data, n_bits: Codes(_byte_rows(data, np.uint8), n_bits, "little"),
    ),
    "usearch": _Format(_big_order, _from_bytes),
    "pgvector": _Format(lambda codes: ["".join(map(str, row)) for row in codes.bits().tolist()], _from_text),
    "elasticsearch": _Format(lambda codes: [row.tobytes().hex() for row in _big_order(codes)], _from_hex),
    "vespa": _Format(
        lambda codes: _big_order(codes).view(np.int8),
        lambda data, n_bits: Codes(_byte_rows(data, np.int8).view(np.uint8), n_bits),
    ),
    "ubinary": _Format(_big_order, _from_bytes),
    "binary": _Format(
        lambda codes: (_big_order(codes).astype(np.int16) - 128).astype(np.int8),
        lambda data, n_bits: Codes((_byte_rows(data, np.int8).astype(np.int16) + 128).astype(np.uint8), n_bits),
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
    return _find_format(to, "to").encode(codes)


def import_codes(data: Any, n_bits: int, source: str) -> Codes:
    """The inverse of `export_codes`; "faiss" bytes are taken to be in big order.

    Examples
    --------
    >>> from flipwise.hashing import import_codes
    >>> import_codes(["1010", "0001"], 4, "pgvector").signs().tolist()
    [[1, -1, 1, -1], [-1, -1, -1, 1]]
    """
    return _find_format(source, "source").decode(data, n_bits)


def _find_format(name: str, argument: str) -> _Format:
    """The format of this name; an unknown one is an error that names the argument and lists the known ones."""
    known = list(_FORMATS)
    if name not in known:
        near = difflib.get_close_matches(str(name), known, n=1)
        hint = f' Did you mean "{near[0]}"?' if near else ""
        raise InvalidInput(f"`{argument}` must be one of {', '.join(known)}, got {name!r}.{hint}")
    return _FORMATS[name]
