"""Compile the kernels ahead of time, on problems of a few variables."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from flipwise.kernels import annealing, bounds, components, dense, multilevel, peeling, sparse, subgraph, tabu
from flipwise.kernels.jit import Kernel

_MODULES = (annealing, bounds, components, dense, multilevel, peeling, sparse, subgraph, tabu)


def warm_up() -> None:
    """Compile every kernel now (or load it from the cache), so that the first large solve does not wait.

    Examples
    --------
    >>> import flipwise
    >>> flipwise.warm_up()  # doctest: +SKIP
    """
    from flipwise.minimization import minimize
    from flipwise.model.constraints import Cardinality
    from flipwise.model.terms import has_symmetric_fingerprint

    for module in _MODULES:
        for value in vars(module).values():
            if isinstance(value, Kernel):
                value.compile()
    matrix = np.array([[0.0, 1.0, 0.0], [1.0, 0.0, -1.0], [0.0, -1.0, 0.0]])
    narrow = sp.csr_array(matrix)
    wide = sp.csr_array((narrow.data, narrow.indices.astype(np.int64), narrow.indptr.astype(np.int64)), shape=(3, 3))
    for A in (matrix, narrow, wide):
        minimize(A, seed=0)
        minimize(A, seed=0, constraint=Cardinality(1))
    for A in (narrow, wide):
        has_symmetric_fingerprint(A)
    _warm_search()
    _warm_subgraph()


def _warm_search() -> None:
    """The portfolio, for the types it meets: sparse and dense, small and larger integers, and floats."""
    from flipwise.cuts.api import bisect
    from flipwise.minimization import minimize
    from flipwise.model.constraints import Cardinality

    ring = sp.csr_array(np.roll(np.eye(120), 1, axis=0) + np.roll(np.eye(120), -1, axis=0))
    full = np.ones((12, 12)) - np.eye(12)
    for A in (ring, 0.3 * ring, full, 300.0 * full, 70_000.0 * full, 0.3 * full):
        minimize(A, method="portfolio", seed=0, max_iterations=8)
        minimize(A, method="portfolio", seed=0, max_iterations=1, constraint=Cardinality(5))
    bisect(ring, seed=0, effort=0.2)


def _warm_subgraph() -> None:
    """The search for dense subgraphs and its bounds, without and with weights."""
    from flipwise.densest.api import densest_subgraph
    from flipwise.densest.bounds import positive_edges, split_in_halves
    from flipwise.densest.core import whole_core
    from flipwise.densest.pairs import PairProgramme
    from flipwise.densest.subset import Subset, clique_exchanges
    from flipwise.graphs.convert import as_graph

    edges = [[i, j, 1.0 + (i * j) % 3] for i in range(30) for j in range(i) if (i * i + 3 * j) % 4]
    for graph in (as_graph((30, np.array(edges)[:, :2].astype(int))), as_graph((30, np.array(edges)))):
        densest_subgraph(graph, 7, seed=0, effort=0.02)
        list(clique_exchanges(Subset.of(graph, np.arange(30) < 7), np.ones(30), 1e9))
        core = whole_core(graph)
        shares = split_in_halves(graph.n, positive_edges(core))
        arrays = shares.first, shares.second, shares.weight, shares.share, shares.loads
        bounds.balance(*arrays, shares.group_start, shares.rounds, 1)
        PairProgramme(core, 7).run(1)
