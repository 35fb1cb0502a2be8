"""Multilevel bisection: contraction keeps cuts, passes do what they say, growth reaches its goal."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from flipwise.kernels import multilevel
from tests.kernels.spins import parts

pytestmark = pytest.mark.kernels


def grid(side: int) -> sp.csr_array:
    """A square grid graph."""
    line = sp.diags_array([np.ones(side - 1), np.ones(side - 1)], offsets=[-1, 1])
    eye = sp.eye_array(side)
    return sp.csr_array(sp.kron(line, eye) + sp.kron(eye, line)).astype(np.int64)


def test_contraction_keeps_every_cut() -> None:
    """A cut of the coarse graph weighs the same on the fine one."""
    A = grid(6)
    rng = np.random.default_rng(17)
    n = 36
    partner = np.empty(n, dtype=np.int64)
    sizes = np.ones(n, dtype=np.int64)
    count = multilevel.csr_heavy_matching(
        *parts(A), sizes, 10, rng.permutation(n), np.zeros(n, dtype=np.int64), partner
    )
    assert np.array_equal(partner[partner], np.arange(n))
    coarse = np.full(n, -1, dtype=np.int64)
    indptr, c_sizes = np.empty(count + 1, dtype=np.int64), np.empty(count, dtype=np.int64)
    indices, w = np.empty(A.nnz, dtype=np.int32), np.empty(A.nnz, dtype=np.int64)
    place = np.full(count, -1, dtype=np.int64)
    arcs = multilevel.csr_contract(*parts(A), sizes, partner, coarse, place, indptr, indices, w, c_sizes)
    B = sp.csr_array((w[:arcs], indices[:arcs], indptr), shape=(count, count)).toarray()
    assert c_sizes.sum() == n
    assert np.array_equal(B, B.T)
    s = (2 * rng.integers(0, 2, count) - 1).astype(np.int64)
    fine = s[coarse]
    assert (np.outer(s, s) < 0)[B != 0].dot(B[B != 0]) == A.toarray()[np.outer(fine, fine) < 0].sum()


def test_gains_do_not_depend_on_what_the_array_held() -> None:
    """An uninitialised array may hold anything, also numbers that are none."""
    A = grid(3)
    indptr, indices, w = parts(A)
    gain = np.full(9, np.nan)
    s = np.where(np.arange(9) < 4, 1, -1).astype(np.int8)
    cut = multilevel.csr_gains(indptr, indices, w.astype(np.float64), s, gain)
    assert cut == A.toarray()[np.outer(s, s) < 0].sum() and np.isfinite(gain).all()


def test_pass_decreases_the_cut_by_what_it_says() -> None:
    """The decrease, the gains and the balance a pass reports are those of the point it leaves."""
    A = grid(8)
    n = 64
    rng = np.random.default_rng(18)
    s = np.where(rng.permutation(n) < n // 2, 1, -1).astype(np.int8)
    gain = np.empty(n, dtype=np.int64)
    before = multilevel.csr_gains(*parts(A), s, gain)
    scratch = (
        np.full((2, 10), -1, dtype=np.int64),
        np.empty(n, dtype=np.int64),
        np.empty(n, dtype=np.int64),
        np.full(n, -1, dtype=np.int64),
        np.zeros(n, dtype=np.bool_),
        np.empty(n, dtype=np.int64),
    )
    sizes = np.ones(n, dtype=np.int64)
    decrease, off = multilevel.csr_pass(*parts(A), sizes, 4.0, 1.0, 0, 0, 2, n, 3, s, gain, *scratch)
    again = np.empty(n, dtype=np.int64)
    after = multilevel.csr_gains(*parts(A), s, again)
    assert off == 0
    assert np.count_nonzero(s > 0) == n // 2
    assert after == before - 2 * decrease < before
    assert np.array_equal(gain, again)


def test_growth_reaches_its_goal() -> None:
    """The side grown from a seed has at least the goal and is connected on a connected graph."""
    A = grid(6)
    s = np.empty(36, dtype=np.int8)
    sizes = np.ones(36, dtype=np.int64)
    order = np.random.default_rng(19).permutation(36)
    reached = multilevel.csr_grow(*parts(A)[:2], sizes, 18, order, s, np.empty(36, dtype=np.int64))
    assert reached == np.count_nonzero(s > 0) == 18
    inside = np.flatnonzero(s > 0)
    assert sp.csgraph.connected_components(A[inside][:, inside])[0] == 1
