"""Bounds on the weight of a block: never below the best of all blocks."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from flipwise.densest.block_bounds import (
    LoadBound,
    as_prices,
    best_of_all_blocks,
    heaviest,
    lattice,
    simple_block_bounds,
)
from flipwise.densest.twosided import TwoSided


def a_matrix(seed: int, rows: int, columns: int, signed: bool) -> np.ndarray:
    """Small integers, some of them zero."""
    return np.random.default_rng(seed).integers(-2 if signed else 0, 4, (rows, columns)).astype(np.float64)


def best_block(M: np.ndarray, a: int, b: int) -> float:
    """The weight of the heaviest block of a rows and b columns."""
    rows, columns = combinations(range(len(M)), a), list(combinations(range(M.shape[1]), b))
    return max(float(M[np.ix_(S, T)].sum()) for S in rows for T in columns)


@settings(max_examples=50, deadline=None)
@given(st.integers(0, 10**6), st.integers(1, 5), st.integers(1, 5), st.booleans(), st.data())
def test_no_bound_is_below_the_best_block(
    seed: int, rows: int, columns: int, signed: bool, data: st.DataObject
) -> None:
    """Nor the best of all blocks that is found beside it, whose weight is its own."""
    M = a_matrix(seed, rows, columns, signed)
    a, b = data.draw(st.integers(1, rows)), data.draw(st.integers(1, columns))
    sides, best = TwoSided.of(sp.csr_array(M)), best_block(M, a, b)
    assert min(simple_block_bounds(sides, a, b).values()) >= best
    assert LoadBound(sides, a, b).prove(-np.inf, lambda: None) >= best
    found = best_of_all_blocks(sides, a, b)
    assert found is not None and found.weight == best
    assert M[np.ix_(found.rows, found.columns)].sum() == best and (found.rows.size, found.columns.size) == (a, b)


@given(st.floats(-5.0, 5.0))
def test_prices_stand_in_the_ratio_that_is_asked_for(way: float) -> None:
    """About, in small whole numbers; the other way round they change places."""
    p, q = as_prices(way)
    assert min(p, q) >= 1 and max(p, q) <= 64 and as_prices(-way) in ((q, p), (p, q))
    assert abs(np.log(p / q) - np.clip(way, -np.log(64), np.log(64))) <= 0.25


def test_a_bound_falls_to_a_weight_that_a_block_can_have() -> None:
    """Where weights have a unit."""
    assert lattice(7.9, 0.5) == 7.5 and lattice(7.9, 0.0) == 7.9
    assert heaviest(np.array([1.0, 3.0, 3.0, 2.0]), 2).tolist() == [1, 2]
