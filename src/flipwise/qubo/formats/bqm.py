"""dimod's models: to and from ours by arrays, and its binary files (`bqm.to_file()`, versions 1 and 2).

The files are read here, not by dimod: every size is compared with the file's own before anything is allocated, and both
copies of a coupling must agree. Layout: `DIMODBQM`, two bytes of version, the length of a JSON header and the header;
the offset; for each variable where its neighbours begin and its bias; for each variable its neighbours, each with a
bias; the labels (in the header in version 1, behind `VARS` and their length in version 2).
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from flipwise.foundation.atomic import atomic_file
from flipwise.foundation.errors import InvalidFile, InvalidInput, MissingDependency
from flipwise.graphs.streams import COMPRESSED_SUFFIXES
from flipwise.qubo.models import QuadraticModel

if TYPE_CHECKING:
    import dimod

_MAGIC = b"DIMODBQM"
_BIASES = ("float32", "float64")
_INDICES = ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64")


def model_from_bqm(bqm: dimod.BinaryQuadraticModel) -> QuadraticModel:
    """The model of a BQM, its variables in the same order, converted by arrays."""
    vectors = bqm.to_numpy_vectors(return_labels=True, sort_labels=False)
    i, j, b = (np.asarray(part) for part in vectors.quadratic)
    low, high = (i, j) if (i < j).all() else (j, i) if (i > j).all() else (np.minimum(i, j), np.maximum(i, j))
    labels = None if vectors.labels == range(len(vectors.labels)) else tuple(vectors.labels)
    return QuadraticModel(
        np.asarray(vectors.linear_biases, dtype=np.float64),
        low,
        high,
        np.asarray(b, dtype=np.float64),
        float(vectors.offset),
        "spin" if bqm.vartype.name == "SPIN" else "binary",
        None if labels == tuple(range(len(vectors.labels))) else labels,
    )


def bqm_from_model(model: QuadraticModel) -> dimod.BinaryQuadraticModel:
    """The BQM of a model, converted by arrays."""
    return _import_dimod("a dimod model").BinaryQuadraticModel.from_numpy_vectors(
        model.linear,
        (model.i, model.j, model.b),
        model.offset,
        "SPIN" if model.variables == "spin" else "BINARY",
        variable_order=list(model.labels) if model.labels is not None else None,
    )


def read_bqm(path: Path) -> QuadraticModel:
    """Read one of dimod's files; the labels are kept, the couplings sorted."""
    content = path.read_bytes()
    if content[:8] != _MAGIC or len(content) < 14:
        raise InvalidFile(f"{path}, byte 0: not a file of dimod's.")
    start = 14 + int.from_bytes(content[10:14], "little")
    if content[8] not in (1, 2) or start > len(content):
        raise InvalidFile(
            f"{path}, byte 8: version {content[8]} of the format (1 and 2 are read), or a cut-off header."
        )
    header = json.loads(content[14:start])
    n, couplings = (_checked_count(path, size) for size in header["shape"])
    bias, index, place = header["dtype"], header["itype"], header["ntype"]
    if bias not in _BIASES or index not in _INDICES or place not in _INDICES or header["vartype"] not in _KINDS:
        raise InvalidFile(
            f"{path}, byte 14: biases {bias}, numbers {index} and {place}, variables {header['vartype']}."
        )
    own = np.dtype([("start", f"{np.dtype(place).str}"), ("bias", np.dtype(bias).str)])
    pair = np.dtype([("other", np.dtype(index).str), ("bias", np.dtype(bias).str)])
    at = start + np.dtype(bias).itemsize
    end = at + n * own.itemsize + 2 * couplings * pair.itemsize
    if end > len(content):
        raise InvalidFile(
            f"{path}: announces {n:,} variables and {couplings:,} couplings in {end:,} bytes; it has {len(content):,}."
        )
    offset = float(np.frombuffer(content, bias, 1, start)[0])
    variables = np.frombuffer(content, own, n, at)
    pairs = np.frombuffer(content, pair, 2 * couplings, at + n * own.itemsize)
    i, j, b = _checked_couplings(path, variables["start"].astype(np.int64), pairs, n)
    return QuadraticModel(
        variables["bias"].astype(np.float64), i, j, b, offset, _KINDS[header["vartype"]],
        _variable_labels(path, header["variables"], content[end:], n, content[8]),
    )  # fmt: skip


_KINDS: dict[str, Any] = {"SPIN": "spin", "BINARY": "binary"}


def _checked_count(path: Path, size: Any) -> int:
    """A number of variables or couplings, as the header gives it."""
    if not isinstance(size, int) or isinstance(size, bool) or not 0 <= size < 2**48:
        raise InvalidFile(f"{path}, byte 14: a number of variables or couplings must be a whole number, got {size!r}.")
    return size


def _checked_couplings(path: Path, starts: Any, pairs: Any, n: int) -> tuple[Any, Any, Any]:
    """The couplings i < j by i and j; refused unless each stands with both its variables, once and alike."""
    degrees = np.diff(starts, append=len(pairs))
    if n and (starts[0] != 0 or (degrees < 0).any()):
        raise InvalidFile(f"{path}: the neighbours of the variables do not begin in ascending order.")
    if n == 0 and len(pairs):
        raise InvalidFile(f"{path}: couplings without variables.")
    rows, others = np.repeat(np.arange(n), degrees), pairs["other"].astype(np.int64)
    if ((others < 0) | (others >= n) | (others == rows)).any():
        raise InvalidFile(f"{path}: a coupling names a variable that is not there, or the same one twice.")
    values = pairs["bias"].astype(np.float64)
    upper, lower = rows < others, rows > others
    forth, back = (np.lexsort((second, first)) for first, second in (
        (rows[upper], others[upper]), (others[lower], rows[lower])))  # fmt: skip
    i, j, b = rows[upper][forth], others[upper][forth], values[upper][forth]
    twins = others[lower][back], rows[lower][back], values[lower][back]
    if len(i) != len(twins[0]) or not all(np.array_equal(*columns) for columns in zip((i, j, b), twins)):
        raise InvalidFile(f"{path}: a coupling stands with one of its variables only, or with another bias.")
    if ((np.diff(i) == 0) & (np.diff(j) == 0)).any():
        raise InvalidFile(f"{path}: a coupling stands twice.")
    return i, j, b


def _variable_labels(path: Path, described: Any, rest: bytes, n: int, version: int) -> tuple[Any, ...] | None:
    """The variables' own labels, None where they are 0, 1, 2, ..."""
    if version > 1 and described:
        size = int.from_bytes(rest[4:8], "little")
        if rest[:4] != b"VARS" or len(rest) < 8 + size:
            raise InvalidFile(f"{path}: the labels of its variables are missing or cut off.")
        described = json.loads(rest[8 : 8 + size])
    elif rest.strip(b"\0 \n"):
        raise InvalidFile(f"{path}: {len(rest):,} bytes follow behind the last coupling.")
    elif not described:
        return None
    labels = tuple(_restored_label(label) for label in described)
    if len(labels) != n or len(set(labels)) != n:
        raise InvalidFile(f"{path}: has {n:,} variables and {len(set(labels)):,} labels.")
    return None if labels == tuple(range(n)) and all(type(label) is int for label in labels) else labels


def _restored_label(label: Any) -> Any:
    """A label as it was: JSON has made tuples into lists."""
    return tuple(_restored_label(part) for part in label) if isinstance(label, list) else label


def write_bqm(model: QuadraticModel, path: Path) -> None:
    """Write one of dimod's files."""
    if path.suffix.lower() in COMPRESSED_SUFFIXES:
        raise InvalidInput(f"{path}: dimod's files are not packed; leave {path.suffix} out.")
    with atomic_file(path) as file, bqm_from_model(model).to_file() as source:
        file.write(source.read())


def _import_dimod(purpose: str) -> Any:
    """The module `dimod`, or an error that says how to get it."""
    try:
        import dimod
    except ImportError:
        raise MissingDependency("dimod", "dimod", purpose) from None
    return dimod
