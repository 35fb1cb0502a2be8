"""The homogeneous form: the same matrix and the same values as the quadratic it stands for, whatever its parts."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

from flipwise import LowRank, Quadratic
from flipwise.model.forms import Homogeneous, homogeneous, ising_form

RNG = np.random.default_rng(1)
S1 = np.array([[2.0, 1.0, 0.0], [1.0, 0.0, -3.0], [0.0, -3.0, 5.0]])
S2 = np.array([[0.0, 0.0, 4.0], [0.0, 1.0, 0.0], [4.0, 0.0, 0.0]])
D1 = np.array([[1.0, -2.0, 3.0], [-2.0, 4.0, 6.0], [3.0, 6.0, -7.0]])
U1, s1 = np.array([[1.0, 2.0], [0.0, 1.0], [-1.0, 3.0]]), np.array([2.0, -1.0])
U2, s2 = np.array([[1.0], [1.0], [2.0]]), np.array([3.0])
C = np.array([1.0, -2.0, 6.0])
LOW1, LOW2 = (U1 * s1) @ U1.T, (U2 * s2) @ U2.T
PARTS = {
    "sparse": ([sp.csr_array(S1)], S1),
    "two sparse": ([sp.csr_array(S1), sp.csr_array(S2)], S1 + S2),
    "dense": ([D1], D1),
    "dense and two sparse": ([sp.csr_array(S1), D1, sp.csr_array(S2)], S1 + D1 + S2),
    "two dense": ([D1, 2.0 * D1], 3.0 * D1),
    "low-rank": ([LowRank(U1, s1)], LOW1),
    "two low-rank": ([LowRank(U1, s1), LowRank(U2, s2)], LOW1 + LOW2),
    "all": ([sp.csr_array(S1), D1, LowRank(U1, s1), LowRank(U2, s2)], S1 + D1 + LOW1 + LOW2),
}


def lifted(A: np.ndarray, c: np.ndarray) -> np.ndarray:
    """[[A, c/2], [c'/2, 0]]."""
    return np.block([[A, c[:, None] / 2.0], [c[None, :] / 2.0, np.zeros((1, 1))]])


@pytest.mark.parametrize("name", PARTS)
def test_the_form_is_the_matrix_of_all_parts(name: str) -> None:
    """Without linear terms H is A: as an array, its diagonal, and times a vector or a matrix."""
    parts, A = PARTS[name]
    form = homogeneous(Quadratic(parts, d=2.5))
    assert not form.lifted and form.N == 3 and form.constant == 2.5
    assert np.array_equal(form.to_dense(), A) and np.array_equal(form.diagonal, np.diag(A))
    v, V = np.array([1.0, -2.0, 4.0]), np.array([[1.0, 2.0], [0.0, -1.0], [3.0, 5.0]])
    assert np.array_equal(form.times(v), A @ v) and np.array_equal(form.times(V), A @ V)


@pytest.mark.parametrize("name", PARTS)
def test_linear_terms_are_a_last_row_and_column(name: str) -> None:
    """With linear terms y = (x, 1) and H has c/2 at its border, so that y'Hy + constant is f(x)."""
    parts, A = PARTS[name]
    f = Quadratic(parts, C, -1.5)
    form = homogeneous(f)
    H = lifted(A, C)
    assert form.lifted and form.N == 4 and form.constant == -1.5
    assert np.array_equal(form.to_dense(), H) and np.array_equal(form.diagonal, np.diag(H))
    assert np.array_equal(form.times(np.eye(4)), H)
    for x in product([-1.0, 1.0], repeat=3):
        y = np.array([*x, 1.0])
        assert y @ form.times(y) + form.constant == f.value(np.array(x))


def test_one_linear_coefficient_is_enough() -> None:
    """Zeros beside it do not keep a linear part from being lifted."""
    c = np.array([0.0, 0.0, 3.0])
    for parts in ([sp.csr_array(S1)], [D1]):
        assert np.array_equal(homogeneous(Quadratic(parts, c)).to_dense(), lifted(Quadratic(parts).times(np.eye(3)), c))


def test_lifting_can_be_chosen() -> None:
    """`lift` adds the row without linear terms, and leaves it out with them."""
    for parts in ([sp.csr_array(S1)], [D1], [LowRank(U1, s1)]):
        assert np.array_equal(
            homogeneous(Quadratic(parts), lift=True).to_dense(), lifted(Quadratic(parts).times(np.eye(3)), np.zeros(3))
        )
        plain = homogeneous(Quadratic(parts, C), lift=False)
        assert not plain.lifted and np.array_equal(plain.to_dense(), Quadratic(parts).times(np.eye(3)))


def test_sparse_parts_stay_sparse_and_low_rank_ones_low_rank() -> None:
    """Only a dense part makes the form dense; the input is never changed."""
    sparse = homogeneous(Quadratic([sp.csr_array(S1), LowRank(U1, s1)], C))
    assert sparse.is_sparse and sparse.U.shape == (4, 2) and np.array_equal(sparse.s, s1)
    assert np.array_equal(sparse.part.todense(), lifted(S1, C))
    dense = homogeneous(Quadratic([D1.copy(), LowRank(U1, s1)]))
    assert not dense.is_sparse and np.array_equal(dense.part, D1)
    empty = homogeneous(Quadratic(LowRank(U1, s1)))
    assert empty.is_sparse and empty.part.nnz == 0
    written = dense.to_dense()
    written[:] = 0.0
    assert np.array_equal(dense.part, D1)
    only = homogeneous(Quadratic(D1))
    only.to_dense()[:] = 0.0
    assert np.array_equal(only.part, D1)


@pytest.mark.parametrize("size", [1e-4, 0.1, 1e5])
@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_rounding_covers_what_writing_out_a_low_rank_part_does(size: float, sign: float) -> None:
    """The entry of a 1 x 1 form with 60 equal terms, computed exactly, is within `rounding`, which is not large."""
    r, u, s = 60, 1.1 * size, 0.7 * sign
    form = Homogeneous(np.zeros((1, 1)), np.full((1, r), u), np.full(r, s), 0.0, False)
    exact = r * Fraction(u) ** 2 * Fraction(s)
    off = abs(Fraction(float(form.to_dense()[0, 0])) - exact)
    assert 0 < off <= Fraction(form.rounding()) <= abs(exact) / 10**11


def test_rounding_covers_every_column() -> None:
    """Columns of different sizes and signs: the largest error of any entry is covered."""
    U = np.array([[1.1, 130.7], [3.3, 0.1]])
    s = np.array([0.3, -1.7])
    form = Homogeneous(np.zeros((2, 2)), U, s, 0.0, False)
    written, size = form.to_dense(), 0.0
    for i, j in product(range(2), repeat=2):
        exact = sum(Fraction(U[i, b]) * Fraction(s[b]) * Fraction(U[j, b]) for b in range(2))
        size = max(size, abs(float(Fraction(float(written[i, j])) - exact)))
    assert 0.0 < size <= form.rounding() <= 1e-11 * 1.7 * 130.7**2


def test_nothing_is_rounded_without_a_low_rank_part() -> None:
    """A matrix that is only copied has no error."""
    assert homogeneous(Quadratic(D1)).rounding() == 0.0 == homogeneous(Quadratic(sp.csr_array(S1))).rounding()


@pytest.mark.parametrize("scale", [1.0, 0.25, 0.3, 1000.0, 1e6])
@pytest.mark.parametrize("variables", ["spin", "binary"])
def test_written_out_or_given_in_full_the_form_is_the_same(scale: float, variables: Any) -> None:
    """A sparse matrix with many entries and the same one in full give equal couplings of equal types."""
    rng = np.random.default_rng(3)
    A = scale * rng.integers(-9, 10, (30, 30)) * (rng.random((30, 30)) < 0.5)
    A, c = A + A.T, scale * rng.integers(-9, 10, 30)
    one, other = (ising_form(Quadratic(M, c, variables=variables)) for M in (A, sp.csr_array(A)))
    assert one is not None and other is not None and one.matrix is not None and other.matrix is not None
    assert one.matrix.dtype == other.matrix.dtype and one.h.dtype == other.h.dtype
    exact = one.matrix.dtype.kind == "i"
    assert np.allclose(one.matrix, other.matrix, atol=0 if exact else 1e-12)
    assert np.allclose(one.h, other.h, atol=0 if exact else 1e-12)
    assert one.scale == other.scale and (one.slack == other.slack or not exact)
    assert one.width == pytest.approx(other.width)
