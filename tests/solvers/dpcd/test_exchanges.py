"""Circles of exchanges lead to the best assignment of the present choices by the slopes: against all permutations."""

from __future__ import annotations

from itertools import permutations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from flipwise.solvers.dpcd.exchanges import circles, exchanges


def one_hot(choices: np.ndarray, members: int) -> np.ndarray:
    """A row for each group, +1 at its choice."""
    x = -np.ones((choices.size, members))
    x[np.arange(choices.size), choices] = 1.0
    return x


def promised(g: np.ndarray, move: np.ndarray) -> float:
    """By how much the slopes say a move changes the sum over the choices: entries leave and enter in turn."""
    flat = g.reshape(-1)
    return float(flat[move[1::2]].sum() - flat[move[::2]].sum())


@given(st.integers(2, 5), st.integers(2, 5), st.integers(0, 10**6))
def test_all_circles_together_make_the_best_assignment(groups: int, members: int, seed: int) -> None:
    """Each keeps one choice in every group and which choices are taken, and promises something."""
    rng = np.random.default_rng(seed)
    choices, g = rng.integers(0, members, groups), rng.standard_normal((groups, members))
    x = one_hot(choices, members)
    labels = np.repeat(np.arange(groups), members)
    moves = circles(x, g, labels)
    for move in moves:
        assert (x.reshape(-1)[move[::2]] > 0).all() and (x.reshape(-1)[move[1::2]] < 0).all()
        assert promised(g, move) < 0.0
        x.reshape(-1)[move] *= -1.0
    after = np.argmax(x, axis=1)
    assert ((x > 0).sum(axis=1) == 1).all() and sorted(after) == sorted(choices)
    rows = np.arange(groups)
    best = min(float(g[rows, list(dealt)].sum()) for dealt in permutations(choices.tolist()))
    assert np.isclose(float(g[rows, after].sum()), best)
    assert [promised(g, move) for move in moves] == sorted(promised(g, move) for move in moves)


def test_exchanges_of_two_come_with_the_best_slope_first() -> None:
    """All pairs of groups with different choices, each once."""
    rng = np.random.default_rng(0)
    x, g = one_hot(np.array([0, 1, 1, 2]), 3), rng.standard_normal((4, 3))
    moves = list(exchanges(x, g, np.repeat(np.arange(4), 3)))
    slopes = [promised(g, move) for move in moves]
    assert len(moves) == 5 and np.allclose(slopes, sorted(slopes))
    for move in moves:
        y = x.copy()
        y.reshape(-1)[move] *= -1.0
        assert ((y > 0).sum(axis=1) == 1).all() and ((y > 0).sum(axis=0) == (x > 0).sum(axis=0)).all()


def test_groups_with_more_than_one_choice_have_neither() -> None:
    """Nor have groups of different sizes, or points without groups."""
    x = np.array([1.0, 1.0, -1.0, 1.0])
    assert circles(x, x, np.array([0, 0, 1, 1])) == [] and list(exchanges(x, x, np.array([0, 0, 1, 1]))) == []
    assert circles(x, x, None) == [] and circles(x, x, np.array([0, 1, 1, 1])) == []
