"""The matrices of a quadratic agree with what they stand for; bounds on their norms hold."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

import flipwise
from flipwise.model.terms import (
    TILE,
    Dense,
    LowRank,
    Sparse,
    Term,
    as_term,
    has_symmetric_fingerprint,
    is_symmetric_in_tiles,
    symmetrised_in_tiles,
)
from tests.reference import random_symmetric

KINDS = ("dense", "sparse", "low-rank")


def term_of(kind: str, n: int, seed: int) -> tuple[Term, np.ndarray]:
    """A term, and its matrix."""
    rng = np.random.default_rng(seed)
    if kind == "low-rank":
        U, s = rng.standard_normal((n, 2)), rng.standard_normal(2)
        return LowRank(U, s), (U * s) @ U.T
    A = random_symmetric(rng, n)
    if kind == "dense":
        return Dense(A), A
    A = A * (np.abs(A) > 0.8)
    return Sparse(sp.csr_array(A)), A


@settings(max_examples=60, deadline=None)
@given(st.sampled_from(KINDS), st.integers(1, 8), st.integers(0, 10**6))
def test_a_term_computes_with_its_matrix(kind: str, n: int, seed: int) -> None:
    """Products, blocks, the diagonal, the effect of some steps, row sums, scaling."""
    term, A = term_of(kind, n, seed)
    rng = np.random.default_rng(seed + 1)
    v, batch = rng.standard_normal(n), rng.permutation(n)[: int(rng.integers(1, n + 1))]
    step, g = rng.standard_normal(batch.size), rng.standard_normal(n)
    assert term.n == n and np.allclose(term.times(v), A @ v) and np.allclose(term.diagonal, A.diagonal())
    assert np.allclose(term.block(batch, np.arange(n)), A[batch])
    assert term.inner(batch, step) == pytest.approx(step @ A[np.ix_(batch, batch)] @ step)
    moved = g.copy()
    term.add_columns(moved, batch, step)
    assert np.allclose(moved - g, 2.0 * A[:, batch] @ step)
    assert (term.absolute_row_sums() >= np.abs(A).sum(axis=1) * (1.0 - 1e-12)).all()
    assert np.allclose(term.scaled(-2.0).times(v), -2.0 * A @ v)


@settings(max_examples=60, deadline=None)
@given(st.sampled_from(KINDS), st.integers(1, 8), st.integers(0, 10**6))
def test_the_bound_on_the_norm_is_one(kind: str, n: int, seed: int) -> None:
    """Never below the largest size of an eigenvalue."""
    term, A = term_of(kind, n, seed)
    assert term.norm_bound() >= float(np.abs(np.linalg.eigvalsh(A)).max()) * (1.0 - 1e-12)


@pytest.mark.parametrize("n", [1, 7, TILE, TILE + 3])
def test_symmetry_is_seen_tile_by_tile(n: int) -> None:
    """One entry that differs from its mirror image is enough; the mean of both is what x'Ax means."""
    rng = np.random.default_rng(n)
    A = rng.standard_normal((n, n))
    A = A + A.T
    assert is_symmetric_in_tiles(A)
    assert np.array_equal(symmetrised_in_tiles(A), A)
    if n > 1:
        A[n - 1, 0] += 1.0
        assert not is_symmetric_in_tiles(A)
        assert np.array_equal(symmetrised_in_tiles(A), (A + A.T) / 2.0)


@given(st.integers(1, 12), st.integers(0, 10**6))
def test_the_fingerprint_of_a_symmetric_matrix_is_symmetric(n: int, seed: int) -> None:
    """And that of one with another entry is not."""
    A = sp.csr_array(np.triu(np.random.default_rng(seed).integers(-2, 3, (n, n))).astype(np.float64))
    whole = sp.csr_array(A + A.T)
    assert has_symmetric_fingerprint(whole)
    if n > 1 and whole.nnz:
        row, column = (int(each[0]) for each in whole.nonzero())
        other = whole.tolil()
        other[row, column if row != column else (column + 1) % n] = 7.5
        assert not has_symmetric_fingerprint(sp.csr_array(other.tocsr()))


def test_an_asymmetric_matrix_is_replaced_with_a_warning() -> None:
    """Dense or sparse, by the same one."""
    A = np.array([[1.0, 4.0], [0.0, 2.0]])
    for given_matrix in (A, sp.csr_array(A)):
        with pytest.warns(flipwise.FlipwiseWarning, match="not symmetric"):
            term = as_term(given_matrix)
        assert np.array_equal(term.block(np.arange(2), np.arange(2)), [[1.0, 2.0], [2.0, 2.0]])
