"""Hypermetric inequalities in the semidefinite bound: bounds are below every point, contraction keeps what holds."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations, product

import numpy as np
import pytest

from flipwise.bounds.hypermetric import (
    VIOLATED,
    Hypermetric,
    HypermetricBound,
    grown,
    least_eigenvalue,
    negative_part,
    violated_triangles,
)


def _matrix(seed: int, n: int = 8) -> np.ndarray:
    rng = np.random.default_rng(seed)
    A = rng.standard_normal((n, n)) * 10.0 ** rng.integers(-6, 7) if seed % 2 else rng.integers(-3, 4, (n, n)) * 1.0
    return np.triu(A, 1) + np.triu(A, 1).T


def _least(Q: np.ndarray) -> float:
    return min(float(np.array(s) @ Q @ np.array(s)) for s in product([-1.0, 1.0], repeat=len(Q)))


def _between(seed: int, n: int) -> np.ndarray:
    X = np.random.default_rng(seed).uniform(-1, 1, (n, n))
    return (X + X.T) / 2


def forms(n: int, size: int) -> Iterator[np.ndarray]:
    """All rows of so many entries +-1, the first of them 1."""
    for places in combinations(range(n), size):
        for signs in product([1, -1], repeat=size - 1):
            b = np.zeros(n, dtype=np.int64)
            b[list(places)] = 1, *signs
            yield b


@pytest.mark.parametrize("seed", range(8))
def test_bounds_are_below_every_point_and_improve(seed: int) -> None:
    """After each round, and for multipliers drawn at random; with inequalities it is nearer than without."""
    Q = _matrix(seed)
    least = _least(Q)
    state = HypermetricBound.begin(Q)
    proven = []
    for _ in range(20):
        state.improve()
        proven.append(state.proven())
        state.exchange()
    size = float(np.abs(Q).sum())
    assert max(proven) <= least + 1e-12 * size and proven[-1] >= proven[0] and least - max(proven) < 0.02 * size
    rng = np.random.default_rng(seed)
    state.cuts.z = rng.random(state.cuts.z.size) * size
    state.at_best = rng.standard_normal(len(Q)) * size, state.cuts
    assert state.proven() <= least


def test_violated_triangles_are_all_found() -> None:
    """Against a look at every triangle and every sign."""
    X = _between(0, 7)
    nodes, entries, violations = violated_triangles(X, 10_000, VIOLATED)
    found = np.zeros((len(nodes), 7), dtype=np.int8)
    np.put_along_axis(found, nodes, entries, axis=1)
    left = {
        tuple(b)
        for b in forms(7, 3)
        if b @ X @ b - b @ np.diag(np.diag(X)) @ b < -2.0 - 2 * VIOLATED
    }  # fmt: skip
    assert {tuple(b) for b in found.tolist()} == left and len(found) == len(left)
    assert violations.min() > VIOLATED and len(violated_triangles(X, 3, VIOLATED)[0]) == 3


def test_larger_inequalities_are_violated_and_grown_from_smaller_ones() -> None:
    """Each is an odd form of the next size that X violates, with the entries of its smaller one."""
    V = np.random.default_rng(1).standard_normal((9, 3))
    V /= np.linalg.norm(V, axis=1)[:, None]
    X = V @ V.T
    triangles = np.array(list(forms(9, 3)), dtype=np.int8)
    for small, size in ((triangles, 5), (grown(X, triangles, 100), 7)):
        larger = grown(X, small, 100)
        assert len(larger) and ((larger != 0).sum(axis=1) == size).all() and np.abs(larger).max() == 1
        assert (np.einsum("ti,ij,tj->t", larger, X, larger) < 1.0 - 2 * VIOLATED).all()
        assert all(any((b[small_b != 0] == small_b[small_b != 0]).all() for small_b in small) for b in larger)


def test_more_than_triangles_are_needed() -> None:
    """A complete graph on five nodes: triangles prove -10/3, pentagons the least value, -2."""
    Q = (np.ones((5, 5)) - np.eye(5)) / 2.0
    state = HypermetricBound.begin(Q)
    for _ in range(30):
        state.improve()
        state.exchange()
    assert -2.01 <= state.proven() <= -2.0


@pytest.mark.parametrize("sign", [1, -1])
def test_contraction_keeps_inequalities(sign: int) -> None:
    """At points with s_i = sign s_j the left sides stay what they are, up to those that always hold."""
    b = np.array([*forms(6, 3), *forms(6, 5)], dtype=np.int8)
    whole = Hypermetric(b, np.arange(float(len(b))))
    i, j = 3, 1
    smaller = whole.contracted(i, j, sign)
    assert smaller.b.shape[1] == 5 and (smaller.b.sum(axis=1) % 2 == 1).all()
    assert len(np.unique(smaller.b, axis=0)) == len(smaller.b) == smaller.z.size
    for s in product([-1, 1], repeat=5):
        full = np.array([s[0], s[1], s[2], sign * s[1], s[3], s[4]])
        left = np.abs(whole.b @ full)[smaller.z.astype(int)]
        assert np.array_equal(left, np.abs(smaller.b @ np.array(s))) and (left >= 1).all()
        X = np.outer(s, s).astype(float)
        assert np.array_equal(2.0 * (smaller.right + smaller.products @ X.reshape(-1)) + 1.0, left.astype(float) ** 2)


def test_numbers_that_overflow_do_no_harm() -> None:
    """A first alpha that is far too small is raised, and the bound stays one."""
    Q = _matrix(2)
    state = HypermetricBound.begin(Q)
    state.alpha = 1e-320
    for _ in range(60):
        state.improve()
        state.exchange()
    assert -float(np.abs(Q).sum()) <= state.proven() <= _least(Q) + 1e-9
    values, vectors = negative_part(np.array([[0.0, np.inf], [np.inf, 0.0]]))
    assert np.isnan(values).all() and np.isnan(vectors).all()


@pytest.mark.parametrize("seed", range(5))
def test_the_least_eigenvalue_is_bounded_from_below(seed: int) -> None:
    """Never above what NumPy finds, and near it."""
    M = _matrix(seed, 20)
    value = float(np.linalg.eigvalsh(M)[0])
    size = float(np.abs(M).max())
    assert value - 1e-6 * size <= least_eigenvalue(M) <= value + 1e-13 * size


@pytest.mark.parametrize("seed", range(5))
def test_the_least_eigenvalue_is_bounded_where_no_factorisation_succeeds(
    seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The sums of rows then say how low it may be."""
    monkeypatch.setattr("scipy.linalg.lapack.dpotrf", lambda matrix, **_: (matrix, 1))
    M = _matrix(seed, 20)
    assert -float(np.abs(M).sum()) <= least_eigenvalue(M) <= float(np.linalg.eigvalsh(M)[0])
