"""The proof of the pair bound: from any prices and credits, never below the best set."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from flipwise.densest.bounds import balanced_loads, top_sum
from flipwise.densest.core import Core, core_above, whole_core
from flipwise.densest.pairs import proven
from flipwise.graphs.convert import as_graph
from tests.densest.graphs import core_of, heaviest, matrices, random_weights


def all_pairs(core: Core) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Every pair of nodes with its weight."""
    first, second = np.triu_indices(core.graph.n, 1)
    return first, second, core.graph.to_scipy().toarray()[first, second].astype(float)


@pytest.mark.parametrize("k", [1, 3, 7])
@pytest.mark.parametrize("weighted", [False, True])
def test_no_prices_are_the_load_bound(k: int, weighted: bool) -> None:
    """v = p = 0 proves what the balanced loads prove."""
    core = core_of(random_weights(9, 1, weighted=weighted))
    pairs = all_pairs(core)
    bound = proven(core, k, *pairs, np.zeros(9), np.zeros(36), 400)
    assert bound == pytest.approx(top_sum(balanced_loads(core, [k], passes=400, tolerance=0.0), k, -1.0), rel=1e-6)


@pytest.mark.parametrize("k", [1, 2, 5, 9])
def test_prices_of_a_half_are_the_clique_bound(k: int) -> None:
    """v = 1/2 pays for every pair, and each of k nodes meets k - 1 others."""
    core = core_of(random_weights(9, 2))
    bound = proven(core, k, *all_pairs(core), np.full(9, 0.5), np.zeros(36), 5)
    assert k * (k - 1) / 2 <= bound <= k * (k - 1) / 2 + 1e-11


def test_credits_by_hand() -> None:
    """Two far nodes with price 1: the credit of 1 counts once in the sum and is taken from both ends."""
    core = core_of(random_weights(4, 0, density=0.0))
    first, second, weight = all_pairs(core)
    v, p = np.array([0.0, 0.5, 0.5, 0.0]), np.zeros(6)
    p[(first == 1) & (second == 2)] = 1.0
    # k = 4: sum p + the sum over all nodes of 3 v - p = 1 + 3 - 2
    assert proven(core, 4, first, second, weight, v, p, 5) == pytest.approx(2.0, abs=1e-12)
    # k = 1: 1 + the largest of 0 - 1 and 0
    assert proven(core, 1, first, second, weight, v, p, 5) == pytest.approx(1.0, abs=1e-12)
    # more credit than the prices pay for is not given
    assert proven(core, 4, first, second, weight, v, 5.0 * p, 5) == pytest.approx(2.0, abs=1e-12)


def test_prices_and_credits_below_zero_count_as_none() -> None:
    """Whatever negative numbers are proposed, the proof is that of zeros."""
    core = core_of(random_weights(7, 3))
    pairs = all_pairs(core)
    none = proven(core, 3, *pairs, np.zeros(7), np.zeros(21), 20)
    assert proven(core, 3, *pairs, np.full(7, -2.0), np.full(21, -3.0), 20) == none


def test_what_is_left_of_an_edge_is_carried_by_its_ends() -> None:
    """An edge of 3 between prices of 1/2 and 1: 1.5 is left to split, beside (k - 1) v, and a credit adds to it."""
    core = whole_core(as_graph((2, [[0, 1, 3.0]])))
    edge = np.array([0]), np.array([1]), np.array([3.0])
    v = np.array([0.5, 1.0])
    assert proven(core, 2, *edge, v, np.zeros(1), 5) == pytest.approx(0.5 + 1.0 + 1.5, abs=1e-12)
    assert proven(core, 1, *edge, v, np.zeros(1), 50) == pytest.approx(0.75, abs=1e-12)
    assert proven(core, 2, *edge, v, np.array([0.5]), 5) == pytest.approx(3.0, abs=1e-12)
    wide = np.array([2.5, 2.5])  # 5 for an edge of 3: the credit may be 2
    assert proven(core, 2, *edge, wide, np.array([9.0]), 5) == pytest.approx(2.0 + 5.0 - 4.0, abs=1e-12)
    assert proven(core, 2, *edge, wide, np.array([1.0]), 5) == pytest.approx(1.0 + 5.0 - 2.0, abs=1e-12)


@pytest.mark.parametrize("weight", [0.1, 1e5 / 3.0])
@pytest.mark.parametrize("price", [0.0, 0.3, 0.5, 0.7])
def test_the_proof_of_the_best_set_is_not_below_it(weight: float, price: float) -> None:
    """Cliques, where every inequality is met with equality: only the rounding up keeps the proof above."""
    for n in (3, 8, 30):
        core = core_of(weight * (np.ones((n, n)) - np.eye(n)))
        first, second, weights = all_pairs(core)
        exact = Fraction(weight) * n * (n - 1) / 2
        credit = np.full(first.size, max(0.0, 2.0 * price - 1.0) * weight)
        bound = Fraction(proven(core, n, first, second, weights, np.full(n, price * weight), credit, 5))
        assert exact <= bound
        assert bound <= exact * (1 + Fraction(1, 10**11))


def test_the_sum_of_credits_is_rounded_up() -> None:
    """Credits of 1e16 and 1 that a single node never gets back: their sum, which is no float, is not undercut."""
    core = core_of(np.zeros((3, 3)))
    v = np.array([1e16, 0.0, 1.0])
    bound = proven(core, 1, np.array([0, 1]), np.array([1, 2]), np.zeros(2), v, np.array([1e16, 1.0]), 5)
    assert 10**16 + 1 <= Fraction(bound) <= 10**16 + 1000


@pytest.mark.parametrize("at", [0, 30])
def test_a_node_with_many_credits_is_rounded_up(at: int) -> None:
    """30 credits of 0.1 at one node, as first or as last end: what is left of its price is not below the exact rest."""
    m, k, price = 30, 90, 0.1
    core = core_of(np.zeros((m + 1, m + 1)))
    hub, others = np.full(m, at), np.delete(np.arange(m + 1), at)
    v = np.zeros(m + 1)
    v[at] = price
    first, second = (hub, others) if at == 0 else (others, hub)
    exact = (k - 1) * Fraction(price)  # m credits, and (k - 1) v less m credits at the node
    bound = Fraction(proven(core, k, first, second, np.zeros(m), v, np.full(m, price), 5))
    assert exact <= bound <= exact * (1 + Fraction(1, 10**11))


def test_credits_that_add_up_to_too_much_are_made_up_for() -> None:
    """1 and 400 credits that are each rounded up when added to it: taken from the price, they lower no sum."""
    m, k = 401, 4
    core = core_of(np.zeros((m + 1, m + 1)))
    v, p = np.zeros(m + 1), np.full(m, 1.01 * 2.0**-53)
    v[0] = p[0] = 1.0
    bound = proven(core, k, np.zeros(m, dtype=np.int64), np.arange(1, m + 1), np.zeros(m), v, p, 5)
    assert k - 1 <= bound <= k - 1 + 1e-11  # all credits, and (k - 1) v less all credits


@pytest.mark.parametrize(("weight", "price"), [(1.0, 0.4999), (1.0 / 3.0, 0.1666), (3e5, 149_999.9)])
def test_a_small_rest_beside_large_prices_is_rounded_up(weight: float, price: float) -> None:
    """What two prices leave of an edge, far below both, is split in halves that are not below the exact ones."""
    core = whole_core(as_graph((2, [[0, 1, weight]])))
    edge = np.array([0]), np.array([1]), np.array([weight])
    exact = (Fraction(weight) - 2 * Fraction(price)) / 2
    bound = Fraction(proven(core, 1, *edge, np.full(2, price), np.zeros(1), 20))
    assert exact <= bound <= exact + Fraction(weight) / 10**13


def test_nodes_outside_the_core_count_with_the_cap() -> None:
    """A clique with a path cut off: beyond the clique each node brings at most the cap."""
    edges = [[i, j] for i in range(5) for j in range(i)] + [[4, 5], [5, 6], [6, 7]]
    core = core_above(whole_core(as_graph((8, edges))), 1.0)
    pairs = all_pairs(core)
    assert proven(core, 5, *pairs, np.zeros(5), np.zeros(10), 5) == pytest.approx(10.0)
    assert proven(core, 7, *pairs, np.zeros(5), np.zeros(10), 5) == pytest.approx(12.0)


@settings(max_examples=60)
@given(matrices, st.data())
def test_the_pair_bound_holds_for_any_prices_and_credits(W: np.ndarray, data: st.DataObject) -> None:
    """Whatever prices and credits are proposed, what is proven from them is above the optimum."""
    k = data.draw(st.integers(1, len(W)))
    rng = np.random.default_rng(data.draw(st.integers(0, 10**6)))
    core = core_above(whole_core(as_graph(sp.csr_array(W))), float(data.draw(st.integers(-1, 4))))
    first, second = np.triu_indices(core.graph.n, 1)
    weight = core.graph.to_scipy().toarray()[first, second]
    v = rng.uniform(0, 1, core.graph.n) * rng.integers(0, 2, core.graph.n)
    p = rng.uniform(0, 1, first.size) * rng.integers(0, 2, first.size)
    assert proven(core, k, first, second, weight, v, p, 5) >= heaviest(W, k)
