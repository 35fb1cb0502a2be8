"""Bounds on the weight among k nodes: above the brute-force optimum whatever prices, credits and cores are used."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
import scipy.optimize
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from flipwise.densest.bounds import SubgraphBounds, clique_bound, order_bound, simple_bounds
from flipwise.densest.core import core_above, whole_core
from flipwise.densest.loads import balanced_loads, schedule, shared, top_sum
from flipwise.densest.pairs import PairProgramme, pair_bound, proven
from flipwise.densest.whole import integral_weights, weight_range
from flipwise.graphs.convert import as_graph
from flipwise.kernels.bounds import BLOCKS


def heaviest(W: np.ndarray, k: int) -> float:
    """The largest weight among k nodes, over all sets."""
    return max(W[np.ix_(S, S)].sum() for S in combinations(range(len(W)), k)) / 2


def random_weights(seed: int, n: int, density: float, weighted: bool) -> np.ndarray:
    """A random symmetric adjacency matrix."""
    rng = np.random.default_rng(seed)
    W = np.triu(rng.random((n, n)) < density, 1) * (rng.uniform(0.1, 3.0, (n, n)) if weighted else 1.0)
    return W + W.T


cases = st.tuples(st.integers(0, 10**6), st.integers(2, 10), st.sampled_from([0.2, 0.5, 0.9]), st.booleans())


@settings(max_examples=60)
@given(cases, st.data())
def test_the_load_bound_holds_on_any_core_after_any_number_of_passes(case, data) -> None:
    """Loads on a core with the cap of its outside never fall below the optimum of the whole graph."""
    W = random_weights(*case)
    k = data.draw(st.integers(1, len(W)))
    cap = data.draw(st.integers(0, 5))
    core = core_above(whole_core(as_graph(sp.csr_array(W))), float(cap))
    loads = balanced_loads(core, [k], passes=data.draw(st.sampled_from([10, 50])))
    assert top_sum(loads, k, core.cap) >= heaviest(W, k)


@settings(max_examples=60)
@given(cases, st.data())
def test_the_pair_bound_holds_for_any_prices_and_credits(case, data) -> None:
    """Whatever prices and credits are proposed, what is proven from them is above the optimum."""
    W = random_weights(*case)
    k = data.draw(st.integers(1, len(W)))
    rng = np.random.default_rng(case[0])
    core = core_above(whole_core(as_graph(sp.csr_array(W))), float(data.draw(st.integers(-1, 4))))
    first, second = np.triu_indices(core.graph.n, 1)
    weight = core.graph.to_scipy().toarray()[first, second]
    v = rng.uniform(0, 1, core.graph.n) * rng.integers(0, 2, core.graph.n)
    p = rng.uniform(0, 1, first.size) * rng.integers(0, 2, first.size)
    assert proven(core, k, first, second, weight, v, p, 5) >= heaviest(W, k)


@settings(max_examples=12)
@given(cases, st.data())
def test_the_primal_dual_method_improves_a_valid_bound(case, data) -> None:
    """The bound that the programme ends with is valid and not above the one it began with."""
    W = random_weights(*case)
    k = data.draw(st.integers(1, len(W)))
    core = whole_core(as_graph(sp.csr_array(W)))
    known = top_sum(balanced_loads(core, [k]), k, core.cap)
    found = pair_bound(core, k, known, 0.0, lambda work: work < 400 * (core.graph.n_edges + 1))
    assert heaviest(W, k) <= found <= known


@settings(max_examples=60)
@given(cases, st.data())
def test_clique_and_order_bounds_hold(case, data) -> None:
    """Both are above the optimum, the order bound also on a core."""
    W = (random_weights(*case) > 0).astype(float)
    k = data.draw(st.integers(1, len(W)))
    graph = as_graph(sp.csr_array(W))
    core = core_above(whole_core(graph), float(data.draw(st.integers(0, 4))))
    best = heaviest(W, k)
    assert order_bound(core, k) >= best and clique_bound(k, 1.0) >= best
    simple = simple_bounds(core, k, weight_range(graph)[1], integral_weights(graph))
    assert all(bound >= best for bound in simple.known.values())


def test_balanced_loads_solve_the_linear_relaxation() -> None:
    """On a random graph the sum of the k largest balanced loads is the optimum of the linear programme."""
    W = random_weights(5, 12, 0.4, False)
    first, second = np.nonzero(np.triu(W))
    n, m, k = len(W), first.size, 5
    rows = np.arange(m)
    ends = [sp.csr_array((np.ones(m), (rows, end)), (m, n)) for end in (first, second)]
    A = sp.vstack([sp.hstack([sp.eye_array(m), -end]) for end in ends])
    total = np.concatenate([np.zeros(m), np.ones(n)])[None, :]
    cost = np.concatenate([-np.ones(m), np.zeros(n)])
    exact = -scipy.optimize.linprog(cost, A, np.zeros(2 * m), total, [k], (0, 1)).fun
    core = whole_core(as_graph(sp.csr_array(W)))
    loads = balanced_loads(core, [k], passes=2000, tolerance=0.0)
    assert top_sum(loads, k, core.cap) == pytest.approx(exact, rel=1e-6)


def test_prices_beat_loads_where_hubs_lean_on_many() -> None:
    """Hubs joined to many nodes: the load bound is far off for small k, the pair bound proves the optimum."""
    hubs, others, k = 4, 16, 8
    n = hubs + others
    W = np.zeros((n, n))
    W[:hubs, :] = 1.0
    W[:, :hubs] = 1.0
    np.fill_diagonal(W, 0.0)
    best = hubs * (hubs - 1) / 2 + hubs * (k - hubs)
    core = whole_core(as_graph(sp.csr_array(W)))
    known = top_sum(balanced_loads(core, [k]), k, core.cap)
    found = pair_bound(core, k, known, best + 1.0, lambda work: work < 4e5)
    assert known > best + 1.0 and best <= found < best + 1.0


def test_non_edges_are_listed_once_and_only_where_they_bite() -> None:
    """Pairs with x_i + x_j > 1 that are no edges are added, and none twice."""
    core = whole_core(as_graph((5, [[0, 1], [1, 2], [3, 4]])))
    programme = PairProgramme(core, 4)
    programme.x[:] = [0.9, 0.9, 0.9, 0.05, 0.0]
    assert programme.add_non_edges() == 1 and programme.add_non_edges() == 0
    assert {programme.first[-1], programme.second[-1]} == {0, 2}


def test_every_pair_of_blocks_meets_once_and_rounds_touch_disjoint_blocks() -> None:
    """The schedule covers all groups, and within a round no block appears twice."""
    seen = []
    for groups in schedule():
        groups = groups[groups >= 0]
        blocks = [b for g in groups for b in {int(g) // BLOCKS, int(g) % BLOCKS}]
        assert len(blocks) == len(set(blocks))
        seen += list(groups)
    assert sorted(seen) == [a * BLOCKS + b for a in range(BLOCKS) for b in range(a, BLOCKS)]


def test_shares_keep_the_whole_weight_of_every_edge() -> None:
    """The proven loads add up to at least the weight that was split, offsets included."""
    rng = np.random.default_rng(0)
    first, second = np.triu_indices(40, 1)
    shares = shared(40, first, second, rng.uniform(0, 2, first.size), rng.normal(size=40))
    shares.balance(20)
    assert shares.proven_loads().sum() >= shares.weight.sum() + shares.offset.sum()
    assert np.all((shares.share >= 0) & (shares.share <= shares.weight))


def test_integer_weights_round_bounds_down_and_name_the_least() -> None:
    """A bound on an integer is an integer; the least bound wins."""
    bounds = SubgraphBounds(3, True)
    bounds.add("a", 7.9)
    bounds.add("b", 8.2)
    assert bounds.best == ("a", 7.0) and bounds.densities() == {"a": 14 / 3, "b": 16 / 3}
    assert integral_weights(as_graph((3, [[0, 1], [1, 2]])))
    assert not integral_weights(as_graph((3, [[0, 1, 0.5], [1, 2, 1.0]])))
