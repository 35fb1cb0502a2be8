"""The walk through all sets, against lists of all sets, in both tiers."""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components

from flipwise.kernels.jit import Kernel
from flipwise.kernels.subsets import BEST, BEST_SIZE, FOUND, WEIGHT, walk_subsets
from tests.kernels.tiers import BOTH

pytestmark = pytest.mark.kernels


@BOTH
@pytest.mark.parametrize("connected", [False, True])
@pytest.mark.parametrize("slack", [0, 3])
def test_the_best_of_all_sets(slack: int, connected: bool, tier: Callable[[Kernel], Callable[..., Any]]) -> None:
    """The largest weight for its size among the sets of a size in range that are one piece, if they must be."""
    rng = np.random.default_rng(3)
    for paid in (0, 2):
        n = 6
        whole = np.triu(rng.integers(-2, 4, (n + paid, n + paid)) * (rng.random((n + paid, n + paid)) < 0.5), 1)
        whole = whole + whole.T
        W, bonus = whole[:n, :n].astype(np.int64), rng.integers(-2, 3, n) + whole[:n, n:].sum(axis=1)
        extra, least, most = int(whole[n:, n:].sum() // 2), 1, 4
        densities = {}
        for k in range(least, most + 1):
            for chosen in combinations(range(n), k):
                S = [*chosen, *range(n, n + paid)]
                if not connected or connected_components(sp.csr_array(whole[np.ix_(S, S)] != 0))[0] == 1:
                    weight = W[np.ix_(chosen, chosen)].sum() // 2 + bonus[list(chosen)].sum() + extra
                    densities[sum(1 << i for i in chosen)] = (weight, len(S))
        touching = [sum(1 << j for j in range(n + paid) if whole[i, j]) for i in range(n + paid)] if connected else []
        place, found = np.zeros(7, np.int64), np.zeros((1 if slack == 0 else 64, 3), np.int64)
        place[WEIGHT], place[BEST_SIZE] = extra, 1
        walk = tier(walk_subsets)
        arguments = (
            W,
            bonus.astype(np.int64),
            paid,
            least,
            most,
            slack,
            np.array(touching, np.int64),
            np.zeros(n, np.int64),
        )
        while not walk(*arguments, place, found, 5):
            pass
        kept = found[: place[FOUND]]
        if not densities:
            assert not kept.size
            continue
        best = max(weight / size for weight, size in densities.values())
        assert place[BEST] / place[BEST_SIZE] == best
        assert all(densities[mask] == (weight, size) for mask, weight, size in kept.tolist())
        assert max(weight / size for _, weight, size in kept.tolist()) == best
        if slack:
            near = {mask for mask, (weight, size) in densities.items() if weight / size == best}
            assert near <= set(kept[:, 0].tolist())
