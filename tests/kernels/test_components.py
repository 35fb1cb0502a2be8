"""Recombination by components against all subsets of components."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from flipwise.kernels.components import csr_take_components
from tests.kernels.spins import couplings, energy, parts, spins

pytestmark = pytest.mark.kernels


def test_components_are_taken_exactly_where_they_help() -> None:
    """The child equals the best choice over all subsets of components."""
    A, h = couplings(24, 0.08, 12)
    J = A.toarray()
    s, other = spins(24, 13), spins(24, 14)
    graph = A.copy()
    inside = s != other
    mask = np.outer(inside, inside)
    count, labels = sp.csgraph.connected_components(sp.csr_array((graph.toarray() != 0) & mask))
    groups = [np.flatnonzero((labels == k) & inside) for k in range(count)]
    groups = [g for g in groups if g.size]
    best = min(
        energy(J, h, np.where(np.isin(np.arange(24), np.concatenate([np.array([], int), *chosen])), other, s))
        for bits in range(2 ** min(len(groups), 10))
        for chosen in [[g for k, g in enumerate(groups[:10]) if bits >> k & 1]]
    )
    before = energy(J, h, s)
    f = (h + A @ s).astype(np.int32)
    child = s.copy()
    change, found = csr_take_components(
        *parts(A), 0, True, child, f, other, np.empty(24, dtype=np.int64), np.zeros(24, dtype=np.bool_)
    )
    assert found == len(groups)
    assert energy(J, h, child) == before + change <= best
    assert np.array_equal(f, h + A @ child)
