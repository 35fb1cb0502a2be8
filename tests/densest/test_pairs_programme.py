"""The linear programme of the pair bound: its primal-dual iteration, and when the search for a bound goes on."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.optimize
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from flipwise.densest.bounds import balanced_loads, top_sum
from flipwise.densest.core import Core, whole_core
from flipwise.densest.pairs import LISTING_STEPS, PATIENCE, STEPS, PairProgramme, pair_bound, proven
from flipwise.graphs.convert import as_graph
from tests.densest.clocks import CountingClock
from tests.densest.graphs import core_of, heaviest, matrices, random_weights


def relaxed(n: int, k: int, first: np.ndarray, second: np.ndarray, weight: np.ndarray) -> float:
    """The optimum of the linear programme of the module's docstring on the listed pairs."""
    m = first.size
    rows = np.arange(m)
    one, other = (sp.csr_array((np.ones(m), (rows, end)), (m, n)) for end in (first, second))
    blocks = [
        [-one, sp.eye_array(m)],
        [-other, sp.eye_array(m)],
        [one + other, -sp.eye_array(m)],
        [-(k - 1.0) * sp.eye_array(n), (one + other).T],
    ]
    right = np.concatenate([np.zeros(2 * m), np.ones(m), np.zeros(n)])
    bounds = [(0.0, 1.0)] * n + [(0.0, None)] * m
    total = np.concatenate([np.ones(n), np.zeros(m)])[None, :]
    cost = np.concatenate([np.zeros(n), -weight])
    return float(-scipy.optimize.linprog(cost, sp.csr_array(sp.block_array(blocks)), right, total, [k], bounds).fun)


def test_the_start_of_the_programme() -> None:
    """x spreads k over all nodes, y is as large as its ends allow, every edge is split in halves of its scale."""
    W = random_weights(8, 4, weighted=True)
    for k, x in ((2, 0.25), (8, 1.0), (20, 1.0)):
        programme = PairProgramme(core_of(W), k)
        assert np.array_equal(programme.x, np.full(8, x)) and np.array_equal(programme.y, np.full(programme.p.size, x))
        assert programme.scale == W.max() and not programme.p.any() and not programme.v.any()
        assert np.allclose(programme.r1 + programme.r2, programme.weight / W.max())
        assert np.array_equal(programme.r1, programme.r2) and not programme.outer.any()
        assert not programme.mean_v.any() and not programme.mean_p.any()
    assert np.array_equal(PairProgramme(core_of((W > 0) * 1.0), 3).weight, np.ones(programme.p.size))
    assert PairProgramme(core_of(W / 128.0), 2).scale == W.max() / 128.0
    assert PairProgramme(core_of(np.zeros((3, 3))), 2).scale == 1.0


def check_index(programme: PairProgramme) -> None:
    """Row i lists the pairs at node i, and which end of each i is."""
    for i in range(programme.core.graph.n):
        row = slice(programme.indptr[i], programme.indptr[i + 1])
        pairs, is_first = programme.pair_of[row], programme.is_first[row]
        assert np.array_equal(
            np.where(is_first, programme.first[pairs], programme.second[pairs]), np.full(pairs.size, i)
        )
        meeting = np.flatnonzero((programme.first == i) | (programme.second == i))
        assert sorted(pairs) == meeting.tolist()
    assert programme.indptr[0] == 0 and programme.indptr[-1] == 2 * programme.first.size


def test_pairs_are_listed_at_both_ends() -> None:
    """Before and after non-edges are added, and in a graph without edges; step lengths fall with the pairs."""
    programme = PairProgramme(core_of(random_weights(9, 5)), 4)
    check_index(programme)
    counts = np.diff(programme.indptr)
    assert np.all((programme.x_step > 0) & (programme.v_step > 0))
    assert np.array_equal(np.argsort(-programme.x_step, kind="stable"), np.argsort(counts, kind="stable"))
    programme.x[:] = 0.9
    assert programme.add_non_edges() == 36 - np.count_nonzero(programme.weight)
    check_index(programme)
    empty = PairProgramme(core_of(np.zeros((3, 3))), 2)
    check_index(empty)
    empty.x[:] = [0.9, 0.0, 0.9]
    assert empty.add_non_edges() == 1
    check_index(empty)


def test_new_pairs_start_where_their_lower_limit_is() -> None:
    """y = x_i + x_j - 1, no weight, no credit, no shares; the listed ones stay as they are."""
    programme = PairProgramme(whole_core(as_graph((5, [[0, 1], [1, 2], [3, 4]]))), 4)
    before = programme.y.copy()
    programme.x[:] = [0.75, 0.5, 0.75, 0.5, 0.01]
    assert programme.add_non_edges() == 3  # 0-2, 0-3 and 2-3; 1-3 only meets its limit
    added = {tuple(sorted(e)): y for *e, y in zip(programme.first[3:], programme.second[3:], programme.y[3:])}
    assert added == {(0, 2): 0.5, (0, 3): 0.25, (2, 3): 0.25}
    for each in (programme.weight, programme.p, programme.r1, programme.r2):
        assert each.size == 6 and not each[3:].any()
    assert np.array_equal(programme.y[:3], before)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("weighted", [False, True])
def test_the_iteration_solves_the_linear_programme(seed: int, weighted: bool) -> None:
    """After many steps the proof from its averages is the optimum of the programme, and x is a solution."""
    W = random_weights(7, seed, 0.6, weighted)
    core, k = core_of(W), 3
    programme = PairProgramme(core, k)
    programme.run(200)
    programme.x[:] = 1.0
    programme.add_non_edges()
    programme.x[:] = k / 7.0
    programme.run(4000)
    best = relaxed(7, k, programme.first, programme.second, programme.weight)
    pairs = programme.first, programme.second, programme.weight
    for v, p in ((programme.mean_v, programme.mean_p), (programme.v, programme.p)):
        bound = proven(core, k, *pairs, programme.scale * v, programme.scale * p, 200)
        assert heaviest(W, k) <= bound and best - 1e-9 <= bound <= best * 1.005
    assert programme.x.sum() + programme.outer[0] == pytest.approx(k, abs=1e-6)
    assert float(programme.y @ programme.weight) == pytest.approx(best, rel=0.02)


def test_averages_are_over_the_last_run() -> None:
    """One step from the start has its own values as averages; the scale of the weights does not matter."""
    W = random_weights(6, 7, 0.8, True)
    one, two = PairProgramme(core_of(W), 3), PairProgramme(core_of(8.0 * W), 3)
    for programme in (one, two):
        programme.run(30)
        programme.run(1)
    assert np.array_equal(one.mean_v, one.v) and np.array_equal(one.mean_p, one.p)
    assert np.allclose(one.v, two.v) and np.allclose(one.p, two.p) and one.v.any()


def test_the_cap_of_the_outside_draws_nodes_from_it() -> None:
    """Where a node outside brings more than the loads inside, the relaxed solution takes it."""
    weak = whole_core(as_graph((4, [[0, 1], [2, 3]])))
    outside = Core(weak.graph, weak.nodes, 3.0)
    for core, taken in ((weak, 0.0), (outside, 2.0)):
        programme = PairProgramme(core, 2)
        programme.run(500)
        assert programme.outer[0] == pytest.approx(taken, abs=1e-3)


@pytest.mark.parametrize("k", [2, 3, 4])
def test_the_pair_bound_comes_near_the_linear_programme(k: int) -> None:
    """K_{3,3} and a cycle: between the optimum and a little above the programme, of the cycle also on non-edges."""
    sides = np.kron(np.array([[0.0, 1.0], [1.0, 0.0]]), np.ones((3, 3)))
    cycle = np.roll(np.eye(7), 1, axis=0) + np.roll(np.eye(7), -1, axis=0)
    for W, listed in ((sides, sides > 0), (cycle, cycle >= 0)):
        core = core_of(W)
        first, second = np.nonzero(np.triu(listed, 1))
        known = top_sum(balanced_loads(core, [k]), k, core.cap)
        found = pair_bound(core, k, known, 0.0, most_work=1e6).bound
        assert heaviest(W, k) <= found <= min(known, 1.02 * relaxed(len(W), k, first, second, W[first, second]))


def test_a_bound_that_is_good_enough_is_kept() -> None:
    """Below the goal, and where there is nothing to spend or no time, nothing is done."""
    core = core_of(random_weights(8, 8))
    clock = CountingClock(0)
    assert pair_bound(core, 3, 5.0, 5.5, clock=clock)[:2] == (5.0, 0.0) and clock.looks == 0
    assert pair_bound(core, 3, 5.0, 5.0, clock=clock)[:2] == (5.0, 0.0) and clock.looks == 1
    each = STEPS * core.graph.n_edges
    assert pair_bound(core, 3, 5.0, 4.0, most_work=each)[:2] == (5.0, 0.0)
    assert pair_bound(core, 3, 5.0, 4.0, most_work=each + 1).work == each


def test_work_is_pairs_times_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every proof adds the pairs listed by then; a bound that cannot be improved is given up after a while."""
    W = random_weights(8, 9, 0.4)
    core = core_of(W)
    listed: list[int] = []
    run = PairProgramme.run

    def counted(programme: PairProgramme, steps: int) -> None:
        listed.append(programme.first.size)
        run(programme, steps)

    monkeypatch.setattr(PairProgramme, "run", counted)
    found = pair_bound(core, 6, heaviest(W, 6), 0.0)
    assert found[:2] == (heaviest(W, 6), STEPS * sum(listed))
    each = np.array(listed)
    assert each.size == PATIENCE and np.all(each[: LISTING_STEPS[0]] == core.graph.n_edges)
    assert np.all(np.diff(each) >= 0) and each[LISTING_STEPS[0]] > core.graph.n_edges and np.all(each <= 28)


def test_a_bound_that_still_improves_is_not_given_up() -> None:
    """The search goes on beyond its patience while proofs get better, and the result is the best of them."""
    core = core_of(random_weights(20, 1, 0.3))
    known = top_sum(balanced_loads(core, [6]), 6, core.cap)
    clock = CountingClock()
    once = pair_bound(core, 6, known, 0.0, clock=CountingClock(1)).bound
    assert pair_bound(core, 6, known, 0.0, clock=clock).bound < once < known and clock.looks > PATIENCE + 1


def test_a_hopeless_case_is_given_up() -> None:
    """A known bound that no proof comes near is kept after a few of them."""
    core = core_of(random_weights(8, 9, 0.4))
    clock = CountingClock()
    assert pair_bound(core, 6, 1.0, 0.0, clock=clock).bound == 1.0 and clock.looks == PATIENCE


def test_the_search_stops_below_the_goal() -> None:
    """Once the bound is below the goal no more work is done."""
    hubs = np.zeros((20, 20))
    hubs[:4] = hubs[:, :4] = 1.0
    np.fill_diagonal(hubs, 0.0)
    core = core_of(hubs)
    known = top_sum(balanced_loads(core, [8]), 8, core.cap)
    first, later = CountingClock(), CountingClock()
    stopped = pair_bound(core, 8, known, known * 0.999, clock=first).bound
    assert 22.0 <= stopped < known * 0.999
    assert pair_bound(core, 8, known, 0.0, clock=later).bound <= stopped and later.looks > 2 * first.looks


@settings(max_examples=12)
@given(matrices, st.data())
def test_the_primal_dual_method_improves_a_valid_bound(W: np.ndarray, data: st.DataObject) -> None:
    """The bound that the programme ends with is valid and not above the one it began with."""
    k = data.draw(st.integers(1, len(W)))
    core = whole_core(as_graph(sp.csr_array(W)))
    known = top_sum(balanced_loads(core, [k]), k, core.cap)
    found = pair_bound(core, k, known, 0.0, most_work=400 * (core.graph.n_edges + 1)).bound
    assert heaviest(W, k) <= found <= known


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
    found = pair_bound(core, k, known, best + 1.0, most_work=4e5).bound
    assert known > best + 1.0 and best <= found < best + 1.0


def test_non_edges_are_listed_once_and_only_where_they_bite() -> None:
    """Pairs with x_i + x_j > 1 that are no edges are added, and none twice."""
    core = whole_core(as_graph((5, [[0, 1], [1, 2], [3, 4]])))
    programme = PairProgramme(core, 4)
    programme.x[:] = [0.9, 0.9, 0.9, 0.05, 0.0]
    assert programme.add_non_edges() == 1 and programme.add_non_edges() == 0
    assert {programme.first[-1], programme.second[-1]} == {0, 2}
