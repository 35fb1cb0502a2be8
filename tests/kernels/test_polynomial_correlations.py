"""Walks on tables of autocorrelations: the energies they report are those of the definition, in both tiers."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from flipwise.kernels.polynomial_correlations import walk_correlations

pytestmark = pytest.mark.kernels


def energy(s: np.ndarray) -> int:
    """The sum of squared autocorrelations, from its definition."""
    s = s.astype(np.int64)
    return int(sum(int(s[k:] @ s[: s.size - k]) ** 2 for k in range(1, s.size)))


def walked(kernel: Any, n: int, steps: int, seed: int) -> tuple[int, np.ndarray, int]:
    """The best energy of three walks, its sequence, and the random state after them."""
    rng = np.random.default_rng(seed)
    starts = (2 * rng.integers(0, 2, size=(3, n)) - 1).astype(np.int8)
    room = (n + 31) // 32 * 32
    s, V, Q = (np.zeros(room, np.int16) for _ in range(3))
    tables = s, np.zeros(n, np.int16), V, Q, np.zeros((n, room), np.int16)
    more = np.zeros(n + 16, np.int64), np.zeros(n + 16, np.int16), np.zeros(room, np.int32), np.zeros(room, np.int32)
    best, state = np.zeros(n, dtype=np.int8), np.array([88172645463325252], dtype=np.uint64)
    least = kernel(starts, steps, max(1, n // 10), *tables, *more, best, state)
    return int(least), best, int(state[0])


@pytest.mark.parametrize(("n", "steps"), [(6, 30), (13, 40), (34, 12)])
def test_both_tiers_walk_the_same_way_and_report_the_truth(n: int, steps: int) -> None:
    """The energy that is carried along through all flips is that of the sequence."""
    with np.errstate(over="ignore"):  # the random numbers wrap around, as they do compiled
        least, best, state = walked(walk_correlations.interpreted, n, steps, n)
    assert least == energy(best)
    other, again, then = walked(walk_correlations.compile(), n, steps, n)
    assert (least, state) == (other, then) and np.array_equal(best, again)


def test_each_step_makes_the_cheapest_flip_that_is_free() -> None:
    """A single step from one start ends at the best neighbour."""
    n = 21
    for seed in range(5):
        rng = np.random.default_rng(seed)
        start = (2 * rng.integers(0, 2, size=(3, n)) - 1).astype(np.int8)
        neighbours = [energy(np.where(np.arange(n) == i, -s, s)) for s in start for i in range(n)]
        assert walked(walk_correlations.compile(), n, 1, seed)[0] == min(neighbours)


def test_the_longest_sequences_fit_into_sixteen_bits() -> None:
    """From all ones, where every table entry is as large as can be."""
    n = 181
    room = (n + 31) // 32 * 32
    s, V, Q = (np.zeros(room, np.int16) for _ in range(3))
    tables = s, np.zeros(n, np.int16), V, Q, np.zeros((n, room), np.int16)
    more = np.zeros(n + 16, np.int64), np.zeros(n + 16, np.int16), np.zeros(room, np.int32), np.zeros(room, np.int32)
    best, state = np.zeros(n, dtype=np.int8), np.array([1], dtype=np.uint64)
    starts = np.ones((1, n), dtype=np.int8)
    for steps in (1, 5, 400):
        least = walk_correlations.compile()(starts, steps, n // 10, *tables, *more, best, state)
        assert least == energy(best)
