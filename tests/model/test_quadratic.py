"""Quadratics: value, gradient, flips, conversions, bounds on the norm."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

import flipwise
from flipwise.kernels import sparse
from flipwise.model import quadratic, terms
from flipwise.model.terms import Dense, Sparse, as_term
from tests import reference

KINDS = ["dense", "sparse", "sparse64", "low-rank", "sum"]


def _make(kind: str, n: int, rng: np.random.Generator, **options: Any) -> tuple[flipwise.Quadratic, np.ndarray]:
    """A quadratic of a kind with its full matrix."""
    A = reference.random_symmetric(rng, n, density=0.5)
    U, s = rng.standard_normal((n, 3)), rng.standard_normal(3)
    low = (U * s) @ U.T
    c = rng.standard_normal(n)
    if kind == "dense":
        return flipwise.Quadratic(A, c, 0.25, **options), A
    if kind == "sparse":
        return flipwise.Quadratic(sp.coo_matrix(A), c, 0.25, **options), A
    if kind == "sparse64":
        wide = sp.csr_array(A)
        wide = sp.csr_array((wide.data, wide.indices.astype(np.int64), wide.indptr.astype(np.int64)), shape=(n, n))
        return flipwise.Quadratic(wide, c, 0.25, **options), A
    if kind == "low-rank":
        return flipwise.Quadratic(flipwise.LowRank(U, s), c, 0.25, **options), low
    return flipwise.Quadratic([sp.csr_array(A), flipwise.LowRank(U, s)], c, 0.25, **options), A + low


@pytest.mark.kernels
@pytest.mark.parametrize("kind", KINDS)
@given(st.integers(1, 12), st.integers(0, 2**31))
def test_value_and_gradient_equal_the_naive_twin(kind: str, n: int, seed: int) -> None:
    """f and its gradient at real points agree with loops over all entries."""
    rng = np.random.default_rng(seed)
    f, A = _make(kind, n, rng)
    x = rng.uniform(-1, 1, n)
    assert f.value(x) == pytest.approx(reference.quadratic(A, f.c, 0.25, x), rel=1e-9, abs=1e-9)
    assert f.gradient(x) == pytest.approx(2 * A @ x + f.c, rel=1e-9, abs=1e-9)


@pytest.mark.kernels
@pytest.mark.parametrize("kind", KINDS)
@given(st.integers(1, 20), st.integers(0, 2**31))
def test_any_sequence_of_batches_keeps_gradient_and_value(kind: str, n: int, seed: int) -> None:
    """After any batches of flips the incremental gradient equals the full one and the changes add up."""
    rng = np.random.default_rng(seed)
    f, _ = _make(kind, n, rng)
    x = np.where(rng.random(n) < 0.5, 1.0, -1.0)
    g, value = f.gradient(x), f.value(x)
    for _ in range(6):
        batch = rng.permutation(n)[: rng.integers(0, n + 1)]
        promised = f.flip_change(x, g, batch)
        assert f.flip(x, g, batch) == pytest.approx(promised, rel=1e-9, abs=1e-8)
        value += promised
        flips, change = f.flip_improving(
            x, g, rng.permutation(n)[: rng.integers(0, n + 1)], follow=bool(rng.integers(2))
        )
        assert change <= 0 and (flips > 0) == (change < 0)
        value += change
        ones, zeros = np.flatnonzero(x > 0), np.flatnonzero(x < 0)
        m = min(ones.size, zeros.size)
        swaps, change = f.swap_improving(x, g, np.stack([ones[:m], zeros[:m]], axis=1))
        assert change <= 0 and np.count_nonzero(x > 0) == ones.size and swaps <= m
        value += change
    assert g == pytest.approx(f.gradient(x), rel=1e-9, abs=1e-8)
    assert value == pytest.approx(f.value(x), rel=1e-9, abs=1e-8)


@pytest.mark.kernels
@pytest.mark.parametrize("kind", KINDS)
@given(st.integers(2, 14), st.integers(0, 2**31))
def test_improving_swaps_are_found_exactly_when_there_are_any(kind: str, n: int, seed: int) -> None:
    """Every pair offered improves by itself, and none offered means none exists (within groups)."""
    rng = np.random.default_rng(seed)
    f, _ = _make(kind, n, rng)
    labels = rng.integers(0, 2, n)
    x = np.where(rng.random(n) < 0.5, 1.0, -1.0)
    g = f.gradient(x)
    pairs = f.improving_swaps(x, g, labels)
    for i, j in pairs:
        assert x[i] > 0 > x[j] and labels[i] == labels[j]
        assert f.flip_change(x, g, np.array([i, j])) < 0
    assert (len(pairs) == 0) == reference.is_swap_optimal(f.value, x, labels)


@given(st.integers(1, 10), st.integers(0, 2**31), st.sampled_from(KINDS))
def test_binary_variables_convert_exactly(n: int, seed: int, kind: str) -> None:
    """f in 0/1 variables has the same value at the corresponding spins."""
    rng = np.random.default_rng(seed)
    f, A = _make(kind, n, rng, variables="binary")
    c = np.random.default_rng(seed)
    g, _ = _make(kind, n, c)  # the same numbers, read as a function of spins
    bits = rng.integers(0, 2, n).astype(float)
    expected = bits @ A @ bits + g.c @ bits + 0.25
    assert f.value(2 * bits - 1) == pytest.approx(expected, rel=1e-9, abs=1e-9)


def test_integer_weights_stay_exact_over_many_flips() -> None:
    """10^5 flips with integer weights leave the gradient exactly equal to the full one; with floats within 1e-9."""
    rng = np.random.default_rng(0)
    n = 400
    for integer in (True, False):
        A = reference.random_symmetric(rng, n, density=0.05, integer=integer)
        f = flipwise.Quadratic(sp.csr_array(A), rng.integers(-5, 6, n))
        x = np.where(rng.random(n) < 0.5, 1.0, -1.0)
        g = f.gradient(x)
        for _ in range(1000):
            f.flip(x, g, rng.integers(0, n, 100))  # repeats in a batch are flips too
        full = f.gradient(x)
        if integer:
            assert np.array_equal(g, full)
            assert not f.slack.any()
        else:
            assert np.abs(g - full).max() <= 1e-9 * np.abs(full).max()


@given(st.integers(1, 15), st.integers(0, 2**31), st.sampled_from(KINDS))
def test_lipschitz_is_an_upper_bound_and_tight_where_small(n: int, seed: int, kind: str) -> None:
    """2 ||A||_2 <= lipschitz(), with equality up to rounding for one small matrix."""
    f, A = _make(kind, n, np.random.default_rng(seed))
    true = 2 * np.abs(np.linalg.eigvalsh(A)).max()
    bound = f.lipschitz()
    assert bound.is_bound and bound.value >= true * (1 - 1e-14)
    if kind != "sum":
        assert bound.value <= true * (1 + 1e-9) + 1e-12


@pytest.mark.parametrize("sparse", [True, False])
def test_lipschitz_of_a_large_matrix_is_a_bound(sparse: bool) -> None:
    """The Collatz-Wielandt and Frobenius bounds used on large matrices lie above the spectral norm."""
    rng = np.random.default_rng(1)
    n = 2100
    A = sp.random_array((n, n), density=0.01, rng=rng, format="csr")
    A = A + A.T
    true = float(abs(sp.linalg.eigsh(A, k=1, return_eigenvectors=False)[0]))
    term = Sparse(sp.csr_array(A)) if sparse else Dense(A.toarray())
    assert true * (1 - 1e-10) <= term.norm_bound() <= 1.05 * true  # nonnegative, so nearly tight


@pytest.mark.parametrize("container", [np.asarray, sp.csr_array])
def test_symmetrising_does_not_overflow(container: Any) -> None:
    """(A + A')/2 where A + A' is beyond the largest number."""
    with pytest.warns(flipwise.FlipwiseWarning, match="not symmetric"):
        term = as_term(container(np.array([[0.0, 1.5e308], [1.0e308, 0.0]])))
    assert float(term.block(np.array([0]), np.array([1]))[0, 0]) == 1.25e308


@pytest.mark.parametrize("n", [1, 5, 8, 9])
def test_matrices_are_symmetrised_tile_by_tile(n: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Tiles of any size give (A + A')/2, for rows and for columns in order, and see every asymmetry."""
    monkeypatch.setattr(terms, "TILE", 4)
    A = np.random.default_rng(n).standard_normal((n, n))
    mean = (A + A.T) / 2
    for matrix in (A, np.asfortranarray(A)):
        assert np.array_equal(terms.symmetrised_in_tiles(matrix), mean)
    assert terms.is_symmetric_in_tiles(mean)
    for i, j in itertools.combinations(range(n), 2):
        other = mean.copy()
        other[i, j] += 1.0
        assert not terms.is_symmetric_in_tiles(other)


def test_asymmetric_matrices_are_symmetrised_with_one_warning() -> None:
    """x'Ax keeps its value, and the user is told once."""
    A = np.array([[0.0, 3.0], [1.0, 0.0]])
    for given_matrix in (A, sp.csr_array(A)):
        with pytest.warns(flipwise.FlipwiseWarning, match="not symmetric") as caught:
            f = flipwise.Quadratic(given_matrix)
        assert len(caught) == 1
        assert f.value(np.array([1.0, -1.0])) == -4.0


def test_sparse_input_is_not_copied_and_not_changed() -> None:
    """A canonical float64 CSR matrix is used as it is; any other is left as it was."""
    A = sp.csr_array(np.array([[0.0, 2.0], [2.0, 1.0]]))
    assert np.shares_memory(flipwise.Quadratic(A).terms[0].A.data, A.data)
    doubled = sp.csr_array((np.ones(4), np.array([1, 1, 0, 0]), np.array([0, 2, 4])), shape=(2, 2))
    f = flipwise.Quadratic(doubled)
    assert doubled.nnz == 4 and f.value(np.array([1.0, 1.0])) == 4.0


def test_terms_are_taken_as_they_are() -> None:
    """A ready-made term passes through."""
    term = flipwise.LowRank(np.ones((3, 1)))
    assert as_term(term) is term


@pytest.mark.kernels
def test_gradients_of_spins_are_those_of_the_same_floats(monkeypatch: pytest.MonkeyPatch) -> None:
    """A large sparse matrix gathers spins of one byte each, to the same bits; other points stay as they are."""
    rng = np.random.default_rng(0)
    A = sp.csr_array(reference.random_symmetric(rng, 40, density=0.3))
    f = flipwise.Quadratic(A, rng.standard_normal(40))
    monkeypatch.setattr(quadratic, "SERIAL_ENTRIES", 0)
    for x in (rng.choice([-1.0, 1.0], 40), rng.uniform(-1, 1, 40), rng.choice([-1.0, 0.0, 1.0], 40)):
        expected = np.empty(40)
        sparse.csr_gradient(*f.matrix.arrays, x, f.c, expected)  # type: ignore[union-attr]
        assert f.gradient(x).tobytes() == expected.tobytes()
