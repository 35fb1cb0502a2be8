"""The best ratio of weight and price: against every set, in exact arithmetic."""

from __future__ import annotations

from fractions import Fraction
from itertools import chain, combinations

import numpy as np
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from flipwise.densest.flow import Units, best_ratio, in_units, order_gains
from flipwise.graphs.convert import as_graph
from flipwise.graphs.graph import Graph
from tests.densest.graphs import random_weights


def graph_of(n: int, seed: int, weighted: bool) -> tuple[np.ndarray, Graph]:
    """A random graph; weights are multiples of a half."""
    W = random_weights(n, seed)
    if weighted:
        W *= np.random.default_rng(seed).integers(1, 9, (n, n)) / 2.0
        W = np.triu(W, 1) + np.triu(W, 1).T
    return W, as_graph(sp.csr_array(W))


def weight_of(W: np.ndarray, bonus: np.ndarray, nodes: tuple[int, ...]) -> Fraction:
    """The edges inside and the bonuses."""
    inner = sum((Fraction(float(W[i, j])) for i, j in combinations(nodes, 2)), Fraction())
    return inner + sum((Fraction(float(bonus[i])) for i in nodes), Fraction())


@settings(max_examples=60, deadline=None)
@given(st.integers(1, 7), st.integers(0, 10**6), st.booleans(), st.booleans())
def test_no_set_has_a_larger_ratio(n: int, seed: int, weighted: bool, conditioned: bool) -> None:
    """With bonuses and something that is chosen anyway, or without; the answer has the ratio, and is the largest."""
    rng = np.random.default_rng(seed)
    W, graph = graph_of(n, seed, weighted)
    bonus = rng.integers(0, 4, n) / 2.0 if conditioned else np.zeros(n)
    extra, paid = (float(rng.integers(0, 5)), int(rng.integers(1, 3))) if conditioned else (0.0, 0)
    units = in_units(graph, bonus, extra, paid)
    found = best_ratio(units)
    sets = list(chain.from_iterable(combinations(range(n), size) for size in range(0 if paid else 1, n + 1)))
    ratios = {nodes: (Fraction(extra) + weight_of(W, bonus, nodes)) / (paid + len(nodes)) for nodes in sets}
    best = max(ratios.values())
    assert found.proven and Fraction(found.ratio.weight, found.ratio.price) * Fraction(units.unit) == best
    assert ratios[tuple(found.nodes.tolist())] == best
    if not paid:
        assert set(found.nodes.tolist()) == set(chain.from_iterable(each for each in sets if ratios[each] == best))


@settings(max_examples=40, deadline=None)
@given(st.integers(1, 9), st.integers(0, 10**6), st.booleans())
def test_gains_in_an_order_add_up_to_the_weight_of_every_prefix(n: int, seed: int, weighted: bool) -> None:
    """Each node brings its bonus and its edges to those before it."""
    rng = np.random.default_rng(seed)
    W, graph = graph_of(n, seed, weighted)
    bonus = rng.integers(0, 4, n) / 2.0
    units = in_units(graph, bonus)
    order = rng.permutation(n)
    sums = np.cumsum(order_gains(units, order)[order])
    for size in range(1, n + 1):
        prefix = tuple(sorted(order[:size].tolist()))
        assert int(sums[size - 1]) * Fraction(units.unit) == weight_of(W, bonus, prefix)


def test_weights_without_a_common_divisor_are_rounded_up() -> None:
    """So that what is proven of the whole numbers holds for the weights."""
    W = np.zeros((3, 3))
    W[0, 1], W[1, 2], W[0, 2] = 1.0, np.pi, 1e-30
    units = in_units(as_graph(sp.csr_array(W + W.T)))
    assert not units.exact
    given_weights = as_graph(sp.csr_array(W + W.T)).weights
    assert given_weights is not None and (units.weights * units.unit >= given_weights).all()


def test_units_of_some_nodes_are_those_of_the_graph_among_them() -> None:
    """Degrees with the bonuses."""
    _, graph = graph_of(6, 1, weighted=True)
    units: Units = in_units(graph, np.arange(6.0))
    nodes = np.array([1, 3, 4])
    inner = graph.to_scipy().toarray()[np.ix_(nodes, nodes)].sum(axis=1) + np.arange(6.0)[nodes]
    assert np.array_equal(units.among(nodes).degrees() * units.unit, inner)
