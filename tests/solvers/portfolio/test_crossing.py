"""The population that anneals anew what two members differ in."""

from __future__ import annotations

import math

import networkx as nx
import numpy as np
import pytest
import scipy.sparse as sp

import flipwise
from flipwise.engine.limits import Clock
from flipwise.model.forms import IsingForm, ising_form
from flipwise.solvers.portfolio.crossing import CAPACITY, PATIENCE, CrossedPopulation, within_steps
from flipwise.solvers.portfolio.population import Member


def glass(n: int, degree: int, seed: int) -> IsingForm:
    """A +-1 glass on a random regular graph."""
    graph = nx.random_regular_graph(degree, n, seed=seed)
    W = sp.triu(nx.to_scipy_sparse_array(graph, dtype=float))
    W.data = np.random.default_rng(seed).choice([-1.0, 1.0], size=W.data.size)
    form = ising_form(flipwise.Quadratic(sp.csr_array((W + W.T) / 2)), dense_from=1.1)
    assert form is not None
    return form


def test_a_region_grows_along_couplings() -> None:
    """After k steps the region holds the nodes at most k away, as networkx counts distances."""
    form = glass(40, 3, 1)
    graph = nx.from_scipy_sparse_array(sp.csr_array((form.data, form.indices, form.indptr)))
    away = nx.single_source_shortest_path_length(graph, 7)
    for steps in range(4):
        inside = np.zeros(40, dtype=np.bool_)
        inside[7] = True
        assert set(within_steps(form, inside, steps)) == {node for node, length in away.items() if length <= steps}


def test_energies_are_those_of_the_points_and_the_best_is_never_lost() -> None:
    """Over many rounds every member's energy is recomputed, and the champion's never rises."""
    form = glass(60, 3, 2)
    rng = np.random.default_rng(0)
    population = CrossedPopulation(form, np.ones(60, dtype=np.int8), rng)
    best = population.best.energy
    for _ in range(30):
        population.merge([task() for task in population.tasks(4, Clock())])
        assert population.best.energy <= best
        best = population.best.energy
        for member in [population.champion, *population.members]:
            assert member.energy == form.energy(member.s, form.fields(member.s))
        assert len(population.members) <= CAPACITY


def test_a_population_with_nothing_new_is_built_again() -> None:
    """After enough jobs in vain the members go, the champion stays."""
    form = glass(30, 3, 3)
    population = CrossedPopulation(form, np.ones(30, dtype=np.int8), np.random.default_rng(0))
    points = np.random.default_rng(1).choice(np.array([-1, 1], dtype=np.int8), size=(CAPACITY, 30))
    population.members = [Member(s, form.energy(s, form.fields(s))) for s in points]
    champion = population.champion
    population.vain, population.building = PATIENCE * CAPACITY, False
    population.tasks(1, Clock())
    assert population.members == []
    assert population.building
    assert population.champion is champion


def test_members_are_crossed_once_anneals_no_longer_lead() -> None:
    """A full population takes in fresh anneals until as many in a row as it has members have not led it."""
    form = glass(60, 3, 4)
    population = CrossedPopulation(form, np.ones(60, dtype=np.int8), np.random.default_rng(0))
    vain = 0
    while population.building:
        assert vain <= CAPACITY
        before, size = min((m.energy for m in population.members), default=math.inf), len(population.members)
        found = [task() for task in population.tasks(1, Clock())]
        if population.building:
            population.merge(found)
            leads = found[0].energy < before or len(population.members) > size
            vain = 0 if leads else vain + 1
    assert vain == CAPACITY
    assert len(population.members) >= 2


@pytest.mark.parametrize("seed", [0, 1])
def test_a_ground_state_is_found(seed: int) -> None:
    """On 18 spins the champion is the optimum of brute force."""
    form = glass(18, 3, seed)
    J = sp.csr_array((form.data, form.indices, form.indptr), shape=(18, 18)).toarray()
    spins = 1 - 2 * ((np.arange(2**18)[:, None] >> np.arange(18)) & 1)
    lowest = 0.5 * np.einsum("ij,ij->i", spins @ J, spins).min()
    population = CrossedPopulation(form, np.ones(18, dtype=np.int8), np.random.default_rng(seed))
    for _ in range(12):
        population.merge([task() for task in population.tasks(4, Clock())])
    assert population.best.energy == lowest


def test_short_of_time_the_population_is_half_as_large() -> None:
    """A second is enough for all members of a small problem, not of a larger one; without a limit all are built."""
    for n, seconds, expected in ((500, 1.0, CAPACITY), (2400, 1.0, CAPACITY // 2), (2400, math.inf, CAPACITY)):
        population = CrossedPopulation(glass(n, 3, 1), np.ones(n, dtype=np.int8), np.random.default_rng(0))
        population.tasks(1, Clock(seconds))
        assert population.capacity == expected
