"""Two facts about matrices of integers: against eigenvalues and a look at every point."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from flipwise.verification.integers import is_semidefinite, least_energy
from tests.reference import all_spins


def exact(M: np.ndarray) -> np.ndarray:
    """The same matrix in Python's integers."""
    return np.array([[int(entry) for entry in row] for row in M], dtype=object).reshape(M.shape)


@settings(deadline=None)
@given(st.integers(1, 6), st.integers(0, 10**6), st.integers(1, 10**12))
def test_a_matrix_with_a_negative_eigenvalue_is_never_called_semidefinite(n: int, seed: int, scale: int) -> None:
    """B'B + I is, one step below an eigenvalue it is not."""
    B = np.random.default_rng(seed).integers(-3, 4, (n, n))
    M = B.T @ B + np.eye(n, dtype=np.int64)
    assert is_semidefinite(exact(M) * scale)
    below = M - (int(np.linalg.eigvalsh(M)[0]) + 1) * np.eye(n, dtype=np.int64)
    assert not is_semidefinite(exact(below) * scale)


def test_zeros_are_semidefinite_and_minus_one_is_not() -> None:
    """Without a factor."""
    assert not is_semidefinite(exact(-np.eye(2, dtype=np.int64)))
    assert is_semidefinite(exact(np.zeros((3, 3), dtype=np.int64)))


@given(st.integers(1, 7), st.integers(0, 10**6), st.booleans(), st.booleans())
def test_the_least_energy_is_that_of_the_best_of_all_points(n: int, seed: int, large: bool, counted: bool) -> None:
    """Also of integers that 64 bits do not hold, and with a number of ones."""
    rng = np.random.default_rng(seed)
    J = exact(np.triu(rng.integers(-9, 10, (n + 1, n + 1)), 1)) * (10**25 if large else 1)
    J = J + J.T
    ones = int(rng.integers(0, n + 1)) if counted else None
    energies = []
    for point in all_spins(n, ones):
        s = [*map(int, point), 1]
        energies.append(sum(J[i, j] * s[i] * s[j] for j in range(n + 1) for i in range(j)))
    assert least_energy(J, ones) == min(energies)
