"""Kernels on sparse symmetric matrices against scipy; equal bits in both tiers."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

import flipwise
from flipwise.kernels import sparse
from flipwise.model.terms import has_symmetric_fingerprint
from tests.kernels.spins import couplings, parts, spins
from tests.reference import random_symmetric

pytestmark = pytest.mark.kernels


def _problem(n: int, seed: int) -> tuple[sp.csr_array, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    A = sp.csr_array(random_symmetric(rng, n, density=0.3))
    return A, rng.standard_normal(n), np.where(rng.random(n) < 0.5, 1.0, -1.0)


@pytest.mark.parametrize("follow", [False, True])
def test_both_tiers_give_the_same_bits(follow: bool) -> None:
    """The interpreted and the compiled form of a descent agree to the last bit."""
    n = 60
    for seed in range(3):
        A, c, x = _problem(n, seed)
        g = 2 * A @ x + c
        outcomes = []
        for tier in ("interpreted", "compiled"):
            sparse.csr_flip_improving.compile()
            own_x, own_g = x.copy(), g.copy()
            queue, waiting = np.arange(n), np.ones(n, dtype=np.bool_)
            flips, change = getattr(sparse.csr_flip_improving, tier)(
                *(A.indptr, A.indices, A.data, A.diagonal()),
                *(False, np.full(n, 1e-12), queue, waiting, n, follow, own_x, own_g),
            )
            outcomes.append((flips, change, own_x.tobytes(), own_g.tobytes()))
        assert outcomes[0] == outcomes[1]


def test_gradient_and_symmetry_kernels_equal_numpy() -> None:
    """csr_gradient, csr_row_sums and csr_is_symmetric against scipy."""
    A, c, x = _problem(40, 1)
    g, sums = np.empty(40), np.empty(40)
    sparse.csr_gradient(A.indptr, A.indices, A.data, x, c, g)
    sparse.csr_row_sums(A.indptr, A.data, c, sums)
    assert g == pytest.approx(2 * A @ x + c)
    assert sums == pytest.approx(2 * abs(A).sum(axis=1) + abs(c))
    assert sparse.csr_is_symmetric(A.indptr, A.indices, A.data, A.indptr[:-1].copy())
    crooked = A.copy()
    crooked.data[np.flatnonzero(A.indices[: A.indptr[1]] != 0)[0]] += 1.0
    assert not sparse.csr_is_symmetric(crooked.indptr, crooked.indices, crooked.data, crooked.indptr[:-1].copy())


@pytest.mark.parametrize("seed", range(5))
def test_fingerprints_tell_symmetric_matrices(seed: int) -> None:
    """As the exact comparison says: a changed entry, two exchanged ones, a moved one, a transposed block."""
    A, _, _ = _problem(40, seed)
    assert has_symmetric_fingerprint(A)
    rng = np.random.default_rng(seed)
    upper = sp.triu(A, 1).tocoo()
    a, b = rng.choice(upper.nnz, 2, replace=False)
    for change in ("value", "exchange", "move", "one-sided"):
        crooked = A.toarray()
        i, j, k, m = upper.row[a], upper.col[a], upper.row[b], upper.col[b]
        if change == "value":
            crooked[i, j] = np.nextafter(crooked[i, j], 9.0)
        elif change == "exchange":
            crooked[i, j], crooked[k, m] = crooked[k, m], crooked[i, j]
        elif change == "move":
            crooked[i, j], crooked[j, i] = 0.0, 2.0 * crooked[j, i]
        else:
            crooked = np.triu(crooked)
        crooked = sp.csr_array(crooked)
        exact = sparse.csr_is_symmetric(crooked.indptr, crooked.indices, crooked.data, crooked.indptr[:-1].copy())
        assert has_symmetric_fingerprint(crooked) == exact == (abs(crooked - crooked.T).max() == 0.0)


def test_a_large_batch_flipped_together_is_exact() -> None:
    """Above 10,000 variables a batch of an eighth is flipped at once; value and gradient stay exact."""
    rng = np.random.default_rng(2)
    n = 12_000
    A = sp.random_array((n, n), density=2e-4, rng=rng, format="csr")
    f = flipwise.Quadratic(A + A.T, rng.standard_normal(n))
    x = np.where(rng.random(n) < 0.5, 1.0, -1.0)
    g, before = f.gradient(x), f.value(x)
    improving = np.flatnonzero(x * f.flip_gradient(x, g) > 0)
    flips, change = f.flip_improving(x, g, improving, follow=False)
    assert flips > 0 and change < 0
    assert f.value(x) == pytest.approx(before + change)
    assert g == pytest.approx(f.gradient(x))
    dense_part = flipwise.Quadratic(sp.csr_array(np.ones((1, 1))))  # a batch that hinders itself is undone
    assert dense_part.n == 1


@pytest.mark.parametrize("is_sparse", [True, False])
def test_exchanges_keep_the_count_and_lower_f_exactly(is_sparse: bool) -> None:
    """Descent by exchanges is exact, keeps the number of ones, and leaves no improving pair that is not joined."""
    for seed in range(8):
        A, c, x = _problem(40, seed)
        f = flipwise.Quadratic(A if is_sparse else A.toarray(), c)
        g, before, ones = f.gradient(x), f.value(x), np.count_nonzero(x > 0)
        swaps, change = f.exchange(x, g)
        assert np.count_nonzero(x > 0) == ones and (swaps > 0) == (change < 0)
        assert f.value(x) == pytest.approx(before + change)
        assert g == pytest.approx(f.gradient(x))
        gain = x * f.flip_gradient(x, g)
        i, j = np.argmax(np.where(x > 0, gain, -np.inf)), np.argmax(np.where(x < 0, gain, -np.inf))
        if is_sparse and A[i, j] == 0 and 0 < ones < 40:
            assert gain[i] + gain[j] <= 1e-9


@pytest.mark.parametrize("dtype", [np.int32, np.float64])
def test_fields_are_those_of_the_matrix(dtype: type) -> None:
    """h + J s, in the type of h."""
    A, h = couplings(20, 0.5, 4, dtype)
    s, f = spins(20, 5), np.empty(20, dtype=dtype)
    sparse.csr_fields(*parts(A), h, s, f)
    assert np.array_equal(f, h + A @ s)


@pytest.mark.parametrize("seed", range(5))
def test_vectorised_kernels_give_the_same_bits(seed: int) -> None:
    """Gradient, row sums and the check of symmetry: loops, NumPy and machine code agree to the last bit."""
    rng = np.random.default_rng(seed)
    n = 40
    half = sp.random_array((n, n), density=0.2, rng=rng, data_sampler=lambda size: rng.standard_normal(size))
    A = (half + half.T).tocsr()
    A.sort_indices()
    crooked = A.copy()
    crooked.data[int(rng.integers(crooked.nnz))] += 1.0
    x, c = rng.choice([-1.0, 1.0], n), rng.standard_normal(n)
    for kernel, inputs in ((sparse.csr_gradient, (A.indptr, A.indices, A.data, x, c)),
                           (sparse.csr_row_sums, (A.indptr, A.data, c))):  # fmt: skip
        results = []
        for tier in (kernel.interpreted, kernel.uncompiled, kernel.compile()):
            out = np.empty(n)
            tier(*inputs, out)
            results.append(out.tobytes())
        assert len(set(results)) == 1
    check = sparse.csr_is_symmetric
    for tier in (check.interpreted, check.uncompiled, check.compile()):
        assert tier(A.indptr, A.indices, A.data, A.indptr[:-1].copy())
        assert not tier(crooked.indptr, crooked.indices, crooked.data, A.indptr[:-1].copy())
