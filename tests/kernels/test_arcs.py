"""The kernels that read and build graphs: the interpreted and the compiled tier give the same bits."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from flipwise import Graph, read_graph, write_graph
from flipwise.graphs.graph import ArcBlock, build_graph
from flipwise.kernels import arcs, jit
from tests.graphs.formats import bvgraph_twin as twin

pytestmark = pytest.mark.kernels
RNG_SEED = 11


def _weighted() -> tuple[int, np.ndarray]:
    rng = np.random.default_rng(RNG_SEED)
    return 40, np.column_stack([rng.integers(0, 40, (300, 2)), rng.standard_normal(300)])


def _bvgraph(folder: Path) -> Graph:
    rng = np.random.default_rng(RNG_SEED)
    lists = [sorted(set(rng.integers(0, 60, 6).tolist()) | set(range(x, min(60, x + x % 9)))) for x in range(60)]
    twin.write(folder / "g", lists, rng, codes={"BLOCKS": "DELTA"})
    return read_graph(folder / "g", symmetrise="sum")


def _named(folder: Path) -> Graph:
    path = folder / "n.csv"
    path.write_text("".join(f'"a {i % 7}",b{i % 5},{i / 3!r}\n' for i in range(60)))
    return read_graph(path, symmetrise="sum")


CASES: dict[str, Callable[[Path], Graph]] = {
    "weighted edge list": lambda folder: read_graph(write_graph(_weighted(), folder / "w.txt")),
    "METIS": lambda folder: read_graph(write_graph((40, _weighted()[1][:, :2]), folder / "m.metis")),
    "names": _named,
    "BVGraph": _bvgraph,
}


@pytest.mark.parametrize("case", CASES)
def test_tiers_agree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, case: str) -> None:
    """A graph is the same whether every kernel is interpreted or compiled."""
    compiled_call = jit.Kernel.__call__
    monkeypatch.setattr(jit.Kernel, "__call__", lambda self, *arguments: self.interpreted(*arguments))
    slow = CASES[case](tmp_path)
    monkeypatch.setattr(jit.Kernel, "__call__", compiled_call)
    monkeypatch.setattr(jit, "INTERPRETED_ELEMENTS", -1)
    fast = CASES[case](tmp_path)
    assert np.array_equal(slow.indptr, fast.indptr) and np.array_equal(slow.indices, fast.indices)
    assert (slow.weights is None and fast.weights is None) or np.array_equal(slow.weights, fast.weights)


@pytest.mark.parametrize("size", [0, 1, 2, 16, 17, 100, 257])
@pytest.mark.parametrize("shape", ["random", "ascending", "descending", "three runs"])
def test_rows_are_sorted_stably(size: int, shape: str) -> None:
    """A row comes out as numpy's stable sort by neighbour puts it, weights with it."""
    rng = np.random.default_rng(size)
    keys = rng.integers(0, max(1, size), size).astype(np.uint32)
    if shape == "ascending":
        keys = np.sort(keys)
    elif shape == "descending":
        keys = np.sort(keys)[::-1].copy()
    elif shape == "three runs":
        keys = np.concatenate([np.sort(part) for part in np.array_split(keys, 3)])
    weights = rng.standard_normal(size)
    order = np.argsort(keys >> 1, kind="stable")
    expected = keys[order], weights[order]
    arcs.sort_rows(np.array([0, size]), keys, weights)
    assert np.array_equal(keys, expected[0]) and np.array_equal(weights, expected[1])


def test_wide_indices_give_the_same_graph(monkeypatch: pytest.MonkeyPatch) -> None:
    """The 64-bit layout of graphs beyond 2^31 nodes holds the same edges."""
    n, table = _weighted()
    block = ArcBlock(table[:, 0].astype(np.int64), table[:, 1].astype(np.int64), table[:, 2].copy())
    narrow = build_graph(n, [block], symmetrise="sum")
    monkeypatch.setattr("flipwise.graphs.graph.index_type", lambda n: np.dtype(np.int64))
    wide = build_graph(n, [block], symmetrise="sum")
    assert wide.indices.dtype == np.int64
    assert np.array_equal(narrow.indices, wide.indices) and np.array_equal(narrow.weights, wide.weights)
