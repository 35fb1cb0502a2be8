"""A folder with one small file of each kind a command reads, and a way to call the program."""

from __future__ import annotations

import io
import sys
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest

from flipwise.cli import main
from flipwise.graphs.planted import planted_subgraph
from flipwise.graphs.write import write_graph
from flipwise.qubo.formats import write_model
from flipwise.qubo.models import QuadraticModel


class Ended(NamedTuple):
    """How a command ended."""

    code: int
    out: str
    err: str


Call = Callable[..., Ended]


@pytest.fixture(scope="session")
def sample_files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A graph of 200 nodes, a QUBO of 30 variables, vectors with labels."""
    folder = tmp_path_factory.mktemp("samples")
    graph, _ = planted_subgraph(200, 20, mean_degree=8.0, seed=1)
    write_graph(graph, folder / "graph.rudy")
    edges = np.loadtxt(folder / "graph.rudy", skiprows=1, dtype=int)[:, :2] - 1
    ring = np.stack([np.arange(200), (np.arange(200) + 1) % 200], axis=1)  # so that no node is isolated
    np.savetxt(folder / "graph.txt", np.unique(np.sort(np.concatenate([edges, ring])), axis=0), fmt="%d")
    rng = np.random.default_rng(0)
    write_model(QuadraticModel.from_qubo(np.triu(rng.integers(-5, 6, (30, 30))).astype(float)), folder / "model.qubo")
    program = "max\n v: 5 a + 6 b + 3 c\nst\n w: 3 a + 4 b + 2 c <= 6\nbin\n a\n b\n c\nend\n"
    (folder / "program.lp").write_text(program)
    centres = rng.standard_normal((4, 12))
    for name, count in (("", 200), ("query_", 30)):
        labels = rng.integers(0, 4, count)
        np.save(folder / f"{name}labels.npy", labels)
        vectors = centres[labels] + 0.4 * rng.standard_normal((count, 12))
        np.save(folder / ("vectors.npy" if name == "" else "queries.npy"), vectors)
    return folder


@pytest.fixture
def call(
    sample_files: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> Call:
    """Run `flipwise ...` in a folder of its own that holds the sample files."""
    for path in sample_files.iterdir():
        (tmp_path / path.name).write_bytes(path.read_bytes())
    monkeypatch.chdir(tmp_path)

    def run(*arguments: str, stdin: bytes | None = None) -> Ended:
        if stdin is not None:
            monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin)))
        code = main(arguments)
        out, err = capfd.readouterr()
        return Ended(code, out, err)

    return run
