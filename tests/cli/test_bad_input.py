"""The command line's side of the error catalogue: exit code 2, one message, no traceback."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import flipwise
from tests.cli.conftest import Call

CATALOGUE = [
    # arguments, what the message must contain
    (("subgraph", "graph.txt"), ["-k"]),
    (("subgraph", "graph.txt", "-k", "0"), ["-k", "positive", "'0'"]),
    (("subgraph", "graph.txt", "-k", "many"), ["-k", "200", "many"]),
    (("subgraph", "graph.txt", "-k", "100000"), ["`k`", "200", "100000"]),
    (("subgraph", "nowhere.txt", "-k", "5"), ["nowhere.txt"]),
    (("subgraph", "graph.txt", "-k", "5", "--method", "dpcdd"), ["`method`", "dpcdd", "dpcd"]),
    (("subgraph", "graph.txt", "-k", "5", "--method", "sgm"), ["sgm", "exact number of ones"]),
    (("subgraph", "graph.txt", "-k", "5", "--seed", "x"), ["--seed", "'x'"]),
    (("subgraph", "graph.txt", "-k", "5", "--seed", "-1"), ["seed", "-1"]),
    (("subgraph", "graph.txt", "-k", "5", "--time-limit", "soon"), ["--time-limit", "30s", "soon"]),
    (("subgraph", "graph.txt", "-k", "5", "--threads", "0"), ["--threads", "0"]),
    (("subgraph", "graph.txt", "-k", "5,6", "-o", "nodes.txt"), ["-o", "one -k", ".json"]),
    (("subgraph", "graph.txt", "-k", "5", "-o", "no/such/folder/x.txt"), ["no/such/folder"]),
    (("subgraph", "broken.txt", "-k", "2"), ["broken.txt", "line 2"]),
    (("subgraph", "broken.mtx", "-k", "2"), ["broken.mtx"]),
    (("subgraph", "binary.dat", "-k", "2"), ["binary.dat", "binary"]),
    (("maxcut", "graph.txt", "--bound", "best"), ["--bound", "sdp"]),
    (("bisect", "graph.txt", "--sizes", "3,4"), ["`sizes`", "200", "7"]),
    (("bisect", "graph.txt", "--sizes", "100,100", "--bound", "sdp"), ["--bound", "--sizes"]),
    (("qubo", "model.qubo", "--count", "31"), ["31", "30"]),
    (("qubo", "model.unknown"), ["model.unknown", "format"]),
    (("qubo", "broken.qubo"), ["broken.qubo", "line"]),
    (("qubo", "-"), ["--format"]),
    (("info", "empty.txt"), ["empty.txt"]),
    (("info", "nowhere"), ["nowhere"]),
    (("convert", "graph.txt", "out.parquet"), ["`format`"]),
    (("convert", "graph.txt", "no/folder/out.mtx"), ["no/folder"]),
    (("hash", "fit", "vectors.npy", "--loss", "SDH", "-o", "m.safetensors"), ["SDH", "-y LABELS"]),
    (("hash", "fit", "nowhere.npy", "-o", "m.safetensors"), ["nowhere.npy", ".npy"]),
    (("hash", "fit", "graph.rudy", "-o", "m.safetensors"), ["graph.rudy"]),
    (("hash", "encode", "nowhere.safetensors", "vectors.npy", "-o", "c.safetensors"), ["nowhere.safetensors"]),
    (("hash", "search", "vectors.npy", "queries.npy"), ["queries.npy", "packed", "uint8", "encode"]),
    (("hash", "search", "flat.npy", "flat.npy"), ["flat.npy", "packed", "shape (3,)"]),
    (("hash", "export", "flat.npy", "--to", "faiss", "-o", "f.npy"), ["flat.npy", "packed", "shape (3,)"]),
    (("hash", "fit", "vectors.npy", "-o", "m.safetensors", "--codes", "codes"), ["--codes", "--cluster"]),
    (
        ("hash", "fit", "vectors.npy", "-o", "m.safetensors", "--cluster", "local:1", "--time-limit", "2"),
        ["--time-limit", "--cluster"],
    ),
    (("completion", "tcsh"), ["bash"]),
]


@pytest.mark.parametrize(("arguments", "said"), CATALOGUE, ids=lambda value: " ".join(value)[:60])
def test_user_errors_are_answered(arguments: tuple[str, ...], said: list[str], call: Call) -> None:
    """Exit code 2, the argument, the rule and the value in the message, nothing on standard output, no traceback."""
    if arguments[0] == "hash":
        pytest.importorskip("sklearn", reason="the hashing commands need scikit-learn")
    np.save("flat.npy", np.array([1, 2, 3], dtype=np.uint8))
    Path("broken.txt").write_text("0 1\n0 1 2 3 4 x\n")
    Path("broken.mtx").write_text("%%MatrixMarket matrix coordinate pattern symmetric\n3 3 2\n1 2\n")
    Path("binary.dat").write_bytes(bytes(range(256)))
    Path("broken.qubo").write_text("p qubo 0 3 1 1\n0 0 x\n")
    Path("empty.txt").write_text("")
    ended = call(*arguments, stdin=b"")
    assert ended.code == 2, ended
    assert "Traceback" not in ended.err
    for part in said:
        assert part in ended.err, ended.err


def test_missing_packages_have_their_own_code(call: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without scikit-learn, `hash fit` exits with 3 and the install line."""
    import sys

    for name in [name for name in sys.modules if name.startswith(("sklearn", "flipwise.hashing"))]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.delattr(flipwise, "hashing", raising=False)  # the package remembers a submodule as an attribute too
    monkeypatch.setitem(sys.modules, "sklearn", None)
    ended = call("hash", "fit", "vectors.npy", "-o", "m.safetensors")
    assert ended.code == 3 and "pip install" in ended.err


def test_bugs_are_admitted(call: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    """An unexpected exception exits with 1 and says how to see more."""
    monkeypatch.setattr("flipwise.methods", lambda: 1 / 0)
    ended = call("methods")
    assert ended.code == 1 and "FLIPWISE_DEBUG" in ended.err and "Traceback" not in ended.err
