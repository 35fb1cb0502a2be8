"""Where fuzzing begins: for every reader a few valid files, generated, and the mutations that turn them hostile."""

from __future__ import annotations

import gzip
import json
import lzma
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import flipwise
from flipwise.foundation import container

Read = Callable[[Path], Any]


def _graphs() -> list[Any]:
    rng = np.random.default_rng(0)
    edges = rng.integers(0, 12, (25, 2))
    return [(12, edges), (3, np.array([[0, 1]])), (1, np.empty((0, 2), dtype=np.int64))]


def _written(name: str, write: Callable[[Path], object]) -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / name
        write(path)
        return path.read_bytes()


def _graph_files(format: str, suffix: str) -> list[bytes]:
    files = []
    for graph in _graphs():
        files.append(_written(f"g{suffix}", lambda path, g=graph: flipwise.write_graph(g, path, format=format)))
    return files


def _model_files(format: str, *, spin: bool) -> list[bytes]:
    rng = np.random.default_rng(1)
    couplings = np.triu(rng.integers(-3, 4, (5, 5)), 1).astype(float)
    if spin:
        model = flipwise.QuadraticModel.from_ising(rng.integers(-2, 3, 5).astype(float), couplings)
    else:
        model = flipwise.QuadraticModel.from_qubo(couplings + np.diag(rng.integers(-2, 3, 5)).astype(float))
    return [_written("m", lambda path: flipwise.write_model(model, path, format=format))]


def _read_graph(format: str) -> Read:
    return lambda path: flipwise.read_graph(path, format=format)  # type: ignore[arg-type]


def _read_model(format: str) -> Read:
    return lambda path: flipwise.read_model(path, format=format)


def _bvgraph(path: Path) -> Any:
    """The first line of the input is the properties file, the rest the bit stream."""
    head, _, stream = path.read_bytes().partition(b"\n\n")
    base = path.with_name("web")
    base.with_suffix(".properties").write_bytes(head)
    base.with_suffix(".graph").write_bytes(stream)
    return flipwise.read_graph(base.with_suffix(".graph"), format="bvgraph")


def _bvgraph_files() -> list[bytes]:
    properties = (
        "#BVGraph properties\nnodes={}\narcs={}\nwindowsize=7\nmaxrefcount=3\nminintervallength=4\nzetak=3\n"
        "compressionflags=\nversion=0\ngraphclass=it.unimi.dsi.webgraph.BVGraph"
    )
    # outdegree 0 is the gamma code "1": sixteen nodes without successors are two bytes of ones
    empty = properties.format(16, 0).encode() + b"\n\n\xff\xff"
    rng = np.random.default_rng(2)
    return [empty, *(properties.format(8, 20).encode() + b"\n\n" + rng.bytes(30) for _ in range(3))]


def _result_file() -> bytes:
    result = flipwise.minimize(np.ones((4, 4)), seed=0)
    return _written("r", result.save)


def _codes(path: Path) -> Any:
    from flipwise.hashing import files

    return files.load(path)


def _codes_files() -> list[bytes]:
    from flipwise import hashing
    from flipwise.hashing import files
    from flipwise.hashing.codes import Codes

    bits = np.random.default_rng(0).integers(0, 2, (6, 12)).astype(bool)
    codes = _written("c.safetensors", lambda path: files.save(Codes.from_bits(bits), path))
    X = np.random.default_rng(0).standard_normal((30, 6))
    model = hashing.ITQ(n_bits=4, random_state=0).fit(X)
    return [codes, _written("m.safetensors", lambda path: files.save(model, path))]


def _checkpoint(path: Path) -> Any:
    return container.decode("checkpoint", path.read_bytes(), str(path))


READERS: dict[str, tuple[str, Read, Callable[[], list[bytes]]]] = {
    "edge list": ("x.txt", _read_graph("edgelist"), lambda: [*_graph_files("edgelist", ".txt"), b"a,b,1.5\nb,c,2\n"]),
    "packed edge list": (
        "x.txt",
        _read_graph("edgelist"),
        lambda: [pack(f) for f in _graph_files("edgelist", ".txt")[:1] for pack in (gzip.compress, lzma.compress)],
    ),
    "MatrixMarket graph": ("x.mtx", _read_graph("matrixmarket"), lambda: _graph_files("matrixmarket", ".mtx")),
    "METIS": ("x.metis", _read_graph("metis"), lambda: _graph_files("metis", ".metis")),
    "rudy graph": ("x.rudy", _read_graph("rudy"), lambda: _graph_files("rudy", ".rudy")),
    "compact graph": ("x.flipgraph", _read_graph("flipwise"), lambda: _graph_files("flipwise", ".flipgraph")),
    "BVGraph": ("x.bv", _bvgraph, _bvgraph_files),
    "any graph": ("x", lambda path: flipwise.read_graph(path), lambda: _graph_files("edgelist", ".txt")),
    "rudy model": ("x.rudy", _read_model("rudy"), lambda: _graph_files("rudy", ".rudy")),
    "qubo": ("x.qubo", _read_model("qubo"), lambda: _model_files("qubo", spin=False)),
    "bqp": ("x.bqp", _read_model("bqp"), lambda: _model_files("bqp", spin=False)),
    "BQPJSON": ("x.json", _read_model("bqpjson"), lambda: _model_files("bqpjson", spin=True)),
    "BiqMac": ("x.sparse", _read_model("biqmac"), lambda: _model_files("biqmac", spin=False)),
    "MatrixMarket model": ("x.mtx", _read_model("matrixmarket"), lambda: _model_files("matrixmarket", spin=False)),
    "result": ("x", flipwise.Result.load, lambda: [_result_file()]),
    "checkpoint": ("x", _checkpoint, lambda: [container.encode("checkpoint", {"x": np.ones(4), "k": 2})]),
    "codes and models": ("x.safetensors", _codes, _codes_files),
}
"""Name -> (file name, reader, generator of valid files)."""

TOKENS = [b"0", b"-1", b"1e308", b"nan", b"inf", b"9223372036854775807", b"99999999999999999999", b"4294967296", b"\n"]
TOKENS += [b" ", b"\t", b",", b"%", b"#", b"\x00", b"\xff\xff\xff\xff", b"1000000000 1000000000", b"%%MatrixMarket"]
TOKENS += [b"p qubo 0 5 5 5", json.dumps({"a": [1] * 3}).encode(), b"1.5", b"name", b"\r\n"]


def mutated(seed: bytes, rng: np.random.Generator) -> bytes:
    """One to four random changes: flipped bits, cuts, repeats, insertions of awkward tokens, joined pieces."""
    data = bytearray(seed)
    for _ in range(int(rng.integers(1, 5))):
        kind = int(rng.integers(6))
        at = int(rng.integers(0, len(data) + 1))
        if kind == 0 and data:
            data[min(at, len(data) - 1)] ^= 1 << int(rng.integers(8))
        elif kind == 1:
            del data[at:]
        elif kind == 2:
            del data[at : at + int(rng.integers(1, 9))]
        elif kind == 3:
            data[at:at] = TOKENS[int(rng.integers(len(TOKENS)))]
        elif kind == 4:
            end = min(len(data), at + int(rng.integers(1, 40)))
            data[at:at] = data[at:end] * int(rng.integers(1, 5))
        else:
            data[at:at] = rng.bytes(int(rng.integers(1, 16)))
    return bytes(data)
