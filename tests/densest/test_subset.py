"""A set and its moves: exact degrees and weights, and DPCD in the same steps as the algorithm's own parts."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

import flipwise
from flipwise.densest.bounds import balanced_loads
from flipwise.densest.core import whole_core
from flipwise.densest.subset import (
    SMALL_BATCH,
    Subset,
    clique_exchanges,
    descend,
    inner_weight,
    principal_coordinates,
    times,
)
from flipwise.engine.limits import Clock
from flipwise.foundation.arrays import Floats, Ints
from flipwise.graphs.convert import as_graph
from flipwise.graphs.graph import Graph
from flipwise.solvers.dpcd.steps import ImprovingUpdate, LiteralUpdate
from tests.densest.graphs import random_weights

pytestmark = pytest.mark.kernels


def subset_of(W: np.ndarray, seed: int, k: int) -> Subset:
    """A random set of k nodes."""
    mask = np.zeros(len(W), dtype=bool)
    mask[np.random.default_rng(seed).permutation(len(W))[:k]] = True
    return Subset.of(as_graph(sp.csr_array(W)), mask)


def spins_of(subset: Subset) -> Floats:
    """The set as the algorithm sees it."""
    return np.where(subset.mask, 1.0, -1.0)


def algorithm_pairs(W: np.ndarray, k: int, x: Floats) -> Ints:
    """What `solvers.dpcd.algorithm` pairs at x with thresholds 0: gauge, S_plus and S_minus, Eq. (8)."""
    objective, constraint = flipwise.Quadratic(-sp.csr_array(W), variables="binary"), flipwise.Cardinality(k)
    update = ImprovingUpdate(objective, constraint)
    d = constraint.gauge(update.gauge(x, objective.gradient(x)))
    S_plus, S_minus = np.flatnonzero((d > 0.0) & (x > 0)), np.flatnonzero((d < 0.0) & (x < 0))
    return constraint.pair(S_plus, S_minus, d)


def check(subset: Subset, W: np.ndarray, k: int) -> None:
    """Members, degrees and weight are those of the matrix."""
    x = subset.mask.astype(float)
    assert x.sum() == k and np.allclose(subset.degrees, W @ x) and subset.weight == pytest.approx(x @ W @ x / 2)


@pytest.mark.parametrize("weighted", [False, True], ids=["plain", "weighted"])
def test_every_move_keeps_degrees_and_weight_exact(weighted: bool) -> None:
    """Exchanges, growth, removal and copies; what is asked of the graph agrees with the matrix."""
    W = random_weights(40, 1, 0.3, weighted)
    subset = subset_of(W, 0, 12)
    check(subset, W, 12)
    copy = subset.copy()
    outside = np.flatnonzero(~subset.mask)
    before = subset.weight
    change = subset.exchange(subset.members[:3], outside[:3])
    check(subset, W, 12)
    assert subset.weight == pytest.approx(before + change) and copy.weight == before
    piece = subset.grow(int(np.flatnonzero(~subset.mask)[0]), 5, 2)
    check(subset, W, 17)
    subset.shed(5, piece)
    check(subset, W, 12)
    assert subset.mask[piece].all()
    subset.best_swaps(100)
    check(subset, W, 12)
    check(copy, W, 12)
    x = np.random.default_rng(2).standard_normal(40)
    assert np.allclose(times(subset.graph, x), W @ x)
    assert inner_weight(subset.graph, subset.members) == pytest.approx(2.0 * subset.weight)


@pytest.mark.parametrize("seed", range(6))
def test_an_update_selects_and_pairs_what_the_algorithm_does(seed: int) -> None:
    """With weights no two degrees are equal: the pairs are the same, in the same order, at every update on the way."""
    n, k = 80, 20
    W = random_weights(n, seed, 0.3, weighted=True)
    subset = subset_of(W, seed, k)
    for _ in range(30):
        leaving, entering = principal_coordinates(subset)
        pairs = algorithm_pairs(W, k, spins_of(subset))
        assert np.array_equal(pairs, np.stack([leaving, entering], axis=1))
        if not leaving.size:
            break
        subset.exchange_improving(leaving, entering)
    assert seed or leaving.size == 0 or subset.weight > 0


@pytest.mark.parametrize("seed", range(6))
def test_among_equal_degrees_the_pairs_of_the_algorithm_come_first(seed: int) -> None:
    """Outsiders that only reach the level are taken too, after all that the algorithm takes."""
    n, k = 80, 20
    W = random_weights(n, seed, 0.2)
    subset = subset_of(W, seed, k)
    for _ in range(30):
        leaving, entering = principal_coordinates(subset)
        pairs = algorithm_pairs(W, k, spins_of(subset))
        mine = np.stack([leaving, entering], axis=1)
        assert np.array_equal(pairs, mine[: len(pairs)])
        level = np.sort(subset.degrees)[n - k]
        assert np.all(subset.degrees[entering[len(pairs) :]] == level) and np.all(subset.degrees[leaving] < level)
        if not subset.exchange_improving(leaving, entering):
            break


@pytest.mark.parametrize("weighted", [False, True], ids=["plain", "weighted"])
def test_a_batch_that_is_accepted_whole_leads_to_the_set_of_the_algorithm(weighted: bool) -> None:
    """The literal update flips all pairs, the descent keeps a batch that improves: the same set and the same f."""
    accepted = 0
    for seed in range(12):
        n, k = 120, 40
        W = random_weights(n, seed, 0.1, weighted)
        subset = subset_of(W, seed, k)
        leaving, entering = principal_coordinates(subset)
        x = spins_of(subset)
        pairs = algorithm_pairs(W, k, x)
        if leaving.size <= SMALL_BATCH or len(pairs) != leaving.size:
            continue
        objective = flipwise.Quadratic(-sp.csr_array(W), variables="binary")
        g = objective.gradient(x)
        flips, change = LiteralUpdate(objective, flipwise.Cardinality(k)).make(x, g, pairs, follow=False)
        gained = subset.exchange(leaving, entering)
        assert np.array_equal(subset.mask, x > 0) and flips == 2 * leaving.size
        assert change == pytest.approx(-2.0 * gained) and objective.value(x) == pytest.approx(-2.0 * subset.weight)
        assert np.allclose(g, -subset.degrees)  # the gradient is minus the degrees
        accepted += gained > 0
    assert accepted > 3


@pytest.mark.parametrize("weighted", [False, True], ids=["plain", "weighted"])
def test_the_end_of_a_descent_is_one_by_either_account(weighted: bool) -> None:
    """No swap improves it by the degrees, and the algorithm itself finds none from there."""
    for seed in range(4):
        n, k = 150, 30
        W = random_weights(n, seed, 0.15, weighted)
        subset = subset_of(W, seed, k)
        started = subset.weight
        descend(subset)
        check(subset, W, k)
        inside, outside = np.flatnonzero(subset.mask), np.flatnonzero(~subset.mask)
        gains = subset.degrees[outside][None, :] - subset.degrees[inside][:, None] - W[np.ix_(inside, outside)]
        assert gains.max() <= 1e-9 and subset.weight > started
        objective = flipwise.Quadratic(-sp.csr_array(W), variables="binary")
        from_there = flipwise.minimize(
            objective, count=k, start=subset.mask.astype(np.int8), neighbourhood=0, alpha=0.0, seed=0
        )
        assert from_there.status is flipwise.Status.LOCAL_OPTIMUM and from_there.iterations == 1
        assert np.array_equal(from_there.x > 0, subset.mask)


def test_a_weighted_graph_without_edges() -> None:
    """Every exchange is as good as none."""
    graph = Graph(np.zeros(7, np.int64), np.empty(0, np.int32), np.empty(0))
    subset = Subset.of(graph, np.arange(6) < 2)
    descend(subset)
    assert subset.weight == 0.0 and subset.exchange_improving(np.array([0]), np.array([5])) == 0
    assert inner_weight(graph, np.array([1, 2])) == 0.0


def test_nothing_to_exchange() -> None:
    """The empty set and the whole graph have no pairs."""
    W = random_weights(10, 3)
    for k in (0, 10):
        leaving, entering = principal_coordinates(subset_of(W, 0, k))
        assert leaving.size == entering.size == 0
        descend(subset_of(W, 0, k))


@pytest.mark.parametrize("weighted", [False, True], ids=["plain", "weighted"])
def test_a_clique_outside_is_exchanged_as_a_whole(weighted: bool) -> None:
    """A set that no swap improves, beside a clique without ties to it: one exchange brings all of it."""
    n, k = 60, 12
    weight = 1.5 if weighted else 1.0
    W = np.zeros((n, n))
    W[:k, :k] = weight * np.eye(k, k=1)  # a path
    W[20:32, 20:32] = weight * np.triu(np.ones((12, 12)), 1)
    W = W + W.T
    graph = as_graph(sp.csr_array(W))
    subset = Subset.of(graph, np.arange(n) < k)
    found = list(clique_exchanges(subset, balanced_loads(whole_core(graph), [k]), 1e9))
    check(found[0], W, k)
    assert found[0].mask[20:32].sum() == k // 2 and found[0].weight > subset.weight
    assert all(each.mask.sum() == k for each in found)


def test_a_descent_ends_with_its_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is exchanged when it is over; with time left, slices of exchanges lead to the end of all of them."""
    graph = as_graph(random_weights(40, 2))
    mask = np.arange(40) < 9
    late, unhurried, whole = (Subset.of(graph, mask) for _ in range(3))
    descend(late, Clock(0.0))
    assert np.array_equal(late.mask, mask)
    monkeypatch.setattr("flipwise.densest.subset.SLICE_WORK", 0.0)
    monkeypatch.setattr("flipwise.densest.subset.SMALL_BATCH", 0)
    descend(unhurried, Clock(1e9))
    descend(whole)
    assert unhurried.weight == pytest.approx(whole.weight) and whole.weight > late.weight
