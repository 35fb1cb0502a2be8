"""Walks past a local optimum: what they report is what they did, and a naive twin makes the same chains."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from flipwise.kernels import walks
from tests.reference import random_symmetric

pytestmark = pytest.mark.kernels


def value(A: np.ndarray, c: np.ndarray, x: np.ndarray) -> float:
    return float(x @ A @ x + c @ x)


def changes(A: np.ndarray, c: np.ndarray, x: np.ndarray) -> np.ndarray:
    """The change of f for every single flip, by its definition."""
    result = np.empty(x.size)
    for i in range(x.size):
        y = x.copy()
        y[i] = -y[i]
        result[i] = value(A, c, y) - value(A, c, x)
    return result


@pytest.mark.parametrize("n", [2, 5, 130, 300])
def test_a_walk_reports_the_points_it_met(n: int) -> None:
    """Last and best change, and the change of every flip, are those of the points that come back."""
    rng = np.random.default_rng(n)
    A, c = random_symmetric(rng, n), rng.standard_normal(n)
    x = np.where(rng.random(n) < 0.5, 1.0, -1.0)
    before, d, best_x, free_at = value(A, c, x), changes(A, c, x), x.copy(), np.zeros(n, dtype=np.int64)
    state = np.array([7], dtype=np.uint64)
    change, best = walks.dense_walk(A, 60, min(n // 4, 12), 1e-9, x, d, free_at, best_x, 0, 0.0, state)
    assert value(A, c, x) == pytest.approx(before + change)
    assert value(A, c, best_x) == pytest.approx(before + best)
    assert d == pytest.approx(changes(A, c, x), abs=1e-8)
    assert best <= 0.0


def test_a_walk_in_two_calls_is_the_walk_in_one() -> None:
    """Where a call ends is not felt: the same points, the same best."""
    rng = np.random.default_rng(1)
    A, c = np.rint(100.0 * random_symmetric(rng, 150)), np.zeros(150)  # integers: no rounding decides a step
    start = np.where(rng.random(150) < 0.5, 1.0, -1.0)
    ends = []
    for sizes in ((400,), (150, 250)):
        x, best_x, free_at = start.copy(), start.copy(), np.zeros(150, dtype=np.int64)
        d, state = changes(A, c, x), np.array([5], dtype=np.uint64)
        at = lowest = 0.0
        steps = 0
        for size in sizes:
            change, best = walks.dense_walk(A, size, 11, 0.0, x, d, free_at, best_x, steps, lowest - at, state)
            lowest, at, steps = min(lowest, at + best), at + change, steps + size
        ends.append((x, best_x, at, lowest))
    assert np.array_equal(ends[0][0], ends[1][0]) and np.array_equal(ends[0][1], ends[1][1])
    assert ends[0][2:] == pytest.approx(ends[1][2:])


@pytest.mark.parametrize("groups", [1, 3])
def test_swaps_keep_the_count_of_every_group(groups: int) -> None:
    """A walk by swaps moves inside its groups and leaves alone what has none."""
    rng = np.random.default_rng(groups)
    n = 40
    A, c = random_symmetric(rng, n), rng.standard_normal(n)
    labels = rng.integers(0, groups, n)
    labels[:3] = -1
    x = np.where(rng.random(n) < 0.4, 1.0, -1.0)
    start, before, d, best_x = x.copy(), value(A, c, x), changes(A, c, x), x.copy()
    free_at, state = np.zeros(n, dtype=np.int64), np.array([9], dtype=np.uint64)
    change, best = walks.dense_swap_walk(A, labels, 100, 5, 1e-9, x, d, free_at, best_x, 0, 0.0, state)
    for point, moved in ((x, change), (best_x, best)):
        assert value(A, c, point) == pytest.approx(before + moved)
        assert np.array_equal(point[:3], start[:3])
        for group in range(groups):
            assert (point[labels == group] > 0).sum() == (start[labels == group] > 0).sum()
    assert d == pytest.approx(changes(A, c, x), abs=1e-8)
    assert best < 0.0


def chain_of(A: np.ndarray, c: np.ndarray, x: np.ndarray, seed: int, depth: int, patience: int) -> list[int]:
    """A chain by its definition: the flips up to its best point."""
    y, chain, best, best_length = x.copy(), [], value(A, c, x), 0
    i = seed
    while True:
        y[i] = -y[i]
        chain.append(i)
        if value(A, c, y) < best - 1e-9:
            best, best_length = value(A, c, y), len(chain)
        if len(chain) == depth or len(chain) - best_length >= patience:
            break
        beside = [j for j in range(x.size) if j not in chain and A[chain, j].any()]
        if not beside:
            break
        now = changes(A, c, y)
        i = min(beside, key=lambda j: now[j])
    return chain[:best_length]


@pytest.mark.parametrize("seed", range(6))
def test_chains_are_those_of_a_naive_twin(seed: int) -> None:
    """From every coordinate in turn: the same flips as by the definition, in plain Python."""
    rng = np.random.default_rng(seed)
    n = 25
    A = random_symmetric(rng, n) * (rng.random((n, n)) < 0.12)
    A = A + A.T
    c = rng.standard_normal(n)
    x = np.where(rng.random(n) < 0.5, 1.0, -1.0)
    expected = x.copy()
    seeds = rng.permutation(n)
    due = np.ones(n, dtype=bool)
    for i in seeds:
        if due[i]:
            due[i] = False
            for j in chain_of(A, c, expected, int(i), 6, 4):
                expected[j] = -expected[j]
                due[j] = True
                due[np.flatnonzero(A[j])] = True
    csr, flagged, d = sp.csr_array(A), np.ones(n, dtype=np.bool_), changes(A, c, x)
    before = value(A, c, x)
    flips, change = walks.csr_chains(
        csr.indptr, csr.indices, csr.data, 1e-9, 6, 4, seeds, flagged, np.empty(50, dtype=np.int64),
        np.zeros(n + 1, dtype=np.int64), np.empty(6, dtype=np.int64), x, d,
    )  # fmt: skip
    assert np.array_equal(x, expected) and np.array_equal(flagged, due)
    assert value(A, c, x) == pytest.approx(before + change)
    assert d == pytest.approx(changes(A, c, x), abs=1e-8)
    assert flips > 0


@pytest.mark.parametrize("n", [2, 40, 200, 300])
@pytest.mark.parametrize("swaps", [False, True])
def test_the_walk_in_numpy_makes_the_same_steps(n: int, swaps: bool) -> None:
    """Compiled and vectorised: the same points to the last bit."""
    rng = np.random.default_rng(n)
    A, c = random_symmetric(rng, n), rng.standard_normal(n)
    start = np.where(rng.random(n) < 0.5, 1.0, -1.0)
    kernel = walks.dense_swap_walk if swaps else walks.dense_walk
    labels = (rng.integers(0, 2, n),) if swaps else ()
    ends = []
    for run in (kernel.interpreted, kernel.uncompiled, kernel.compile()):
        x, best_x, d, free_at = start.copy(), start.copy(), changes(A, c, start), np.zeros(n, dtype=np.int64)
        state = np.array([2**63 + 11], dtype=np.uint64)
        reached = run(A, *labels, 80, min(n // 4, 12), 1e-9, x, d, free_at, best_x, 0, 0.0, state)
        ends.append(
            (x.tolist(), best_x.tolist(), d.tolist(), free_at.tolist(), tuple(map(float, reached)), int(state[0]))
        )
    assert ends[0] == ends[1] == ends[2]
