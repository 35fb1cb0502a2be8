"""A graph that changes: the same answers as from the beginning, and bounds that stay valid."""

from __future__ import annotations

from itertools import combinations

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import flipwise
from flipwise.foundation.errors import InvalidInput


@settings(max_examples=15)
@given(st.integers(3, 8), st.integers(0, 10**6), st.booleans())
def test_after_any_changes_answers_and_bounds_hold(n: int, seed: int, sized: bool) -> None:
    """Edges come, change and go; the optimum is found, and no bound is below it, also what is left of an old one."""
    rng = np.random.default_rng(seed)
    W = np.triu(np.floor(rng.random((n, n)) * 4), 1)
    live = flipwise.IncrementalGraph(W + W.T, int(rng.integers(1, n + 1)) if sized else None)
    for turn in range(3):
        result = live.solve(seed=0, bound="none" if turn == 1 else "auto")
        sizes = [live.k] if live.k is not None else range(1, n + 1)
        best = max(2 * np.triu(W[np.ix_(S, S)]).sum() / k for k in sizes for S in map(list, combinations(range(n), k)))
        assert result.density == pytest.approx(best)
        assert result.bound is not None and result.bound >= best * (1 - 1e-15)
        assert live.graph.to_scipy().toarray().tolist() == (W + W.T).tolist()
        for _ in range(3):
            i, j = sorted(rng.choice(n, 2, replace=False).tolist())
            W[i, j] = float(rng.integers(0, 6))
            live.update(j, i, W[i, j])


def test_names_many_edges_and_sizes() -> None:
    """Nodes by their names; lists of edges; another k."""
    live = flipwise.IncrementalGraph(nx.Graph([("a", "b"), ("b", "c"), ("c", "a"), ("d", "e")]), 3)
    assert sorted(live.solve(seed=0).nodes) == ["a", "b", "c"]
    live.update(["c", "c"], ["d", "e"], 2.0)
    live.remove("a", "b")
    assert sorted(live.solve(seed=0).nodes) == ["c", "d", "e"]
    live.set_size(None)
    assert live.bound is None and live.solve().optimal
    live.set_size(2)
    assert live.bound is not None and live.solve(seed=0).density == 2.0
    assert "k = 2" in repr(live)
    for call in (
        lambda: live.update("a", "z"),
        lambda: live.update("a", "a"),
        lambda: live.set_size(9),
        lambda: live.solve(include=["a"]),
    ):
        with pytest.raises(InvalidInput):
            call()


def test_a_known_set_gives_the_same_answer() -> None:
    """The densest set of any size does not depend on where it began."""
    graph = nx.gnm_random_graph(60, 200, seed=1)
    first = flipwise.densest_subgraph(graph)
    for start in (first.nodes, [0, 1, 2]):
        again = flipwise.densest_subgraph(graph, start=start)
        assert again.nodes == first.nodes and again.optimal
