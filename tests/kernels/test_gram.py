"""The kernel of the similarity losses: dense and sparse factors, both tiers, against recomputation."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from flipwise.hashing.gram_loss import GramMatch
from flipwise.kernels import gram as kernels

pytestmark = pytest.mark.kernels


def test_dense_and_sparse_factors_descend_alike() -> None:
    """Both forms of Z make the same flips; the change is exact and every flip was an improvement."""
    rng = np.random.default_rng(0)
    Z = np.where(rng.random((12, 5)) < 0.5, 0.0, rng.standard_normal((12, 5)))
    s, m = rng.standard_normal(5), rng.integers(1, 4, 12).astype(float)
    start = np.where(rng.random((12, 4)) < 0.5, -1.0, 1.0)
    ends = []
    for factor in (Z, sp.csr_array(Z)):
        loss = GramMatch(factor, s, 4, m)
        x = start.copy()
        g = loss.gradient(x)
        before = loss.value(x)
        flips, change = loss.flip_improving(x, g, np.arange(x.size), follow=True)
        assert flips > 0 and change < 0 and np.isclose(loss.value(x) - before, change)
        assert np.allclose(g, loss.gradient(x))
        ends.append(x)
    assert np.array_equal(ends[0], ends[1])


def test_both_tiers_give_the_same_bits() -> None:
    """Interpreted and compiled, the flips and the change are equal."""
    rng = np.random.default_rng(1)
    Z, s, m = rng.standard_normal((10, 3)), rng.standard_normal(3), np.ones(10)
    start = np.where(rng.random((10, 6)) < 0.5, -1.0, 1.0)
    own = (Z * Z) @ s
    results = []
    kernels.gram_flip_dense.compile()
    for run in (kernels.gram_flip_dense.interpreted, kernels.gram_flip_dense.compiled):
        x = start.copy()
        G, U = x.T @ x, np.ascontiguousarray((s[:, None] * (Z.T @ x)).T)
        assert run is not None
        results.append((run(Z, s, m, own, 10.0, 1e-9, np.arange(60), x, G, U), x))
    assert results[0][0] == results[1][0] and np.array_equal(results[0][1], results[1][1])
