"""Small graphs for the tests of graph kernels."""

from __future__ import annotations

import numpy as np

from flipwise.graphs.convert import as_graph
from flipwise.graphs.graph import Graph


def a_graph(weighted: bool, n: int = 24, seed: int = 0) -> tuple[Graph, np.ndarray]:
    """A random graph and its dense matrix; weights are of both signs."""
    rng = np.random.default_rng(seed)
    W = np.triu(rng.random((n, n)) < 0.3, 1) * (np.round(rng.normal(1.0, 1.0, (n, n)), 3) if weighted else 1.0)
    W = W + W.T
    graph = as_graph((n, np.array([[i, j, W[i, j]] for i in range(n) for j in range(i) if W[i, j]])))
    return graph, W
