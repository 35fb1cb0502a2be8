"""A directed CSR structure into a graph, and back into arcs."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from flipwise.graphs.csr import csr_blocks, graph_from_csr
from flipwise.graphs.graph import ArcBlock, build_graph
from tests.graphs.test_graph import ARCS


@pytest.mark.kernels
@given(arcs=ARCS, rule=st.sampled_from(["max", "sum"]))
def test_csr_route_is_the_arc_route(arcs, rule) -> None:  # type: ignore[no-untyped-def]
    """A directed CSR structure gives the graph of its arcs."""
    A = np.zeros((12, 12))
    for i, j, _ in arcs:
        A[i, j] = 1
    csr = sp.csr_array(A)
    rows, columns = np.nonzero(A)
    one = graph_from_csr(csr.indptr.astype(np.int64), csr.indices.copy(), symmetrise=rule)
    two = build_graph(12, [ArcBlock(rows, columns)], symmetrise=rule)
    assert np.array_equal(one.to_scipy().toarray(), two.to_scipy().toarray())


@pytest.mark.parametrize("size", [1, 7, 1000])
def test_blocks_are_the_arcs_in_order(monkeypatch: pytest.MonkeyPatch, size: int) -> None:
    """Blocks of whole rows, however small, give every arc once."""
    monkeypatch.setattr("flipwise.graphs.csr.BLOCK_ARCS", size)
    A = sp.random_array((30, 30), density=0.2, rng=np.random.default_rng(0), format="csr")
    blocks = list(csr_blocks(A.indptr.astype(np.int64), A.indices, A.data))
    sources, targets, weights = (np.concatenate([block[k] for block in blocks]) for k in range(3))
    assert np.array_equal(sources, np.repeat(np.arange(30), np.diff(A.indptr)))
    assert np.array_equal(targets, A.indices) and np.array_equal(weights, A.data)
