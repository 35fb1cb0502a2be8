"""Walks on conflict graphs: what they report is a set without conflicts, and they reach the largest ones."""

from __future__ import annotations

import itertools
from typing import Any

import networkx as nx
import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from flipwise.kernels import conflicts as kernels
from flipwise.kernels import covers
from flipwise.kernels.jit import compile_function
from flipwise.solvers.portfolio.conflicts import ConflictGraph, CoverWalk, PackingWalk

pytestmark = pytest.mark.kernels


def graph_of(graph: nx.Graph, gains: np.ndarray) -> ConflictGraph:
    """A networkx graph as the walks take it."""
    A = nx.to_scipy_sparse_array(graph, nodelist=range(len(graph)), format="csr")
    A.sort_indices()
    return ConflictGraph(np.arange(len(graph)), 1, gains, A.indptr.astype(np.int64), A.indices.astype(np.int32))


def best_sum(graph: nx.Graph, gains: np.ndarray) -> float:
    """The largest sum of gains of an independent set, by trying all sets."""
    edges = list(graph.edges)
    points = (np.array(p, dtype=bool) for p in itertools.product([False, True], repeat=len(graph)))
    return max(float(gains[p].sum()) for p in points if not any(p[u] and p[v] for u, v in edges))


def walks(graph: ConflictGraph, rng: np.random.Generator) -> list[Any]:
    """One walk of each kind from the empty set; covers only where sizes are all that counts."""
    empty = np.zeros(graph.n, dtype=np.bool_)
    found: list[Any] = [PackingWalk(graph, empty.copy(), rng, kind) for kind in ("pack", "avoid")]
    return [*found, CoverWalk(graph, empty.copy(), rng)] if graph.equal_gains else found


@given(st.integers(1, 8), st.floats(0, 1), st.booleans(), st.integers(0, 1000))
@example(7, 0.8125, True, 710)
def test_every_walk_finds_the_best_set_of_a_small_graph(n: int, density: float, weighted: bool, seed: int) -> None:
    """After some hundred steps the best set has no conflict and the largest sum, as all sets tried say.

    The kind that only avoids what it has left may circle where gains differ; that is why there is another beside it.
    """
    graph = nx.gnp_random_graph(n, density, seed=seed)
    rng = np.random.default_rng(seed)
    gains = rng.integers(1, 9, n).astype(np.float64) if weighted else np.ones(n)
    best, found = best_sum(graph, gains), []
    for walk in walks(graph_of(graph, gains), rng):
        for _ in range(4):
            walk(100)
            assert not any(walk.best[u] and walk.best[v] for u, v in graph.edges)
        found.append(float(gains[walk.best].sum()))
    assert max(found) == best and (weighted or min(found) == best)


def test_walks_go_the_same_way_in_both_tiers() -> None:
    """Interpreted and compiled, in one call or in pieces: the same arrays to the last bit."""
    graph = graph_of(nx.gnp_random_graph(60, 0.2, seed=1), np.ones(60))
    functions = (kernels.packing_walk, kernels.penalty_walk, covers.cover_walk)
    for k, function in enumerate(functions):
        one, other = (walks(graph, np.random.default_rng(5))[k] for _ in range(2))
        parameters = () if function is covers.cover_walk else (one._parameter,)
        function.interpreted(*one._graph, 700, *parameters, *one._arrays)
        compiled = compile_function(function.interpreted)
        for steps in (300, 400):
            compiled(*other._graph, steps, *parameters, *other._arrays)
        for mine, theirs in zip(one._arrays, other._arrays, strict=True):
            assert np.array_equal(mine, theirs)


def test_the_lists_of_a_walk_are_those_of_its_set() -> None:
    """Chosen, free and once blocked nodes, recounted after many steps."""
    nx_graph = nx.gnp_random_graph(40, 0.2, seed=4)
    graph = graph_of(nx_graph, np.arange(1.0, 41.0))
    for walk in walks(graph, np.random.default_rng(1)):
        walk(777)
        tight, blockers, nodes, place, sizes, _, _, values, _, _ = walk._arrays
        chosen = set(nodes[kernels.CHOSEN, : sizes[kernels.CHOSEN]])
        around = {v: chosen & set(nx_graph[v]) for v in nx_graph}
        assert all(not around[v] and tight[v] == -1 for v in chosen)
        outside = set(nx_graph) - chosen
        assert all(tight[v] == len(around[v]) and blockers[v] == sum(around[v]) for v in outside)
        for which, count in ((kernels.FREE, 0), (kernels.TIGHT, 1)):
            listed = nodes[which, : sizes[which]]
            assert set(listed) == {v for v in outside if len(around[v]) == count}
            assert np.array_equal(place[which, listed], np.arange(listed.size))
        assert values[0] == sum(v + 1 for v in chosen)
