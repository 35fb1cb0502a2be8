"""Our own file of plain values and arrays: checksummed, versioned, never pickle. Results and checkpoints use it.

Layout: `MAGIC`, the length of the header (8 bytes, little endian), the header (JSON: the kind of file, plain values,
and for each array its name, dtype and shape), the arrays one after another, and the SHA-256 of everything before it.
A reader trusts nothing but the checksum and never runs code.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from flipwise.foundation.errors import InvalidFile

MAGIC = b"FLIPWISE-FILE-1\n"
State = Mapping[str, Any]
"""Names to arrays or to values that JSON can hold."""
_DTYPES = ("float64", "int8", "int32", "int64", "bool")


def encode(kind: str, state: State) -> bytes:
    """The bytes of a file of this kind."""
    arrays = {name: np.ascontiguousarray(v) for name, v in state.items() if isinstance(v, np.ndarray)}
    described = [{"name": n, "dtype": a.dtype.name, "shape": list(a.shape)} for n, a in arrays.items()]
    plain = {name: value for name, value in state.items() if name not in arrays}
    header = json.dumps({"kind": kind, "values": plain, "arrays": described}).encode()
    body = b"".join([MAGIC, len(header).to_bytes(8, "little"), header, *(a.tobytes() for a in arrays.values())])
    return body + hashlib.sha256(body).digest()


def decode(kind: str, content: bytes, name: str) -> dict[str, Any]:
    """The state in the bytes of a file; `name` is the file's, for errors."""
    if not content.startswith(MAGIC):
        raise InvalidFile(f"{name}: not a flipwise {kind} of format 1 (byte 0).")
    body, checksum = content[:-32], content[-32:]
    if len(content) < len(MAGIC) + 40 or hashlib.sha256(body).digest() != checksum:
        raise InvalidFile(f"{name}: the checksum does not fit; the file is truncated or damaged.")
    start = len(MAGIC) + 8
    end = start + int.from_bytes(body[len(MAGIC) : start], "little")
    try:
        header = json.loads(body[start:end])
        if header["kind"] != kind:
            raise InvalidFile(f"{name}: this is a flipwise {header['kind']}, not a {kind}.")
        state = dict(header["values"])
        for entry in header["arrays"]:
            if entry["dtype"] not in _DTYPES:
                raise ValueError(f"dtype {entry['dtype']}")
            dtype, shape = np.dtype(entry["dtype"]), tuple(int(s) for s in entry["shape"])
            size = math.prod(shape) * dtype.itemsize
            if min(shape, default=0) < 0 or end + size > len(body):
                raise ValueError(f"array {entry['name']} of shape {shape} does not fit into the file")
            state[entry["name"]] = np.frombuffer(body[end : end + size], dtype).reshape(shape).copy()
            end += size
    except (KeyError, TypeError, ValueError, OverflowError) as error:  # the last from a shape that holds Infinity
        if isinstance(error, InvalidFile):
            raise
        raise InvalidFile(f"{name}: damaged header ({error}).") from None
    return state
