"""`densest_subgraph`: right answers on graphs small enough to try all sets, and the rules of the call."""

from __future__ import annotations

import importlib
import json
import signal
from fractions import Fraction
from itertools import combinations
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

import flipwise
from flipwise.engine.limits import Status


def best_density(W: np.ndarray, k: int) -> float:
    """The largest x'Wx / k over all sets of k nodes: added up exactly, and rounded once."""
    pairs = [[Fraction(w) for w in row] for row in W.tolist()]
    weights = (sum((pairs[i][j] for i, j in combinations(S, 2)), Fraction()) for S in combinations(range(len(W)), k))
    return float(2 * max(weights) / k)


@st.composite
def graphs(draw: st.DrawFn, signed: bool = False, weighted: bool = False) -> np.ndarray:
    """The adjacency matrix of a small graph."""
    n = draw(st.integers(1, 9))
    pairs = n * (n - 1) // 2
    edges = draw(st.lists(st.booleans(), min_size=pairs, max_size=pairs))
    low = -3.0 if signed else 0.25
    weights = draw(st.lists(st.floats(low, 4.0), min_size=pairs, max_size=pairs)) if weighted else [1.0] * pairs
    W = np.zeros((n, n))
    W[np.triu_indices(n, 1)] = np.where(
        np.array(edges, bool) & (np.abs(weights) > 1e-90), weights, 0.0
    )  # tiny ones are refused
    return W + W.T


@settings(max_examples=25)
@given(graphs(), st.data())
def test_finds_and_never_bounds_below_the_optimum_of_an_unweighted_graph(W: np.ndarray, data: st.DataObject) -> None:
    """On a small graph the set found is optimal and the bound is above it."""
    k = data.draw(st.integers(1, len(W)))
    result = flipwise.densest_subgraph(sp.csr_array(W), k, seed=0)
    best = best_density(W, k)
    assert result.density == pytest.approx(best, abs=1e-12)
    assert result.bound is not None and result.bound >= best - 1e-12
    assert all(bound >= best - 1e-12 for bound in result.bounds.values())
    assert len(result.nodes) == k and result.x.sum() == k
    assert result.value == result.density == W[np.ix_(result.nodes, result.nodes)].sum() / k


@settings(max_examples=15)
@given(graphs(weighted=True), st.data())
def test_weighted_bounds_hold(W: np.ndarray, data: st.DataObject) -> None:
    """With positive real weights every bound is above the optimum, rounding included."""
    k = data.draw(st.integers(1, len(W)))
    result = flipwise.densest_subgraph(sp.csr_array(W), k, seed=0, effort=0.2)
    best = best_density(W, k)
    assert result.density <= best * (1 + 1e-12)
    assert result.density >= best * (1 - 1e-9)
    assert all(bound >= best for bound in result.bounds.values())


@settings(max_examples=10)
@given(graphs(signed=True, weighted=True), st.data())
def test_negative_weights_are_searched_and_their_bounds_hold(W: np.ndarray, data: st.DataObject) -> None:
    """Negative weights count in the density, and the bounds from the positive part hold all the same."""
    k = data.draw(st.integers(1, len(W)))
    result = flipwise.densest_subgraph(sp.csr_array(W), k, seed=0, effort=0.2)
    best = best_density(W, k)
    assert result.density == pytest.approx(best, abs=1e-9)
    assert all(bound >= best - 1e-12 for bound in result.bounds.values())


@pytest.mark.parametrize(
    "graph",
    [
        nx.empty_graph(6),
        nx.star_graph(6),
        nx.complete_graph(6),
        nx.complete_bipartite_graph(3, 4),
        nx.disjoint_union(nx.complete_graph(4), nx.complete_graph(3)),
        nx.disjoint_union(nx.cycle_graph(5), nx.empty_graph(2)),
    ],
    ids=["empty", "star", "clique", "bipartite", "cliques", "isolated"],
)
def test_every_k_of_the_classic_graphs(graph: nx.Graph) -> None:
    """From k = 1 to n the profile of each classic graph is the brute-force one."""
    W = nx.to_numpy_array(graph)
    profile = flipwise.densest_subgraph(graph, range(1, len(W) + 1), seed=0)
    assert profile.densities == pytest.approx([best_density(W, k) for k in profile.ks])
    assert np.all(profile.bounds >= profile.densities)
    assert list(profile.ks) == list(range(1, len(W) + 1))


def test_a_clique_is_its_own_proof() -> None:
    """Inside a clique of at least k nodes the answer is proven optimal."""
    result = flipwise.densest_subgraph(nx.disjoint_union(nx.complete_graph(9), nx.path_graph(30)), 7, seed=0)
    assert (result.density, result.edge_density, result.gap, result.optimal) == (6.0, 1.0, 0.0, True)
    assert result.status is Status.OPTIMAL


def test_networkx_labels_come_back() -> None:
    """The nodes are the graph's own labels."""
    graph = nx.relabel_nodes(nx.lollipop_graph(4, 5), dict(enumerate("abcdefghi")))
    assert sorted(flipwise.densest_subgraph(graph, 4, seed=1).nodes) == ["a", "b", "c", "d"]
    assert sorted(flipwise.densest_subgraph(graph, 4, seed=1, start=["h", "i"]).nodes) == ["a", "b", "c", "d"]


def test_same_seed_same_answer_on_any_number_of_threads() -> None:
    """A seed fixes the set, whatever the number of threads."""
    graph = nx.gnp_random_graph(60, 0.3, seed=3)
    one, two = (flipwise.densest_subgraph(graph, 12, seed=5, threads=t, effort=0.1) for t in (1, 2))
    assert one.nodes == two.nodes and one.bounds == two.bounds


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"k": 0}, "`k` must be"),
        ({"k": 7}, "`k` must be"),
        ({"k": 2.5}, "`k` must be"),
        ({"k": True}, "`k` must be"),
        ({"k": [2, 9]}, "`k` must be"),
        ({"k": []}, "`k` must"),
        ({"k": 2, "effort": -1}, "`effort` must be"),
        ({"k": 2, "start": [99]}, "`start` must"),
        ({"k": 2, "time_limit": -1}, "`time_limit` must"),
        ({"k": 2, "callback": 3}, "`callback` must"),
        ({"k": 2, "alpha": 3}, "unknown option"),
        ({"k": 2, "restarts": 2}, "unknown option"),
        ({"k": 2, "bound": "sdp"}, "`bound` must be"),
        ({"k": [2, 3], "trace_file": "x"}, "`trace_file`"),
        ({"k": 2, "method": "tpm", "alpha": 3}, "unknown option"),
        ({"k": 2, "method": flipwise.DPCD}, "`method` must be"),
        ({"k": 2, "target": "much"}, "`target` must be"),
        ({"k": 2, "method": "dpdc"}, "Did you mean"),
    ],
)
def test_bad_arguments_are_refused_before_any_work(arguments: dict[str, object], message: str) -> None:
    """Each bad argument raises an error that names it."""
    with pytest.raises(flipwise.InvalidInput, match=message):
        flipwise.densest_subgraph((6, [[0, 1], [1, 2]]), **arguments)


def test_the_callback_can_stop_the_search() -> None:
    """A callback that returns True ends the run with the best set so far."""
    graph = nx.gnp_random_graph(50, 0.2, seed=1)
    result = flipwise.densest_subgraph(graph, 10, seed=0, callback=lambda progress: True)
    assert result.status is Status.CALLBACK and len(result.nodes) == 10


def test_a_time_limit_of_zero_still_returns_a_set() -> None:
    """Out of time at once, the first set is returned."""
    result = flipwise.densest_subgraph(nx.gnp_random_graph(50, 0.2, seed=1), 10, seed=0, time_limit=0)
    assert len(result.nodes) == 10 and result.status in (Status.TIME_LIMIT, Status.OPTIMAL)


def test_without_a_bound_nothing_is_claimed() -> None:
    """`bound="none"` leaves bound and gap empty."""
    result = flipwise.densest_subgraph(nx.karate_club_graph(), 5, seed=0, bound="none")
    assert result.bound is None and result.gap is None and not result.optimal


def test_other_methods_run_through_the_same_call() -> None:
    """A method of the registry finds a set of k nodes and gets the same bounds."""
    graph = nx.lollipop_graph(6, 10)
    result = flipwise.densest_subgraph(graph, 6, method="peeling", seed=0)
    assert result.method == "peeling" and result.density == 5.0 and result.bound == 5.0
    assert result.status is Status.OPTIMAL and result.seed == 0


def test_a_solver_may_be_given_as_an_object() -> None:
    """`flipwise.DPCD()` is the plain algorithm, from the given nodes where they are k; its value is the density."""
    graph = nx.gnp_random_graph(60, 0.3, seed=2)
    result = flipwise.densest_subgraph(graph, 8, method=flipwise.DPCD(neighbourhood=0), start=range(8), seed=0)
    W = nx.to_numpy_array(graph)
    assert result.method == "dpcd" and result.value == W[np.ix_(result.nodes, result.nodes)].sum() / 8
    assert result.bound is not None and set(result.bounds) == {"clique", "order", "loads"}
    profile = flipwise.densest_subgraph(graph, [4, 8], method="portfolio", seed=0, max_iterations=3, bound="none")
    assert np.isnan(profile.bounds).all() and profile.densities[1] >= result.density - 1e-12


def test_limits_end_the_search() -> None:
    """A target is a density; iterations and patience count the reported sets."""
    graph = nx.gnp_random_graph(300, 0.3, seed=2)
    whole = flipwise.densest_subgraph(graph, 40, seed=0, effort=0.1)
    enough = flipwise.densest_subgraph(graph, 40, seed=0, effort=0.1, target=whole.density - 0.5)
    assert enough.status is Status.TARGET and enough.density >= whole.density - 0.5
    few = flipwise.densest_subgraph(graph, 40, seed=0, effort=0.1, max_iterations=3)
    assert few.status is Status.ITERATION_LIMIT and few.iterations == 3
    assert flipwise.densest_subgraph(graph, 40, seed=0, effort=0.1, patience=2).status is Status.PATIENCE


def test_every_step_is_written_to_the_trace_file(tmp_path: Path) -> None:
    """One line of JSON for each reported set, the minimised value in it."""
    path = tmp_path / "trace.jsonl"
    result = flipwise.densest_subgraph(nx.karate_club_graph(), 6, seed=0, effort=0.1, trace_file=path)
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    assert len(lines) == result.iterations and lines[-1]["best"] == -6 * result.density


class Interrupted:
    """A callback that sends Ctrl-C at an iteration of the search for a size."""

    def __init__(self, size: int, iteration: int) -> None:
        self.size, self.iteration, self.sent = size, iteration, False

    def __call__(self, progress: flipwise.Progress) -> None:
        if progress.iteration == self.iteration and progress.x.sum() == self.size:
            self.sent = True
            signal.raise_signal(signal.SIGINT)


@pytest.mark.parametrize(("size", "iteration", "left"), [(20, 2, [20]), (8, 2, [8, 20]), (20, 15, [20])])
def test_ctrl_c_keeps_what_there_is(size: int, iteration: int, left: list[int]) -> None:
    """A sweep ends with the sizes that are done and the best set of the one under way."""
    graph = nx.gnp_random_graph(120, 0.2, seed=4)
    press = Interrupted(size, iteration)
    before = signal.getsignal(signal.SIGINT)
    profile = flipwise.densest_subgraph(graph, [20, 8, 3], seed=0, effort=0.2, callback=press)
    assert press.sent and list(profile.ks) == left and signal.getsignal(signal.SIGINT) is before
    stopped = next(result for result in profile if result.k == size)
    W = nx.to_numpy_array(graph)
    assert stopped.status is Status.INTERRUPTED and len(stopped.nodes) == size
    assert stopped.density == W[np.ix_(stopped.nodes, stopped.nodes)].sum() / size
    assert stopped.bound is None or stopped.bound >= stopped.density


@pytest.mark.parametrize("where", ["pairs.PairProgramme.run", "bounds.Shares.balance", "result.DensestSubgraph.of"])
def test_ctrl_c_while_proving_or_describing_keeps_the_answer(where: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also when it comes in the middle of a proof, or while the result is made."""
    graph = nx.gnp_random_graph(120, 0.2, seed=4)
    module, kind, name = where.split(".")
    owner = getattr(importlib.import_module(f"flipwise.densest.{module}"), kind)
    real = getattr(owner, name)

    def pressed(*arguments: object, **keywords: object) -> object:
        signal.raise_signal(signal.SIGINT)
        return real(*arguments, **keywords)

    monkeypatch.setattr(owner, name, pressed)
    result = flipwise.densest_subgraph(graph, 20, seed=0, effort=0.02)
    assert len(result.nodes) == 20
    assert (result.status is Status.INTERRUPTED) is (kind != "DensestSubgraph")


def test_ctrl_c_before_there_is_a_set_is_an_interrupt(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing was found yet: a clean `KeyboardInterrupt`."""

    def pressed(*_: object) -> None:
        signal.raise_signal(signal.SIGINT)

    monkeypatch.setattr("flipwise.densest.starts.by_degree", pressed)
    with pytest.raises(KeyboardInterrupt):
        flipwise.densest_subgraph(nx.karate_club_graph(), 5, seed=0)


@pytest.mark.data
@pytest.mark.parametrize(("name", "k"), [("ca-GrQc", 44), ("ca-AstroPh", 57), ("dblp-2010", 75)])
def test_known_cliques_are_found_and_proven(data_folder, name: str, k: int) -> None:
    """Where a graph has a clique of k nodes, it is found and is its own proof."""
    from flipwise_studies.data.local import local_graph

    result = flipwise.densest_subgraph(local_graph(name, data_folder), k, seed=0)
    assert result.density == k - 1 and result.optimal


@pytest.mark.data
@pytest.mark.parametrize(
    ("name", "k", "floor", "gap"),
    [
        ("dblp-2010", 800, 54.06, 0.001),
        ("dblp-2010", 6400, 27.8956, 0.001),
        ("uk-2007-05@100000", 1600, 190.786, 0.0001),
    ],
)
def test_real_graphs_reach_their_floors_with_small_gaps(
    data_folder, name: str, k: int, floor: float, gap: float
) -> None:
    """Densities and gaps on real graphs do not fall behind what was reached before."""
    from flipwise_studies.data.local import local_graph

    result = flipwise.densest_subgraph(local_graph(name, data_folder), k, seed=0, effort=0.2)
    assert result.density >= floor and result.gap is not None and result.gap <= gap


@given(graphs(), st.data())
@settings(max_examples=15, deadline=None)
def test_a_pool_holds_distinct_sets_whose_densities_are_theirs(W: np.ndarray, data: st.DataObject) -> None:
    """The best first and as good as without a pool, any two apart by what was asked for."""
    k, distance = data.draw(st.integers(1, len(W))), data.draw(st.integers(1, 4))
    alone = flipwise.densest_subgraph(W, k, seed=0)
    result = flipwise.densest_subgraph(W, k, seed=0, pool=4, distance=distance)
    pool = result.pool
    assert pool is not None and 1 <= len(pool) <= 4
    assert pool.values[0] == result.density == pytest.approx(alone.density)
    for x, density in pool:
        nodes = np.flatnonzero(x)
        assert nodes.size == k and density == pytest.approx(W[np.ix_(nodes, nodes)].sum() / k, abs=1e-12)
    assert (np.diff(pool.values) <= 1e-12).all()
    apart = pool.distances[~np.eye(len(pool), dtype=bool)]
    assert (apart >= distance).all()


def test_a_pool_has_what_is_next_to_the_best_set() -> None:
    """A clique among few other edges: the next best sets have one other node."""
    clique = [[i, j] for i in range(8) for j in range(i)]
    edges = [*clique, *[[i, i + 1] for i in range(7, 99)]]
    pool = flipwise.densest_subgraph((100, edges), 8, seed=0, pool=5).pool
    assert pool is not None and len(pool) == 5
    assert pool.distances[0, 1:].tolist() == [2] * 4 and pool.values[1] == 2 * 22 / 8


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"k": 3, "pool": "optima"}, "pool="),
        ({"k": [3, 4], "pool": 2}, "one k"),
        ({"pool": 2}, "one k"),
        ({"k": 3, "include": [0], "pool": 2}, "several"),
        ({"k": 3, "distance": 2}, "distance"),
        ({"k": 3, "pool": 0}, "pool"),
    ],
)
def test_pools_that_make_no_sense_are_refused(arguments: dict[str, Any], message: str) -> None:
    """Before any work, and with what to do instead."""
    with pytest.raises(flipwise.InvalidInput, match=message):
        flipwise.densest_subgraph((6, [[0, 1], [1, 2], [2, 3]]), **arguments)
