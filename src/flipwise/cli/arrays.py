"""Arrays and codes from files, for the hashing commands."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from flipwise.cli.inputs import on_disk
from flipwise.errors import InvalidFile

if TYPE_CHECKING:
    from flipwise.hashing.codes import Codes


def read_array(file: str) -> np.ndarray:
    """The array of a `.npy`, one-array `.npz`, or text file (commas or spaces); `.npy` files are memory-mapped."""
    with on_disk(file) as path:
        if not path.is_file():
            raise InvalidFile(f"{file}: no such file. Give a .npy, .npz, .csv or .txt file with an array.")
        with path.open("rb") as opened:
            start = opened.read(6)
        try:
            if start == b"\x93NUMPY":
                return np.load(path, mmap_mode=None if file == "-" else "r", allow_pickle=False)  # type: ignore[no-any-return]
            if start[:2] == b"PK":
                with np.load(path, allow_pickle=False) as packed:
                    if len(packed.files) != 1:
                        raise InvalidFile(f"{file}: holds {len(packed.files)} arrays; save one array alone.")
                    return np.asarray(packed[packed.files[0]])
            text = path.read_text(encoding="utf-8")
            return np.loadtxt(text.replace(",", " ").splitlines(), ndmin=1)
        except (ValueError, EOFError, UnicodeDecodeError) as error:
            raise InvalidFile(f"{file}: not an array ({error}). Give a .npy, .npz, .csv or .txt file.") from None


def read_labels(file: str) -> np.ndarray:
    """Labels: one integer an item, or a 0/1 matrix for several labels."""
    labels = read_array(file)
    if labels.dtype.kind == "f" and (labels == np.rint(labels)).all():
        return labels.astype(np.int64)
    return np.asarray(labels)


def read_codes(file: str, bits: int | None = None) -> Codes:
    """Codes written by `flipwise hash encode`, or packed bytes in a `.npy` file."""
    from flipwise.hashing.codes import Codes
    from flipwise.hashing.files import load

    if not Path(file).is_file():
        raise InvalidFile(f"{file}: no such file. Give codes written by `flipwise hash encode`.")
    with Path(file).open("rb") as opened:
        is_npy = opened.read(6) == b"\x93NUMPY"
    if is_npy:
        packed = np.load(file, allow_pickle=False)
        return Codes(packed, 8 * packed.shape[1] if bits is None else bits)
    loaded: Any = load(file)
    if isinstance(loaded, Codes):
        return loaded
    return loaded.codes_  # type: ignore[no-any-return]  # a model: the learned codes of its training data
