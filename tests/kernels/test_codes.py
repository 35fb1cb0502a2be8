"""The kernels on rows of codes: equal bits in both tiers, and what they keep up to date."""

from __future__ import annotations

import numpy as np
import pytest

from flipwise.kernels import codes as kernels

pytestmark = pytest.mark.kernels


def test_both_tiers_of_the_row_kernels_give_the_same_bits() -> None:
    """Interpreted and compiled, DPCD and DCC in rows return equal codes."""
    rng = np.random.default_rng(5)
    W, P, which = rng.standard_normal((9, 4)), rng.standard_normal((6, 9)), np.arange(6)
    Q = W @ W.T
    start = np.where(rng.random((6, 9)) < 0.5, -1, 1).astype(np.int8)
    candidates = np.array([rng.choice(9, size=5, replace=False) for _ in range(4)])
    results = []
    for kernel in (kernels.dpcd_rows, kernels.dcc_sweep_rows):
        kernel.compile()
        for run in (kernel.interpreted, kernel.compiled):
            B, counts = start.copy(), np.zeros(6, dtype=np.int64)
            if kernel is kernels.dpcd_rows:
                run(W, Q, P, which, 1.0, 1.0, 20, 10, candidates, 1e-9, B, counts)
            else:
                run(Q, P, which, B, counts)
            results.append((B, counts))
    for one, other in (results[:2], results[2:]):
        assert one[1].any()
        assert np.array_equal(one[0], other[0]) and np.array_equal(one[1], other[1])


@pytest.mark.parametrize("tier", ["interpreted", "compiled"])
def test_signs_are_followed_and_the_cross_product_with_them(tier: str) -> None:
    """Codes become the signs (a zero counts as plus), and B'V, kept flip by flip, is that of the new codes."""
    kernels.follow_signs.compile()
    follow = getattr(kernels.follow_signs, tier)
    rng = np.random.default_rng(9)
    V, B = rng.standard_normal((30, 5)), np.zeros((30, 7), dtype=np.int8)
    cross, before = np.zeros((7, 5)), B.copy()
    for _ in range(4):
        T = np.round(rng.standard_normal((30, 7)), 1)
        moved = follow(T, V, B, cross)
        assert np.array_equal(B, np.where(T >= 0.0, 1, -1))
        assert moved == np.count_nonzero(before != B)
        np.testing.assert_allclose(cross, B.T.astype(float) @ V, atol=1e-12)
        before = B.copy()
