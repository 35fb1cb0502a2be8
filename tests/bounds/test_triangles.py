"""Triangles in the semidefinite bound: every bound is below every point, and contraction keeps inequalities true."""

from __future__ import annotations

from itertools import combinations, product

import numpy as np
import pytest

from flipwise.bounds.triangles import SIGNS, TriangleBound, Triangles, least_eigenvalue, violated_triangles


def _matrix(seed: int, n: int = 8) -> np.ndarray:
    rng = np.random.default_rng(seed)
    A = rng.standard_normal((n, n)) * 10.0 ** rng.integers(-6, 7) if seed % 2 else rng.integers(-3, 4, (n, n)) * 1.0
    return np.triu(A, 1) + np.triu(A, 1).T


def _least(Q: np.ndarray) -> float:
    return min(float(np.array(s) @ Q @ np.array(s)) for s in product([-1.0, 1.0], repeat=len(Q)))


@pytest.mark.parametrize("seed", range(8))
def test_bounds_are_below_every_point_and_improve(seed: int) -> None:
    """After each round, and for multipliers drawn at random; with triangles it is nearer than without."""
    Q = _matrix(seed)
    least = _least(Q)
    state = TriangleBound.begin(Q)
    proven = []
    for _ in range(12):
        state.improve()
        proven.append(state.proven())
        state.alpha *= 0.5
        state.exchange_triangles()
    size = float(np.abs(Q).sum())
    assert max(proven) <= least + 1e-12 * size and proven[-1] >= proven[0] and least - proven[-1] < 0.12 * size
    rng = np.random.default_rng(seed)
    state.triangles.z = rng.random(state.triangles.z.size) * size
    state.at_best = rng.standard_normal(len(Q)) * size, state.triangles
    assert state.proven() <= least


def test_violated_triangles_are_all_found() -> None:
    """Against a look at every triangle and every sign."""
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, (7, 7))
    X = (X + X.T) / 2
    found = violated_triangles(X, 10_000)
    left = {
        (i, j, k, *signs)
        for i, j, k in combinations(range(7), 3)
        for signs in SIGNS.astype(int).tolist()
        if np.dot(signs, [X[i, j], X[i, k], X[j, k]]) < -1.03
    }
    assert {(*n, *s) for n, s in zip(found.nodes.tolist(), found.signs.astype(int).tolist(), strict=True)} == left
    assert violated_triangles(X, 3).z.size == 3


@pytest.mark.parametrize("sign", [1, -1])
def test_contraction_keeps_inequalities(sign: int) -> None:
    """Each inequality of the smaller matrix is one of the larger at points with s_i = sign s_j."""
    nodes = np.array(list(combinations(range(5), 3)) * 4)
    signs = np.repeat(SIGNS, 10, axis=0)
    whole = Triangles(nodes, signs, np.arange(40.0))
    i, j = 3, 1
    smaller = whole.contracted(i, j, sign)
    assert (
        smaller.nodes.max() == 3
        and (np.diff(smaller.nodes, axis=1) > 0).all()
        and (smaller.signs.prod(axis=1) == 1).all()
    )
    assert len(np.unique(np.concatenate([smaller.nodes, smaller.signs], axis=1), axis=0)) == smaller.z.size == 16
    for s in product([-1, 1], repeat=4):
        full = np.array([s[0], s[1], s[2], sign * s[1], s[3]])
        for triangles, point in ((whole, full), (smaller, np.array(s))):
            X = np.outer(point, point)
            n = len(point)
            values = (X.reshape(-1)[triangles.entries(n)] * triangles.signs).sum(axis=1)
            assert (values >= -1).all()


@pytest.mark.parametrize("seed", range(5))
def test_the_least_eigenvalue_is_bounded_from_below(seed: int) -> None:
    """Never above what NumPy finds, and near it."""
    M = _matrix(seed, 20)
    value = float(np.linalg.eigvalsh(M)[0])
    size = float(np.abs(M).max())
    assert value - 1e-6 * size <= least_eigenvalue(M) <= value + 1e-13 * size
