"""Tabu search and recombination: what comes out is no worse, and made of what went in."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from flipwise.engine.limits import Clock
from flipwise.solvers.portfolio.annealing import random_state
from flipwise.solvers.portfolio.moves import relinked, tabu_search, take_better_components
from tests.solvers.portfolio.forms import energy, form_of


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10**6), st.integers(4, 12))
def test_tabu_search_is_never_worse_than_its_start(seed: int, n: int) -> None:
    """Which stays as it is."""
    form = form_of(seed, n, dense=True)
    rng = np.random.default_rng(seed)
    start = rng.choice([-1, 1], n).astype(np.int8)
    before = start.copy()
    found = tabu_search(form, start, 30, random_state(rng), Clock())
    assert energy(form, found) <= energy(form, start) and np.array_equal(start, before)


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10**6), st.integers(4, 12))
def test_a_relinked_point_lies_between_its_ends(seed: int, n: int) -> None:
    """Where both agree, it agrees with them."""
    form = form_of(seed, n, dense=True)
    start, goal = np.random.default_rng(seed).choice([-1, 1], (2, form.n)).astype(np.int8)
    found = relinked(form, start, goal)
    assert (found[start == goal] == start[start == goal]).all()


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10**6), st.integers(2, 14))
def test_components_that_are_taken_never_cost(seed: int, n: int) -> None:
    """The change is that of the energy, the fields follow, and every part comes from one of the two points."""
    form = form_of(seed, n, dense=False)
    s, other = np.random.default_rng(seed).choice([-1, 1], (2, form.n)).astype(np.int8)
    before, mine = energy(form, s), s.copy()
    f = form.fields(s)
    change = take_better_components(form, s, f, other)
    assert change <= 0.0 and energy(form, s) == pytest.approx(before + change) and np.array_equal(f, form.fields(s))
    theirs = form.aligned(mine, other)
    assert ((s == mine) | (s == theirs)).all()
