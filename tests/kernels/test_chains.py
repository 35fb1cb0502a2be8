"""Anneals by chains of flips: the same bits in both tiers, and a point that keeps the rows stays one that does."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

from flipwise.kernels import annealing, chains
from flipwise.kernels.jit import compile_function
from flipwise.model.feasibility import fields_at
from flipwise.model.rows import LinearConstraints

pytestmark = pytest.mark.kernels
N = 12


def arguments(mode: int) -> list[Any]:
    """Couplings, a budget and one of three, all arrays new, from a point that keeps them."""
    rng = np.random.default_rng(3)
    J = np.triu(rng.integers(-5, 6, (N, N)), 1)
    matrix = sp.csr_array((J + J.T).astype(np.float64))
    couplings = matrix.indptr.astype(np.int64), matrix.indices.astype(np.int64), matrix.data
    budget = rng.integers(1, 9, N)
    rows = LinearConstraints(np.stack([budget, np.arange(N) < 3]), [-np.inf, 1], [budget.sum() // 2, 1])
    s = np.full(N, -1, dtype=np.int8)
    s[0] = 1
    f, activity = fields_at(couplings, np.ones(N), s), rows.activity(s)
    quantiles = annealing.exponential_quantiles()
    return [*couplings, f, s, *rows.arrays, np.full(2, 9.0), np.geomspace(20.0, 0.5, 20), quantiles, mode, 6, activity,
            s.copy(), np.array([0.0, np.inf, 0.0]), np.zeros(2, dtype=np.int64),
            np.array([7], dtype=np.uint64)]  # fmt: skip


@pytest.mark.parametrize("mode", [chains.HARD, chains.SOFT])
def test_anneals_go_the_same_way_in_both_tiers(mode: int) -> None:
    one, other = arguments(mode), arguments(mode)
    chains.anneal_by_chains.interpreted(*one)
    compile_function(chains.anneal_by_chains.interpreted)(*other)
    for first, second in zip(one, other, strict=True):
        np.testing.assert_array_equal(first, second)
    J = sp.csr_array((one[2], one[1], one[0]), shape=(N, N))
    s = one[4].astype(np.float64)
    np.testing.assert_array_equal(one[3], np.ones(N) + J @ s)
    A = sp.csr_array((one[7], one[6], one[5]), shape=(2, N))
    np.testing.assert_array_equal(one[-5], A @ (s > 0))
    best = one[-4].astype(np.float64)
    start = np.where(np.arange(N) == 0, 1.0, -1.0)  # the kernel counted from its energy
    assert one[-3][1] == energy(J, best) - energy(J, start)
    assert (A @ (best > 0) <= one[12]).all() and (A @ (best > 0) >= one[11]).all()


def energy(J: Any, s: Any) -> float:
    """Of couplings J and fields of 1."""
    return float(s @ (J @ s)) / 2 + float(s.sum())
