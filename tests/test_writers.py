"""Every writer on a full disk, in a folder that is read-only, in one that has vanished: the old file stays as it was.

The full disk is a real one where a small file system can be mounted (by root on Linux), and always one that says so
when the bytes are flushed to it.
"""

from __future__ import annotations

import errno
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import flipwise
from flipwise.foundation import atomic, container
from flipwise.graphs.read import SUFFIXES
from flipwise.graphs.write import WRITTEN_FORMATS, write_graph
from flipwise.qubo.formats import FORMATS as MODEL_FORMATS
from tests.cli.conftest import Call, call, sample_files  # noqa: F401  fixtures

OLD = b"the old file\n"
GRAPH = (12, np.random.default_rng(0).integers(0, 12, (25, 2)))
LINKED = (3, np.array([[0, 1], [1, 2]]))
"""Without lonely nodes, which a CSV table of edges cannot hold."""


def _model(format: str) -> flipwise.QuadraticModel:
    """A model that the format can say."""
    couplings = np.triu(np.random.default_rng(1).integers(1, 4, (5, 5)), 1).astype(float)
    if format == "rudy":
        return flipwise.QuadraticModel.from_ising(np.zeros(5), couplings, offset=-float(couplings.sum()))
    return flipwise.QuadraticModel.from_qubo(couplings)


def _codes(path: Path) -> None:
    from flipwise.hashing import Codes, save

    save(Codes.from_signs(np.ones((20, 12))), path)


def _estimator(path: Path) -> None:
    from flipwise.hashing import ITQ, save

    save(ITQ(n_bits=4, random_state=0).fit(np.random.default_rng(0).standard_normal((30, 6))), path)


def _index(path: Path) -> None:
    from flipwise.hashing import ITQ, Index

    X = np.random.default_rng(0).standard_normal((30, 6))
    index = Index(ITQ(n_bits=4, random_state=0).fit(X))
    index.add(X)
    index.save(path)


def _shard(path: Path) -> None:
    from flipwise.distributed.shards import write_array

    write_array(path, np.arange(100))


def _report(path: Path) -> None:
    from flipwise_studies.experiments.results import write_results

    write_results([], path, command="none")


LIBRARY: dict[str, Callable[[Path], Any]] = {
    **{
        f"graph, {f}": (lambda path, f=f: write_graph(LINKED if f == "csv" else GRAPH, path, format=f))
        for f in WRITTEN_FORMATS
    },
    "graph, packed": lambda path: write_graph(GRAPH, path.with_suffix(".txt.gz")),
    **{f"model, {f}": (lambda path, f=f: flipwise.write_model(_model(f), path, format=f)) for f in MODEL_FORMATS},
    "result": lambda path: flipwise.minimize(np.ones((4, 4)), seed=0).save(path),
    "checkpoint": lambda path: atomic.write_atomically(path, container.encode("checkpoint", {"x": np.ones(4)})),
    "codes": _codes,
    "estimator": _estimator,
    "index": _index,
    "shard": _shard,
    "results of studies": _report,
}
COMMANDS = {
    "convert": "convert graph.txt {}/x.mtx",
    "convert a model": "convert model.qubo {}/x.json",
    "subgraph": "subgraph graph.txt -k 5 --effort 0 --no-bound -o {}/x",
    "subgraph, JSON": "subgraph graph.txt -k 5 --effort 0 --no-bound -o {}/x.json",
    "subgraph, page": "subgraph graph.txt -k 5 --effort 0 --no-bound --report {}/x.html",
    "maxcut": "maxcut graph.txt --bound none --time-limit 0 -o {}/x",
    "bisect": "bisect graph.txt --time-limit 0 -o {}/x",
    "qubo": "qubo model.qubo --bound none --time-limit 0 -o {}/x",
    "hash fit": "hash fit vectors.npy --bits 8 -o {}/x.safetensors",
    "hash encode": "hash encode model.safetensors queries.npy -o {}/x.safetensors",
    "hash encode, packed": "hash encode model.safetensors queries.npy -o {}/x.npy",
    "hash search": "hash search model.safetensors model.safetensors -o {}/x",
    "hash export": "hash export model.safetensors --to faiss -o {}/x.npy",
    "hash export, text": "hash export model.safetensors --to pgvector -o {}/x",
}


def _mounted(folder: Path, *options: str) -> bool:
    """Whether a file system of 256 KiB could be mounted there, or changed."""
    if sys.platform != "linux" or os.geteuid() != 0:
        return False
    command = ["mount", "-t", "tmpfs", "-o", ",".join(["size=256k", *options]), "tmpfs", str(folder)]
    return subprocess.run(command, capture_output=True, check=False).returncode == 0


class Place:
    """A folder with old files in it, in which nothing can be written any more."""

    def __init__(self, folder: Path, hinder: Callable[[Path], None]) -> None:
        self.folder, self.hinder = folder, hinder
        names = ["x", "x.txt.gz", "x.mtx", "x.json", "x.html", "x.safetensors", "x.npy"]
        for name in names:
            (folder / name).write_bytes(OLD)
        hinder(folder)

    def check(self) -> None:
        """Raise unless the old files, and no others, are there with their old content."""
        if not self.folder.exists():
            return
        found = {path.name: path.read_bytes() for path in self.folder.iterdir() if path.name != "filler"}
        assert set(found.values()) == {OLD} and len(found) == 7, sorted(found)


def _fill(folder: Path) -> None:
    """Use up all space of the file system."""
    with (folder / "filler").open("wb", buffering=0) as file:
        for size in (1 << 16, 1 << 12, 1):
            try:
                while True:
                    file.write(bytes(size))
            except OSError as error:
                assert error.errno == errno.ENOSPC


def _vanish(folder: Path) -> None:
    for path in folder.iterdir():
        path.unlink()
    folder.rmdir()


@pytest.fixture(params=["full", "full at the end", "read-only", "vanished"])
def place(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Place]:
    """Each way in which nothing can be written. Commands find out when they write: the check before is left out."""
    folder = tmp_path / "place"
    folder.mkdir()
    mounted = False
    monkeypatch.setattr("flipwise.cli.outputs.check_writable", lambda path: None)
    if request.param == "full at the end":

        def full(descriptor: int) -> None:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

        yield Place(folder, lambda folder: monkeypatch.setattr("os.fsync", full))
    elif request.param == "vanished":
        yield Place(folder, _vanish)
    else:
        if request.param == "full" or os.geteuid() == 0:
            mounted = _mounted(folder)
            if not mounted:
                pytest.skip("needs root, to mount a small file system")
        if request.param == "full":
            yield Place(folder, _fill)
        elif mounted:
            yield Place(folder, lambda folder: assert_(_mounted(folder, "remount", "ro")))
        else:
            yield Place(folder, lambda folder: folder.chmod(0o500))
            folder.chmod(0o700)
    if mounted:
        subprocess.run(["umount", str(folder)], check=True)


def assert_(fact: bool) -> None:
    """An assertion as an expression."""
    assert fact


@pytest.mark.skipif(sys.platform == "win32", reason="folders of POSIX")
def test_writers_of_the_library_leave_the_old_file(place: Place) -> None:
    """An `OSError` (or an error of our own that names the folder), the old file, and nothing beside it."""
    for name, write in LIBRARY.items():
        needed = {"codes": "safetensors", "estimator": "sklearn", "model, bqm": "dimod", "shard": "distributed"}
        if name in needed:
            pytest.importorskip(needed[name])
        if name == "results of studies":
            pytest.importorskip("flipwise_studies")
        with pytest.raises((OSError, flipwise.InvalidInput)) as caught:
            write(place.folder / "x")
        assert "place" in str(caught.value), name
        place.check()


@pytest.mark.skipif(sys.platform == "win32", reason="folders of POSIX")
def test_commands_leave_the_old_file(place: Place, call: Call) -> None:  # noqa: F811
    """Exit code 2, the name of the file in the message, the old file, and nothing beside it."""
    pytest.importorskip("sklearn", reason="the hashing commands need scikit-learn")
    hindered, os.fsync = os.fsync, lambda descriptor: None
    assert call("hash", "fit", "vectors.npy", "--bits", "8", "-o", "model.safetensors", "-q").code == 0
    os.fsync = hindered
    for name, command in COMMANDS.items():
        ended = call(*command.format(place.folder).split())
        assert ended.code == 2 and str(place.folder) in ended.err, (name, ended)
        place.check()


def test_no_suffix_of_a_graph_is_forgotten() -> None:
    """Every format that a suffix stands for is read; those that can be written are tested above."""
    assert set(WRITTEN_FORMATS) | {"parquet", "bvgraph", "graph6"} >= set(SUFFIXES.values())
