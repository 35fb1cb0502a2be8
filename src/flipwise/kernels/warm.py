"""Compile the kernels of the quadratic descent ahead of time, on problems of a few variables."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from flipwise.kernels import annealing, coarsen, components, dense, refine, sparse, swaps, tabu
from flipwise.kernels.jit import Kernel


def warm_up() -> None:
    """Move the kernels to the compiled tier and run each once for the usual types."""
    from flipwise.constraints import Cardinality
    from flipwise.minimize import minimize

    for module in (dense, sparse, annealing, coarsen, components, refine, swaps, tabu):
        for value in vars(module).values():
            if isinstance(value, Kernel):
                value.compile()
    matrix = np.array([[0.0, 1.0, 0.0], [1.0, 0.0, -1.0], [0.0, -1.0, 0.0]])
    narrow = sp.csr_array(matrix)
    wide = sp.csr_array((narrow.data, narrow.indices.astype(np.int64), narrow.indptr.astype(np.int64)), shape=(3, 3))
    for A in (matrix, narrow, wide):
        minimize(A, seed=0)
        minimize(A, seed=0, constraint=Cardinality(1))
    _warm_search()


def _warm_search() -> None:
    """The portfolio, for the types it meets: sparse and dense, small and larger integers, and floats."""
    from flipwise.constraints import Cardinality
    from flipwise.graphs.cuts import bisect
    from flipwise.minimize import minimize

    ring = sp.csr_array(np.roll(np.eye(120), 1, axis=0) + np.roll(np.eye(120), -1, axis=0))
    full = np.ones((12, 12)) - np.eye(12)
    for A in (ring, 0.3 * ring, full, 300.0 * full, 70_000.0 * full, 0.3 * full):
        minimize(A, method="portfolio", seed=0, max_iterations=8)
        minimize(A, method="portfolio", seed=0, max_iterations=1, constraint=Cardinality(5))
    bisect(ring, seed=0, rounds=6)
