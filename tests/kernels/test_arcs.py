"""The kernels that make arcs into a graph, against NumPy, in both tiers, and for wide indices."""

from __future__ import annotations

import numpy as np
import pytest

from flipwise.graphs.graph import ArcBlock, build_graph
from flipwise.kernels import arcs
from tests.kernels.tiers import assert_same_graph_in_both_tiers

pytestmark = pytest.mark.kernels


def _arcs(weighted: bool = True) -> ArcBlock:
    """Three hundred arcs between forty nodes, repeats and self loops among them."""
    rng = np.random.default_rng(11)
    sources, targets = rng.integers(0, 40, (2, 300))
    return ArcBlock(sources, targets, rng.standard_normal(300) if weighted else None)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("rule", ["max", "sum"])
def test_tiers_agree(monkeypatch: pytest.MonkeyPatch, weighted: bool, rule: str) -> None:
    """Counted, filled, sorted and merged alike."""
    assert_same_graph_in_both_tiers(monkeypatch, lambda: build_graph(40, [_arcs(weighted)], symmetrise=rule))  # type: ignore[arg-type]


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
    narrow = build_graph(40, [_arcs()], symmetrise="sum")
    monkeypatch.setattr("flipwise.graphs.graph.index_type", lambda n: np.dtype(np.int64))
    wide = build_graph(40, [_arcs()], symmetrise="sum")
    assert wide.indices.dtype == np.int64
    assert np.array_equal(narrow.indices, wide.indices) and np.array_equal(narrow.weights, wide.weights)
