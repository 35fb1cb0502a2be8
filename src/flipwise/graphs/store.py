"""The compact file of a graph: its CSR arrays as they are, memory-mapped when read.

Layout: 8 bytes of magic, then little-endian uint32 version, length and CRC-32 of a JSON header, the header, then the
arrays, each at a multiple of 64 bytes. The header names each array's type, length, place and CRC-32. Files are written
beside their target and moved into place, so that a reader never meets half a file.
"""

from __future__ import annotations

import json
import mmap
import os
import struct
import zlib
from array import array
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from flipwise.foundation.atomic import atomic_file
from flipwise.foundation.errors import InvalidFile, InvalidInput
from flipwise.graphs.graph import Graph
from flipwise.graphs.names import PackedNames
from flipwise.kernels.arcs import first_one_way_arc, rows_are_simple

MAGIC = b"\x89FLIPG\r\n"
"""A high bit and both line ends: a transfer as text breaks it, and is noticed."""
VERSION = 1
_PREFIX = struct.Struct("<8sIII")
_ALIGN = 64
_CHECK_BYTES = 1 << 24
_TYPES = {"<i8", "<i4", "<f8", "|u1"}


def write_store(graph: Graph, path: Path) -> None:
    """Write the compact file."""
    arrays: dict[str, npt.NDArray[Any]] = {"indptr": graph.indptr, "indices": graph.indices}
    if graph.weights is not None:
        arrays["weights"] = graph.weights
    kind, extra = _packed_names(graph.names)
    arrays |= extra
    sections = {}
    place = 0
    for name, values in arrays.items():
        arrays[name] = stored = np.ascontiguousarray(values, dtype=values.dtype.newbyteorder("<"))
        place = -(-place // _ALIGN) * _ALIGN
        sections[name] = {"type": stored.dtype.str, "size": stored.size, "at": place, "crc": _checksum(stored)}
        place += stored.nbytes
    first = graph.names[0] if kind == "range" and graph.names else 0
    header = {"nodes": graph.n, "names": kind, "first": first, "notes": list(graph.notes), "arrays": sections}
    text = json.dumps(header).encode()
    # Places are counted from the end of the header, itself padded to the alignment.
    text += b" " * (-(_PREFIX.size + len(text)) % _ALIGN)
    with atomic_file(path) as file:
        file.write(_PREFIX.pack(MAGIC, VERSION, len(text), zlib.crc32(text)) + text)
        written = 0
        for name, stored in arrays.items():
            at = sections[name]["at"]
            assert isinstance(at, int)
            file.write(b"\0" * (at - written))
            file.write(stored.data.cast("B") if stored.size else b"")
            written = at + stored.nbytes


def open_store(path: Path, *, verify: bool = True) -> Graph:
    """The graph of a compact file, its arrays mapped into memory.

    `verify` checks every byte once, and that the rows are those of a simple undirected graph with finite weights.
    """
    with path.open("rb") as file:
        size = os.fstat(file.fileno()).st_size
        prefix = file.read(_PREFIX.size)
        if len(prefix) < _PREFIX.size or not prefix.startswith(MAGIC):
            raise InvalidFile(f"{path}, byte 0: not a Flipwise graph file.")
        _, version, length, crc = _PREFIX.unpack(prefix)
        if version != VERSION:
            raise InvalidFile(
                f"{path}, byte 8: version {version} of the format; this Flipwise reads version {VERSION}."
            )
        text = file.read(length) if length <= size else b""
        if len(text) != length or zlib.crc32(text) != crc:
            raise InvalidFile(f"{path}, byte {_PREFIX.size}: the header is damaged or cut off.")
        # Copy-on-write: nothing is ever written back, and kernels see ordinary arrays.
        mapped = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_COPY)
    try:
        header = json.loads(text)
        start = _PREFIX.size + length
        arrays = {
            name: _mapped_array(path, mapped, start, name, section, verify)
            for name, section in header["arrays"].items()
        }
        indptr, indices, weights = arrays["indptr"], arrays["indices"], arrays.get("weights")
        names = _unpacked_names(header["names"], int(header["first"]), int(header["nodes"]), arrays)
        notes = tuple(str(note) for note in header["notes"])
    except (KeyError, TypeError, ValueError, AttributeError, OverflowError, RecursionError) as error:
        if isinstance(error, InvalidFile):
            raise
        raise InvalidFile(f"{path}, byte {_PREFIX.size}: the header lacks or misstates a field: {error}") from None
    _check_structure(path, int(header["nodes"]), indptr, indices, weights, names, verify)
    return Graph(indptr, indices, weights, names, notes)


def _mapped_array(
    path: Path, mapped: mmap.mmap, start: int, name: str, section: dict[str, Any], verify: bool
) -> npt.NDArray[Any]:
    """One array of the file, in the mapping; its checksum is compared with `verify`."""
    kind, count, at = str(section["type"]), int(section["size"]), start + int(section["at"])
    if kind not in _TYPES:
        raise InvalidFile(f"{path}: array '{name}' has the unknown type '{kind}'.")
    dtype = np.dtype(kind)
    if count < 0 or at < start or at % dtype.itemsize or at + count * dtype.itemsize > len(mapped):
        raise InvalidFile(
            f"{path}: array '{name}' ends at byte {at + count * dtype.itemsize:,}, the file at {len(mapped):,}: "
            "it is cut off."
        )
    values = np.frombuffer(mapped, dtype=dtype, count=count, offset=at)
    if verify and _checksum(values) != section["crc"]:
        raise InvalidFile(f"{path}: the checksum of array '{name}' (from byte {at:,}) is wrong: the file is damaged.")
    return values


def _check_structure(
    path: Path,
    n: int,
    indptr: npt.NDArray[Any],
    indices: npt.NDArray[Any],
    weights: npt.NDArray[Any] | None,
    names: Sequence[Any] | None,
    verify: bool,
) -> None:
    """Refuse arrays that kernels could not safely walk through."""
    kinds = indptr.dtype == np.int64 and indices.dtype in (np.int32, np.int64)
    fits = (
        n >= 0
        and indptr.size == n + 1
        and (weights is None or (weights.size == indices.size and weights.dtype == np.float64))
    )
    named = names is None or len(names) == n
    if not (kinds and fits and named):
        raise InvalidFile(f"{path}: its arrays do not fit together (types or lengths).")
    if indptr[0] != 0 or indptr[-1] != indices.size or (np.diff(indptr) < 0).any():
        raise InvalidFile(f"{path}: the row starts do not ascend from 0 to the number of arcs.")
    if verify:
        good = np.empty(n, dtype=np.bool_)
        rows_are_simple(indptr, indices, good)
        if not good.all():
            raise InvalidFile(f"{path}: the row of node {int(np.argmin(good)):,} is not that of a simple graph.")
        if weights is not None and not (np.isfinite(weights).all() and weights.all()):
            raise InvalidFile(f"{path}: its weights must be finite and not 0.")
        one_way = int(
            first_one_way_arc(indptr, indices, np.ones(0) if weights is None else weights, indptr[:-1].copy())
        )
        if one_way >= 0:
            raise InvalidFile(
                f"{path}: not an undirected graph: an edge of node {one_way:,} is missing in the row of its other end, "
                "or has another weight there."
            )


def _checksum(values: npt.NDArray[Any]) -> int:
    """The CRC-32 of an array."""
    crc = 0
    if values.size:
        view = values.data.cast("B")
        for start in range(0, len(view), _CHECK_BYTES):
            crc = zlib.crc32(view[start : start + _CHECK_BYTES], crc)
    return crc


def _packed_names(names: Sequence[Any] | None) -> tuple[str, dict[str, npt.NDArray[Any]]]:
    """How names are stored, and the arrays for it."""
    if names is None:
        return "none", {}
    if isinstance(names, range) and names.step == 1:
        return "range", {}
    if isinstance(names, array) and names.typecode == "q":
        return "numbers", {"names": np.frombuffer(names, dtype=np.int64)}
    if all(isinstance(name, int | np.integer) and not isinstance(name, bool) for name in names):
        try:
            return "numbers", {"names": np.array(names, dtype=np.int64)}
        except OverflowError:
            raise InvalidInput("`graph`: node numbers must be below 2^63 to be saved.") from None
    if isinstance(names, PackedNames) or all(isinstance(name, str) for name in names):
        packed = names if isinstance(names, PackedNames) else PackedNames.pack(names)
        return "strings", {"names": packed.data, "name_offsets": packed.offsets}
    other = next(type(name).__name__ for name in names if not isinstance(name, str | int))
    raise InvalidInput(f"`graph`: names must be all strings or all whole numbers to be saved, found {other}.")


def _unpacked_names(kind: str, first: int, n: int, arrays: dict[str, npt.NDArray[Any]]) -> Sequence[Any] | None:
    """The names that a header and its arrays describe."""
    if kind == "none":
        return None
    if kind == "range":
        return range(first, first + n)
    if kind == "numbers":
        return array("q", arrays["names"].astype(np.int64).tobytes())
    if kind != "strings":
        raise ValueError(f"names of the unknown kind '{kind}'")
    data, offsets = arrays["names"], arrays["name_offsets"]
    wrong = offsets.dtype != np.int64 or data.dtype != np.uint8 or offsets.size == 0
    if wrong or offsets[0] != 0 or offsets[-1] != data.size or (np.diff(offsets) < 0).any():
        raise ValueError("the names do not fit their offsets")
    return PackedNames(data, offsets)
