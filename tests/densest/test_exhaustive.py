"""The best set of all k nodes: against every set in rational arithmetic, within work and time."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

import flipwise
from flipwise.densest import exhaustive
from flipwise.densest.exhaustive import best_of_all
from flipwise.engine.limits import Limits
from flipwise.engine.run import Run
from flipwise.graphs.convert import as_graph
from flipwise.graphs.graph import Graph
from flipwise.model.constraints import Cardinality
from flipwise.model.problem import Problem
from flipwise.model.quadratic import Quadratic


def a_run(limits: Limits | None = None) -> Run:
    """A run of any problem."""
    return Run(Problem(Quadratic(np.eye(3)), Cardinality(1)), limits)


def some_weights(kind: str, n: int, seed: int) -> np.ndarray:
    """Symmetric weights: none or one, small integers of either sign, real ones of many sizes, tenths that all tie."""
    rng = np.random.default_rng(seed)
    W = {
        "plain": lambda: (rng.random((n, n)) < 0.5).astype(float),
        "integers": lambda: rng.integers(-3, 4, (n, n)).astype(float),
        "real": lambda: rng.standard_normal((n, n)) * 10.0 ** rng.integers(-6, 7, (n, n)),
        "tenths": lambda: rng.choice([0.1, 0.2, 0.3], (n, n)),
    }[kind]()
    W = np.triu(W, 1)
    return W + W.T


def exactly_heaviest(W: np.ndarray, k: int) -> Fraction:
    """The largest weight among k nodes in rational arithmetic."""
    sets = combinations(range(len(W)), k)
    return max(sum((Fraction(W[i, j]) for i, j in combinations(S, 2)), Fraction()) for S in sets)


@settings(max_examples=150)
@given(st.sampled_from(["plain", "integers", "real", "tenths"]), st.integers(1, 8), st.integers(0, 10**6), st.data())
def test_no_set_is_better_in_exact_arithmetic(kind: str, n: int, seed: int, data: st.DataObject) -> None:
    """Weights of either sign and any size; a set whose rounded weight is no less may still be worse."""
    W, k = some_weights(kind, n, seed), data.draw(st.integers(1, n))
    graph, known = as_graph(sp.csr_array(W)), np.arange(k)
    best = best_of_all(graph, k, known, exact=kind in ("plain", "integers"), run=a_run())
    if best is not None:
        assert exhaustive.exact_weight(graph, best.nodes) == exactly_heaviest(W, k)
        assert best.weight == float(exactly_heaviest(W, k))
    else:
        assert kind == "tenths" or k == 1 or n <= 2 or not W.any()


@settings(max_examples=60, deadline=None)
@given(st.sampled_from(["plain", "integers", "real", "tenths"]), st.integers(1, 9), st.integers(0, 10**6), st.data())
def test_small_graphs_are_proven_by_default(kind: str, n: int, seed: int, data: st.DataObject) -> None:
    """The whole function: a claim of optimality is true in rational arithmetic, and made unless too many sets tie."""
    W, k = some_weights(kind, n, seed), data.draw(st.integers(1, n))
    result = flipwise.densest_subgraph(sp.csr_array(W), k, seed=0)
    best = exactly_heaviest(W, k)
    assert result.bound is not None and Fraction(result.bound) * k >= 2 * best - abs(best) / 2**51
    if result.optimal:
        assert exhaustive.exact_weight(as_graph(sp.csr_array(W)), result.indices) == best
    assert result.optimal or kind == "tenths"


def a_hard_graph() -> Graph:
    """Sixty nodes, half of all edges: more than a few slices of work."""
    return as_graph(sp.csr_array(some_weights("plain", 60, 1)))


def test_it_gives_up_when_its_work_or_the_time_is_spent() -> None:
    """Nothing is claimed then."""
    graph = a_hard_graph()
    assert best_of_all(graph, 25, np.arange(25), exact=True, run=a_run(), work=1e6) is None
    assert best_of_all(graph, 25, np.arange(25), exact=True, run=a_run(Limits(time_limit=0.0))) is None


def test_slices_of_any_length_lead_to_the_same_set(monkeypatch: pytest.MonkeyPatch) -> None:
    """The walk stands still between two slices, and goes on where it was."""
    graph = as_graph(sp.csr_array(some_weights("real", 14, 3)))
    whole = best_of_all(graph, 6, np.arange(6), exact=False, run=a_run())
    monkeypatch.setattr(exhaustive, "FIRST_SLICE", 14.0)
    monkeypatch.setattr(exhaustive, "SLICE", 14.0)
    sliced = best_of_all(graph, 6, np.arange(6), exact=False, run=a_run())
    assert whole is not None and sliced is not None
    assert np.array_equal(whole.nodes, sliced.nodes) and whole.weight == sliced.weight


def test_random_graphs_of_22_nodes_are_proven() -> None:
    """By default, with and without weights, also where some are negative."""
    for seed in range(4):
        rng = np.random.default_rng(seed)
        W = np.triu((rng.random((22, 22)) < 0.5) * (rng.uniform(-1, 3, (22, 22)) if seed % 2 else 1.0), 1)
        result = flipwise.densest_subgraph(sp.csr_array(W + W.T), 9, seed=0)
        assert result.optimal and result.bound_method in ("exact", "clique", "order", "loads")
