"""Additive quantisation: descent of codes and of entries, against trying everything and against least squares."""

from __future__ import annotations

from itertools import product

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from flipwise.engine.limits import Clock
from flipwise.hashing import additive


def problem(seed: int, sizes: tuple[int, ...] = (3, 4, 2), rows: int = 30) -> tuple[np.ndarray, list[np.ndarray]]:
    """Rows and groups of entries."""
    rng = np.random.default_rng(seed)
    groups = [rng.standard_normal((size, 5)).astype(np.float32) for size in sizes]
    return rng.standard_normal((rows, 5)).astype(np.float32) * 2, groups


def errors(X: np.ndarray, codes: np.ndarray, groups: list[np.ndarray]) -> np.ndarray:
    return ((X - additive.decode(codes, groups)) ** 2).sum(axis=1)


def test_codes_of_a_few_groups_are_the_best_of_all() -> None:
    """With many restarts the codes of rows are, but for a few, what trying all codes gives; never better."""
    X, groups = problem(0)
    everything = np.array(list(product(range(3), range(4), range(2))), dtype=np.uint8)
    sums = additive.decode(everything, groups)
    best = ((X[:, None] - sums[None]) ** 2).sum(axis=2).min(axis=1)
    found = errors(X, additive.encode(X, groups, np.random.default_rng(0), restarts=20), groups)
    assert (found >= best - 1e-4).all() and (found <= best + 1e-4).mean() > 0.9


@given(st.integers(0, 2**31))
def test_no_move_makes_a_code_worse(seed: int) -> None:
    """A sweep lowers every row's error, what is left over is kept right, and perturbations are taken when better."""
    X, groups = problem(seed)
    rng = np.random.default_rng(seed)
    codes = np.stack([rng.integers(0, len(g), len(X)) for g in groups], axis=1).astype(np.uint8)
    left = X - additive.decode(codes, groups)
    for step in (additive.descend, None):
        before = errors(X, codes, groups)
        if step is not None:
            step(codes, groups, left, rng)
        else:
            additive.perturbed(X, codes, groups, left, rng, 0.5)
        assert (errors(X, codes, groups) <= before + 1e-4).all()
        assert np.allclose(left, X - additive.decode(codes, groups), atol=1e-4)


def test_a_code_does_not_depend_on_the_rows_beside_it() -> None:
    """Rows encoded one by one have the codes that they have together."""
    X, groups = problem(1)
    together = additive.encode(X, groups, np.random.default_rng(0))
    alone = [additive.encode(X[i : i + 1], groups, np.random.default_rng(0))[0] for i in range(len(X))]
    assert np.array_equal(together, np.array(alone))


def test_entries_come_to_ridge_least_squares() -> None:
    """Many passes over the groups solve the normal equations of all of them, several codes a row included."""
    X, groups = problem(2)
    rng = np.random.default_rng(2)
    near = [np.stack([rng.integers(0, len(g), len(X)) for g in groups], axis=1).astype(np.uint8) for _ in range(3)]
    additive.update(X, near, groups, additive.ridge_means, passes=200)
    first = np.cumsum([0, 3, 4])
    A = np.zeros((3 * len(X), 9))
    for block, codes in enumerate(near):
        for g in range(3):
            A[block * len(X) + np.arange(len(X)), first[g] + codes[:, g]] = 1
    expected = np.linalg.solve(A.T @ A + additive.RIDGE * np.eye(9), A.T @ np.tile(X, (3, 1)))
    assert np.allclose(np.concatenate(groups), expected, atol=1e-3)


def test_shrunk_means_are_nearer_to_the_entries() -> None:
    """Means of few rows: nearer than plain means and than a ridge where entries differ along few of the axes."""
    rng = np.random.default_rng(4)
    spread = np.where(np.arange(20) < 3, 2.0, 0.05)
    entries = spread * rng.standard_normal((64, 20))
    which = np.concatenate([np.arange(64), rng.integers(0, 64, 576)])
    X = (entries[which] + rng.standard_normal((640, 20))).astype(np.float32)
    sums = np.zeros((64, 20), dtype=np.float32)
    np.add.at(sums, which, X)
    given = sums, np.bincount(which).astype(np.float32), [X]

    def off(means: np.ndarray) -> float:
        return float(((means - entries) ** 2).sum())

    shrunk = additive.shrunk_means(*given)
    assert off(shrunk) < 0.6 * min(off(sums / given[1][:, None]), off(additive.ridge_means(*given)))
    assert np.isfinite(additive.shrunk_means(np.zeros_like(sums), *given[1:])).all()
    one = np.array([[1.0, 1.0], [0.0, 0.0]], dtype=np.float32)
    assert np.isfinite(additive.shrunk_means(one, one[:, 0], [one[:1]])).all()


def test_joint_fit_beats_the_residual_start_on_rows_not_seen() -> None:
    """The error of unseen rows falls below that of clusters of what is left over, and is never above it.

    Sixteen entries a group learn these few rows by heart: then the start is kept.
    """
    rng = np.random.default_rng(3)
    centres = rng.standard_normal((40, 16))
    X = (centres[rng.integers(0, 40, 1200)] + 0.4 * rng.standard_normal((1200, 16))).astype(np.float32)
    seen, unseen = X[:800], X[800:]
    error = {}
    for size in (4, 16):
        for rounds in (0, 8):
            groups = additive.train(seen, [size] * 6, np.random.default_rng(0), rounds, Clock(None))
            codes = additive.encode(unseen, groups, np.random.default_rng(0))
            error[size, rounds] = errors(unseen, codes, groups).mean()
    assert error[4, 8] < 0.95 * error[4, 0] and error[16, 8] <= error[16, 0]


def test_more_entries_than_rows_give_finite_entries() -> None:
    """Clusters of few and of equal rows: no division by nothing."""
    for X in (np.ones((3, 4), dtype=np.float32), np.eye(4, dtype=np.float32)):
        groups = additive.train(X, [8, 8], np.random.default_rng(0), 2, Clock(None))
        assert all(np.isfinite(entries).all() for entries in groups)
