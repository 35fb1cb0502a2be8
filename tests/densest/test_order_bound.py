"""The gathered bounds: rounding to integers, the least of each name, densities, and which bounds are simple."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

from flipwise.densest.bounds import SubgraphBounds, simple_bounds
from flipwise.densest.core import whole_core
from flipwise.graphs.convert import as_graph


def test_the_least_bound_of_each_name_is_kept() -> None:
    """A later bound of the same name counts only when it is lower."""
    bounds = SubgraphBounds(4, False)
    for value in (7.5, 6.25, 9.0):
        bounds.add("load", value)
    bounds.add("clique", 6.5)
    assert bounds.known == {"load": 6.25, "clique": 6.5} and bounds.best == ("load", 6.25)


def test_only_integers_are_rounded_down() -> None:
    """E(S) is an integer where all weights are, and then so is its bound."""
    for integral, value in ((True, 6.0), (False, 6.75)):
        bounds = SubgraphBounds(4, integral)
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
    assert list(bounds.known) == ["clique"] and not bounds.integral and bounds.k == k
    assert exact <= Fraction(bounds.best[1]) <= exact * (1 + Fraction(1, 10**14))


def test_simple_bounds_of_an_unweighted_graph() -> None:
    """A star: all pairs of k nodes, or by order k - 1 edges; both are integers."""
    bounds = simple_bounds(whole_core(as_graph((9, [[0, i] for i in range(1, 9)]))), 5, 1.0, True)
    assert bounds.known == {"clique": 10.0, "order": 4.0} and bounds.best == ("order", 4.0)
    assert bounds.densities() == {"clique": 4.0, "order": 1.6}
    weights = np.array([[0, 1, 2.0], [1, 2, 3.0]])
    heavy = simple_bounds(whole_core(as_graph((3, weights))), 2, 3.0, True)
    assert heavy.known == {"clique": 3.0}
