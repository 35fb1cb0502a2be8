"""The file of an index: arrays as they lie in memory, so that they are mapped and not read; never pickle.

Layout: `MAGIC`, the length of the head (8 bytes, little endian), the SHA-256 of the head, the head, and the arrays,
each at the next multiple of 64 bytes. The head is JSON: values, and for each array its name, dtype, shape and SHA-256.
The first array is the model's own file. Little endian throughout.
"""

from __future__ import annotations

import hashlib
import json
import math
from pathlib import Path
from typing import Any

import numpy as np

from flipwise.foundation.atomic import atomic_file
from flipwise.foundation.checks import is_whole
from flipwise.foundation.errors import InvalidFile, InvalidInput
from flipwise.hashing.additive import Rows
from flipwise.hashing.files import content_of, estimator_in
from flipwise.hashing.scoring import METRICS, Scoring
from flipwise.hashing.segment import Segment

MAGIC = b"FLIPWISE-INDEX-1"
_ALIGNED = 64
_MOST_HEAD = 1 << 20
_DTYPES = {"model": "uint8", "centres": "float32", "starts": "int64", "ids": "int64", "codes": "uint8"}
_DTYPES |= {"weights": "float32", "vectors": "float32"}


def write_index(path: Path, model: Any, about: dict[str, Any], centres: Rows | None, segment: Segment | None) -> None:
    """Write the file; it appears when it is complete."""
    held: dict[str, Any] = {"model": np.frombuffer(content_of(model), dtype=np.uint8), "centres": centres}
    if segment is not None:
        held |= {name: getattr(segment, name) for name in ("starts", "ids", "codes", "weights", "vectors")}
    arrays = {name: np.ascontiguousarray(a, dtype=_DTYPES[name]) for name, a in held.items() if a is not None}
    described = [
        {"name": name, "shape": list(a.shape), "sha256": hashlib.sha256(a.data).hexdigest()}
        for name, a in arrays.items()
    ]
    head = json.dumps({"kind": "index", **about, "arrays": described}).encode()
    with atomic_file(path) as file:
        file.write(MAGIC + len(head).to_bytes(8, "little") + hashlib.sha256(head).digest() + head)
        at = _first_array_offset(len(head))
        file.write(bytes(at - _head_end(len(head))))
        for array in arrays.values():
            file.write(array.data)
            file.write(bytes(_next_aligned(at + array.nbytes) - at - array.nbytes))
            at = _next_aligned(at + array.nbytes)


def read_index(path: Path, verify: bool) -> tuple[Any, dict[str, Any], Rows | None, Segment | None]:
    """The model, the values, the centres and the rows in a file; the latter are mapped."""
    with path.open("rb") as file:
        first = file.read(len(MAGIC) + 40)
        if not first.startswith(MAGIC) or len(first) < len(MAGIC) + 40:
            raise InvalidFile(f"{path}: not a flipwise index of format 1 (byte 0).")
        size = int.from_bytes(first[len(MAGIC) : len(MAGIC) + 8], "little")
        head = file.read(size) if size <= _MOST_HEAD else b""
    if len(head) != size or hashlib.sha256(head).digest() != first[len(MAGIC) + 8 :]:
        raise InvalidFile(f"{path}: the checksum of the head does not fit; the file is truncated or damaged.")
    try:
        about = json.loads(head)
        arrays = _mapped_arrays(path, about["arrays"], _first_array_offset(size), verify)
        _check_values(about)
        return (*_checked_parts(path, about, arrays),)
    except InvalidFile:
        raise
    except (KeyError, TypeError, ValueError, OverflowError, RecursionError, InvalidInput) as error:
        raise InvalidFile(f"{path}: damaged index ({error}).") from None


def _mapped_arrays(path: Path, described: Any, at: int, verify: bool) -> dict[str, Any]:
    """The arrays, mapped so that writing to them would not change the file (kernels take them as any others)."""
    whole = np.memmap(path, dtype=np.uint8, mode="c").view(np.ndarray)
    arrays: dict[str, Any] = {}
    for entry in described:
        name, shape = entry["name"], tuple(entry["shape"])
        if name in arrays or not all(is_whole(s) and 0 <= s < 2**48 for s in shape):
            raise ValueError(f"array {name} twice or of shape {shape}")
        dtype = np.dtype(_DTYPES[name])
        size = math.prod(shape) * dtype.itemsize
        if at + size > len(whole):
            raise ValueError(f"array {name} of shape {shape} does not fit into the file")
        arrays[name] = whole[at : at + size].view(dtype).reshape(shape)
        if verify and hashlib.sha256(arrays[name].data).hexdigest() != entry["sha256"]:
            raise InvalidFile(f"{path}: the checksum of the array {name} does not fit; the file is damaged.")
        at = _next_aligned(at + size)
    if at != len(whole):
        raise ValueError(f"{len(whole):,} bytes instead of {at:,}")
    return arrays


def _check_values(about: dict[str, Any]) -> None:
    """Raise a `ValueError` unless the values are such as an index has."""
    lists = about["lists"]
    if about["kind"] != "index" or not isinstance(about["keep_vectors"], bool):
        raise ValueError("another kind of file")
    if not is_whole(about["next"]) or not 0 <= about["next"] < 2**63:
        raise ValueError(f"the next id is {about['next']!r}")
    if not isinstance(about["metric"], str) or about["metric"] not in METRICS:
        raise ValueError(f"the metric is {about['metric']!r}")
    if lists is not None and (not is_whole(lists) or lists < 2):
        raise ValueError(f"{lists!r} lists")


def _checked_parts(
    path: Path, about: dict[str, Any], arrays: dict[str, Any]
) -> tuple[Any, dict[str, Any], Rows | None, Segment | None]:
    """The parts, which fit each other: whatever the arrays hold, nothing is read outside them."""
    model = estimator_in(arrays.pop("model").tobytes(), path)
    scoring, lists = Scoring(model), about["lists"]
    centres = arrays.pop("centres", None)
    if centres is not None and (centres.shape != (lists, scoring.n_features) or not np.isfinite(centres).all()):
        raise ValueError(f"centres of shape {centres.shape} for {lists} lists, or not finite")
    if not arrays:
        return model, about, centres, None
    segment = Segment(arrays["ids"], arrays["codes"], arrays.get("weights"), arrays.get("vectors"), arrays["starts"])
    n = segment.ids.size
    shapes = {"ids": (n,), "codes": (n, scoring.width), "starts": ((lists or 1) + 1,)}
    shapes |= {"weights": (n,)} if scoring.weighted else {}
    shapes |= {"vectors": (n, scoring.n_features)} if about["keep_vectors"] else {}
    if {name: a.shape for name, a in arrays.items()} != shapes or (lists is not None and centres is None):
        raise ValueError("arrays whose shapes do not fit each other")
    starts = segment.starts
    if starts[0] != 0 or starts[-1] != n or (np.diff(starts) < 0).any():
        raise ValueError("lists that do not follow one another")
    return model, about, centres, segment


def _next_aligned(at: int) -> int:
    return -(-at // _ALIGNED) * _ALIGNED


def _head_end(size: int) -> int:
    return len(MAGIC) + 40 + size


def _first_array_offset(size: int) -> int:
    """Where the first array begins, behind a head of this size."""
    return _next_aligned(_head_end(size))
