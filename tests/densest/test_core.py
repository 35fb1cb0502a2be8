"""Cores: what peeling leaves, how little ties the rest to it, and cores of a wanted size."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest
import scipy.sparse as sp

from flipwise.densest.core import (
    core_above,
    core_of_size,
    induced,
    positive_degrees,
    whole_core,
)
from flipwise.graphs.convert import as_graph
from tests.densest.graphs import core_of, random_weights

pytestmark = pytest.mark.kernels


@pytest.mark.parametrize("cap", [0, 1, 3, 5])
def test_a_core_above_a_cap_is_a_k_core(cap: int) -> None:
    """Without weights the core above `cap` is the (cap + 1)-core, numbered in ascending order."""
    graph = nx.gnm_random_graph(200, 600, seed=2)
    core = core_above(whole_core(as_graph(graph)), float(cap))
    assert core.nodes.tolist() == sorted(nx.k_core(graph, cap + 1)) and core.cap == cap and not core.is_whole
    W = nx.to_numpy_array(graph, nodelist=range(200))
    assert np.array_equal(core.graph.to_scipy().toarray(), W[np.ix_(core.nodes, core.nodes)])


@pytest.mark.parametrize("weighted", [False, True], ids=["plain", "weighted"])
def test_nothing_outside_is_tied_by_more_than_the_cap(weighted: bool) -> None:
    """No node outside has more than `cap` of positive weight into the core, of whatever size was wanted."""
    W = random_weights(300, 5, 0.04, weighted)
    for size in (40, 120, 300, 500):
        core = core_of_size(core_of(W), size)
        assert core.graph.n >= min(size, 300)
        outside = np.setdiff1d(np.arange(300), core.nodes)
        if core.is_whole:
            assert not outside.size and core.cap == -1.0
        else:
            assert W[np.ix_(outside, core.nodes)].sum(axis=1).max() <= core.cap


def test_negative_weights_do_not_tie() -> None:
    """Only positive weights count in the degrees by which a core is cut."""
    W = np.zeros((4, 4))
    W[0, 1], W[1, 2], W[0, 2], W[2, 3] = 2.0, 2.0, 2.0, -9.0
    W = W + W.T
    core = core_above(core_of(W), 1.0)
    assert core.nodes.tolist() == [0, 1, 2] and positive_degrees(core.graph).tolist() == [4.0, 4.0, 4.0]


@pytest.mark.parametrize("weighted", [False, True], ids=["plain", "weighted"])
def test_peeling_takes_a_node_of_least_degree_each_time(weighted: bool) -> None:
    """Every node has the least weight to those left, or (without weights) at most its core number, as in networkx."""
    W = random_weights(40, 6, 0.2, weighted)
    core = core_of(W)
    wanted = nx.core_number(nx.from_numpy_array(W))
    left = np.ones(40, dtype=bool)
    for node in core.peeling.order:
        least = W[left][:, left].sum(axis=1).min() if weighted else wanted[int(node)]
        assert W[node, left].sum() <= least + 1e-9
        left[node] = False
    assert not left.any()
    if weighted:
        assert core.peeling.core_numbers is None
    else:
        assert core.peeling.core_numbers.tolist() == [wanted[i] for i in range(40)]


@pytest.mark.parametrize("weighted", [False, True], ids=["plain", "weighted"])
def test_the_subgraph_on_some_nodes(weighted: bool) -> None:
    """Rows and columns of the nodes, ascending."""
    W = random_weights(30, 7, 0.3, weighted)
    nodes = np.array([2, 3, 11, 12, 29])
    part = induced(as_graph(sp.csr_array(W)), nodes)
    assert np.array_equal(part.to_scipy().toarray(), W[np.ix_(nodes, nodes)])
