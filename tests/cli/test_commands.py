"""What the commands answer: right, readable by machines and people, repeatable, well-behaved in pipes."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

import flipwise
from flipwise.graphs.read import read_graph
from tests.cli.conftest import Call


def test_subgraph_answers_are_those_of_the_library(call: Call) -> None:
    """The JSON of `subgraph` has the nodes, density and bound that densest_subgraph gives for the seed."""
    record = json.loads(call("subgraph", "graph.txt", "-k", "10,20", "--effort", "0", "--json", "-q").out)
    expected = flipwise.densest_subgraph(read_graph("graph.txt"), [10, 20], seed=0, effort=0)
    for found, wanted in zip(record["results"], expected, strict=True):
        assert found["nodes"] == wanted.nodes
        assert found["density"] == wanted.density <= found["bound"] == wanted.bound


def test_subgraph_writes_nodes_and_a_page(call: Call) -> None:
    """-o has one node a line, --report a self-contained page, standard output a table of at most 80 columns."""
    ended = call("subgraph", "graph.txt", "-k", "20", "--effort", "0", "-o", "nodes.txt", "--report", "page.html")
    assert ended.code == 0
    assert len(Path("nodes.txt").read_text().split()) == 20
    page = Path("page.html").read_text()
    assert page.startswith("<!doctype html>") and "http" not in page
    assert max(len(line.rstrip()) for line in ended.out.splitlines()) <= 80
    assert "upper bound" in ended.out


def test_a_dash_keeps_the_answer_apart_from_the_table(call: Call) -> None:
    """With -o - standard output is the answer alone; the table goes to standard error."""
    ended = call("subgraph", "graph.txt", "-k", "5", "--effort", "0", "-o", "-", "-q")
    assert len(ended.out.split()) == 5 and "density" in ended.err


def test_demo_finds_the_hidden_group(call: Call) -> None:
    """The demo's JSON reports the whole hidden group and a bound that is not exceeded; the page is written."""
    record = json.loads(call("demo", "--json", "-q").out)
    assert record["hidden_found"] == record["hidden"] == 60
    assert all(found["density"] <= found["bound"] for found in record["results"])
    assert Path("flipwise-demo.html").stat().st_size < 200_000
    shown = call("demo", "-q").out.splitlines()
    assert max(len(line.rstrip()) for line in shown) <= 80
    assert any("optimal" in line for line in shown)


def test_info_counts(call: Call) -> None:
    """`info` has the numbers of nodes and edges, and recognises a model by its name."""
    graph = read_graph("graph.txt")
    facts = json.loads(call("info", "graph.txt", "--json").out)
    assert (facts["nodes"], facts["edges"]) == (graph.n, graph.n_edges)
    assert json.loads(call("info", "model.qubo", "--json").out)["variables"] == 30


def test_maxcut_and_bisect_count_the_cut(call: Call) -> None:
    """The reported cut is the weight between the reported sides; halves are exact."""
    graph = read_graph("graph.txt")
    for command in ("maxcut", "bisect"):
        record = json.loads(call(command, "graph.txt", "--time-limit", "0.5", "--json", "-q").out)
        parts = np.array(record["parts"])
        rows = np.repeat(np.arange(graph.n), graph.degrees)
        assert (parts[rows] != parts[graph.indices]).sum() / 2 == record["cut"]
        if command == "bisect":
            assert record["sizes"] == [100, 100]
        else:
            assert record["cut"] <= record["bound"]


def test_fixed_members_several_answers_and_limits(call: Call) -> None:
    """What the commands say of them is what the functions give; the explanation fits the terminal."""
    fast = ("--time-limit", "5", "--patience", "3", "-q")
    cut = json.loads(
        call("maxcut", "graph.txt", "--fix", "3=1", "--fix", "4=1", "--pool", "3", "--distance", "2", "--json",
             "--bound", "none", "--explain", *fast).out
    )  # fmt: skip
    assert cut["parts"][3] == cut["parts"][4] == 1 and cut["status"] == "patience"
    assert cut["pool"][0] == {"value": cut["cut"], "parts": cut["parts"]} and len(cut["pool"]) == 3
    assert "2 fixed" in cut["explanation"]["Solved"]
    loose = ("--sizes", "100,60,40", "--imbalance", "5%", "--fix", "0=2", "--pool", "2", "--time-limit", "0.5")
    parted = json.loads(call("bisect", "graph.txt", *loose, "--json", "-q").out)
    assert parted["parts"][0] == 2 and parted["sizes"][2] <= 42 and len(parted["pool"]) == 2
    shown = call(
        "qubo", "model.qubo", "--count", "5:9", "--fix", "2=1", "--pool", "4", "--target", "1e9", "--explain", "-q"
    )
    assert "the target value was reached" in shown.out and "5 to 9 at 1, 1 fixed" in shown.out
    assert max(map(len, shown.out.splitlines())) <= 80
    dense = json.loads(call("subgraph", "graph.txt", "-k", "5,9", "--target", "1", "--explain", "--json", "-q").out)
    assert [found["status"] in ("target", "optimal") for found in dense["results"]] == [True, True]
    assert [said["Ended"] for said in dense["explanation"]] == [found["message"] for found in dense["results"]]
    near = json.loads(call("qubo", "model.qubo", "--gap", "1000%", "--max-evaluations", "10000", "--json", "-q").out)
    assert near["status"] in ("gap", "optimal") and near["gap"] <= 10.0 and "pool" not in near


def test_included_and_excluded_labels(call: Call) -> None:
    """By label where a model has labels."""
    pytest.importorskip("highspy")
    record = json.loads(call("qubo", "program.lp", "--include", "a", "--exclude", "c", "-q", "--json").out)
    assert dict(zip(record["labels"], record["x"], strict=True)) == {"a": 1, "b": 0, "c": 0} and record["value"] == -5.0


def test_included_and_excluded_variables(call: Call) -> None:
    """By number, and at -1 in an Ising model; contradictions are refused."""
    fast = ("--bound", "none", "--patience", "2", "-q")
    x = json.loads(call("qubo", "model.qubo", "--include", "2,3", "--exclude", "9", *fast, "--json").out)["x"]
    assert (x[2], x[3], x[9]) == (1, 1, 0)
    assert call("convert", "graph.txt", "cut.rudy").code == 0
    spins = json.loads(call("qubo", "cut.rudy", "--include", "0", "--exclude", "1", *fast, "--json").out)["x"]
    assert (spins[0], spins[1]) == (1, -1)
    for refused, words in (
        (("--include", "30"), "'30' is no variable of the model"),
        (("--include", "3", "--exclude", "3"), "to which another value is given"),
        (("--fix", "3=0", "--include", "3"), "to which another value is given"),
        (("--include", "3", "--cluster", "local:2"), "--include"),
    ):
        ended = call("qubo", "model.qubo", *refused)
        assert ended.code == 2 and words in " ".join(ended.err.split())


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("maxcut", "graph.txt", "--distance", "2"), "give --pool"),
        (("maxcut", "graph.txt", "--pool", "some"), "number of answers"),
        (("maxcut", "graph.txt", "--gap", "-1%"), "a share such as"),
        (("maxcut", "graph.txt", "--fix", "3=2"), "the sides are 0 and 1"),
        (("bisect", "graph.txt", "--imbalance", "0.1"), "give --sizes"),
        (("bisect", "graph.txt", "--sizes", "150,50", "--gap", "1%"), "are for halves"),
        (("qubo", "model.qubo", "--cluster", "local:2", "--pool", "3"), "leave out"),
    ],
)
def test_what_does_not_go_together_is_said_at_once(arguments: tuple[str, ...], message: str, call: Call) -> None:
    ended = call(*arguments)
    assert ended.code == 2 and message in ended.err


def test_qubo_keeps_a_count(call: Call) -> None:
    """`qubo --count r` sets exactly r variables, and the energy is that of the model."""
    record = json.loads(call("qubo", "model.qubo", "--count", "7", "--time-limit", "0.5", "--json", "-q").out)
    assert sum(record["x"]) == 7
    assert record["value"] == flipwise.read_model("model.qubo").energy(record["x"]) >= record["bound"]


@pytest.mark.parametrize(
    "command",
    ["subgraph graph.txt -k 20", "maxcut graph.txt", "bisect graph.txt", "bisect graph.txt --sizes 100,50,50",
     "qubo model.qubo", "hash fit vectors.npy --loss ARE --bits 16 -o model.safetensors"],
)  # fmt: skip
def test_verbose_logs_the_run(command: str, call: Call) -> None:
    """-v writes the table of the run to standard error and leaves standard output alone."""
    if command.startswith("hash"):
        pytest.importorskip("sklearn", reason="the hashing commands need scikit-learn")
    ended = call(*command.split(), "--time-limit", "1", "-v", "--json")
    assert any(line.split()[:3] == ["iter", "value", "change"] for line in ended.err.splitlines())
    assert json.loads(ended.out)


def test_convert_there_and_back(call: Call) -> None:
    """A graph through the compact format, and a model through BQPJSON, come back the same."""
    assert call("convert", "graph.txt", "g.flipgraph", "-q").code == 0
    one, two = read_graph("graph.txt"), read_graph("g.flipgraph")
    assert np.array_equal(one.indices, two.indices) and np.array_equal(one.indptr, two.indptr)
    Path("t.csv").write_text("when,a,b\n9,ann,bob\n")
    said = json.loads(call("info", "t.csv", "--columns", "a,b", "--json").out)["done_to_the_input"][0]
    assert "columns 'a' and 'b' as nodes with names" in said and "'ann bob'" in said
    assert call("convert", "model.qubo", "m.json").code == 0
    assert call("convert", "m.json", "back.qubo").code == 0
    x = [0, 1] * 15
    assert flipwise.read_model("back.qubo").energy(x) == flipwise.read_model("model.qubo").energy(x)


@pytest.mark.parametrize("suffix", ["graphml", "gexf", "gml", "json", "csv", "parquet"])
def test_convert_to_the_formats_of_others(suffix: str, call: Call) -> None:
    """A graph comes back the same from each."""
    if suffix == "parquet":
        pytest.importorskip("pyarrow", reason="Parquet needs pyarrow")
    assert call("convert", "graph.txt", f"h.{suffix}", "-q").code == 0
    before, after = (json.loads(call("info", name, "--json").out) for name in ("graph.txt", f"h.{suffix}"))
    assert [before[key] for key in ("nodes", "edges", "degrees")] == [
        after[key] for key in ("nodes", "edges", "degrees")
    ]


def test_the_same_seed_gives_the_same_bytes(call: Call) -> None:
    """Two runs with one seed print the same nodes, on one thread and on two."""
    runs = [
        json.loads(call("subgraph", "graph.txt", "-k", "15", "--effort", "0.01", "--json", "-q", "--threads", t).out)
        for t in ("1", "2")
    ]
    assert runs[0]["results"][0]["nodes"] == runs[1]["results"][0]["nodes"]


def test_no_colour_off_a_terminal(call: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    """Output that is not a terminal has no escape codes, nor has any with NO_COLOR."""
    assert "\x1b" not in call("doctor").out
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.setenv("FORCE_COLOR", "1")
    assert "\x1b[3" not in call("methods").out


def test_methods_and_doctor_are_complete(call: Call) -> None:
    """`methods` lists what flipwise.methods() does; `doctor` says that the compiler works."""
    listed = json.loads(call("methods", "--json").out)["methods"]
    assert [entry["name"] for entry in listed] == [method.name for method in flipwise.methods()]
    assert json.loads(call("doctor", "--json").out)["compiler"].startswith("works")


def _start(folder: Path, *arguments: str) -> subprocess.Popen[str]:
    """The command in a process that heeds the signals which those of background jobs inherit to ignore."""
    heed = "import signal, runpy; signal.signal(signal.SIGINT, signal.default_int_handler); "
    if hasattr(signal, "SIGHUP"):
        heed += "signal.signal(signal.SIGHUP, signal.SIG_DFL); "
    return subprocess.Popen(
        [sys.executable, "-c", heed + "runpy.run_module('flipwise', run_name='__main__')", *arguments],
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=os.environ | {"PYTHONUNBUFFERED": "1"},
    )


@pytest.mark.skipif(sys.platform == "win32", reason="needs the signals of POSIX")
@pytest.mark.parametrize(("name", "code"), [("SIGINT", 130), ("SIGTERM", 143), ("SIGHUP", 129)])
def test_a_signal_prints_and_writes_the_best_so_far(name: str, code: int, sample_files: Path, tmp_path: Path) -> None:
    """In the middle of a search: answer, file, and a checkpoint that the next call goes on from, long before 60 s."""
    files = ["-o", str(tmp_path / "answer"), "--checkpoint", str(tmp_path / "run")]
    command = ["qubo", "model.qubo", "--bound", "none", "-v", "--json", *files]
    process = _start(sample_files, *command, "--time-limit", "60")
    assert process.stderr is not None
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline and not process.stderr.readline().strip()[:1].isdigit():
        pass  # rows of the log: the search is under way
    time.sleep(0.3)
    process.send_signal(getattr(signal, name))
    out, err = process.communicate(timeout=60)
    assert process.returncode == code, err
    record = json.loads(out)
    assert record["status"] == "interrupted"
    assert record["value"] == flipwise.read_model(sample_files / "model.qubo").energy(record["x"])
    written = [int(line.split()[-1]) for line in (tmp_path / "answer").read_text().splitlines()]
    assert written == record["x"]
    process = _start(sample_files, *command, "--time-limit", "0.1")
    assert json.loads(process.communicate(timeout=60)[0])["value"] <= record["value"]


@pytest.mark.skipif(sys.platform == "win32", reason="needs the signals of POSIX")
def test_sigterm_before_an_answer_leaves_no_files(tmp_path: Path) -> None:
    """While the input is read: the usual exit code, one line, and nothing half-written."""
    os.mkfifo(tmp_path / "graph.txt")  # nobody writes to it: the command waits
    process = _start(tmp_path, "convert", "graph.txt", "graph.mtx", "--format", "edgelist")
    time.sleep(1.5)
    process.send_signal(signal.SIGTERM)
    _, err = process.communicate(timeout=60)
    assert process.returncode == 143 and "SIGTERM" in err and "Traceback" not in err
    assert [path.name for path in tmp_path.iterdir()] == ["graph.txt"]


def test_a_closed_pipe_is_no_error(sample_files: Path) -> None:
    """`flipwise ... | head -c 1` ends quietly."""
    command = f"{sys.executable} -m flipwise methods --json | head -c 1"
    done = subprocess.run(["sh", "-c", command], capture_output=True, text=True, cwd=sample_files, check=True)
    assert done.stderr == ""


def test_bytes_of_an_additive_quantiser(call: Call) -> None:
    """Fitted, encoded to bytes and searched by float queries: what the estimator itself finds."""
    pytest.importorskip("sklearn", reason="the hashing commands need scikit-learn")
    from flipwise import hashing

    X = np.load("vectors.npy")
    fit = (
        "hash",
        "fit",
        "vectors.npy",
        "--estimator",
        "AdditiveQuantizer",
        "--metric",
        "euclidean",
        "--bits",
        "16",
        "-q",
    )
    assert call(*fit, "-o", "bytes.safetensors").code == 0
    model = hashing.load("bytes.safetensors")
    assert model.metric == "euclidean" and model.n_bytes == 2
    refused = call("hash", "encode", "bytes.safetensors", "vectors.npy", "-o", "codes.safetensors")
    assert refused.code == 2 and ".npy" in refused.err
    assert call("hash", "encode", "bytes.safetensors", "vectors.npy", "-o", "bytes.npy").code == 0
    ended = call("hash", "search", "bytes.npy", "vectors.npy", "--model", "bytes.safetensors", "-k", "2", "--json")
    assert json.loads(ended.out)["ids"] == model.search(X, model.encode(X), 2).ids.tolist()


def test_every_option_of_an_estimator_is_reached(call: Call) -> None:
    """Whitening, optimiser and hash function come to the model; vectors from Parquet give what they give from .npy."""
    pytest.importorskip("sklearn", reason="the hashing commands need scikit-learn")
    pa = pytest.importorskip("pyarrow")
    import pyarrow.parquet as pq

    from flipwise import hashing

    X = np.load("vectors.npy")
    pq.write_table(pa.table({"embedding": list(X), "label": np.zeros(len(X), dtype=int)}), "lists.parquet")
    pq.write_table(pa.table({f"x{j}": X[:, j] for j in range(X.shape[1])}), "columns.parquet")
    options = ("--estimator", "ITQ", "--whitening", "0.2", "--optimizer", "itq", "--bits", "16", "-q")
    models = []
    for source in ("vectors.npy", "lists.parquet", "columns.parquet"):
        assert call("hash", "fit", source, *options, "-o", "m.safetensors").code == 0
        models.append(hashing.load("m.safetensors"))
    assert models[0].whitening == 0.2 and models[0].optimizer == "itq"
    assert models[0].codes_ == models[1].codes_ == models[2].codes_
    assert (
        call("hash", "fit", "vectors.npy", "--loss", "ARE", "--hash-function", "rbf", "-q", "-o", "r.safetensors").code
        == 0
    )
    assert hashing.load("r.safetensors").hash_function == "rbf"
    pq.write_table(pa.table({"embedding": [[1.0, 2.0], [1.0, 2.0, 3.0, 4.0]]}), "ragged.parquet")
    ended = call("hash", "fit", "ragged.parquet", "-o", "n.safetensors")
    assert ended.code != 0 and "differ in length" in ended.err and not Path("n.safetensors").exists()
