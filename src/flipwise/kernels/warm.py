"""Compile the kernels of the quadratic descent ahead of time, on problems of a few variables."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from flipwise.kernels import dense, sparse
from flipwise.kernels.jit import Kernel


def warm_up() -> None:
    """Move the kernels to the compiled tier and run each once for the usual types."""
    from flipwise.constraints import Cardinality
    from flipwise.minimize import minimize

    for module in (dense, sparse):
        for value in vars(module).values():
            if isinstance(value, Kernel):
                value.compile()
    matrix = np.array([[0.0, 1.0, 0.0], [1.0, 0.0, -1.0], [0.0, -1.0, 0.0]])
    narrow = sp.csr_array(matrix)
    wide = sp.csr_array((narrow.data, narrow.indices.astype(np.int64), narrow.indptr.astype(np.int64)), shape=(3, 3))
    for A in (matrix, narrow, wide):
        minimize(A, seed=0)
        minimize(A, seed=0, constraint=Cardinality(1))
