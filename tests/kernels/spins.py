"""Small problems in spins for the tests of the search kernels."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp


def couplings(n: int, density: float, seed: int, dtype: type = np.int32) -> tuple[sp.csr_array, np.ndarray]:
    """A random symmetric integer matrix without diagonal, and a linear part."""
    rng = np.random.default_rng(seed)
    upper = np.triu(rng.integers(-90, 91, (n, n)) * (rng.random((n, n)) < density), 1)
    return sp.csr_array((upper + upper.T).astype(dtype)), rng.integers(-50, 51, n).astype(dtype)


def spins(n: int, seed: int) -> np.ndarray:
    """Random spins."""
    return (2 * np.random.default_rng(seed).integers(0, 2, n) - 1).astype(np.int8)


def energy(J: np.ndarray, h: np.ndarray, s: np.ndarray) -> float:
    """The energy from its definition."""
    x = s.astype(np.float64)
    return float(x @ J @ x / 2 + h @ x)


def parts(A: sp.csr_array) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The arrays of a CSR matrix in the kernels' types."""
    return A.indptr.astype(np.int64), A.indices, A.data
