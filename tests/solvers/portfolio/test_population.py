"""Members come and go by their energy, and a state that cannot be one is refused."""

from __future__ import annotations

import math

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

import flipwise
from flipwise import InvalidFile
from flipwise.engine.limits import Clock
from flipwise.model.forms import IsingForm, ising_form
from flipwise.solvers.portfolio.population import (
    LONGEST,
    MEASURED,
    FreePopulation,
    Member,
    Pace,
    PopulationState,
    admit,
)


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


def large_form(*, grid: bool) -> IsingForm:
    """Signs on 41,616 spins: a torus, or as many edges between random spins."""
    rng, side = np.random.default_rng(0), 204
    i = np.tile(np.arange(side * side), 2)
    j = np.concatenate([(i[: side**2] + 1) % side**2, (i[: side**2] + side) % side**2])
    if not grid:
        j = np.concatenate([rng.permutation(side**2), rng.permutation(side**2)])
    A = sp.coo_array((rng.choice([-1.0, 1.0], i.size)[i != j], (i[i != j], j[i != j])), shape=(side**2, side**2))
    form = ising_form(flipwise.Quadratic(sp.csr_array(A + A.T)))
    assert form is not None and not form.dense
    return form


@pytest.mark.parametrize("grid", [False, True])
def test_a_large_random_graph_has_one_long_anneal_and_a_grid_none(grid: bool) -> None:
    """After the jobs that show how long a sweep takes; a state says whether it has been."""
    form = large_form(grid=grid)
    start = np.random.default_rng(1).choice([-1, 1], form.n).astype(np.int8)
    population = FreePopulation(form, start, np.random.default_rng(2))
    assert population.due == (-1 if grid else MEASURED)
    energies = []
    for _ in range(MEASURED + 1):
        (task,) = population.tasks(1, Clock())
        found = task()
        assert found is not None and bool(found.heats) == (grid or len(energies) < MEASURED)
        population.merge([found])
        energies.append(population.best.energy)
        assert len(population.members) == 1
    assert population.due == -1 and energies == sorted(energies, reverse=True)


def test_a_run_that_is_resumed_has_its_long_anneal_when_it_would_have_had_it() -> None:
    """How many jobs there were before is part of the state, whoever did them."""
    form = large_form(grid=False)
    start = np.random.default_rng(1).choice([-1, 1], form.n).astype(np.int8)
    population = FreePopulation(form, start, np.random.default_rng(2))
    population.tasks(MEASURED, Clock())
    again = FreePopulation(form, start, np.random.default_rng(2))
    again.restore(population.state())
    for each in (population, again):
        (task,) = each.tasks(1, Clock())
        found = task()
        assert found is not None and not found.heats and each.due == -1
