"""The alpha tuner: the paper's grid, judged on the objective, independent of the number of threads."""

from __future__ import annotations

import numpy as np
import pytest

import flipwise
from flipwise.dpcd import PAPER_ALPHAS
from tests.reference import random_symmetric


def test_the_grid_is_the_papers() -> None:
    """{0.1, ..., 0.9, 1, ..., 10}."""
    assert PAPER_ALPHAS == (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10)


def test_the_best_pair_is_the_lowest_mean_whatever_the_threads() -> None:
    """The chosen pair minimises the table, the table does not depend on threads, progress counts to the end."""
    A = random_symmetric(np.random.default_rng(0), 25)
    ticks: list[tuple[int, int]] = []
    options = {"seed": 1, "alphas": (0.5, 1.0, 2.0), "tied": False, "literal": True}
    one = flipwise.tune_alpha(A, threads=1, progress=lambda *t: ticks.append(t), **options)
    two = flipwise.tune_alpha(A, threads=2, **options)
    assert one.table == two.table
    assert one.value == min(one.table.values()) == one.table[one.alpha]
    assert len(one.table) == 9
    assert ticks[-1] == (9, 9)


def test_an_empty_grid_is_refused() -> None:
    """No alphas, no tuning."""
    with pytest.raises(flipwise.InvalidInput, match="alphas"):
        flipwise.tune_alpha(np.eye(3), alphas=())
