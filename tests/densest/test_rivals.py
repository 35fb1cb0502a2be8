"""The published methods for dense subgraphs as solvers."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest
import scipy.sparse as sp

import flipwise
from flipwise import Cardinality
from flipwise.densest.methods import DENSEST
from flipwise.densest.rivals import graph_of
from flipwise.densest.starts import frank_wolfe_points, leading_eigenvalue
from flipwise.foundation.arrays import largest
from flipwise.graphs.convert import as_graph
from flipwise.model.problem import Problem
from tests.densest.graphs import random_weights

pytestmark = pytest.mark.kernels


def dense_problem(W: np.ndarray) -> flipwise.Quadratic:
    """min -b'Wb."""
    return flipwise.Quadratic(-sp.csr_array(W), variables="binary")


@pytest.mark.parametrize("method", list(DENSEST))
def test_a_clique_is_found(method: str) -> None:
    """A planted clique in a sparse graph is found by every one of them, through minimize as well."""
    graph = nx.gnp_random_graph(80, 0.05, seed=1)
    graph.add_edges_from(nx.complete_graph(12).edges)
    W = sp.csr_array(nx.to_numpy_array(graph, nodelist=range(80)))
    result = flipwise.minimize(
        flipwise.Quadratic(-W, variables="binary"), constraint=Cardinality(12), method=method, seed=0
    )
    assert result.value == -12 * 11


def test_frank_wolfe_returns_its_last_point() -> None:
    """However many iterations there are, the last one is what counts (not the last multiple of the report interval)."""
    W = random_weights(30, 7, 0.25)
    graph = as_graph(sp.csr_array(W))
    most = leading_eigenvalue(graph)
    for iterations in (9, 10, 11, 200):
        *_, point = frank_wolfe_points(graph, 6, most, iterations=iterations)
        nodes = largest(point, 6)
        result = flipwise.minimize(dense_problem(W), count=6, method="frank-wolfe", seed=0, iterations=iterations)
        assert -result.value >= W[np.ix_(nodes, nodes)].sum()


@pytest.mark.parametrize("weighted", [False, True], ids=["unit", "weighted"])
def test_the_graph_behind_a_problem(weighted: bool) -> None:
    """W and k come back from the quadratic; weights that are all 1 are no weights."""
    W = random_weights(9, 3, weighted=weighted)
    graph, k = graph_of(Problem(dense_problem(W), Cardinality(4)), "tpm")
    assert k == 4 and np.allclose(graph.to_scipy().toarray(), W) and (graph.weights is None) is not weighted


@pytest.mark.parametrize(
    ("objective", "words"),
    [
        (flipwise.Quadratic(-np.ones((4, 4)), variables="binary"), "not a single sparse matrix"),
        (flipwise.Quadratic(sp.csr_array(np.ones((4, 4)) - np.eye(4)), variables="binary"), "negative weight"),
        (flipwise.Quadratic(-sp.csr_array(np.eye(4)), variables="spin"), "diagonal"),
        (
            flipwise.Quadratic(-sp.csr_array(np.ones((4, 4)) - np.eye(4)), [1.0, 0.0, 0.0, 0.0], variables="binary"),
            "linear terms",
        ),
    ],
)
@pytest.mark.parametrize("method", list(DENSEST))
def test_other_problems_are_refused(objective: flipwise.Quadratic, words: str, method: str) -> None:
    """The error says what keeps the quadratic from being a dense subgraph."""
    with pytest.raises(flipwise.IncompatibleObjective, match=words):
        flipwise.minimize(objective, count=2, method=method, seed=0)


def test_a_time_limit_ends_frank_wolfe_with_a_set() -> None:
    """Out of time before the first product, the start is the answer."""
    result = flipwise.minimize(
        dense_problem(random_weights(40, 1)), count=6, method="frank-wolfe", seed=0, time_limit=0
    )
    assert result.status is flipwise.Status.TIME_LIMIT and result.x.sum() == 6
