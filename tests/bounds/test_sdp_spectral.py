"""The spectral bound: known values, any diagonal gives a bound, rounding is on the safe side."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
import scipy.sparse as sp

from flipwise import LowRank, Quadratic
from flipwise.bounds.eigenvalues import gershgorin_bound
from flipwise.bounds.sdp import diagonal_bound, spectral_bound
from flipwise.model.forms import homogeneous

SIDES = np.kron(np.array([[0.0, 1.0], [1.0, 0.0]]), np.ones((3, 3)))  # K_{3,3}


@pytest.mark.parametrize("n", [3, 4, 7])
def test_cliques_cycles_and_complete_bipartite_graphs(n: int) -> None:
    """N lambda_min: -n for a clique, -2n for an even cycle, the optimum -18 for K_{3,3}, with and without constant."""
    clique = np.ones((n, n)) - np.eye(n)
    even = np.roll(np.eye(2 * n), 1, axis=0) + np.roll(np.eye(2 * n), -1, axis=0)
    for A, truth in ((clique, -n), (even, -4 * n), (SIDES, -18)):
        for matrix in (A, sp.csr_array(A)):
            assert truth + 0.5 - 1e-4 <= spectral_bound(Quadratic(matrix, d=0.5)) <= truth + 0.5


def test_the_diagonal_is_a_constant() -> None:
    """A diagonal moves the bound by its sum; alone it is met."""
    bound = spectral_bound(Quadratic(SIDES + np.diag([5.0, -4.0, 3.0, 2.0, 1.0, 0.5])))
    assert -10.5 - 1e-4 <= bound <= -10.5
    assert 2.0 - 1e-9 <= spectral_bound(Quadratic(np.diag([5.0, -4.0, 1.0]))) <= 2.0


def test_a_linear_part_is_lifted() -> None:
    """Equal linear coefficients on n variables: a star, whose bound is -(n + 1) sqrt(n) c / 2."""
    bound = spectral_bound(Quadratic(sp.csr_array((4, 4)), [6.0] * 4))
    assert -30.0 - 1e-4 <= bound <= -30.0


def test_every_diagonal_gives_a_bound() -> None:
    """Whatever u is, the bound is below all values."""
    rng = np.random.default_rng(4)
    A = rng.standard_normal((6, 6))
    f = Quadratic([A + A.T, LowRank(rng.standard_normal((6, 2)), [1.0, -0.5])], rng.standard_normal(6), 0.3)
    least = min(f.value(np.array(x)) for x in product([-1.0, 1.0], repeat=6))
    form = homogeneous(f)
    for _ in range(10):
        u = 3.0 * rng.standard_normal(7)
        truth = u.sum() + 7.0 * float(np.linalg.eigvalsh(form.to_dense() - np.diag(u))[0]) + 0.3
        assert truth - 1e-3 <= diagonal_bound(form, u) <= truth <= least


@pytest.mark.parametrize("constant", [0.0, 1e16, -1e16])
def test_sums_that_floats_cannot_hold_are_rounded_down(constant: float) -> None:
    """A diagonal of 1e16 and ones is met exactly by no float: the bound is not above it, and near."""
    diagonal = np.array([1e16, 1.0, 1.0, 1.0])
    exact = Fraction(constant) + 10**16 + 3
    bound = Fraction(spectral_bound(Quadratic(np.diag(diagonal), d=constant)))
    assert exact - 1000 <= bound <= exact


@pytest.mark.parametrize("constant", [1e16, -1e16])
def test_a_constant_that_swallows_the_rest_is_rounded_down(constant: float) -> None:
    """1e16 + 1.5 is rounded to 1e16 + 2: the margin must be that of the constant."""
    bound = Fraction(spectral_bound(Quadratic(np.array([[1.5]]), d=constant)))
    assert Fraction(constant) - 100 <= bound <= Fraction(constant) + Fraction(3, 2)


def test_the_eigenvalue_counts_for_every_row() -> None:
    """diagonal_bound is sum u + N least + constant, with N the rows of the lifted form."""
    form = homogeneous(Quadratic(sp.csr_array((2, 2)), [2.0, 0.0], 10.0))
    assert 10.0 + 3.0 - 6.0 - 1e-5 <= diagonal_bound(form, np.full(3, 1.0)) <= 10.0 + 3.0 - 6.0


@pytest.mark.parametrize("sparse", [False, True])
def test_a_proof_that_would_be_late_makes_way_for_a_weaker_one(sparse: bool) -> None:
    """No factorisation is begun, nor an iteration gone on with, whose end the deadline does not see: a bound it is."""
    n = 400
    ring = np.roll(np.eye(n), 1, axis=0) + np.roll(np.eye(n), -1, axis=0)
    f = Quadratic(sp.csr_array(ring) if sparse else ring)
    u = np.linspace(-1.0, 1.0, n)
    late, patient = (diagonal_bound(homogeneous(f), u, deadline) for deadline in (0.0, math.inf))
    assert late == diagonal_bound_of(gershgorin_bound(homogeneous(f), u), u) < patient
    assert patient <= math.fsum(u) + n * np.linalg.eigvalsh(ring - np.diag(u))[0]


def diagonal_bound_of(least: float, u: np.ndarray) -> float:
    """The bound of an eigenvalue, rounded down as `diagonal_bound` does."""
    size = float(np.abs(u).sum()) + u.size * abs(least)
    return math.fsum(u) + u.size * least - 8.0 * float(np.finfo(np.float64).eps) * size
