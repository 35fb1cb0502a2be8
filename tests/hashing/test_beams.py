"""Beam search: wide enough, it finds the best code of all; a narrow beam is the greedy choice."""

from __future__ import annotations

from itertools import product

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from flipwise.hashing.beams import Beams


def search(X: np.ndarray, groups: list[np.ndarray], width: int) -> Beams:
    beams = Beams(X, width, len(groups))
    for number, entries in enumerate(groups):
        beams.extend(entries, number)
    return beams


@settings(deadline=None)
@given(st.integers(0, 10**6), st.integers(1, 3), st.integers(2, 4))
def test_a_beam_that_holds_all_codes_finds_the_best(seed: int, count: int, size: int) -> None:
    """And what it leaves over is what the code leaves over; errors come in order."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((5, 3)).astype(np.float32)
    groups = [rng.standard_normal((size, 3)).astype(np.float32) for _ in range(count)]
    beams = search(X, groups, size**count)
    codes, left = beams.first()
    sums = sum(group[codes[:, g]] for g, group in enumerate(groups))
    assert np.allclose(left, X - sums, atol=1e-5) and (np.diff(beams.errors, axis=1) >= -1e-4).all()
    for row, rest in zip(X, left, strict=True):
        least = min(
            float(np.square(row - sum(group[c] for group, c in zip(groups, code, strict=True))).sum())
            for code in product(range(size), repeat=count)
        )
        assert np.isclose(float(np.square(rest).sum()), least, atol=1e-4)


def test_a_beam_of_one_takes_the_nearest_entry_each_time() -> None:
    """As residual quantisation does."""
    rng = np.random.default_rng(1)
    X = rng.standard_normal((7, 4)).astype(np.float32)
    groups = [rng.standard_normal((6, 4)).astype(np.float32) for _ in range(3)]
    codes, _ = search(X, groups, 1).first()
    left = X.copy()
    for g, entries in enumerate(groups):
        nearest = np.square(left[:, None] - entries).sum(axis=2).argmin(axis=1)
        assert np.array_equal(codes[:, g], nearest)
        left -= entries[nearest]
