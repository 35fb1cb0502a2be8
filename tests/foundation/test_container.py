"""The container of results and checkpoints: what it holds comes back, and what does not fit is refused."""

from __future__ import annotations

import hashlib
import json

import numpy as np
import pytest

from flipwise.foundation.container import MAGIC, decode, encode
from flipwise.foundation.errors import InvalidFile


def test_values_and_arrays_come_back() -> None:
    """With their types and shapes."""
    state = {"value": 1.5, "name": "x", "x": np.arange(6).reshape(2, 3)}
    read = decode("result", encode("result", state), "file")
    assert read["value"] == 1.5 and read["name"] == "x"
    assert np.array_equal(read["x"], state["x"]) and read["x"].dtype == np.int64


@pytest.mark.parametrize("shape", ["[Infinity]", "[-1]", "[NaN]", '["a"]', "[1e99]"])
def test_impossible_shapes_are_refused(shape: str) -> None:
    """Also where the checksum fits."""
    header = json.dumps({"kind": "result", "values": {}, "arrays": [{"name": "x", "dtype": "<f8", "shape": "SHAPE"}]})
    text = header.replace('"SHAPE"', shape).encode()
    body = MAGIC + len(text).to_bytes(8, "little") + text
    with pytest.raises(InvalidFile):
        decode("result", body + hashlib.sha256(body).digest(), "file")
