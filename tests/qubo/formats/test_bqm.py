"""dimod's binary files: read as dimod reads them, and never believed in what they announce."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import flipwise
from flipwise import InvalidFile, InvalidInput
from flipwise.qubo.formats.bqm import model_from_bqm

dimod = pytest.importorskip("dimod")

LABELS: list[Callable[[int], Any]] = [lambda i: i, lambda i: f"v{i}", lambda i: (i, ("a", 1)), lambda i: i + 5]


def _bqm(n: int, kind: str, dtype: Any, label: Callable[[int], Any]) -> Any:
    """A model of dimod's with variables in any order."""
    rng = np.random.default_rng(n)
    bqm = dimod.BinaryQuadraticModel(kind, dtype=dtype)
    for i in rng.permutation(n).tolist():
        bqm.add_linear(label(i), float(rng.integers(-3, 4)))
    for a, b in rng.integers(0, max(n, 1), (3 * n, 2)).tolist():
        if a != b:
            bqm.add_quadratic(label(a), label(b), float(rng.standard_normal()))
    bqm.offset = 1.5
    return bqm


@pytest.mark.parametrize("version", [1, 2])
@pytest.mark.parametrize("kind", ["SPIN", "BINARY"])
@pytest.mark.parametrize("n", [0, 1, 5, 40])
def test_files_are_read_as_dimod_reads_them(tmp_path: Path, n: int, kind: str, version: int) -> None:
    """Both versions, both precisions, labels of every kind: the same numbers in the same places."""
    path = tmp_path / "m.bqm"
    for label in LABELS:
        for dtype in (np.float32, np.float64):
            bqm = _bqm(n, kind, dtype, label)
            with bqm.to_file(version=version) as file:
                path.write_bytes(file.read())
            found, wanted = flipwise.read_model(path), model_from_bqm(bqm)
            order = np.lexsort((wanted.j, wanted.i))
            assert found.labels == wanted.labels and found.variables == wanted.variables
            assert found.offset == wanted.offset and np.array_equal(found.linear, wanted.linear)
            for name in ("i", "j", "b"):
                assert np.array_equal(getattr(found, name), getattr(wanted, name)[order])


def _file(header: dict[str, Any], body: bytes = b"") -> bytes:
    """The bytes of a file with this header."""
    text = json.dumps(header).encode()
    return b"DIMODBQM\x02\x00" + len(text).to_bytes(4, "little") + text + body


HEADER = {"shape": [2, 1], "dtype": "float64", "itype": "int32", "ntype": "int32", "vartype": "SPIN",
          "variables": False}  # fmt: skip
OWN = np.dtype([("start", "<i4"), ("bias", "<f8")])
PAIR = np.dtype([("other", "<i4"), ("bias", "<f8")])


def _body(starts: list[int], pairs: list[tuple[int, float]], biases: tuple[float, ...] = (1.0, 2.0)) -> bytes:
    """Offset 0.5, the variables, their neighbours."""
    variables = np.array(list(zip(starts, biases)), dtype=OWN)
    return np.float64(0.5).tobytes() + variables.tobytes() + np.array(pairs, dtype=PAIR).tobytes()


GOOD = _body([0, 1], [(1, 3.0), (0, 3.0)])


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"DIMODBQM\x02\x00\xff\xff\xff\xff{}{}", "cut-off header"),  # 18 bytes that ask for 4 GiB
        (b"DIMODBQM", "not a file"),
        (b"DIMODBQM\x09\x00\x02\x00\x00\x00{}", "version 9"),
        (_file(HEADER | {"shape": [2**40, 0]}, GOOD), "announces"),
        (_file(HEADER | {"shape": [2, 2**40]}, GOOD), "announces"),
        (_file(HEADER | {"shape": [2, 10**30]}, GOOD), "whole number"),
        (_file(HEADER | {"shape": [-2, 1]}, GOOD), "whole number"),
        (_file(HEADER | {"dtype": "object"}, GOOD), "object"),
        (_file(HEADER | {"itype": "float64"}, GOOD), "float64"),
        (_file(HEADER | {"vartype": "INTEGER"}, GOOD), "INTEGER"),
        (_file(HEADER, _body([0, 1], [(1, 3.0), (0, 4.0)])), "another bias"),
        (_file(HEADER, _body([0, 1], [(7, 3.0), (0, 3.0)])), "not there"),
        (_file(HEADER, _body([0, 1], [(-1, 3.0), (0, 3.0)])), "not there"),
        (_file(HEADER, _body([0, 1], [(0, 3.0), (0, 3.0)])), "same one twice"),
        (_file(HEADER, _body([0, 2], [(1, 3.0), (1, 3.0)])), "one of its variables only"),
        (_file(HEADER, _body([5, 1], [(1, 3.0), (0, 3.0)])), "ascending"),
        (_file(HEADER, _body([0, 1], [(1, np.nan), (0, np.nan)])), "bias"),
        (_file(HEADER, _body([0, 1], [(1, 3.0), (0, 3.0)], (np.inf, 0.0))), "linear"),
        (_file(HEADER | {"variables": True}, GOOD), "labels"),
        (_file(HEADER | {"variables": True}, GOOD + b'VARS\x05\x00\x00\x00["a"]'), "1 labels"),
        (_file(HEADER, GOOD + b"more"), "4 bytes follow"),
        (_file({}, GOOD), "shape"),
    ],
)
def test_damaged_files_are_refused_before_they_are_used(tmp_path: Path, content: bytes, message: str) -> None:
    """Sizes, types, neighbours, both copies of a coupling and labels are compared with the file itself."""
    path = tmp_path / "m.bqm"
    path.write_bytes(content)
    with pytest.raises(InvalidFile, match=f"m.bqm.*{message}"):
        flipwise.read_model(path)


def test_the_file_of_these_tests_is_right(tmp_path: Path) -> None:
    """What the damaged ones were made of is read; a packed name is refused for writing."""
    (tmp_path / "m.bqm").write_bytes(_file(HEADER, GOOD))
    model = flipwise.read_model(tmp_path / "m.bqm")
    assert model.energy([1, 1]) == 6.5
    with pytest.raises(InvalidInput, match="not packed"):
        flipwise.write_model(model, tmp_path / "m.bqm.gz")
