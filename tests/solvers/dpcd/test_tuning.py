"""The alpha tuner: the paper's grid, judged on the objective, independent of the number of threads."""

from __future__ import annotations

import signal

import numpy as np
import pytest

import flipwise
from flipwise.solvers.dpcd.tuning import PAPER_ALPHAS
from tests.reference import random_symmetric


def test_the_grid_is_the_papers() -> None:
    """{0.1, ..., 0.9, 1, ..., 10}."""
    assert PAPER_ALPHAS == (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10)


def test_the_best_pair_is_the_lowest_mean_whatever_the_threads() -> None:
    """The chosen pair minimises the table, the table does not depend on threads, progress counts to the end."""
    A = random_symmetric(np.random.default_rng(0), 25)
    ticks: list[tuple[int, int]] = []
    options = {"seed": 1, "alphas": (0.5, 1.0, 2.0), "tied": False, "literal": True}
    one = flipwise.tune_alpha(A, threads=1, callback=lambda *t: ticks.append(t), **options)
    two = flipwise.tune_alpha(A, threads=2, **options)
    assert one.table == two.table
    assert one.value == min(one.table.values()) == one.table[one.alpha]
    assert len(one.table) == 9
    assert ticks[-1] == (9, 9)


def test_an_empty_grid_is_refused() -> None:
    """No alphas, no tuning."""
    with pytest.raises(flipwise.InvalidInput, match="alphas"):
        flipwise.tune_alpha(np.eye(3), alphas=())


def test_by_default_one_alpha_is_tried_for_both_on_three_starts() -> None:
    """`tied=True` and `restarts=3`; another number of starts is another table."""
    A = random_symmetric(np.random.default_rng(3), 8)
    options = {"seed": 2, "alphas": (0.5, 2.0), "literal": True, "neighbourhood": 0}
    usual = flipwise.tune_alpha(A, **options)
    assert list(usual.table) == [(0.5, 0.5), (2.0, 2.0)]
    assert usual == flipwise.tune_alpha(A, tied=True, restarts=3, **options)
    assert usual.table != flipwise.tune_alpha(A, restarts=4, **options).table


def test_every_pair_is_judged_by_its_mean_over_the_same_starts() -> None:
    """The table holds the means, and progress is told after each pair, from 1 to the number of pairs."""
    f = flipwise.Quadratic(np.zeros((4, 4)), [5.0, 1.0, -1.0, -4.0])
    ticks: list[tuple[int, int]] = []
    options = {"seed": 0, "restarts": 2, "literal": True, "neighbourhood": 0}
    tuned = flipwise.tune_alpha(f, alphas=(3, 0), tied=False, callback=lambda *t: ticks.append(t), **options)
    rng = np.random.default_rng(0)
    points = [flipwise.Free().random((4,), rng) for _ in range(2)]
    stays = float(np.mean([f.value(x) for x in points]))  # three times the mean slope: nothing passes
    assert list(tuned.table) == [(3.0, 3.0), (3.0, 0.0), (0.0, 3.0), (0.0, 0.0)]
    assert tuned.table[3.0, 3.0] == stays
    assert tuned.table[0.0, 0.0] == -11.0  # everything passes: the optimum from every start
    assert (tuned.alpha, tuned.value) == ((0.0, 0.0), -11.0)
    assert ticks == [(1, 4), (2, 4), (3, 4), (4, 4)]


def test_among_equal_means_the_smaller_pair_is_chosen() -> None:
    """Whatever the order of the grid: the improved mode ends at the same optimum with every alpha."""
    f = flipwise.Quadratic(np.zeros((3, 3)), [1.0, 2.0, 3.0])
    tuned = flipwise.tune_alpha(f, alphas=(2, 0.5, 1), tied=False, restarts=1, seed=0)
    assert set(tuned.table.values()) == {-6.0}
    assert tuned.alpha == (0.5, 0.5)


def test_bits_and_counts_are_tuned_as_they_are() -> None:
    """A problem in 0/1 variables under a count: the starts are feasible and in the objective's own variables."""
    f = flipwise.Quadratic(np.zeros((4, 4)), [4.0, 3.0, 2.0, 1.0], variables="binary")
    tuned = flipwise.tune_alpha(f, constraint=flipwise.Cardinality(2), alphas=(1.0,), restarts=2, seed=0)
    assert tuned.table == {(1.0, 1.0): 3.0}
    free = flipwise.tune_alpha(f, 4, alphas=(1.0,), restarts=2, seed=0)
    assert free.table == {(1.0, 1.0): 0.0}


@pytest.mark.parametrize("threads", [1, 2])
def test_ctrl_c_returns_the_pairs_that_were_judged(threads: int) -> None:
    """Pressed after the second pair, the best of those so far comes back and the handler is what it was."""
    handler = signal.getsignal(signal.SIGINT)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    A = random_symmetric(np.random.default_rng(0), 30)
    alphas = tuple(float(alpha) for alpha in range(1, 60))
    whole = flipwise.tune_alpha(A, seed=0, alphas=alphas)

    def press(done: int, pairs: int) -> None:
        if done == 2:
            signal.raise_signal(signal.SIGINT)

    try:
        tuned = flipwise.tune_alpha(A, seed=0, alphas=alphas, threads=threads, callback=press)
        assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    finally:
        signal.signal(signal.SIGINT, handler)
    assert 2 <= len(tuned.table) < len(alphas) and tuned.value == min(tuned.table.values())
    assert tuned.table.items() <= whole.table.items()
