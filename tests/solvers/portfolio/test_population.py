"""Members come and go by their energy, and a state that cannot be one is refused."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from flipwise import InvalidFile
from flipwise.engine.limits import Clock
from flipwise.solvers.portfolio.population import LONGEST, Member, Pace, PopulationState, admit


def member(energy: float, n: int = 3) -> Member:
    return Member(np.ones(n, dtype=np.int8), energy)


@given(st.lists(st.integers(-20, 20), max_size=20), st.integers(1, 5))
def test_the_best_of_all_that_came_stay(energies: list[int], capacity: int) -> None:
    """As many as there is room for; one that is no better than the worst does not enter."""
    members: list[Member] = []
    for energy in energies:
        enters = len(members) < capacity or energy < max(each.energy for each in members)
        assert admit(members, member(energy), capacity) == enters
    assert sorted(each.energy for each in members) == sorted(energies)[:capacity]


def state(**details: object) -> PopulationState:
    return PopulationState([member(0.0)], np.random.default_rng(0), dict(details))


def test_a_state_of_other_points_is_refused() -> None:
    """No member, another length, or entries that are no spins."""
    state().check(3)
    empty, zeros = state(), state()
    empty.members = []
    zeros.members[0].s[0] = 0
    for wrong, n in ((empty, 3), (state(), 4), (zeros, 3)):
        with pytest.raises(InvalidFile):
            wrong.check(n)


@pytest.mark.parametrize("sweeps", [0.5, 2.0 * LONGEST, math.nan])
def test_a_length_that_no_anneal_has_is_refused(sweeps: float) -> None:
    """Others are what they are."""
    assert state(sweeps=7).sweeps == 7.0
    with pytest.raises(InvalidFile, match="`sweeps` must be between"):
        _ = state(sweeps=sweeps).sweeps


def test_rates_of_success_are_positive_and_one_for_each_kind() -> None:
    """A rate of zero would never be tried again."""
    assert state(success=np.array([0.5, 1.0])).success(2).tolist() == [0.5, 1.0]
    for rates, kinds in ((np.array([0.5, 0.0]), 2), (np.array([0.5, 1.0]), 3)):
        with pytest.raises(InvalidFile):
            state(success=rates).success(kinds)


def test_without_a_time_limit_anneals_are_as_long_as_was_asked_for() -> None:
    """There is no share of the time left to fit them into, or to fill."""
    pace, clock = Pace(1000), Clock()
    assert pace.shortened(500, clock, 0.1) == 500 and pace.lengthened(500, clock, 0.1) == 500
    assert pace.allows(1e30, clock, 0.1)


def test_a_short_time_limit_shortens_anneals() -> None:
    """Never below four sweeps."""
    pace, clock = Pace(1_000_000), Clock()
    clock.set_limit(1e-9)
    assert pace.shortened(500, clock, 0.5) == 4 and not pace.allows(500, clock, 0.5)
    assert pace.lengthened(500, clock, 0.5) == 500
