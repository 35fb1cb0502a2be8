"""The command line's side of the error catalogue: exit code 2, one message, no traceback."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import flipwise
from tests.cli.conftest import Call

CATALOGUE = [
    # arguments, what the message must contain
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
    (("maxcut", "graph.txt", "--bound", "everything"), ["--bound", "sdp"]),
    (("bisect", "graph.txt", "--sizes", "3,4"), ["`sizes`", "200", "7"]),
    (("bisect", "graph.txt", "--sizes", "100,100", "--bound", "sdp"), ["--bound", "--sizes"]),
    (("qubo", "model.qubo", "--count", "31"), ["31", "30"]),
    (("qubo", "model.unknown"), ["model.unknown", "format"]),
    (("qubo", "broken.qubo"), ["broken.qubo", "line"]),
    (("qubo", "-"), ["--format"]),
    (("block", "graph.txt", "--rows", "3"), ["`columns`", "`rows`"]),
    (("directed", "graph.txt", "--sources", "3", "--targets", "100000"), ["targets", "200", "100000"]),
    (("verify", "model.qubo", "graph.txt"), ["graph.txt", "certificate"]),
    (("info", "empty.txt"), ["empty.txt"]),
    (("info", "nowhere"), ["nowhere"]),
    (("convert", "graph.txt", "out.g6"), ["`format`"]),
    (("convert", "graph.txt", "no/folder/out.mtx"), ["no/folder"]),
    (("hash", "fit", "vectors.npy", "--loss", "SDH", "-o", "m.safetensors"), ["SDH", "-y LABELS"]),
    (("hash", "fit", "nowhere.npy", "-o", "m.safetensors"), ["nowhere.npy", ".npy"]),
    (("hash", "fit", "vectors.npy", "-o", "m.safetensors", "--whitening", "0.7"), ["--whitening", "0.5", "0.7"]),
    (
        ("hash", "fit", "vectors.npy", "-o", "m.safetensors", "--loss", "ARE", "--whitening", "0"),
        ["--whitening", "ARE"],
    ),
    (("hash", "fit", "vectors.npy", "-o", "m.safetensors", "--optimizer", "dppd"), ["optimizer", "dppd", "dpcd"]),
    (("hash", "fit", "vectors.npy", "-o", "m.safetensors", "--hash-function", "rbf"), ["--hash-function", "ITQ"]),
    (
        ("hash", "fit", "vectors.npy", "-o", "m.safetensors", "--estimator", "AdditiveQuantizer", "--bits", "12"),
        ["--bits", "multiple of 8", "12"],
    ),
    (("hash", "recommend", "vectors.npy", "--estimator", "ARE", "--whitening", "0"), ["--whitening", "ARE"]),
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
    # what was once called a bug, or found after the work was done
    (("hash", "fit", "nan.npy", "-o", "m.safetensors"), ["nan.npy", "finite", "nan", "row 3", "column 2"]),
    (("hash", "fit", "huge.npy", "-o", "m.safetensors"), ["huge.npy", "1e+100"]),
    (("hash", "fit", "flat.npy", "-o", "m.safetensors"), ["flat.npy", "(items, features)", "(3,)"]),
    (("hash", "fit", "complex.npy", "-o", "m.safetensors"), ["complex.npy", "complex128"]),
    (("hash", "fit", "none.npy", "-o", "m.safetensors"), ["none.npy", "(0, 4)"]),
    (("hash", "fit", "vectors.npy", "-o", "no/folder/m.safetensors"), ["no/folder", "does not exist"]),
    (("hash", "fit", "vectors.npy", "-o", "m.safetensors", "--checkpoint", "no/folder/run"), ["no/folder"]),
    (("hash", "fit", "vectors.npy", "-o", "vectors.npy"), ["-o", "vectors.npy", "input itself"]),
    (("hash", "fit", "vectors.npy", "-y", "flat.npy", "-o", "m.safetensors"), ["flat.npy", "3 labels", "200"]),
    (("hash", "fit", "vectors.npy", "-y", "halves.npy", "-o", "m.safetensors"), ["halves.npy", "integer"]),
    (("hash", "fit", "vectors.npy", "-y", "same.npy", "-o", "m.safetensors"), ["2 classes"]),
    (("hash", "fit", "vectors.npy", "--seed", "-1", "-o", "m.safetensors"), ["--seed", "-1"]),
    (("hash", "encode", "model.safetensors", "wide.npy", "-o", "c.npy"), ["wide.npy", "9 features", "12"]),
    (("hash", "encode", "model.safetensors", "flat.npy", "-o", "c.npy"), ["flat.npy", "(3,)"]),
    (("hash", "encode", "model.safetensors", "nan.npy", "-o", "c.npy"), ["nan.npy", "finite"]),
    (("hash", "encode", "vectors.npy", "vectors.npy", "-o", "c.npy"), ["vectors.npy", "safetensors"]),
    (("hash", "search", "model.safetensors", "model.safetensors", "-k", "999"), ["`k`", "200", "999"]),
    (("hash", "search", "model.safetensors", "model.safetensors", "-o", "no/x"), ["no/x", "does not exist"]),
    (
        ("hash", "evaluate", "model.safetensors", "model.safetensors", "-y", "flat.npy", "-z", "labels.npy"),
        ["flat.npy"],
    ),
    (("hash", "recommend", "flat.npy"), ["flat.npy", "(3,)"]),
    (("hash", "recommend", "nan.npy"), ["nan.npy", "finite"]),
    (("hash", "export", "model.safetensors", "--to", "faiss", "-o", "model.safetensors"), ["input itself"]),
    (("subgraph", "tiny.txt", "-k", "2"), ["`graph`", "between 1e-100 and 1e+100"]),
    (("subgraph", "vast.txt", "-k", "2"), ["`graph`", "between 1e-100 and 1e+100"]),
    (("warm-up", "everything"), ["everything", "subgraph"]),
    (("maxcut", "vast.txt"), ["`graph`", "too large"]),
    (("bisect", "tiny.txt"), ["`graph`", "too small"]),
    (("subgraph", "graph.txt", "-k", "5", "--report", "no/page.html"), ["no/page.html", "does not exist"]),
    (("subgraph", "graph.txt", "-k", "5", "--report", "x.html", "-o", "x.html"), ["--report", "-o", "same file"]),
    (("subgraph", "graph.txt", "-k", "5", "-o", "graph.txt"), ["graph.txt", "input itself"]),
    (("maxcut", "graph.txt", "-o", "no/x"), ["no/x", "does not exist"]),
    (("maxcut", "graph.txt", "--checkpoint", "graph.txt"), ["--checkpoint", "input itself"]),
    (("bisect", "graph.txt", "-o", "link.txt"), ["link.txt", "input itself"]),
    (("qubo", "model.qubo", "-o", "no/x"), ["no/x", "does not exist"]),
    (("qubo", "model.qubo", "-o", "model.qubo"), ["model.qubo", "input itself"]),
    (("demo", "-o", "no/x.html"), ["no/x.html", "does not exist"]),
    (("convert", "graph.txt", "graph.txt"), ["graph.txt", "input itself"]),
    (("convert", "graph.txt", "g.dot"), [".dot", "can be written", "matrixmarket", ".flipgraph"]),
    (("convert", "graph.txt", "g.xlsx"), [".xlsx", "can be written"]),
    (("convert", "graph.txt", "g"), ["without a suffix", "can be written"]),
    (("convert", "graph.txt", "g.mtx", "--to", "graph6"), ["--to", "graph6"]),
    (("convert", "model.qubo", "m.graphml"), ["m.graphml", "format"]),
    (("info", "page.graphml"), ["page.graphml", "without a graph"]),
    (("info", "header.txt"), ["header.txt", "--header", "--no-header"]),
    (("report", "half.json"), ["half.json", "not a results file"]),
    (("report", "incomplete.json"), ["incomplete.json", "not a results file"]),
    (("report", "graph.txt"), ["graph.txt", "not a store"]),
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
    _write_what_was_called_a_bug()
    if "model.safetensors" in arguments:
        assert call("hash", "fit", "vectors.npy", "--bits", "8", "-o", "model.safetensors").code == 0
    if arguments[0] == "report":
        pytest.importorskip("flipwise_studies", reason="a command of another distribution")
    ended = call(*arguments, stdin=b"")
    assert ended.code == 2, ended
    assert "Traceback" not in ended.err
    shown = " ".join(ended.err.split())
    for part in said:
        assert part in shown, ended.err


def _write_what_was_called_a_bug() -> None:
    """Files that commands once fell over."""
    vectors = np.load("vectors.npy")
    holed = vectors.copy()
    holed[3, 2] = np.nan
    arrays = {
        "nan": holed,
        "huge": 1e300 * vectors,
        "complex": vectors.astype(complex),
        "none": np.zeros((0, 4)),
        "halves": np.full(200, 0.5),
        "same": np.zeros(200, dtype=int),
        "wide": np.ones((5, 9)),
    }
    for name, array in arrays.items():
        np.save(f"{name}.npy", array)
    Path("tiny.txt").write_text("0 1 1e-320\n1 2 2e-320\n0 2 5e-324\n")
    Path("vast.txt").write_text("0 1 1e308\n1 2 1e308\n0 2 1e308\n")
    Path("header.txt").write_text("x1 x2\n3 4\n")
    Path("page.graphml").write_text("<?xml version='1.0'?><graphml/>\n")
    Path("half.json").write_text('{"command": "x"')
    Path("incomplete.json").write_text('{"command": "x", "environments": [], "cells": [{"environment": 0}]}')
    Path("link.txt").symlink_to("graph.txt")


def test_every_command_is_in_the_catalogue() -> None:
    """A new command needs an entry here; those without input have none."""
    from tests.cli.test_app_help import COMMANDS

    without_input = {("methods",), ("bench",), ("doctor",)}
    entered = {arguments[: len(path)] for path in COMMANDS for arguments, _ in CATALOGUE}
    assert set(COMMANDS) - without_input <= entered


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


@pytest.mark.parametrize("arguments", [["--json"], ["-o", "-"]])
def test_what_libraries_print_is_no_part_of_the_answer(arguments: list[str]) -> None:
    """A line that compiled code writes to descriptor 1, as HiGHS does now and then, before and after the JSON."""
    code = (
        "import atexit, os, sys, flipwise.cli.exits as exits\n"
        "atexit.register(os.write, 1, b'stray')\n"
        "exits.main = lambda given: os.write(1, b'stray ') and print('{}', flush=True)\n"
        f"exits.program({arguments!r})\n"
    )
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert (ended.stdout, ended.stderr) == ("{}\n", "stray stray")


def test_a_reader_that_has_gone_is_no_error() -> None:
    """`flipwise ... --json | head -c 0`: nothing is said, and the code is 0."""
    code = "import sys, flipwise.cli.exits as exits; sys.exit(exits.program(['methods', '--json']))"
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None and process.stderr is not None
        process.stdout.close()
        said = process.stderr.read()
    assert (said, process.returncode) == (b"", 0)
