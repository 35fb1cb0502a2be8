"""Generated power-law graphs."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from flipwise import Graph, InvalidInput
from flipwise.kernels import jit
from flipwise_studies.data.rmat import rmat_graph


def _is_simple(graph: Graph) -> bool:
    A = graph.to_scipy()
    return (A != A.T).nnz == 0 and A.diagonal().sum() == 0 and A.max() <= 1


def test_seeds() -> None:
    """The same seed gives the same simple graph on one thread and two, another seed another graph."""
    graphs = []
    for count in (1, 2):
        with jit.threads(count):
            graphs.append(rmat_graph(3000, 40_000, 5))
    assert np.array_equal(graphs[0].indices, graphs[1].indices) and _is_simple(graphs[0])
    assert not np.array_equal(graphs[0].indices[:500], rmat_graph(3000, 40_000, 6).indices[:500])


@pytest.mark.parametrize("n", [1024, 1500, 3000])
def test_size_and_skew(n: int) -> None:
    """About the arcs asked for, and a degree far above the mean."""
    graph = rmat_graph(n, 20 * n, seed=1)
    assert abs(graph.n_arcs / (20 * n) - 1) < 0.03
    assert graph.degrees.max() > 8 * graph.degrees.mean()


@pytest.mark.kernels
def test_tiers_agree(monkeypatch: pytest.MonkeyPatch) -> None:
    """A graph is the same whether every kernel is interpreted or compiled."""
    compiled_call = jit.Kernel.__call__
    monkeypatch.setattr(jit.Kernel, "__call__", lambda self, *arguments: self.interpreted(*arguments))
    slow = rmat_graph(200, 1500, seed=3)
    monkeypatch.setattr(jit.Kernel, "__call__", compiled_call)
    with jit.compiled_at_once():
        fast = rmat_graph(200, 1500, seed=3)
    assert np.array_equal(slow.indptr, fast.indptr) and np.array_equal(slow.indices, fast.indices)


@pytest.mark.parametrize(
    "call",
    [
        lambda: rmat_graph(0, 0),
        lambda: rmat_graph(10, 200, 0),
        lambda: rmat_graph(100, 200, 0, a=0.9, b=0.2),
    ],
)
def test_refusals(call: Callable[[], Graph]) -> None:
    """Impossible sizes and probabilities are refused."""
    with pytest.raises(InvalidInput):
        call()
