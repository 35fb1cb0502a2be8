"""The sweeps of the mixing method against NumPy."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from flipwise.kernels import mixing

pytestmark = pytest.mark.kernels


@pytest.mark.parametrize("dense", [True, False], ids=["dense", "sparse"])
def test_mixing_sweep(dense: bool) -> None:
    """A sweep replaces every row by the best one, in turn, and reports the decrease."""
    rng = np.random.default_rng(0)
    N, rank = 7, 3
    A = rng.standard_normal((N, N)) * (rng.random((N, N)) < 0.7)
    A = A + A.T
    U, s = rng.standard_normal((N, 2)), np.array([0.5, -1.0])
    H = A + (U * s) @ U.T
    V = rng.standard_normal((N, rank))
    V /= np.linalg.norm(V, axis=1, keepdims=True)
    expected = V.copy()
    norms = np.empty(N)
    for i in range(N):
        g = H[i] @ expected - H[i, i] * expected[i]
        norms[i] = np.linalg.norm(g)
        expected[i] = -g / norms[i]
    before = float((V * (H @ V)).sum())
    M, found = U.T @ V, np.empty(N)
    if dense:
        decrease = mixing.mixing_sweep_dense(A, U, s, M, V, np.empty(rank), found)
    else:
        S = sp.csr_array(A)
        decrease = mixing.mixing_sweep_csr(S.indptr, S.indices, S.data, U, s, M, V, np.empty(rank), found)
    assert np.allclose(V, expected)
    assert np.allclose(found, norms)
    assert np.allclose(M, U.T @ V)
    assert decrease == pytest.approx(before - float((V * (H @ V)).sum()))
