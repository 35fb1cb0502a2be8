"""Smallest eigenvalues: known ones are met, what is proven is below, by about as much as rounding and no more."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse as sp

from flipwise import LowRank, Quadratic
from flipwise.bounds import eigenvalues
from flipwise.bounds.eigenvalues import (
    band_of,
    banded_proof,
    dense_proof,
    eigenvalue_bound,
    gershgorin_bound,
    rounding_share,
    smallest_eigenpair,
)
from flipwise.model.forms import Homogeneous, homogeneous

U = Fraction(1, 2**53)


def plain(A: np.ndarray | sp.csr_array) -> Homogeneous:
    """The form of a matrix."""
    return homogeneous(Quadratic(A))


def path(n: int, diagonal: float = 0.0) -> sp.csr_array:
    """-1 beside the diagonal: eigenvalues diagonal - 2 cos(j pi / (n + 1))."""
    beside = -np.ones(n - 1)
    return sp.csr_array(sp.diags_array([beside, np.full(n, diagonal), beside], offsets=[-1, 0, 1]))


def rump(N: int) -> Fraction:
    """The alpha of Rump's theorem, exactly."""
    gamma = (N + 1) * U / (1 - (N + 1) * U)
    return gamma / (1 - gamma)


@pytest.mark.parametrize("n", [1, 5, 300, 301, 400])
def test_the_estimate_is_an_eigenpair(n: int) -> None:
    """Few rows by all eigenvalues, many by Lanczos: the value and the vector belong together and are the least."""
    A = path(n, 1.0)
    value, vector = smallest_eigenpair(lambda v: A @ v, n)
    assert value == pytest.approx(1.0 - 2.0 * math.cos(math.pi / (n + 1)), abs=1e-6)
    assert vector.shape == (n,) and np.linalg.norm(vector) == pytest.approx(1.0)
    assert np.linalg.norm(A @ vector - value * vector) < 1e-4


def test_an_operator_need_not_be_symmetric_to_the_last_bit() -> None:
    """For few rows the symmetric part counts."""
    A = np.array([[2.0, 1.0], [3.0, 2.0]])
    assert smallest_eigenpair(lambda v: A @ v, 2)[0] == pytest.approx(0.0, abs=1e-12)


def test_eigenvalues_near_zero_do_not_stop_lanczos() -> None:
    """A tolerance relative to an eigenvalue of 1e-12 is out of reach: the estimate is then relative to the matrix."""
    diagonal = np.logspace(-12, 0, 301)
    value, vector = smallest_eigenpair(lambda v: diagonal * v, 301)
    assert 0.0 <= value < 1e-5 and value == pytest.approx(float(vector @ (diagonal * vector)), abs=1e-6)


@pytest.mark.parametrize("size", [1e-150, 1.0, 1e6, 1e150])
def test_an_eigenvalue_of_zero_is_not_taken_for_the_next(size: float) -> None:
    """Zero is no size to be relative to: the estimate is near it by the size of the matrix, and not the second one."""
    diagonal = size * np.linspace(0.0, 1.0, 301)
    value, vector = smallest_eigenpair(lambda v: diagonal * v, 301)
    assert abs(value) < 1e-6 * size and abs(vector[0]) > 0.999


def test_nothing_but_zero_has_the_eigenvalue_zero() -> None:
    """An operator without a size of its own."""
    assert smallest_eigenpair(lambda v: 0.0 * v, 400)[0] == 0.0


def test_eigenvalues_close_together_are_met_with_patience() -> None:
    """The Laplacian of a long path: what Lanczos cannot tell apart in time is estimated less sharply."""
    n = 5000
    A = path(n, 2.0)
    value, vector = smallest_eigenpair(lambda v: A @ v, n)
    assert 0.0 < value < 1e-4 and np.linalg.norm(A @ vector - value * vector) < 1e-3


@pytest.mark.parametrize("size", [1e-8, 1.0, 1e8])
@pytest.mark.parametrize("n", [60, 400])
@pytest.mark.parametrize("kind", ["banded", "dense"])
def test_the_proven_eigenvalue_of_a_path(kind: str, n: int, size: float) -> None:
    """Below the known one and near it by the size of the matrix, as a banded and as a dense one."""
    A = path(n, 0.5) * size
    y = np.full(n, 0.25 * size)
    truth = size * (0.25 - 2.0 * math.cos(math.pi / (n + 1)))
    bound = eigenvalue_bound(plain(A if kind == "banded" else A.toarray()), y)
    assert truth - (2e-6 if n == 60 else 2e-5) * size <= bound < truth


def test_the_proven_eigenvalue_of_other_shapes() -> None:
    """Low-rank, lifted and diagonal forms with known eigenvalues."""
    ones = np.ones((9, 1))
    for U_, s, truth in ((ones, [-2.0], -18.0), (ones, [2.0], 0.0)):
        bound = eigenvalue_bound(homogeneous(Quadratic(LowRank(U_, s))), np.zeros(9))
        assert truth - 2e-5 <= bound <= truth
    star = homogeneous(Quadratic(sp.csr_array((4, 4)), [2.0, 2.0, 2.0, 2.0]))  # the last node joined to four others
    assert -2.0 - 1e-6 <= eigenvalue_bound(star, np.zeros(5)) <= -2.0
    diagonal = np.array([3.0, -1.0, 4.0, 1.0])
    bound = eigenvalue_bound(plain(np.diag(diagonal)), np.array([0.0, 0.5, 7.0, 0.0]))
    assert -3.0 - 1e-5 <= bound <= -3.0


def test_zero_has_the_eigenvalue_zero() -> None:
    """Proven but for the smallest numbers, and where the diagonal is taken away, but for its rounding."""
    assert -1e-290 < eigenvalue_bound(plain(np.zeros((2, 2))), np.zeros(2)) <= 0.0
    assert -1e-13 < eigenvalue_bound(plain(np.diag([1.0, 2.0])), np.array([1.0, 2.0])) <= 0.0
    assert -1e-290 < eigenvalue_bound(plain(sp.csr_array((400, 400))), np.zeros(400)) <= 0.0


def test_a_matrix_too_large_for_either_factor_gets_gershgorins_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    """The limits decide: banded, then dense, then neither."""
    A, y = path(301, 1.0), np.linspace(0.0, 1.0, 301)
    form = plain(A)
    weak, strong = gershgorin_bound(form, y), eigenvalue_bound(form, y)
    monkeypatch.setattr(eigenvalues, "DENSE_LIMIT", 300)
    assert weak < strong - 1e-3 and eigenvalue_bound(form, y) == strong
    monkeypatch.setattr(eigenvalues, "BAND_LIMIT", 2 * 301)
    assert band_of(form) is not None
    monkeypatch.setattr(eigenvalues, "BAND_LIMIT", 2 * 301 - 1)
    assert band_of(form) is None and eigenvalue_bound(form, y) == weak
    monkeypatch.setattr(eigenvalues, "DENSE_LIMIT", 301)
    assert eigenvalue_bound(form, y) == pytest.approx(strong, abs=1e-5)


def test_the_band_is_the_matrix() -> None:
    """Shuffled, a path still has a band of two rows; the band with its order gives back every entry."""
    n = 310
    rng = np.random.default_rng(2)
    A = path(n).tolil()
    A.setdiag(rng.standard_normal(n))
    for i in range(n - 1):
        A[i, i + 1] = A[i + 1, i] = rng.standard_normal()
    shuffle = rng.permutation(n)
    A = sp.csr_array(A)[shuffle][:, shuffle]
    banded = band_of(plain(A))
    assert banded is not None
    band, order = banded
    assert band.shape == (2, n) and sorted(order) == list(range(n))
    rebuilt = np.diag(band[0]) + np.diag(band[1, :-1], -1) + np.diag(band[1, :-1], 1)
    assert band[1, -1] == 0.0 and np.array_equal(rebuilt, A.toarray()[np.ix_(order, order)])


def test_only_plain_sparse_matrices_have_a_band() -> None:
    """Small, dense, lifted and low-rank forms are factored densely."""
    assert band_of(plain(path(300))) is None and band_of(plain(path(301))) is not None
    assert band_of(plain(path(301).toarray())) is None
    assert band_of(homogeneous(Quadratic(path(301), np.ones(301)))) is None
    assert band_of(homogeneous(Quadratic([path(301), LowRank(np.ones((301, 1)))]))) is None
    diagonal = band_of(plain(sp.csr_array(sp.diags_array(np.arange(1.0, 302.0)))))
    assert diagonal is not None and diagonal[0].shape == (1, 301)


@pytest.mark.parametrize("N", [1, 10, 1000, 10**6])
def test_alpha_is_that_of_the_theorem_with_a_margin(N: int) -> None:
    """Not below gamma / (1 - gamma), and not above three times as much."""
    assert rump(N) < Fraction(rounding_share(N)) < 3 * rump(N)


@pytest.mark.parametrize("size", [1e-3, 1.0, 1e6])
@pytest.mark.parametrize("kind", ["banded", "dense"])
def test_a_factor_proves_its_shift_less_what_the_theorem_takes(kind: str, size: float) -> None:
    """B = H - Diag(y) - theta: a proof where B is positive definite, of theta - alpha trace(B) or a little less."""
    n = 301
    A = (path(n, 3.0) * size).tocsr()
    y = np.linspace(0.0, 0.5, n) * size
    least = float(np.linalg.eigvalsh(A.toarray() - np.diag(y))[0])
    form, banded = plain(A), band_of(plain(A))
    assert banded is not None

    def proof(theta: float) -> float | None:
        return banded_proof(banded, y, theta) if kind == "banded" else dense_proof(form, y, theta)

    inner = 2 if kind == "banded" else n
    for theta in (least - 1e-9 * size, least - 0.7 * size, -100.0 * size):
        found = proof(theta)
        trace = sum(3 * Fraction(size) - Fraction(float(each)) - Fraction(theta) for each in y)
        assert found is not None
        assert Fraction(found) <= Fraction(theta) - rump(inner) * trace - 2 * U * Fraction(3.0 * size + abs(theta))
        slack = 4 * rump(inner) * trace + 40 * U * Fraction(size + abs(theta))
        assert Fraction(found) >= Fraction(theta) - slack
    assert proof(least + 1e-9 * size) is None and proof(least + size) is None


@pytest.mark.parametrize(
    ("h", "y", "theta"), [(3.0, 0.0, -100.0), (0.0, -1e8, 0.5), (1e8, 0.0, 0.5), (1e8, 1e8 - 1, 0.5)]
)
def test_every_number_on_the_diagonal_is_in_the_margin(h: float, y: float, theta: float) -> None:
    """One row: entry, y and theta are each rounded by their size, beside what the theorem takes from the trace."""
    rounded = 2 * U * Fraction(abs(h) + abs(y) + abs(theta))
    most = Fraction(theta) - rump(1) * (Fraction(h) - Fraction(y) - Fraction(theta)) - rounded
    dense = dense_proof(plain(np.array([[h]])), np.array([y]), theta)
    banded = banded_proof((np.array([[h]]), np.array([0])), np.array([y]), theta)
    for found in (dense, banded):
        assert found is not None and most - 20 * rounded <= Fraction(found) <= most


def test_forming_the_matrix_is_part_of_the_margin() -> None:
    """Large y and large entries off the diagonal are rounded by their size, which the trace does not show."""
    form = plain(np.array([[1e8, 0.0], [0.0, 1e8]]))
    found = dense_proof(form, np.array([1e8 - 1.0, 1e8 - 1.0]), 0.5)
    assert found is not None and 0.5 - 1e-6 < found < 0.5 - 1e8 * 2.0**-53
    banded = np.full((1, 301), 1e8), np.arange(301)
    found = banded_proof(banded, np.full(301, 1e8 - 1.0), 0.5)
    assert found is not None and 0.5 - 1e-6 < found < 0.5 - 1e8 * 2.0**-53
    low = Homogeneous(np.zeros((2, 2)), np.array([[1e5, 1e5], [0.0, 0.0]]), np.array([1.0, -1.0]), 0.0, False)
    found = dense_proof(low, np.full(2, -1.0), 0.5)  # two terms that cancel, each of 1e10
    assert found is not None and 0.5 - 1e-3 < found < 0.5 - 1e10 * 2.0**-53


def test_gershgorins_bound_is_exact_for_diagonals_and_even_rows() -> None:
    """Without off-diagonal entries, and where all rows are alike, it is the eigenvalue, less rounding."""
    diagonal, y = np.array([0.1, 0.7, -0.4]), np.array([0.3, 0.2, 0.1])
    exact = min(Fraction(d) - Fraction(b) for d, b in zip(diagonal, y))
    assert exact - Fraction(1, 10**13) <= Fraction(gershgorin_bound(plain(np.diag(diagonal)), y)) < exact
    cycle = np.roll(np.eye(6), 1, axis=0) + np.roll(np.eye(6), -1, axis=0)
    assert -2.0 - 1e-13 <= gershgorin_bound(plain(cycle), np.zeros(6)) < -2.0
    assert -1.75 - 1e-13 <= gershgorin_bound(plain(cycle), np.full(6, -0.25)) < -1.75


@pytest.mark.parametrize("kind", ["dense", "sparse", "low-rank", "sum"])
@pytest.mark.parametrize("size", [1e-6, 1.0, 1e6])
def test_scaled_gershgorin_is_exact_where_no_entry_beside_the_diagonal_is_positive(kind: str, size: float) -> None:
    """There the power iteration finds the eigenvector, and with it the smallest eigenvalue."""
    rng = np.random.default_rng(8)
    A = rng.uniform(0.5, 1.5, (8, 8))
    A = -(A + A.T) * size
    factor = rng.uniform(0.3, 0.9, (8, 2))
    low = LowRank(factor, [-size, -0.5 * size])
    parts = {"dense": [A], "sparse": [sp.csr_array(A)], "low-rank": [low], "sum": [sp.csr_array(A), low]}[kind]
    form = homogeneous(Quadratic(parts))
    y = rng.uniform(-1.0, 1.0, 8) * size
    truth = float(np.linalg.eigvalsh(form.to_dense() - np.diag(y))[0])
    assert truth - 1e-7 * size <= gershgorin_bound(form, y) <= truth + 1e-13 * size


def test_signs_do_not_help_gershgorin() -> None:
    """The bound is that of the matrix with all entries beside the diagonal turned negative."""
    rng = np.random.default_rng(9)
    A = rng.standard_normal((7, 7))
    A = A + A.T
    turned = -np.abs(A)
    np.fill_diagonal(turned, np.diag(A))
    y = rng.standard_normal(7)
    assert gershgorin_bound(plain(A), y) == pytest.approx(gershgorin_bound(plain(turned), y), rel=1e-12)
    u = rng.standard_normal((7, 1))
    mixed, positive = (homogeneous(Quadratic(LowRank(each, [-1.0]))) for each in (u, np.abs(u)))
    assert gershgorin_bound(mixed, y) == pytest.approx(gershgorin_bound(positive, y), rel=1e-12)


@pytest.mark.parametrize("size", [1e-5, 1.0, 1e5])
def test_gershgorins_bound_is_below_what_rounding_takes_from_the_sums(size: float) -> None:
    """Cliques whose rows add up to a little less in floats than exactly: the bound is below the exact eigenvalue."""
    for n in (150, 260):
        w = size * 0.1
        A = sp.csr_array(w * (np.eye(n) - np.ones((n, n))))
        exact = -(n - 1) * Fraction(w)
        bound = Fraction(gershgorin_bound(plain(A), np.zeros(n)))
        assert exact * (1 + Fraction(1, 10**12)) <= bound < exact


def test_a_diagonal_that_swallows_the_rest_does_not_fool_gershgorin() -> None:
    """1e16 + 1 is 1e16 in floats: the radius 1 is lost, and the margin must cover it."""
    form = plain(sp.csr_array(np.array([[1e16, 1.0], [1.0, 1e16]])))
    assert gershgorin_bound(form, np.array([1e16, 1e16])) <= -1.0
    low = homogeneous(Quadratic(LowRank(np.array([[1e8, 0.0], [1e-8, 1e8]]))))
    assert gershgorin_bound(low, np.array([1e16, 1e16])) <= -1.0
