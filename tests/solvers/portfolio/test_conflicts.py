"""Problems that are conflicts of nodes: what is recognised, what is not, and what the walks make of them."""

from __future__ import annotations

import itertools
import json
import lzma
from pathlib import Path

import networkx as nx
import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

import flipwise
from flipwise.engine.limits import Clock
from flipwise.foundation.errors import InvalidFile
from flipwise.model.forms import IsingForm, ising_form
from flipwise.qubo.models import QuadraticModel
from flipwise.solvers.portfolio.conflicts import ConflictPopulation, conflict_graph, luby
from flipwise.solvers.portfolio.population import FreePopulation, PopulationState


def packing(graph: nx.Graph, gains: np.ndarray, penalty: float) -> np.ndarray:
    """The largest sum of gains of an independent set as a QUBO."""
    return np.asarray(
        np.triu(penalty * nx.to_numpy_array(graph, nodelist=range(len(graph)), weight=None), 1) - np.diag(gains)
    )


def form_of(Q: np.ndarray, dense: bool = True) -> IsingForm:
    """A QUBO as the search works on it."""
    objective = flipwise.QuadraticModel.from_qubo(sp.csr_array(Q)).objective()
    form = ising_form(objective, dense_from=0.0 if dense else 2.0)
    assert form is not None
    return form


@pytest.mark.parametrize("dense", [True, False])
@pytest.mark.parametrize("scale", [1.0, 0.37])
def test_independent_sets_and_covers_are_recognised(dense: bool, scale: float) -> None:
    """The nodes, gains and conflicts come back, for sets and, with 0 and 1 exchanged, for covers."""
    graph = nx.petersen_graph()
    gains = scale * np.arange(1.0, 11.0)
    Q = packing(graph, gains, 11.0 * scale)
    found = conflict_graph(form_of(Q, dense))
    assert found is not None and found.sign == 1
    ratio = found.gains / gains
    assert ratio == pytest.approx(np.full(10, ratio[0]))
    assert nx.utils.graphs_equal(nx.Graph(list(zip(*found.edges[2:], strict=True))), nx.Graph(graph.edges))
    symmetric = (Q + Q.T) / 2
    cover = symmetric - np.diag(2 * symmetric.sum(axis=1))  # x -> 1 - x
    covered = conflict_graph(form_of(cover, dense))
    assert covered is not None and covered.sign == -1
    assert np.allclose(covered.gains, found.gains)


@pytest.mark.parametrize("dense", [True, False])
def test_weak_penalties_and_rewards_are_not_conflicts(dense: bool) -> None:
    """A coupling smaller than both gains, or a negative one, may be worth having."""
    graph = nx.petersen_graph()
    assert conflict_graph(form_of(packing(graph, np.full(10, 3.0), 2.0), dense)) is None
    Q = packing(graph, np.ones(10), 2.0)
    Q[0, 9] = -1.0
    assert conflict_graph(form_of(Q, dense)) is None
    assert conflict_graph(form_of(packing(graph, np.full(10, -1.0), 2.0), dense)) is None  # nobody gains


@given(st.integers(1, 9), st.floats(0, 1), st.integers(0, 1000))
def test_where_conflicts_are_recognised_an_optimum_has_none(n: int, density: float, seed: int) -> None:
    """The least value of all points is that of a point without conflicts, whatever the weights."""
    rng = np.random.default_rng(seed)
    Q = np.triu(rng.integers(0, 5, (n, n)) * (rng.random((n, n)) < density), 1) - np.diag(rng.integers(-2, 5, n))
    found = conflict_graph(form_of(Q.astype(float)))
    if found is None:
        return
    points = [np.array(p) for p in itertools.product([0, 1], repeat=n)]
    best = min(int(p @ Q @ p) for p in points)
    chosen = 1 if found.sign == 1 else 0
    edges = list(zip(found.nodes[found.edges[2]], found.nodes[found.edges[3]], strict=True))
    free = [p for p in points if not any(p[u] == p[v] == chosen for u, v in edges)]
    assert min(int(p @ Q @ p) for p in free) == best


def test_lengths_follow_luby() -> None:
    """The sequence as it was published."""
    assert [luby(k) for k in range(1, 16)] == [1, 1, 2, 1, 1, 2, 4, 1, 1, 2, 1, 1, 2, 4, 8]


def test_colourings_and_weighted_packings_are_solved() -> None:
    """A map's three colours, and a weighted packing against all sets, through the public functions."""
    graph = nx.petersen_graph()
    terms: dict[tuple[object, object], float] = {}
    for v in graph:
        for colour in range(3):
            terms[(v, colour), (v, colour)] = -1.0
            for other in range(colour):
                terms[(v, colour), (v, other)] = 2.0
    for u, v in graph.edges:
        for colour in range(3):
            terms[(u, colour), (v, colour)] = 1.0
    assert flipwise.solve_qubo(terms, seed=0, max_iterations=3).value == -10.0
    gains = np.random.default_rng(0).integers(1, 9, 10).astype(float)
    Q = packing(graph, gains, 9.0)
    best = min(float(np.array(p) @ Q @ np.array(p)) for p in itertools.product([0.0, 1.0], repeat=10))
    assert flipwise.solve_qubo(Q, seed=0, max_iterations=3).value == best
    model = QuadraticModel.from_qubo(Q)
    assert flipwise.minimize(model.objective(), method="portfolio", seed=0, max_iterations=3).value == best


def population(n: int = 30) -> ConflictPopulation:
    """A population on a random graph."""
    form = form_of(packing(nx.gnp_random_graph(n, 0.3, seed=2), np.ones(n), 2.0), dense=False)
    graph, start, rng = conflict_graph(form), -np.ones(n, dtype=np.int8), np.random.default_rng(0)
    assert graph is not None
    return ConflictPopulation(form, graph, start, FreePopulation(form, start, rng), rng)


def test_a_population_goes_on_from_its_state() -> None:
    """The rounds after a checkpoint are those of the run that was not interrupted."""
    one, other = population(), population()
    for _ in range(3):
        one.merge([task() for task in one.tasks(2, Clock())])  # type: ignore[misc]
    state = one.state()
    other.restore(PopulationState(list(state.members), np.random.default_rng(), dict(state.details)))
    other.rng.bit_generator.state = one.rng.bit_generator.state
    assert (other.made, other.rounds, other.best.energy) == (one.made, one.rounds, one.best.energy)
    with pytest.raises(InvalidFile, match="at least 0"):
        other.restore(PopulationState(state.members, state.rng, {**state.details, "made": -1}))


def test_points_with_conflicts_are_mended() -> None:
    """What is left of any point has no conflict, and keeps a node of every conflict."""
    found = population().graph
    rng = np.random.default_rng(1)
    for _ in range(20):
        s = rng.choice(np.array([-1, 1], dtype=np.int8), 30)
        chosen = found.without_conflicts(s)
        assert not (chosen[found.edges[2]] & chosen[found.edges[3]]).any()
        assert chosen.any() == (s == 1).any()


@pytest.mark.parametrize("name", ["hamming10-4", "socfb-haverford76", "C500-9"])
def test_published_instances_reach_the_best_known_size(data_folder: Path, name: str) -> None:
    """Instances that single flips do not solve, at an effort of seconds."""
    folder = data_folder / "qubo" / "qoblib_mis"
    best = json.loads((folder / "best_known.json").read_text())[name]["best_known"]
    with lzma.open(folder / f"{name}.gph.xz", "rt") as lines:
        edges = [tuple(map(int, line.split()[1:3])) for line in lines if line.startswith("e")]
    graph = nx.convert_node_labels_to_integers(nx.Graph(edges))
    Q = packing(graph, np.ones(len(graph)), 2.0)
    assert flipwise.solve_qubo(Q, seed=0, target=-best, bound="none", max_iterations=40).value == -best
