"""Violated hypermetric inequalities: against a look at all of them, in both tiers."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

from flipwise.kernels.hypermetric import best_pairs, violated_triangles

pytestmark = pytest.mark.kernels


def _matrix(seed: int, n: int) -> np.ndarray:
    X = np.random.default_rng(seed).uniform(-1, 1, (n, n))
    return (X + X.T) / 2


@pytest.mark.parametrize("compiled", [False, True])
@pytest.mark.parametrize("most", [1, 10, 1000])
def test_the_most_violated_triangles(most: int, compiled: bool) -> None:
    """The largest violations of all, each with its triangle."""
    n, least = 8, 0.1
    X = _matrix(0, n)
    signs = [(1, 1, 1), (1, -1, -1), (-1, 1, -1), (-1, -1, 1)]
    violations = {
        4 * (n * (n * i + j) + k) + kind: -1.0 - a * X[i, j] - b * X[i, k] - c * X[j, k]
        for i, j, k in combinations(range(n), 3)
        for kind, (a, b, c) in enumerate(signs)
    }
    expected = sorted((v for v in violations.values() if v > least), reverse=True)[:most]
    keys, items = np.zeros(most + 1), np.zeros(most + 1, np.int64)
    kernel = violated_triangles.compile() if compiled else violated_triangles.interpreted
    size = kernel(X, least, most, keys, items)
    assert size == len(expected) and sorted(keys[:size], reverse=True) == pytest.approx(expected)
    assert [violations[item] for item in items[:size].tolist()] == pytest.approx(keys[:size].tolist())


@pytest.mark.parametrize("compiled", [False, True])
def test_the_best_two_further_entries(compiled: bool) -> None:
    """The least b'Xb over all pairs of entries that are 0, and all signs; none where only one is 0."""
    X = _matrix(1, 6)
    np.fill_diagonal(X, 1.0)
    b = np.array([[1, -1, 1, 0, 0, 0], [0, 1, 0, 0, 0, 0], [1, 1, 1, -1, -1, 0]], dtype=np.int8)
    pairs, values = np.zeros((3, 4), np.int64), np.zeros(3)
    kernel = best_pairs.compile() if compiled else best_pairs.interpreted
    kernel(X, b, b @ X, pairs, values)
    for t in range(2):
        every = []
        for p, q in combinations(np.flatnonzero(b[t] == 0), 2):
            for v in (-1, 1):
                for w in (-1, 1):
                    larger = b[t].astype(float)
                    larger[[p, q]] = v, w
                    every.append(larger @ X @ larger)
        found = b[t].astype(float)
        found[pairs[t, :2]] = pairs[t, 2:]
        before = b[t] @ X @ b[t]
        assert before + values[t] == pytest.approx(min(every)) and found @ X @ found == pytest.approx(min(every))
    assert pairs[2, 0] == -1
