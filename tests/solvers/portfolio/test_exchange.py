"""Exact counts in groups: how far a point is off, and how its counts are restored."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from flipwise.engine.limits import Clock
from flipwise.solvers.portfolio.annealing import random_state, temperatures
from flipwise.solvers.portfolio.exchange import GroupSums, anneal_counted, restore_counts
from tests.solvers.portfolio.forms import energy, form_of


@given(st.integers(1, 12), st.integers(1, 3), st.integers(0, 10**6))
def test_the_excess_is_that_over_the_feasible_point(n: int, groups: int, seed: int) -> None:
    """Group by group, in sums of spins."""
    rng = np.random.default_rng(seed)
    labels = np.concatenate([np.arange(groups), rng.integers(0, groups, n)])
    feasible, s = rng.choice([-1, 1], (2, labels.size)).astype(np.int8)
    counts = GroupSums.of(labels, feasible)
    assert not counts.excess(feasible).any()
    expected = [int(s[labels == g].sum()) - int(feasible[labels == g].sum()) for g in range(groups)]
    assert counts.excess(s).tolist() == expected


@settings(max_examples=25, deadline=None)
@given(st.integers(2, 10), st.integers(0, 10**6), st.booleans())
def test_restored_points_have_their_counts(n: int, seed: int, dense: bool) -> None:
    """From any point, with fields that are those of where it comes to; a point that has them is not made worse."""
    form, rng = form_of(seed, n, dense), np.random.default_rng(seed)
    labels = rng.integers(0, 2, form.n)
    labels[:2] = 0, 1
    counts = GroupSums.of(labels, rng.choice([-1, 1], form.n).astype(np.int8))
    s = rng.choice([-1, 1], form.n).astype(np.int8)
    f = form.fields(s)
    restore_counts(form, counts, s, f)
    assert not counts.excess(s).any() and np.array_equal(f, form.fields(s))
    before = energy(form, s)
    restore_counts(form, counts, s, f)
    assert not counts.excess(s).any() and energy(form, s) <= before


@pytest.mark.parametrize("dense", [True, False])
def test_an_anneal_under_counts_keeps_them_or_says_that_time_ran_out(dense: bool) -> None:
    """A point whose counts float is never taken for an answer."""
    form, rng = form_of(3, 12, dense), np.random.default_rng(3)
    start = rng.choice([-1, 1], form.n).astype(np.int8)
    counts = GroupSums.of(np.arange(form.n) % 3, start)
    s, state = start.copy(), random_state(rng)
    assert anneal_counted(form, counts, s, form.fields(s), temperatures(form, 1.0, 10), state, Clock())
    assert not counts.excess(s).any()
    clock = Clock()
    clock.set_limit(0.0)
    assert not anneal_counted(form, counts, s, form.fields(s), temperatures(form, 1.0, 10), state, clock)
