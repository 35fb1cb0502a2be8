"""The densest set of any size: against all sets of small graphs, networkx, and its own rules."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations

import networkx as nx
import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

import flipwise
from flipwise.densest.flow import best_ratio, in_units
from flipwise.foundation.errors import InvalidInput
from flipwise.graphs.convert import as_graph
from tests.densest.graphs import random_weights

whole_graphs = st.builds(
    lambda n, seed, density, most: np.floor(random_weights(n, seed, density) * (1 + seed % most)),
    st.integers(1, 9), st.integers(0, 10**6), st.sampled_from([0.2, 0.5, 0.9]), st.integers(1, 4),
)  # fmt: skip


def best_ratio_of_all(W: np.ndarray) -> tuple[Fraction, set[int]]:
    """The largest x'Wx / k over all sets, and the union of those that have it."""
    best, union = Fraction(-1), set[int]()
    for k in range(1, len(W) + 1):
        for S in combinations(range(len(W)), k):
            ratio = Fraction(int(W[np.ix_(S, S)].sum()), k)
            if ratio >= best:
                union = set(S) | (union if ratio == best else set())
                best = ratio
    return best, union


@settings(max_examples=40)
@given(whole_graphs)
def test_the_largest_of_the_densest_sets_is_found_and_proven(W: np.ndarray) -> None:
    """On all sets of small graphs: the density, the proof, and the set that contains all others."""
    result = flipwise.densest_subgraph(sp.csr_array(W))
    best, union = best_ratio_of_all(W)
    assert result.density == float(best) == result.bound and result.optimal
    assert set(result.nodes) == union


@settings(max_examples=25)
@given(st.integers(2, 9), st.integers(0, 10**6))
def test_real_weights_are_bounded_from_above_and_closely(n: int, seed: int) -> None:
    """The set is the best one, and the bound is above it by no more than the rounding of the units."""
    W = random_weights(n, seed, 0.6, weighted=True)
    result = flipwise.densest_subgraph(sp.csr_array(W))
    best = max(W[np.ix_(S, S)].sum() / k for k in range(1, n + 1) for S in combinations(range(n), k))
    assert result.density == pytest.approx(best, rel=1e-9)
    assert result.bound is not None and best * (1 - 1e-15) <= result.bound <= best * (1 + 1e-9) + 1e-12


@settings(max_examples=25)
@given(st.integers(2, 8), st.integers(0, 10**6))
def test_gifts_prices_and_what_is_chosen_anyway(n: int, seed: int) -> None:
    """The general ratio against all sets; bonuses may be negative."""
    rng = np.random.default_rng(seed)
    graph = as_graph(sp.csr_array(random_weights(n, seed)))
    paid = int(rng.integers(0, 4))
    extra = int(rng.integers(0, 6)) if paid else 0
    units = in_units(graph, rng.integers(-2, 4, n).astype(float), float(extra), paid)
    object.__setattr__(units, "price", rng.integers(1, 5, n))
    W = graph.to_scipy().toarray()
    sets = [np.array(S, dtype=int) for k in range(n + 1) for S in combinations(range(n), k) if k or paid]
    ratios = [
        Fraction(int(W[np.ix_(S, S)].sum()) // 2 + int(units.bonus[S].sum()) + extra, int(units.price[S].sum()) + paid)
        for S in sets
    ]
    found = best_ratio(units)
    assert found.proven and Fraction(found.ratio.weight, found.ratio.price) == max(ratios)
    assert ratios[[S.tolist() for S in sets].index(found.nodes.tolist())] == max(ratios)


def test_density_is_twice_that_of_networkx_on_a_real_graph() -> None:
    """At least what greedy peeling with many rounds finds, which counts edges for each node."""
    graph = nx.les_miserables_graph()
    other, _ = nx.algorithms.approximation.densest_subgraph(nx.Graph(graph.edges), iterations=60)
    ours = flipwise.densest_subgraph(nx.Graph(graph.edges))
    assert ours.density == pytest.approx(2 * other) and ours.optimal


def test_the_decomposition_is_the_hull_of_all_sets() -> None:
    """Sizes and densities of the levels are the corners of the hull of the best weights of every size."""
    for seed in range(25):
        W = random_weights(2 + seed % 7, seed, (0.2, 0.5, 0.8)[seed % 3])
        n = len(W)
        best = [max(W[np.ix_(S, S)].sum() for S in combinations(range(n), k)) for k in range(n + 1)]
        corners = [0]
        for at in range(1, n + 1):
            while len(corners) > 1:
                a, b = corners[-2:]
                if (best[b] - best[a]) * (at - b) > (best[at] - best[b]) * (b - a):
                    break
                corners.pop()
            corners.append(at)
        levels = flipwise.dense_decomposition(sp.csr_array(W))
        assert corners[1:] == levels.sizes.tolist() and levels.exact
        assert [level.set_density for level in levels] == pytest.approx([best[k] / k for k in corners[1:]])
        assert levels[0].nodes == flipwise.densest_subgraph(sp.csr_array(W)).nodes
        assert np.bincount(levels.level_of).tolist() == [len(level.nodes) for level in levels]


def test_without_edges_and_without_time() -> None:
    """Every set of a graph without edges is as good; without time there is still a set, and a bound or none."""
    result = flipwise.densest_subgraph((3, []))
    assert result.density == 0.0 and result.optimal and len(result.nodes) == 3
    hasty = flipwise.densest_subgraph(nx.path_graph(50), time_limit=0.0)
    assert hasty.density > 0.0 and not hasty.optimal


@pytest.mark.parametrize(
    ("keywords", "words"),
    [({"method": "peeling"}, "`method`"), ({"checkpoint": "x"}, "`checkpoint`"), ({"bound": "no"}, "`bound`")],
)
def test_what_does_not_go_with_any_size_is_refused(keywords: dict[str, str], words: str) -> None:
    """By its name, before any work."""
    with pytest.raises(InvalidInput, match=words):
        flipwise.densest_subgraph((3, [[0, 1]]), **keywords)
    with pytest.raises(InvalidInput, match="negative"):
        flipwise.densest_subgraph((3, [[0, 1, -1.0]]))
    with pytest.raises(InvalidInput, match="no nodes"):
        flipwise.densest_subgraph((0, []))
