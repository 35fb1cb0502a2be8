"""Tabu search and path relinking: what they report is what they did."""

from __future__ import annotations

import numpy as np
import pytest

from flipwise.kernels import tabu
from tests.kernels.spins import couplings, energy, spins

pytestmark = pytest.mark.kernels


def test_tabu_reports_what_it_did() -> None:
    """The best and last changes of energy and the costs are those of the points it returns."""
    A, h = couplings(40, 0.8, 7)
    J = A.toarray().astype(np.int8)
    s = spins(40, 8)
    before = energy(A.toarray(), h, s)
    d = (-2 * s * (h + A @ s)).astype(np.int32)
    best_s = s.copy()
    state = np.array([3], dtype=np.uint64)
    best, last = tabu.dense_tabu(J, 200, 5, 5, np.int32(2**29), s, d, np.zeros(40, dtype=np.int64), best_s, state)
    assert energy(A.toarray(), h, best_s) == before + best
    assert energy(A.toarray(), h, s) == before + last
    assert np.array_equal(d, -2 * s * (h + A @ s))
    assert best <= 0


def test_relinking_ends_between_its_parents() -> None:
    """The point lies on a path between the two: it differs from the start only where the goal does."""
    A, h = couplings(40, 0.8, 9)
    J = A.toarray().astype(np.int8)
    start, goal = spins(40, 10), spins(40, 11)
    d = (-2 * start * (h + A @ start)).astype(np.int32)
    found = start.copy()
    differing = np.flatnonzero(start != goal)
    best = tabu.dense_relink(J, np.int32(2**29), start.copy(), d, differing.copy(), found)
    assert energy(A.toarray(), h, found) == energy(A.toarray(), h, start) + best
    assert set(np.flatnonzero(found != start)) <= set(differing)
    assert 0 < np.count_nonzero(found != start) < differing.size
