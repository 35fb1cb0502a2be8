"""The walk through all sets of a small graph against a plain list of them, in both tiers."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

from flipwise.densest.exhaustive import half_sums
from flipwise.kernels import enumeration
from flipwise.kernels.enumeration import FOUND

pytestmark = pytest.mark.kernels


def walked(walk, W: np.ndarray, k: int, slack: float, best: float, room: int, most: int = 10**6):
    """The largest weight and the sets found, by one walk in slices of `most` decisions."""
    n = len(W)
    best_weight, place = np.array([best]), np.zeros(4, np.int64)
    found = np.zeros((room, k), np.int64)
    arrays = np.zeros((k + 1, n)), np.zeros(k + 1), np.zeros(n + 1, np.int64), np.zeros(k, np.int64)
    while not walk(W, half_sums(W, k), k, slack, best_weight, *arrays, found, np.zeros(k), place, most):
        pass
    return best_weight[0], found, place[FOUND]


@pytest.mark.parametrize("n, k", [(1, 1), (6, 1), (6, 3), (7, 6), (7, 7), (9, 4)])
def test_the_walk_finds_what_a_list_of_all_sets_has(n: int, k: int) -> None:
    """The best set without slack, all nearly best ones with it; the same in both tiers and in slices."""
    rng = np.random.default_rng(n + k)
    W = np.triu(rng.integers(-2, 4, (n, n)).astype(float), 1)
    W = W + W.T
    weights = {S: W[np.ix_(S, S)].sum() / 2 for S in combinations(range(n), k)}
    best = max(weights.values())
    near = {S for S in weights if weights[S] > best - 1.5}
    for walk in (enumeration.walk_sets.interpreted, enumeration.walk_sets.compile()):
        for most in (1, 7, 10**6):
            weight, found, count = walked(walk, W, k, 0.0, best - 1.0, 1, most)
            assert (weight == best and count >= 1 and weights[tuple(found[0])] == best) or count > 1
            weight, found, count = walked(walk, W, k, 1.5, -100.0, 500, most)
            assert weight == best and near <= {tuple(map(int, row)) for row in found[:count]}
            assert walked(walk, W, k, 0.0, best, 1, most)[2] == 0


def test_half_sums_are_those_of_the_largest_weights() -> None:
    """half[t, r, i]: half of the r largest weights between i and the nodes from t on."""
    W = np.triu(np.random.default_rng(0).standard_normal((6, 6)), 1)
    W = W + W.T
    half = half_sums(W, 4)
    for t in range(6):
        for i in range(6):
            others = sorted((W[i, j] for j in range(t, 6) if j != i), reverse=True)
            for r in range(min(4, len(others) + 1)):
                assert np.isclose(half[t, r, i], sum(others[:r]) / 2)
