"""Where fuzzing begins: for every reader a few valid files, generated, and what must be true of a file that is read.

The mutations that turn them hostile are in `mutations.py`.
"""

from __future__ import annotations

import gzip
import lzma
import shutil
import sqlite3
import tempfile
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import flipwise
from flipwise.foundation import container
from tests.fuzz.mutations import repaired_container, repaired_index, repaired_store
from tests.fuzz.round_trips import (
    same_codes,
    same_graph,
    same_index,
    same_listed,
    same_model,
    same_program,
    same_result,
    same_state,
)
from tests.qubo.programs import qplib_text

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


def _index(path: Path) -> Any:
    """An opened index answers, whatever its arrays hold."""
    from flipwise.hashing import Index

    index = Index.open(path)
    if len(index):
        scoring = "asymmetric" if index.model.__class__.__name__ == "AdditiveQuantizer" else "hamming"
        Q = np.random.default_rng(0).standard_normal((2, index.model.n_features_in_))
        index.search(Q, 1, scoring=scoring, rerank=1 if index.keep_vectors else None)  # type: ignore[arg-type]
    return index


def _index_files() -> list[bytes]:
    from flipwise.hashing import ITQ, AdditiveQuantizer, Index

    X = np.random.default_rng(0).standard_normal((30, 4))
    bits = Index(ITQ(n_bits=4, random_state=0).fit(X), lists=3, random_state=0)
    sums = Index(AdditiveQuantizer(1, effort=0, random_state=0).fit(X), keep_vectors=True)
    empty = Index(bits.model)
    bits.add(X)
    sums.add(X[:9], np.arange(9) * 5)
    return [_written("i", index.save) for index in (bits, sums, empty)]


def _parquet_files() -> list[bytes]:
    import pyarrow as pa
    import pyarrow.parquet as pq

    numbers = pa.table({"source": [0, 1, 2], "target": [1, 2, 0], "weight": [0.5, 1.5, -2.0]})
    names = pa.table({"u": ["a", "b"], "v": ["b", "c"]})
    made = []
    for table in (numbers, names):
        for how in ("none", "gzip"):
            made.append(_written("t.parquet", lambda path, t=table, h=how: pq.write_table(t, path, compression=h)))
    return made


def _shard_files() -> list[bytes]:
    """The manifest and one array of a folder of shards, one behind another."""
    from flipwise.distributed.shards import shard_graph

    with tempfile.TemporaryDirectory() as folder:
        shard_graph(_graphs()[0], folder, shards=1)
        parts = [Path(folder, name).read_bytes() for name in SHARDS]
    return [b"".join(len(part).to_bytes(4, "little") + part for part in parts)]


SHARDS = ("manifest.json", "shard-00000.indptr.npy", "shard-00000.indices.npy", "degrees.npy")


def _shards(path: Path) -> Any:
    """A folder of shards from one file; the checksums of its arrays are made right, so that more than they is tried."""
    import json
    import zlib

    from flipwise.distributed import shards

    data, folder = path.read_bytes(), path.with_name("shards")
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    sums = {}
    for name in SHARDS:
        size = int.from_bytes(data[:4], "little")
        part, data = data[4 : 4 + size], data[4 + size :]
        (folder / name).write_bytes(part)
        try:
            sums[name] = zlib.crc32(np.ascontiguousarray(np.load(folder / name)).data)
        except Exception:  # the reader's business
            sums[name] = 0
    try:
        manifest = json.loads((folder / "manifest.json").read_bytes())
        (folder / "manifest.json").write_text(json.dumps(manifest | {"files": manifest["files"] | sums}))
    except (ValueError, TypeError, KeyError):
        pass
    for cached in (shards.read_manifest, shards.open_shard, shards.read_degrees):
        cached.cache_clear()
    shards.read_degrees(folder)
    shards.read_names(folder)
    return shards.joined(folder)


def _stores() -> list[bytes]:
    """A table of results, by the generator of the studies' own tests."""
    from flipwise_studies.experiments.store import Store
    from studies.tests.report.cells import made_up_cells

    def write(path: Path) -> None:
        with Store(path) as store:
            for cell in made_up_cells()[:8]:
                store.add(cell)
        with closing(sqlite3.connect(path)) as database:
            database.execute("vacuum")

    return [_written("s.sqlite", write)]


def _results() -> list[bytes]:
    from flipwise_studies.experiments.results import write_results
    from studies.tests.report.cells import made_up_cells

    return [_written("r.json", lambda path: write_results(made_up_cells()[:8], path, command="none"))]


def _cells(path: Path) -> Any:
    from flipwise_studies import read_cells

    return read_cells(path)


def _vectors(path: Path) -> Any:
    from flipwise.cli.inputs import read_vectors

    return read_vectors(str(path))


def _vector_files() -> list[bytes]:
    X = np.random.default_rng(0).standard_normal((4, 3))
    plain = [_written("v.npy", lambda path, d=d: np.save(path, X.astype(d))) for d in ("<f8", ">f4", "<i2")]
    return [*plain, _written("v.npz", lambda path: np.savez(path, X)), b"1 2 3\n4 5 6\n", b"1,2\n3,4\n"]


def _program_files() -> list[bytes]:
    terms = {("a", "b"): 2.0, ("b", "c"): -1.5, ("a",): -1.0}
    model = flipwise.QuadraticModel.from_qubo(terms, 0.5)
    rows = flipwise.LinearConstraints([[1, 1, 0], [0, 2, -1]], [-np.inf, 0], [1, np.inf], names=["r", "s"])
    programs = [flipwise.ConstrainedModel(model, each, each is None) for each in (None, rows)]
    return [qplib_text(program).encode() for program in programs]


RING = (7, [[i, (i + 1) % 7] for i in range(7)])
"""The graph of the certificates: no cut has more than 6 edges, and no three nodes more than two."""


def _certificate_files() -> list[bytes]:
    certificates = [flipwise.maxcut(RING, seed=0).certificate, flipwise.densest_subgraph(RING, 3, seed=0).certificate]
    assert all(certificates)
    return [_written("c", certificate.save) for certificate in certificates if certificate is not None]


def _certificate(path: Path) -> Any:
    """A certificate that is believed proves a bound that holds."""
    certificate = flipwise.Certificate.load(path)
    try:
        bound = flipwise.verify(RING, certificate)
    except flipwise.InvalidCertificate:
        return certificate
    if certificate.function == "subgraph":
        k = certificate.problem["k"]
        assert bound >= 2.0 * (k - (k < 7)) / k
    else:
        assert bound >= 6.0 if certificate.function == "maxcut" else bound <= 2.0
    return certificate


def _checkpoint(path: Path) -> Any:
    return container.decode("checkpoint", path.read_bytes(), str(path))


class Reader(NamedTuple):
    """How files of one kind are read, and what must hold for one that was."""

    file: str
    read: Read
    valid: Callable[[], list[bytes]]
    round_trip: Callable[[Any, Path], None] | None = None
    """Raises unless the object, written and read again, is the same."""
    repair: Callable[[bytes], bytes] | None = None
    """A damaged file with checksums that fit, so that more than those is tried."""


def _graph_reader(format: str, suffix: str, *more: bytes, repair: Any = None) -> Reader:
    return Reader(
        f"x{suffix}", _read_graph(format), lambda: [*_graph_files(format, suffix), *more], same_graph(format), repair
    )


def _listed_reader(format: str, suffix: str, *more: bytes) -> Reader:
    """A format with names and attributes: weights, names, a node without an edge, marks."""

    def files() -> list[bytes]:
        indptr, indices, weights = np.array([0, 1, 3, 4, 4]), np.array([1, 0, 2, 1]), np.array([2.5, 2.5, -1.0, -1.0])
        named = flipwise.Graph(indptr, indices, weights, ["a", "Zo\xeb", "b c", "x"])
        marks = {"inside": np.array([True, False, True, False])}
        return [
            _written("g", lambda path: flipwise.write_graph(named, path, format=format)),
            _written("g", lambda path: flipwise.write_graph((3, [[0, 2]]), path, format=format)),
            _written("g", lambda path: flipwise.write_graph(named, path, format=format, attributes=marks)),
            *more,
        ]

    return Reader(f"x{suffix}", _read_graph(format), files, same_listed(format))


def _model_reader(format: str, suffix: str, *, spin: bool = False) -> Reader:
    return Reader(f"x{suffix}", _read_model(format), lambda: _model_files(format, spin=spin), same_model(format))


READERS: dict[str, Reader] = {
    "edge list": _graph_reader(
        "edgelist", ".txt", b"a,b,1.5\nb,c,2\n", b"source target\nann bob\nbob eve\n", b'"a b";c;1\n', b"1\t2\t0.5\n"
    ),
    "packed edge list": Reader(
        "x.txt",
        _read_graph("edgelist"),
        lambda: [pack(f) for f in _graph_files("edgelist", ".txt")[:1] for pack in (gzip.compress, lzma.compress)],
        same_graph("edgelist"),
    ),
    "MatrixMarket graph": _graph_reader("matrixmarket", ".mtx"),
    "METIS": _graph_reader("metis", ".metis", b"3 3 011 1\n5 2 7 3 9\n5 1 7 3 8\n5 1 9 2 8\n"),
    "rudy graph": _graph_reader("rudy", ".rudy"),
    "named columns": Reader(
        "x.csv",
        _read_graph("csv"),
        lambda: [
            b"Source,Target,Type,Id,Label,Weight\n0,1,Undirected,0,,2.5\n1,2,Undirected,1,,3\n",
            b'id;weight;target;source\n1;0.5;"a b";c\n2;1;d;e\n',
            b"source,target,weight\nann,bob,2\nbob,eve,-1\n",
        ],
        same_listed("csv"),
    ),
    "GraphML": _listed_reader(
        "graphml",
        ".graphml",
        b'<graphml><key id="k" for="edge" attr.name="weight"><default>2</default></key><graph id="G"><node id="n0">'
        b'</node><node id="n1"/><edge source="n0" target="n1" directed="true"/></graph></graphml>',
    ),
    "GEXF": _listed_reader("gexf", ".gexf"),
    "GML": _listed_reader(
        "gml", ".gml", b'Creator "x"\ngraph\n[\n  directed 1\n node [ id 7 name "a" g [ x 1 ] ]\n]\n'
    ),
    "node-link JSON": _listed_reader(
        "nodelink", ".json", b'{"nodes": [{"id": [0, "a"]}, {"id": 7}], "links": [{"source": 7, "target": 7}]}'
    ),
    "graph6": Reader(
        "x.g6", _read_graph("graph6"), lambda: [b"DQc\n", b">>sparse6<<:Fa@x^\n", b"?"], same_graph("flipwise")
    ),
    "compact graph": _graph_reader("flipwise", ".flipgraph", repair=repaired_store),
    "BVGraph": Reader("x.bv", _bvgraph, _bvgraph_files, same_graph("flipwise")),
    "any graph": Reader(
        "x", lambda path: flipwise.read_graph(path), lambda: _graph_files("edgelist", ".txt"), same_graph("flipwise")
    ),
    "Parquet": Reader("x.parquet", _read_graph("parquet"), _parquet_files, same_graph("flipwise")),
    "shards": Reader("x.shards", _shards, _shard_files),
    "rudy model": Reader("x.rudy", _read_model("rudy"), lambda: _graph_files("rudy", ".rudy"), same_model("rudy")),
    "qubo": _model_reader("qubo", ".qubo"),
    "bqp": _model_reader("bqp", ".bqp"),
    "BQPJSON": _model_reader("bqpjson", ".json", spin=True),
    "BiqMac": _model_reader("biqmac", ".sparse"),
    "QOBLIB": _model_reader("qs", ".qs"),
    "MatrixMarket model": _model_reader("matrixmarket", ".mtx"),
    "COO": _model_reader("coo", ".coo", spin=True),
    "dimod": _model_reader("bqm", ".bqm", spin=True),
    "QPLIB": Reader(
        "x.qplib", lambda path: flipwise.read_constrained(path, format="qplib"), _program_files, same_program
    ),
    "certificate": Reader("x.cert", _certificate, _certificate_files, repair=repaired_container),
    "result": Reader("x", flipwise.Result.load, lambda: [_result_file()], same_result, repaired_container),
    "checkpoint": Reader(
        "x",
        _checkpoint,
        lambda: [container.encode("checkpoint", {"x": np.ones(4), "k": 2})],
        same_state,
        repaired_container,
    ),
    "codes and models": Reader("x.safetensors", _codes, _codes_files, same_codes),
    "index": Reader("x.index", _index, _index_files, same_index, repaired_index),
    "vectors": Reader("x.npy", _vectors, _vector_files),
    "store of results": Reader("x.sqlite", _cells, _stores),
    "results in JSON": Reader("x.json", _cells, _results),
}
"""Every reader of files, by name."""
