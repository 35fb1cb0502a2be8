"""The search for one k: large graphs, wider cores; runs that were killed anywhere go on to the same sets and proofs."""

from __future__ import annotations

import time
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

import flipwise
from flipwise.densest import pairs, relaxed, solver
from flipwise.densest.sizes import prove_cheaply
from flipwise.densest.solver import DensestSearch
from flipwise.densest.sweep import Sweep
from flipwise.densest.whole import GraphInMemory, SubgraphObjective
from flipwise.engine.solve import solve as engine_solve
from flipwise.graphs.convert import as_graph
from flipwise.model.constraints import Cardinality
from flipwise.model.problem import Problem
from tests.densest.graphs import heaviest, random_weights
from tests.engine.killing import EDGES, Killed

WEIGHTED = sp.coo_array((np.random.default_rng(1).random(1500), (EDGES[:, 0], EDGES[:, 1])), shape=(200, 200)).tocsr()


@pytest.fixture(autouse=True)
def short_proofs(monkeypatch: pytest.MonkeyPatch) -> None:
    """These tests are about the order of things: semidefinite proofs take no more than a moment."""
    monkeypatch.setattr(relaxed, "WORK", 2e9)


def check_same(mine: flipwise.DensestSubgraph, other: flipwise.DensestSubgraph) -> None:
    """Same nodes, bounds, iterations and end."""
    assert np.array_equal(mine.x, other.x) and mine.density == other.density and mine.bounds == other.bounds
    assert mine.iterations == other.iterations and mine.status is other.status
    assert mine.evaluations == other.evaluations > 0


@pytest.mark.parametrize("graph", [(200, EDGES), WEIGHTED + WEIGHTED.T], ids=["plain", "weighted"])
def test_dense_subgraphs_go_on_among_their_walks(graph: Any, tmp_path: Path) -> None:
    """Killed in the starts, in the first walks, among the moves and at a second k: same nodes, bounds, iterations."""
    solve = partial(flipwise.densest_subgraph, graph, [8, 20], seed=1, effort=0.1)
    whole = solve()
    path = tmp_path / "run.checkpoint"
    for size, iteration in ((20, 2), (20, 12), (8, 3), (8, whole[0].iterations)):

        def kill(progress: flipwise.Progress, size: int = size, iteration: int = iteration) -> None:
            if progress.iteration == iteration and int((progress.x > 0).sum()) == size:
                raise Killed

        with pytest.raises(Killed):
            solve(checkpoint=path, every=0, callback=kill)
    resumed = solve(checkpoint=path, every=0)
    assert not path.exists()
    for mine, other in zip(resumed, whole):
        assert mine.info["resumed"]
        check_same(mine, other)


def test_a_run_killed_at_any_step_ends_the_same(tmp_path: Path) -> None:
    """Each step of a search is one to die at; nothing is reported twice."""
    path = tmp_path / "run.checkpoint"
    solve = partial(flipwise.densest_subgraph, (200, EDGES), 20, seed=1, effort=0.05)
    whole = solve()
    for iteration in range(1, whole.iterations + 1):

        def kill(progress: flipwise.Progress, iteration: int = iteration) -> None:
            if progress.iteration == iteration:
                raise Killed

        with pytest.raises(Killed):
            solve(checkpoint=path, every=0, callback=kill)
    check_same(solve(checkpoint=path, every=0), whole)


def test_a_second_search_in_a_wider_core_goes_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A core that turned out too small is widened to the same one, whatever the search has found there by then."""
    monkeypatch.setattr(solver, "SCOUT_NODES", 0)
    monkeypatch.setattr(solver, "LARGE_ARCS", 100)
    rng = np.random.default_rng(0)
    hubs, others = (400 * rng.random((1500, 2)) ** 3).astype(int), 200 + rng.integers(0, 200, (1500, 2))
    edges = np.concatenate([hubs, others, rng.integers(100, 114, (300, 2))])
    solve = partial(flipwise.densest_subgraph, (400, edges), 20, seed=1, effort=0.02)
    searched: list[int] = []
    find = solver.Search.find

    def counted(search: solver.Search, given: Any) -> Any:
        searched.append(search.core.graph.n)
        return find(search, given)

    monkeypatch.setattr(solver.Search, "find", counted)
    whole = solve()
    assert len(searched) == 2 and searched[0] < searched[1]
    path = tmp_path / "run.checkpoint"
    for iteration in range(1, whole.iterations + 1):

        def kill(progress: flipwise.Progress, iteration: int = iteration) -> None:
            if progress.iteration == iteration:
                raise Killed

        with pytest.raises(Killed):
            solve(checkpoint=path, every=0, callback=kill)
    check_same(solve(checkpoint=path, every=0), whole)


def test_a_proof_of_a_dense_subgraph_is_not_made_twice(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The pair bound of the first k comes from the file when the run is killed at the second."""
    solve = partial(flipwise.densest_subgraph, (200, EDGES), [8, 20], seed=1, effort=0.1)
    whole = solve()
    path = tmp_path / "run.checkpoint"
    calls: list[int] = []
    real = pairs.pair_bound

    def counted(core: Any, k: int, *rest: Any, **more: Any) -> Any:
        calls.append(k)
        return real(core, k, *rest, **more)

    monkeypatch.setattr(pairs, "pair_bound", counted)

    def kill(progress: flipwise.Progress) -> None:
        if int((progress.x > 0).sum()) == 8:
            raise Killed

    with pytest.raises(Killed):
        solve(checkpoint=path, every=0, callback=kill)
    resumed = solve(checkpoint=path, every=0)
    assert calls == [20, 8]
    assert [result.bounds for result in resumed] == [result.bounds for result in whole]


def test_a_dense_subgraph_that_was_stopped_goes_on(tmp_path: Path) -> None:
    """A callback or a time limit leaves the file of one k; the next call ends with the answer of the unlimited run."""
    path = tmp_path / "run.checkpoint"
    solve = partial(flipwise.densest_subgraph, (200, EDGES), 20, seed=1, effort=0.2)
    whole = solve()
    first = solve(checkpoint=path, every=0, callback=lambda progress: progress.iteration == 20)
    assert first.status is flipwise.Status.CALLBACK and path.exists()

    def slow(progress: flipwise.Progress) -> None:
        time.sleep(2.0 if progress.iteration == 25 else 0.0)

    second = solve(checkpoint=path, every=60, time_limit=first.seconds + 1.0, callback=slow)
    assert second.status is flipwise.Status.TIME_LIMIT and path.exists()
    assert np.array_equal(solve(checkpoint=path, every=0).x, whole.x)
    assert not path.exists()


def test_a_sweep_that_was_stopped_goes_on(tmp_path: Path) -> None:
    """What is done is not done again, and the file goes when all sizes are."""
    path = tmp_path / "run.checkpoint"
    solve = partial(flipwise.densest_subgraph, (200, EDGES), [8, 20, 50], seed=1, effort=0.1)
    whole = solve()

    def stop(progress: flipwise.Progress) -> bool:
        return progress.iteration == 12 and int((progress.x > 0).sum()) == 20

    first = solve(checkpoint=path, every=0, callback=stop)
    assert list(first.ks) == [20, 50] and first[0].status is flipwise.Status.CALLBACK and path.exists()
    again = solve(checkpoint=path, every=0)
    assert not path.exists()
    for mine, other in zip(again, whole):
        check_same(mine, other)


def test_a_sweep_whose_time_is_up_leaves_no_file(tmp_path: Path) -> None:
    """Each k has its own time; when all have had it the call is over."""
    path = tmp_path / "run.checkpoint"
    profile = flipwise.densest_subgraph((200, EDGES), [8, 20], seed=1, time_limit=0, checkpoint=path, every=0)
    assert all(result.status is flipwise.Status.TIME_LIMIT for result in profile) and not path.exists()


def test_another_method_keeps_a_checkpoint_of_one_dense_subgraph(tmp_path: Path) -> None:
    """One k goes on as in minimize; several are refused."""
    path = tmp_path / "run.checkpoint"
    solve = partial(flipwise.densest_subgraph, (200, EDGES), method="tpm", seed=1)
    whole = solve(k=8, restarts=4)
    assert np.array_equal(solve(k=8, restarts=4, checkpoint=path, every=0).x, whole.x)
    with pytest.raises(flipwise.InvalidInput, match="several k"):
        solve(k=[8, 9], checkpoint=path)


@pytest.mark.parametrize("weighted", [False, True], ids=["plain", "weighted"])
def test_effort_0_without_a_bound_on_a_large_graph_is_one_descent(
    weighted: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It reports one set of k nodes, its true density and no bound; several k work too."""
    monkeypatch.setattr(solver, "LARGE_ARCS", 100)
    W = random_weights(80, 3, 0.2, weighted)
    result = flipwise.densest_subgraph(sp.csr_array(W), 12, effort=0, bound="none", seed=0)
    inside = result.indices
    assert inside.size == 12 and result.density == pytest.approx(W[np.ix_(inside, inside)].sum() / 12)
    assert len(result.trace.records) == 1 and result.bound is None
    profile = flipwise.densest_subgraph(sp.csr_array(W), [6, 12], effort=0, bound="none", seed=0)
    assert [each.k for each in profile] == [6, 12]


def test_the_solver_runs_by_itself_in_the_engine() -> None:
    """Without a sweep it takes the random numbers of its run; the same seed gives the same set."""
    graph = GraphInMemory(as_graph((200, EDGES)))
    problem = Problem(SubgraphObjective(graph), Cardinality(20))
    one, two = (engine_solve(problem, DensestSearch(effort=0.1), seed=3) for _ in range(2))
    assert np.array_equal(one.x, two.x) and one.x.sum() == 20 and one.bound is not None and one.bound <= one.value
    assert one.value == -graph.inner_weight(np.flatnonzero(one.x))
    for wrong in ({"effort": -1.0}, {"effort": "much"}, {"prove": 1}):
        with pytest.raises(flipwise.InvalidInput):
            DensestSearch(**wrong)  # type: ignore[arg-type]


@pytest.mark.parametrize("weighted", [False, True], ids=["plain", "weighted"])
def test_cheap_bounds_hold_for_every_size(weighted: bool) -> None:
    """The bounds without a search, the loads shared from the largest k on."""
    W = random_weights(10, 4, 0.5, weighted)
    graph, sweep = GraphInMemory(as_graph(sp.csr_array(W))), Sweep()
    for k in (8, 5, 2):
        assert prove_cheaply(graph, k, sweep) <= -2.0 * heaviest(W, k)
        assert all(bound >= heaviest(W, k) for bound in sweep.bounds[k].known.values())


@pytest.mark.parametrize("weighted", [False, True], ids=["plain", "weighted"])
def test_no_time_at_all_still_gives_a_set_and_a_bound(weighted: bool) -> None:
    """What comes before the first look at the clock, and the loads as they are then."""
    for seed in range(6):
        W = random_weights(10, seed, 0.5, weighted)
        ks = (4, 7)
        for k, found in zip(ks, flipwise.densest_subgraph(sp.csr_array(W), ks, time_limit=1e-9, seed=0)):
            best = 2.0 * heaviest(W, k) / k
            assert found.bound is not None and found.bound >= best * (1 - 1e-12) and found.density > 0.0
            assert found.density == pytest.approx(W[np.ix_(found.nodes, found.nodes)].sum() / k)
