"""Bounds on the weight among k nodes: above the brute-force optimum, against their definitions, and gathered."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from flipwise.densest.bounds import (
    SubgraphBounds,
    balanced_loads,
    clique_bound,
    order_bound,
    simple_bounds,
    top_sum,
)
from flipwise.densest.core import Core, core_above, whole_core
from flipwise.densest.whole import integral_weights, weight_range, weight_unit
from flipwise.engine.limits import Clock
from flipwise.graphs.convert import as_graph
from tests.densest.graphs import heaviest, matrices


def complete(n: int) -> np.ndarray:
    """The adjacency matrix of a complete graph."""
    return np.ones((n, n)) - np.eye(n)


def cycle(n: int) -> np.ndarray:
    """The adjacency matrix of a cycle."""
    return np.roll(np.eye(n), 1, axis=0) + np.roll(np.eye(n), -1, axis=0)


def by_peeling(core: Core, k: int) -> int:
    """The order bound by the peeling order."""
    return order_bound(core, core.peeling.order, k)


def by_definition(core: Core, k: int) -> int:
    """sum over t of min(t, the (t+1)-th smallest of the k largest o), nodes outside own `cap` each."""
    place = {int(node): index for index, node in enumerate(core.peeling.order)}
    rows = core.graph.to_scipy().toarray()
    owned = [sum(place[j] > place[i] for j in np.flatnonzero(rows[i])) for i in range(core.graph.n)]
    outside = int(max(core.cap, 0.0))
    largest = sorted([max(o, outside) for o in owned] + [outside] * k, reverse=True)[:k]
    return sum(min(t, o) for t, o in enumerate(sorted(largest)))


@settings(max_examples=60)
@given(matrices, st.data())
def test_the_load_bound_holds_on_any_core_after_any_number_of_passes(W: np.ndarray, data: st.DataObject) -> None:
    """Loads on a core with the cap of its outside never fall below the optimum of the whole graph."""
    k = data.draw(st.integers(1, len(W)))
    cap = data.draw(st.integers(0, 5))
    core = core_above(whole_core(as_graph(sp.csr_array(W))), float(cap))
    loads = balanced_loads(core, [k], passes=data.draw(st.sampled_from([10, 50])))
    assert top_sum(loads, k, core.cap) >= heaviest(W, k)


@settings(max_examples=60)
@given(matrices, st.data())
def test_clique_and_order_bounds_hold(W: np.ndarray, data: st.DataObject) -> None:
    """Both are above the optimum, the order bound also on a core."""
    W = (W > 0).astype(float)
    k = data.draw(st.integers(1, len(W)))
    graph = as_graph(sp.csr_array(W))
    core = core_above(whole_core(graph), float(data.draw(st.integers(0, 4))))
    best = heaviest(W, k)
    assert by_peeling(core, k) >= best and clique_bound(k, 1.0) >= best
    simple = simple_bounds(core, k, weight_range(graph)[1], weight_unit(graph))
    assert all(bound >= best for bound in simple.known.values())


def test_all_pairs_at_the_largest_weight() -> None:
    """k (k - 1) / 2 pairs; where every pair costs something, so does every set."""
    assert clique_bound(5, 2.0) == 20.0 and clique_bound(4, 0.5) == 3.0 and clique_bound(1, 9.0) == 0.0
    assert clique_bound(6, 0.0) == 0.0 and clique_bound(6, -1.5) == -22.5


@pytest.mark.parametrize("k", [1, 2, 3, 5, 7])
def test_the_order_bound_is_exact_on_cliques_and_forests(k: int) -> None:
    """k nodes of a clique have k (k - 1) / 2 edges, of a path k - 1."""
    assert by_peeling(whole_core(as_graph(complete(7))), k) == k * (k - 1) // 2
    path = (7, [[i, i + 1] for i in range(6)])
    assert by_peeling(whole_core(as_graph(path)), k) == k - 1


@pytest.mark.parametrize("k", [1, 2, 3, 6, 8])
def test_core_numbers_limit_the_order_bound(k: int) -> None:
    """On a cycle, of core number D = 2, it is at most kD - D(D+1)/2, and it counts the last node only once."""
    bound = by_peeling(whole_core(as_graph(cycle(8))), k)
    assert bound <= max(0, 2 * k - 3) and bound == (k if k >= 3 else k - 1)


@given(st.integers(0, 10**6), st.integers(2, 12), st.integers(1, 15), st.integers(-1, 4))
def test_the_order_bound_is_what_its_definition_says(seed: int, n: int, k: int, cap: int) -> None:
    """Also on a core smaller than k, where nodes from outside fill up the set."""
    W = np.triu(np.random.default_rng(seed).random((n, n)) < 0.6, 1)
    core = core_above(whole_core(as_graph(sp.csr_array((W | W.T).astype(float)))), float(cap))
    assert by_peeling(core, k) == by_definition(core, k)


def test_the_least_bound_of_each_name_is_kept() -> None:
    """A later bound of the same name counts only when it is lower."""
    bounds = SubgraphBounds(4, False)
    for value in (7.5, 6.25, 9.0):
        bounds.add("load", value)
    bounds.add("clique", 6.5)
    assert bounds.known == {"load": 6.25, "clique": 6.5} and bounds.best == ("load", 6.25)


def test_only_integers_are_rounded_down() -> None:
    """E(S) is an integer where all weights are, and then so is its bound."""
    for unit, value in ((1.0, 6.0), (0.5, 6.5), (0.0, 6.75)):
        bounds = SubgraphBounds(4, unit)
        bounds.add("load", 6.75)
        assert bounds.known == {"load": value} and isinstance(bounds.known["load"], float)


def test_densities_are_not_below_the_exact_ones() -> None:
    """2 E / k, for integers as a float gives it, otherwise at least the exact quotient and the next float at most."""
    whole, other = SubgraphBounds(3, True), SubgraphBounds(3, False)
    assert whole.density(7.0) == 14.0 / 3.0 and whole.density(6.0) == 4.0
    for weight in (0.1, 7.0, 1e6 / 7.0):
        density = other.density(weight)
        assert density == math.nextafter(2.0 * weight / 3.0, math.inf) and Fraction(density) >= Fraction(weight) * 2 / 3
    other.add("load", 6.5)
    assert other.densities() == {"load": other.density(6.5)}


@pytest.mark.parametrize("k", [2, 3, 5, 11, 12])
def test_the_clique_bound_of_weights_is_rounded_up(k: int) -> None:
    """k (k - 1) / 2 times a weight that is no integer is not below the exact product, and near."""
    core = whole_core(as_graph((12, [[i, j, 0.1] for i in range(12) for j in range(i)])))
    bounds = simple_bounds(core, k, 0.1, False)
    exact = Fraction(0.1) * k * (k - 1) / 2
    assert list(bounds.known) == ["clique"] and not bounds.unit and bounds.k == k
    assert exact <= Fraction(bounds.best[1]) <= exact * (1 + Fraction(1, 10**14))


def test_simple_bounds_of_an_unweighted_graph() -> None:
    """A star: all pairs of k nodes, or by order k - 1 edges; both are integers."""
    bounds = simple_bounds(whole_core(as_graph((9, [[0, i] for i in range(1, 9)]))), 5, 1.0, True)
    assert bounds.known == {"clique": 10.0, "order": 4.0} and bounds.best == ("order", 4.0)
    assert bounds.densities() == {"clique": 4.0, "order": 1.6}
    weights = np.array([[0, 1, 2.0], [1, 2, 3.0]])
    heavy = simple_bounds(whole_core(as_graph((3, weights))), 2, 3.0, True)
    assert heavy.known == {"clique": 3.0}


def test_integer_weights_round_bounds_down_and_name_the_least() -> None:
    """A bound on an integer is an integer; the least bound wins."""
    bounds = SubgraphBounds(3, True)
    bounds.add("a", 7.9)
    bounds.add("b", 8.2)
    assert bounds.best == ("a", 7.0) and bounds.densities() == {"a": 14 / 3, "b": 16 / 3}
    assert integral_weights(as_graph((3, [[0, 1], [1, 2]])))
    assert not integral_weights(as_graph((3, [[0, 1, 0.5], [1, 2, 1.0]])))


def test_the_order_bound_is_left_out_when_it_would_be_late() -> None:
    """Unless the graph is peeled already; what was worked out for one k is not worked out again."""
    core, late = whole_core(as_graph(sp.csr_array(cycle(30)))), Clock(0.0)
    assert set(simple_bounds(core, 5, 1.0, 1.0, late).known) == {"clique"}
    with_order = simple_bounds(core, 5, 1.0, 1.0)
    assert set(with_order.known) == {"clique", "order"}
    assert simple_bounds(core, 5, 1.0, 1.0, late).known == with_order.known
