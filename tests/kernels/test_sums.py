"""Codes by inner products: both tiers against all codes, and against each other."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from flipwise.kernels.sums import best_sums

pytestmark = pytest.mark.kernels


def test_with_beams_for_all_codes_the_best_is_found_by_both_tiers() -> None:
    """Groups of different sizes; whole numbers, so that sums are exact and both tiers and the truth can be compared."""
    rng = np.random.default_rng(0)
    sizes = (3, 4, 2)
    first = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    entries = rng.integers(-4, 5, (sum(sizes), 5)).astype(np.float32)
    X = rng.integers(-9, 10, (20, 5)).astype(np.float32)
    all_codes = np.array(list(product(*map(range, sizes))))
    sums = entries[all_codes + first[:-1]].sum(axis=1)
    least = ((X[:, None] - sums) ** 2).sum(axis=2).min(axis=1)
    pairs = entries @ entries.T
    alone = X @ entries.T - np.float32(0.5) * np.diagonal(pairs)
    orders, shifts = np.array([[0, 1, 2], [2, 0, 1]]), np.array([[1, 0, 1]])
    best_sums.compile()
    found = {}
    for beams in (24, 2):
        for name in ("interpreted", "compiled"):
            codes = np.zeros((20, 3), dtype=np.uint8)
            getattr(best_sums, name)(alone, pairs, first, orders, shifts, beams, codes)
            found[beams, name] = codes
        assert np.array_equal(found[beams, "interpreted"], found[beams, "compiled"])
    error = {
        beams: ((X - entries[found[beams, "compiled"] + first[:-1]].sum(axis=1)) ** 2).sum(axis=1) for beams in (24, 2)
    }
    assert np.array_equal(error[24], least) and (error[2] >= least).all() and (error[2] == least).mean() > 0.5
