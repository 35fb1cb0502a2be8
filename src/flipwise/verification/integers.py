"""Two facts about matrices of integers, established in integers: that one is positive semidefinite, and the least of a
quadratic over all spins."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

MOST_ROWS = 1200
"""The largest matrix that is looked at; sums of products of its rows fit into 64 bits."""
HALF = 26
"""A factor is written in two digits of so many bits."""

Matrix = npt.NDArray[np.object_]


def is_semidefinite(M: Matrix) -> bool:
    """Whether M is positive semidefinite; False also where this cannot be told.

    A floating-point factor only proposes B; in integers, c M = BB' + R exactly, and R is diagonally dominant with a
    diagonal that is nowhere negative, hence semidefinite.
    """
    N = len(M)
    size = int(np.abs(M).max(initial=0))
    if N > MOST_ROWS:
        return False
    if size == 0:
        return True
    A = (M / size).astype(np.float64)  # of Python's integers: each quotient is rounded once
    margin = 4e-16 * N**1.5
    for _ in range(6):
        try:
            factor = np.linalg.cholesky(A - margin * np.eye(N))
        except np.linalg.LinAlgError:
            return False
        B = np.rint(factor * 2.0 ** (2 * HALF)).astype(np.int64)
        high, low = B >> HALF, B & (2**HALF - 1)
        cross = (high @ low.T).astype(object)
        product = ((high @ high.T).astype(object) << 2 * HALF) + ((cross + cross.T) << HALF) + (low @ low.T)
        rest = (M << 4 * HALF) - product * size  # A = M / size, and B is 2^(2 HALF) times its factor
        diagonal = rest.diagonal()
        if bool(np.all(2 * diagonal >= np.abs(rest).sum(axis=1))):  # the row's own sum holds the diagonal once
            return bool(np.all(diagonal >= 0))
        margin *= 4.0
    return False


def least_energy(J: Matrix, ones: int | None = None) -> int:
    """The least of sum_{i<j} J_ij s_i s_j over all spins, the last of which stays at +1; `ones` others are +1."""
    n = len(J) - 1
    kind: Any = np.int64 if int(np.abs(J).sum()) < 2**62 else object
    energies = np.zeros(1, dtype=kind)
    counts = np.zeros(1, dtype=np.int64)
    for i in range(n):  # point p of the first i spins has spin q at +1 where bit q of p is set
        field = np.array([J[i, n]], dtype=kind)
        for q in range(i):
            field = np.concatenate([field - J[i, q], field + J[i, q]])
        energies = np.concatenate([energies - field, energies + field])
        counts = np.concatenate([counts, counts + 1])
    return int(energies.min() if ones is None else energies[counts == ones].min())
