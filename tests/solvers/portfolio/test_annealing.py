"""Schedules, and descents to points that no flip improves."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from flipwise.engine.limits import Clock
from flipwise.solvers.portfolio.annealing import COLD, anneal, paced, quench, random_state, temperatures
from tests.reference import is_flip_optimal
from tests.solvers.portfolio.forms import energy, form_of


@pytest.mark.parametrize("dense", [True, False])
def test_a_schedule_falls_to_the_cold_end(dense: bool) -> None:
    """Geometrically, from the heat that is asked for."""
    form = form_of(0, 12, dense)
    schedule = temperatures(form, 2.0, 9)
    assert schedule[0] == pytest.approx(2.0 * form.width) and schedule[-1] == pytest.approx(
        COLD[form.dense] * form.width
    )
    assert np.allclose(schedule[1:] / schedule[:-1], schedule[1] / schedule[0]) and schedule.size == 9


def test_without_a_limit_every_temperature_comes_in_its_turn() -> None:
    """In chunks between two looks at the clock."""
    schedule = np.linspace(5.0, 1.0, 37)
    chunks = list(paced(schedule, 300_000, Clock()))
    assert np.array_equal(np.concatenate(chunks), schedule) and max(chunk.size for chunk in chunks) <= 6


def test_when_time_is_over_an_empty_chunk_says_so() -> None:
    """And nothing follows it."""
    clock = Clock()
    clock.set_limit(0.0)
    assert [chunk.size for chunk in paced(np.ones(10), 1000, clock)] == [0]


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10**6), st.integers(2, 12), st.booleans())
def test_an_anneal_and_a_descent_end_where_no_flip_improves(seed: int, n: int, dense: bool) -> None:
    """With fields that are those of the point, and never above where a descent began."""
    form = form_of(seed, n, dense)
    rng = np.random.default_rng(seed)
    start = rng.choice([-1, 1], form.n).astype(np.int8)
    s = start.copy()
    f = form.fields(s)
    quench(form, s, f)
    assert is_flip_optimal(lambda x: energy(form, x), s) and energy(form, s) <= energy(form, start)
    assert anneal(form, s, f, temperatures(form, 1.0, 5), random_state(rng), Clock())
    assert is_flip_optimal(lambda x: energy(form, x), s) and np.array_equal(f, form.fields(s))
