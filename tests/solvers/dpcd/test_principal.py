"""The principal coordinates of a direction: the largest gains, in pairs where counts hold."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from flipwise import Cardinality, ColumnCounts, Free, GroupCounts
from flipwise.solvers.dpcd.principal import PrincipalMoves
from tests.engine.test_solve import Pinned

SHAPES = {
    "free": (Free(), (12,)),
    "count": (Cardinality(5), (12,)),
    "none": (Cardinality(0), (12,)),
    "columns": (ColumnCounts([2, 0, 3]), (4, 3)),
    "groups": (GroupCounts([0, 1, 2, 0, 1, 2, 0, 1, 2, 0, 1, 2], [1, 2, 4]), (12,)),
}


@pytest.mark.parametrize("kind", SHAPES)
@settings(max_examples=20, deadline=None)
@given(seed=st.integers(0, 10_000), q=st.integers(1, 12), noisy=st.booleans())
def test_what_is_chosen_keeps_the_constraint_and_promises_something(kind: str, seed: int, q: int, noisy: bool) -> None:
    """Flipping what is chosen keeps every count, lowers the linear model, and is no more than was asked for."""
    constraint, shape = SHAPES[kind]
    rng = np.random.default_rng(seed)
    x, d = constraint.random(shape, rng), rng.standard_normal(shape)
    chosen = PrincipalMoves(constraint, shape).choose(x, d, q, rng if noisy else None)
    assert np.unique(chosen).size == chosen.size
    if not noisy:
        assert chosen.size <= (max(2, q) if constraint.swaps else q)
    y = x.copy()
    y.reshape(-1)[chosen] *= -1.0
    assert constraint.contains(y)
    assert chosen.size == 0 or float((d * (y - x)).sum()) < 0.0


@settings(max_examples=20, deadline=None)
@given(seed=st.integers(0, 10_000), q=st.integers(1, 6))
def test_the_choice_is_the_best_of_all(seed: int, q: int) -> None:
    """Free: no other q flips promise more. With one swap in groups: no other pair of a group does."""
    rng = np.random.default_rng(seed)
    d = rng.standard_normal(8)
    x = Free().random((8,), rng)
    chosen = PrincipalMoves(Free(), (8,)).choose(x, d, q)
    best = max(sum(max(0.0, x[i] * d[i]) for i in some) for some in itertools.combinations(range(8), q))
    assert float((x * d)[chosen].sum()) == pytest.approx(best)
    constraint = GroupCounts([0, 1] * 4, [2, 1])
    x = constraint.random((8,), rng)
    chosen = PrincipalMoves(constraint, (8,)).choose(x, d, 2)
    gains = [d[i] - d[j] for i in range(8) for j in range(8) if x[i] > 0 > x[j] and (i - j) % 2 == 0]
    assert float((x * d)[chosen].sum()) == pytest.approx(max(0.0, max(gains)))


def test_moves_come_in_the_order_of_their_promise() -> None:
    """Steepest first, and none that promises nothing."""
    x, d = np.array([1.0, -1.0, 1.0, -1.0]), np.array([1.0, -3.0, -1.0, 2.0])
    assert PrincipalMoves(Free(), (4,)).ordered(x, d).tolist() == [1, 0]
    assert PrincipalMoves(Cardinality(2), (4,)).ordered(x, d).tolist() == [[0, 1]]


def test_a_constraint_of_somebody_elses_is_kept() -> None:
    """What is pinned never flips."""
    pinned = Pinned([0, 1], [1, 1])
    x = pinned.random((6,), np.random.default_rng(0))
    moves = PrincipalMoves(pinned, (6,))
    assert not set(moves.choose(x, 10.0 * x, 6).tolist()) & {0, 1}
