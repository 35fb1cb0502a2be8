"""Bounds by counting: all pairs of a clique, and the order bound against its definition."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from flipwise.densest.bounds import clique_bound, order_bound
from flipwise.densest.core import Core, core_above, whole_core
from flipwise.graphs.convert import as_graph


def complete(n: int) -> np.ndarray:
    """The adjacency matrix of a complete graph."""
    return np.ones((n, n)) - np.eye(n)


def cycle(n: int) -> np.ndarray:
    """The adjacency matrix of a cycle."""
    return np.roll(np.eye(n), 1, axis=0) + np.roll(np.eye(n), -1, axis=0)


def by_definition(core: Core, k: int) -> int:
    """sum over t of min(t, the (t+1)-th smallest of the k largest o), nodes outside own `cap` each."""
    place = {int(node): index for index, node in enumerate(core.order)}
    rows = core.graph.to_scipy().toarray()
    owned = [sum(place[j] > place[i] for j in np.flatnonzero(rows[i])) for i in range(core.graph.n)]
    outside = int(max(core.cap, 0.0))
    largest = sorted([max(o, outside) for o in owned] + [outside] * k, reverse=True)[:k]
    return sum(min(t, o) for t, o in enumerate(sorted(largest)))


def test_all_pairs_at_the_largest_weight() -> None:
    """k (k - 1) / 2 pairs; without positive weights nothing can be gained."""
    assert clique_bound(5, 2.0) == 20.0 and clique_bound(4, 0.5) == 3.0 and clique_bound(1, 9.0) == 0.0
    assert clique_bound(6, 0.0) == 0.0 == clique_bound(6, -1.5)


@pytest.mark.parametrize("k", [1, 2, 3, 5, 7])
def test_the_order_bound_is_exact_on_cliques_and_forests(k: int) -> None:
    """k nodes of a clique have k (k - 1) / 2 edges, of a path k - 1."""
    assert order_bound(whole_core(as_graph(complete(7))), k) == k * (k - 1) // 2
    path = (7, [[i, i + 1] for i in range(6)])
    assert order_bound(whole_core(as_graph(path)), k) == k - 1


@pytest.mark.parametrize("k", [1, 2, 3, 6, 8])
def test_core_numbers_limit_the_order_bound(k: int) -> None:
    """On a cycle, of core number D = 2, it is at most kD - D(D+1)/2, and it counts the last node only once."""
    bound = order_bound(whole_core(as_graph(cycle(8))), k)
    assert bound <= max(0, 2 * k - 3) and bound == (k if k >= 3 else k - 1)


@given(st.integers(0, 10**6), st.integers(2, 12), st.integers(1, 15), st.integers(-1, 4))
def test_the_order_bound_is_what_its_definition_says(seed: int, n: int, k: int, cap: int) -> None:
    """Also on a core smaller than k, where nodes from outside fill up the set."""
    W = np.triu(np.random.default_rng(seed).random((n, n)) < 0.6, 1)
    core = core_above(whole_core(as_graph(sp.csr_array((W | W.T).astype(float)))), float(cap))
    assert order_bound(core, k) == by_definition(core, k)
