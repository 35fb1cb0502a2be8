"""Loads: every edge is dealt out once, balanced loads are those of theory, sums are rounded up and by little."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
import scipy.optimize
import scipy.sparse as sp

from flipwise.densest import bounds
from flipwise.densest.bounds import (
    Shares,
    balanced_loads,
    group_of,
    positive_edges,
    schedule,
    sorted_by_group,
    split_in_halves,
    top_sum,
)
from flipwise.densest.core import Core, core_above, whole_core
from flipwise.graphs.convert import as_graph
from flipwise.kernels.bounds import BLOCKS
from tests.densest.clocks import CountingClock


def core_of(W: np.ndarray) -> Core:
    """The whole graph of a weight matrix."""
    return whole_core(as_graph(sp.csr_array(W)))


def random_weights(n: int, seed: int, weighted: bool) -> np.ndarray:
    """A symmetric matrix of weights, some of them negative when weighted."""
    rng = np.random.default_rng(seed)
    W = np.triu(rng.random((n, n)) < 0.4, 1) * (rng.uniform(-1.0, 3.0, (n, n)) if weighted else 1.0)
    return W + W.T


def halves(core: Core) -> Shares:
    """The positive edges of a core, split in halves."""
    return split_in_halves(core.graph.n, positive_edges(core))


def listed_halves(n: int, first: np.ndarray, second: np.ndarray, weight: np.ndarray, *offset: np.ndarray) -> Shares:
    """Edges that the test lists, split in halves."""
    return split_in_halves(n, sorted_by_group(first, second, weight), *offset)


def listed(shares: Shares) -> dict[tuple[int, int], float]:
    """The weight of every edge."""
    weight = np.broadcast_to(shares.weight, shares.first.shape)
    ends = (tuple(sorted((int(i), int(j)))) for i, j in zip(shares.first, shares.second, strict=True))
    found = dict(zip(ends, weight.tolist(), strict=True))  # type: ignore[arg-type]
    assert len(found) == shares.first.size
    return found  # type: ignore[return-value]


def exact_loads(shares: Shares) -> list[Fraction]:
    """What the shares put on every node, with the offset, in rational numbers."""
    total = [Fraction(float(each)) for each in shares.offset]
    weight = np.broadcast_to(shares.weight, shares.first.shape)
    for i, j, w, a in zip(shares.first, shares.second, weight, shares.share, strict=True):
        total[i] += Fraction(float(a))
        total[j] += Fraction(float(w)) - Fraction(float(a))
    return total


def check_groups(shares: Shares) -> None:
    """Group (a, b) holds the edges between the blocks a and b, and the groups hold all edges."""
    assert shares.group_start[0] == 0 and shares.group_start[-1] == shares.first.size
    assert shares.group_start.size == BLOCKS**2 + 1
    for a in range(BLOCKS):
        for b in range(BLOCKS):
            here = slice(shares.group_start[group_of(a, b)], shares.group_start[group_of(a, b) + 1])
            ends = np.stack([shares.first[here] % BLOCKS, shares.second[here] % BLOCKS])
            assert np.all(ends.min(axis=0) == a) and np.all(ends.max(axis=0) == b)


@pytest.mark.parametrize("weighted", [False, True])
def test_the_positive_edges_are_dealt_out_once(weighted: bool) -> None:
    """Each edge with its weight stands in the group of its blocks, split in halves; negative ones are left out."""
    W = random_weights(40, 1, weighted)
    shares = halves(core_of(W))
    wanted = {(i, j): W[i, j] for i, j in zip(*np.nonzero(np.triu(W) > 0), strict=True)}
    assert listed(shares) == wanted
    check_groups(shares)
    assert np.array_equal(shares.share, np.broadcast_to(shares.weight, shares.first.shape) / 2.0)
    assert np.allclose(shares.loads, np.maximum(W, 0.0).sum(axis=1) / 2.0) and not shares.offset.any()
    assert np.array_equal(shares.counts, (W > 0).sum(axis=1))
    first, second, weight, start = positive_edges(core_of(W))
    assert np.array_equal(first, shares.first) and np.array_equal(second, shares.second)
    assert np.array_equal(start, shares.group_start)
    assert np.array_equal(weight, shares.weight) and weight.size == (len(wanted) if weighted else 1)


@pytest.mark.parametrize("weighted", [False, True])
def test_given_edges_keep_their_weights(weighted: bool) -> None:
    """Edges in any order are sorted into their groups, weights with them; offsets are part of the loads."""
    rng = np.random.default_rng(2)
    pairs = rng.permutation(33 * 16)[:200]
    one, other = np.triu_indices(33, 1)
    first, second = other[pairs], one[pairs]
    weight = rng.uniform(0.0, 2.0, 200) if weighted else np.ones(1)
    offset = rng.standard_normal(33)
    shares = listed_halves(33, first, second, weight, offset)
    each = np.broadcast_to(weight, (200,))
    assert listed(shares) == {(int(j), int(i)): float(w) for i, j, w in zip(first, second, each, strict=True)}
    check_groups(shares)
    meeting = np.bincount(first, minlength=33) + np.bincount(second, minlength=33)
    assert np.array_equal(shares.counts, meeting)
    loads = offset + np.bincount(first, each / 2, 33) + np.bincount(second, each / 2, 33)
    assert np.allclose(shares.loads, loads) and np.array_equal(shares.offset, offset)


def test_two_edges_change_places_with_their_weights() -> None:
    """The first given belongs to the later group."""
    shares = listed_halves(4, np.array([2, 0]), np.array([3, 1]), np.array([5.0, 7.0]))
    assert listed(shares) == {(2, 3): 5.0, (0, 1): 7.0} and shares.first.tolist() == [0, 2]
    check_groups(shares)


def test_a_round_is_as_long_as_there_are_blocks_to_meet() -> None:
    """First every block alone, then all pairs: groups a * BLOCKS + b with a <= b, each in exactly one round."""
    rounds = schedule()
    assert rounds.shape == (BLOCKS, BLOCKS) and rounds.dtype == np.int64
    assert rounds[0].tolist() == [group_of(b, b) for b in range(BLOCKS)] == [b * (BLOCKS + 1) for b in range(BLOCKS)]
    used = rounds[rounds >= 0]
    assert np.unique(used).size == used.size == BLOCKS * (BLOCKS + 1) // 2
    assert all(np.count_nonzero(each >= 0) == BLOCKS // 2 for each in rounds[1:])


def test_many_edges_are_balanced_to_the_same_bits(monkeypatch: pytest.MonkeyPatch) -> None:
    """The kernel for many edges and the one for few give the same shares."""
    core = core_of(random_weights(40, 3, True))
    few, many = halves(core), halves(core)
    few.balance(3)
    monkeypatch.setattr("flipwise.densest.bounds.SERIAL_EDGES", 0)
    many.balance(3)
    assert np.array_equal(few.share, many.share) and np.array_equal(few.loads, many.loads)
    assert not np.array_equal(few.share, halves(core).share)


@pytest.mark.parametrize(
    ("n", "edges", "loads"),
    [
        (4, [[0, 1], [0, 2], [0, 3]], [0.75] * 4),  # a star gives way to its hub until all carry the same
        (5, [[0, 1], [1, 2], [2, 0], [3, 4]], [1.0, 1.0, 1.0, 0.5, 0.5]),
        (4, [[0, 1, 3.0], [1, 2, 1.0]], [1.5, 1.5, 1.0, 0.0]),
        (6, [[i, j] for i in range(3) for j in range(3, 6)], [1.5] * 6),
        (3, [[0, 1, -2.0], [1, 2, 5.0]], [0.0, 2.5, 2.5]),
        (3, [[0, 1, -2.0]], [0.0, 0.0, 0.0]),
    ],
)
def test_balanced_loads_by_hand(n: int, edges: list[list[float]], loads: list[float]) -> None:
    """Stars, triangles, K_{3,3} and weights: the loads are the densest parts' densities, and never below them."""
    found = balanced_loads(whole_core(as_graph((n, edges))), [1, n], tolerance=0.0)
    assert np.allclose(found, loads, atol=1e-9) and found.sum() >= sum(loads)
    assert all(each < 1e-25 for each, wanted in zip(found, loads, strict=True) if wanted == 0.0)


def test_balancing_ends_when_it_may_or_must(monkeypatch: pytest.MonkeyPatch) -> None:
    """The clock is looked at before and after every ten passes; it, the passes and the tolerance end the balancing.

    On a large graph it is looked at after every single pass.
    """
    core = core_of(random_weights(30, 4, False))
    clock = CountingClock()

    def after(passes: int) -> np.ndarray:
        shares = halves(core)
        shares.balance(passes)
        return shares.proven_loads()

    assert np.array_equal(balanced_loads(core, [5], tolerance=0.0, clock=CountingClock(0)), core.graph.degrees / 2)
    assert np.array_equal(balanced_loads(core, [5], tolerance=0.0, clock=CountingClock(1)), after(10))
    assert np.array_equal(balanced_loads(core, [5], passes=111, tolerance=-1.0, clock=clock), after(120))
    assert clock.looks == 13
    assert np.array_equal(balanced_loads(core, [5, 9], tolerance=1e9), after(20))
    # k = n gains nothing from the start, since the sum is the weight; a small k still does
    assert np.array_equal(balanced_loads(core, [30], tolerance=1e-9), after(20))
    assert not np.array_equal(balanced_loads(core, [30, 3], tolerance=1e-9), after(20))
    monkeypatch.setattr(bounds, "MOST_AT_ONCE", 0)
    assert np.array_equal(balanced_loads(core, [5], tolerance=0.0, clock=CountingClock(3)), after(3))


def test_balancing_goes_on_where_weight_has_far_to_go() -> None:
    """A clique at the end of a path hands its weight on from node to node: by default that is followed to its end."""
    edges = [[i, i + 1] for i in range(20)] + [[i, j] for i in range(20, 26) for j in range(20, i)]
    core = whole_core(as_graph((26, edges)))
    by_default, to_the_end = (
        top_sum(loads, 12, core.cap)
        for loads in (balanced_loads(core, [12]), balanced_loads(core, [12], passes=4000, tolerance=0.0))
    )
    shares = halves(core)
    shares.balance(20)
    assert to_the_end <= by_default <= to_the_end * 1.001 < top_sum(shares.proven_loads(), 12, core.cap)


@pytest.mark.parametrize("weight", [0.1, 0.7, 1e6 / 3.0, 1e-6 / 3.0])
@pytest.mark.parametrize("leaves", [1, 2, 15, 120])
def test_proven_loads_are_above_the_exact_ones_and_near(leaves: int, weight: float) -> None:
    """The sum of hundreds of rounded shares is made up for, at every node, by about as much as it can be off."""
    rng = np.random.default_rng(leaves)
    hub, others = np.zeros(leaves, dtype=np.int64), np.arange(1, leaves + 1)
    for drawn in (np.full(leaves, weight), rng.uniform(0.5, 1.0, leaves) * weight, np.array([weight])):
        for fraction in (1.0, 0.3, 0.0):
            shares = listed_halves(leaves + 2, hub, others, drawn)
            shares.share[:] = fraction * shares.weight
            proven, exact = shares.proven_loads(), exact_loads(shares)
            assert all(Fraction(float(p)) >= e for p, e in zip(proven, exact, strict=True))
            near = Fraction(weight) * (leaves + 1) * (leaves + 4) * Fraction(1, 10**15)
            assert all(Fraction(float(p)) <= e + near for p, e in zip(proven, exact, strict=True))
            assert proven[-1] <= 1e-25 * weight  # no edge meets here


def test_the_largest_weight_does_not_lower_a_small_load() -> None:
    """Beside an edge of 1e9 the load of a small edge is still rounded up."""
    shares = listed_halves(4, np.array([0, 2]), np.array([1, 3]), np.array([0.1, 1e9]))
    proven, exact = shares.proven_loads(), exact_loads(shares)
    assert all(Fraction(float(p)) > e for p, e in zip(proven, exact, strict=True))
    assert proven[:2].max() < 0.05 + 1e-5


@pytest.mark.parametrize("offset", [1e16, -1e16, 1.0 / 3.0])
def test_offsets_are_rounded_up_with_the_loads(offset: float) -> None:
    """A large offset of either sign swallows a load: the sum is not below the exact one."""
    shares = listed_halves(3, np.array([0]), np.array([1]), np.array([2.6]), np.full(3, offset))
    for proven, exact in zip(shares.proven_loads(), exact_loads(shares), strict=True):
        assert exact < Fraction(float(proven)) <= exact + Fraction(1e-15 * (abs(offset) + 10.0))


@pytest.mark.parametrize(
    ("k", "cap", "total"),
    [(1, -1.0, 4.0), (2, -1.0, 7.0), (3, -1.0, 8.5), (4, -1.0, 8.5), (6, -1.0, 8.5), (3, 2.0, 9.0), (6, 2.0, 15.0)],
)
def test_the_sum_of_the_largest_loads(k: int, cap: float, total: float) -> None:
    """Below zero nothing is counted; nodes from outside fill up with `cap`, and replace smaller loads."""
    loads = np.array([1.5, 4.0, -2.0, 3.0])
    assert total <= top_sum(loads, k, cap) <= total * (1.0 + 1e-14)
    assert loads.tolist() == [1.5, 4.0, -2.0, 3.0]


def test_the_sum_is_rounded_up() -> None:
    """A sum between two floats is not below the exact one, loads and those from outside alike."""
    loads = np.array([1e16, 1.0, 0.1])
    assert Fraction(top_sum(loads, 2, -1.0)) >= 10**16 + 1
    for k in range(1, 40):
        exact = 3 * Fraction(0.7) + (k - 3) * Fraction(0.1) if k >= 3 else k * Fraction(0.7)
        assert exact <= Fraction(top_sum(np.full(3, 0.7), k, 0.1)) <= exact * (1 + Fraction(1, 10**14))


def test_loads_on_a_core_count_the_nodes_outside() -> None:
    """A clique with a path: the path is cut off, and k beyond the clique takes nodes of the cap."""
    edges = [[i, j] for i in range(5) for j in range(i)] + [[4, 5], [5, 6], [6, 7]]
    core = core_above(whole_core(as_graph((8, edges))), 1.0)
    loads = balanced_loads(core, [5])
    assert loads.size == 5 and np.allclose(loads, 2.0)
    assert top_sum(loads, 7, core.cap) == pytest.approx(12.0)


def test_balanced_loads_solve_the_linear_relaxation() -> None:
    """On a random graph the sum of the k largest balanced loads is the optimum of the linear programme."""
    W = random_weights(12, 5, False)
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
    shares = listed_halves(40, first, second, rng.uniform(0, 2, first.size), rng.normal(size=40))
    shares.balance(20)
    assert shares.proven_loads().sum() >= shares.weight.sum() + shares.offset.sum()
    assert np.all((shares.share >= 0) & (shares.share <= shares.weight))
