"""The population of bisections: what comes from scratch, and what a checkpoint of it must hold."""

from __future__ import annotations

import numpy as np
import pytest

import flipwise
from flipwise.cuts.bisection import KINDS, BisectionPopulation, bisected, level_of
from flipwise.engine.limits import Clock
from flipwise.foundation.errors import InvalidFile
from flipwise.graphs.convert import as_graph
from flipwise.graphs.graph import Graph
from flipwise.model.forms import ising_form
from flipwise.model.quadratic import Quadratic


def graph_with_hubs(n: int, seed: int) -> Graph:
    """Stubs joined at random; the number of nodes with degree d falls as d^-2.5, from 2 on."""
    rng = np.random.default_rng(seed)
    degrees = np.minimum(2.0 * (1.0 - rng.random(n)) ** (-1.0 / 1.5), np.sqrt(n)).astype(np.int64)
    stubs = rng.permutation(np.repeat(np.arange(n), degrees))
    pairs = np.sort(stubs[: stubs.size // 2 * 2].reshape(-1, 2), axis=1)
    return as_graph((n, np.unique(pairs[pairs[:, 0] < pairs[:, 1]], axis=0)))


def population_on(graph: Graph, seed: int) -> BisectionPopulation:
    """A population that begins with a cut by levels."""
    W = graph.to_scipy()
    form = ising_form(Quadratic(W * -0.5), dense_from=np.inf)
    assert form is not None
    level = level_of(W)
    rng = np.random.default_rng(seed)
    return BisectionPopulation(level, form, bisected(level, graph.n // 2, rng), rng)


@pytest.mark.parametrize("seed", range(2))
def test_hubs_come_to_the_right_sides(seed: int) -> None:
    """Levels alone end at 895 or more on these graphs, annealing finds 875 within two rounds."""
    graph = graph_with_hubs(2000, seed)
    found = flipwise.bisect(graph, seed=seed, effort=2 / 30)
    assert found.value <= 880.0


def test_both_ways_are_tried_and_the_better_one_fills_the_population() -> None:
    """On a graph with hubs most members are annealed; every member has exact halves."""
    population = population_on(graph_with_hubs(1000, 3), seed=0)
    origins = []
    for _ in range(population.capacity):
        found = [task() for task in population.tasks(1, Clock())]
        origins += [KINDS[member.origin] for member in found if member is not None]
        population.merge([member for member in found if member is not None])
    assert {"levels", "annealed"} == set(origins)
    assert origins.count("annealed") > origins.count("levels")
    assert all(np.count_nonzero(member.s > 0) == 500 for member in population.members)


def test_a_restored_population_goes_on_in_the_same_way() -> None:
    """The lengths of the anneals and what each way has found are part of the state."""
    graph = graph_with_hubs(200, 1)
    population, other = population_on(graph, 0), population_on(graph, 1)
    for _ in range(20):
        population.merge([member for task in population.tasks(1, Clock()) if (member := task()) is not None])
    other.restore(population.state())
    for each in (population, other):
        each.rng = np.random.default_rng(5)
        each.merge([member for task in each.tasks(4, Clock()) if (member := task()) is not None])
    assert [member.energy for member in population.members] == [member.energy for member in other.members]
    assert population.success == other.success and population.sweeps == other.sweeps


def test_anneals_of_impossible_length_are_refused() -> None:
    """A checkpoint may be damaged."""
    population = population_on(graph_with_hubs(200, 1), 0)
    state = population.state()
    state.details["sweeps"] = -1.0
    with pytest.raises(InvalidFile, match="sweeps"):
        population.restore(state)
