"""The semidefinite bound on cores, with nodes outside, and branch and bound: true, and closed where it says so."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

import flipwise
from flipwise.densest import relaxed, solver
from flipwise.densest.bounds import SubgraphBounds, balanced_loads
from flipwise.densest.core import core_above, whole_core
from flipwise.densest.relaxed import ProofBudget, add_semidefinite_bound, next_below
from flipwise.densest.semidefinite import Relaxation
from flipwise.densest.whole import GraphInMemory, SubgraphObjective, weight_range, weight_unit
from flipwise.engine.limits import Limits, Status
from flipwise.engine.run import Run
from flipwise.graphs.convert import as_graph
from flipwise.model.constraints import Cardinality
from flipwise.model.problem import Problem
from tests.densest.graphs import heaviest, random_weights


def proven_bounds(W: np.ndarray, k: int, cap: float, limits: Limits | None = None) -> tuple[SubgraphBounds, Run]:
    """The bounds for a run that begins with the first k nodes, on the core above a cap."""
    graph = as_graph(sp.csr_array(W))
    core = core_above(whole_core(graph), cap) if cap >= 0 else whole_core(graph)
    run = Run(Problem(SubgraphObjective(GraphInMemory(graph)), Cardinality(k)), limits)
    x = np.where(np.arange(len(W)) < k, 1.0, -1.0)
    run.step(x, -W[:k, :k].sum())
    bounds = SubgraphBounds(k, weight_unit(graph))
    bounds.add("clique", 1e9)
    loads = balanced_loads(core, [k])
    add_semidefinite_bound(bounds, core, loads, run, 1.0, weight_range(graph)[1], 1.0)
    return bounds, run


@settings(max_examples=40, deadline=None)
@given(st.integers(4, 9), st.integers(0, 10**6), st.sampled_from(["plain", "real", "signed"]), st.data())
def test_no_bound_is_below_the_best_set(n: int, seed: int, kind: str, data: st.DataObject) -> None:
    """On the whole graph or a core with nodes outside, by relaxation and by branching; whole ones are closed."""
    W = random_weights(n, seed, weighted=kind == "real")
    if kind == "signed":
        W = np.triu(np.random.default_rng(seed).integers(-2, 4, (n, n)).astype(float), 1)
        W = W + W.T
    k = data.draw(st.integers(2, n - 1))
    cap = float(data.draw(st.integers(-1, 3)))
    bounds, run = proven_bounds(W, k, cap)
    best = heaviest(W, k)
    assert all(bound >= best - 1e-12 for bound in bounds.known.values())
    assert -run.best_value / 2.0 <= best + 1e-9
    if cap < 0:  # branch and bound ends, and has found the best set on its way
        assert -run.best_value / 2.0 == pytest.approx(best) and bounds.best[1] <= best + 1e-6 * abs(best) + 1e-9


def test_nodes_outside_the_core_count_with_what_ties_them() -> None:
    """The bound of a core alone would be wrong: a larger share of the weight is outside."""
    W = np.zeros((12, 12))
    W[:4, :4] = 1.0
    for first in (4, 7, 10):
        W[first : first + 3, first : first + 3] = 1.0
    np.fill_diagonal(W, 0.0)
    for k in (5, 6, 8):
        bounds, _ = proven_bounds(W, k, 2.0)
        assert bounds.best[1] >= heaviest(W, k)


def test_random_graphs_beyond_enumeration_are_proven(monkeypatch: pytest.MonkeyPatch) -> None:
    """Seventy nodes at k = 12, against the walk through all sets."""
    graph = nx.gnp_random_graph(70, 0.2, seed=5)
    result = flipwise.densest_subgraph(graph, 12, seed=0, time_limit=120.0)
    monkeypatch.setattr(solver, "MOST_NODES", 70)
    monkeypatch.setattr(solver, "QUICK_WORK", 1e10)
    walked = flipwise.densest_subgraph(graph, 12, seed=0)
    assert walked.optimal and walked.bound_method == "exact" and walked.density == result.density
    assert result.optimal and result.bound_method in ("semidefinite", "branching")


def test_the_dense_random_graph_has_a_small_gap() -> None:
    """Half of all edges, half of all nodes: a few percent, where loads and cliques say twice as much."""
    result = flipwise.densest_subgraph(nx.gnp_random_graph(150, 0.5, seed=1), 75, seed=0, effort=0.3)
    assert result.gap is not None and result.gap < 0.03 and {"spectral", "semidefinite"} <= set(result.bounds)
    assert result.bounds["semidefinite"] <= result.bounds["spectral"] < 0.8 * result.bounds["loads"]


def test_bipartite_graphs_are_nearly_proven() -> None:
    """Sets of a complete bipartite graph with sides of 40 have k^2 / 4 edges at most, which the relaxation knows."""
    result = flipwise.densest_subgraph(nx.complete_bipartite_graph(40, 40), 20, seed=0)
    assert result.density == 10.0 and result.optimal


def test_work_and_time_limit_the_proof() -> None:
    """Without a time limit the work counts, with one only the time."""
    run = Run(Problem(SubgraphObjective(GraphInMemory(as_graph(random_weights(5, 0)))), Cardinality(2)))
    budget = ProofBudget(run, 10.0)
    assert not budget.spent(9.0) and budget.spent(2.0)
    bounds, ended = proven_bounds(random_weights(40, 3), 15, -1.0, Limits(time_limit=0.0))
    assert ended.stopped is Status.TIME_LIMIT and "branching" not in bounds.known


def test_goals_are_below_the_next_weight() -> None:
    """For integers all but one more, for other weights a billionth more."""
    assert 10.999 < next_below(10.0, 1.0) < 11.0 and 10.0 < next_below(10.0, 0.0) < 10.0000001


def test_a_large_core_is_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """Matrices are dense: beyond a size nothing is tried."""
    monkeypatch.setattr(relaxed, "MOST_NODES", 20)
    bounds, _ = proven_bounds(random_weights(30, 3), 10, -1.0)
    assert list(bounds.known) == ["clique"] and Relaxation(random_weights(30, 3), 10).work > 0.0
