"""Results of dense subgraphs: what they say, that they come back from a file, and profiles over several k."""

from __future__ import annotations

from pathlib import Path

import networkx as nx
import numpy as np
import pytest

import flipwise
from flipwise.densest.bounds import SubgraphBounds
from flipwise.densest.whole import GraphInMemory
from flipwise.engine.limits import Status
from flipwise.engine.result import Result
from flipwise.graphs.convert import as_graph
from tests.densest.graphs import heaviest


def test_a_result_prints_and_round_trips(tmp_path: Path) -> None:
    """The text names density and bound; a saved result comes back as it was, with all it has."""
    result = flipwise.densest_subgraph(nx.karate_club_graph(), 6, seed=0, effort=0.1)
    assert "density" in str(result) and "bound" in str(result) and f"by {result.bound_method}" in str(result)
    assert "DensestSubgraph" in result._repr_html_() and "edge density" in result._repr_html_()
    result.save(tmp_path / "r.npz")
    again = flipwise.DensestSubgraph.load(tmp_path / "r.npz")
    for name in (
        "nodes",
        "density",
        "value",
        "bound",
        "gap",
        "bounds",
        "notes",
        "labels",
        "k",
        "edge_density",
        "status",
    ):
        assert getattr(again, name) == getattr(result, name), name
    assert np.array_equal(again.x, result.x) and len(again.trace.records) == len(result.trace.records)
    with pytest.raises(flipwise.InvalidFile, match="DensestSubgraph, not a Result"):
        flipwise.Result.load(tmp_path / "r.npz")


def test_value_bound_and_gap_are_densities() -> None:
    """The common gap: |bound - value| / |value|."""
    result = flipwise.densest_subgraph(nx.gnp_random_graph(300, 0.3, seed=2), 40, seed=0, effort=0.1)
    assert result.bound is not None and result.value == result.fun == result.density
    assert result.gap == (result.bound - result.density) / result.density and not result.optimal
    assert result.bound == min(result.bounds.values()) == result.bounds[str(result.bound_method)]


@pytest.mark.parametrize(("status", "told"), [(Status.TIME_LIMIT, Status.OPTIMAL), (Status.INTERRUPTED,) * 2])
def test_the_weight_is_added_up_from_the_nodes(status: Status, told: Status) -> None:
    """Whatever value a method claims; a set that meets its bound is optimal, unless somebody interrupted."""
    graph = GraphInMemory(as_graph((6, [[0, 1], [0, 2], [1, 2], [2, 3], [3, 4], [4, 5]])))
    claimed = Result(x=np.array([1, 1, 1, 0, 0, 0], dtype=np.int8), value=-99.0, status=status, variables="binary")
    bounds = SubgraphBounds(3, True)
    bounds.add("clique", 3.0)
    made = flipwise.DensestSubgraph.of(claimed, graph, 3, {3: bounds})
    assert (made.density, made.bound, made.edge_density, made.status, made.optimal) == (2.0, 2.0, 1.0, told, True)
    unproven = flipwise.DensestSubgraph.of(claimed, graph, 3, {})
    assert unproven.bound is None and unproven.status is status


def test_all_negative_weights_have_no_negative_zero() -> None:
    """The best set has no edge: density 0.0, proven."""
    result = flipwise.densest_subgraph((4, [[0, 1, -1.5], [2, 3, -2.0]]), 2, seed=0)
    assert str(result.density) == "0.0" and result.gap == 0.0


def test_a_profile_is_a_sequence_of_results() -> None:
    """Ascending by k, with its columns as arrays and a table as text."""
    profile = flipwise.densest_subgraph(nx.lollipop_graph(5, 10), [5, 3], seed=0)
    assert len(profile) == 2 and [result.k for result in profile] == [3, 5] and profile[-1].k == 5
    assert profile.densities.tolist() == profile.bounds.tolist() == [2.0, 4.0] and profile.gaps.tolist() == [0.0, 0.0]
    assert "proven by" in str(profile)


def test_halves_and_negative_weights_are_proven_to_the_last_digit() -> None:
    """Weights of 0.5 are as exact as integers, and where every pair costs something so does the bound."""
    graph = nx.gnp_random_graph(40, 0.5, seed=1)
    nx.set_edge_attributes(graph, 0.5, "weight")
    halves = flipwise.densest_subgraph(graph, 5, seed=0)
    assert (halves.density, halves.bound, halves.status) == (2.0, 2.0, Status.OPTIMAL)
    costs = [[i, j, -1.0 - (i + j) % 3] for i in range(8) for j in range(i)]
    least = flipwise.densest_subgraph((8, costs), 3, seed=0)
    assert (least.density, least.bound, least.status) == (-2.0, -2.0, Status.OPTIMAL)
    some = flipwise.densest_subgraph((8, costs[:12]), 3, seed=0)
    assert (str(some.density), some.bound, some.gap) == ("0.0", 0.0, 0.0)


def test_pairs_are_joined_whatever_their_edge_weighs() -> None:
    """Three edges of weight 2 among four nodes join half of the pairs, though their weight is that of all."""
    result = flipwise.densest_subgraph((4, [[0, 1, 2.0], [1, 2, 2.0], [2, 3, 2.0]]), 4, seed=0)
    assert (result.edge_density, result.pairs_joined) == (1.0, 0.5)


def test_a_profile_proves_as_much_as_one_k() -> None:
    """The work that several k share does not make their proofs weaker."""
    graph = nx.powerlaw_cluster_graph(120, 5, 0.5, seed=1)
    profile = flipwise.densest_subgraph(graph, [5, 8, 14], seed=0, effort=0.05)
    for result in profile:
        alone = flipwise.densest_subgraph(graph, result.k, seed=0, effort=0.05)
        assert result.bound is not None and alone.bound is not None
        assert result.bound <= alone.bound * (1.0 + 1e-3)


def test_tables_and_subgraphs_are_of_the_graph_that_was_searched() -> None:
    """A row for each node, and the graph among them; a graph of another size is refused."""
    G = nx.lollipop_graph(4, 3)
    result = flipwise.densest_subgraph(G, 4, seed=0)
    assert result.table(G) == {"node": [0, 1, 2, 3], "degree": [3] * 4, "weight": [3.0] * 4, "core": [3] * 4}
    assert result.subgraph(G).n_edges == 6
    with pytest.raises(flipwise.InvalidInput, match="the one that was searched, of 7 nodes"):
        result.table(nx.path_graph(3))


def test_what_is_proven_for_one_k_counts_for_the_others() -> None:
    """Weights of bounds never fall with k without negative weights, and never rise faster than the number of pairs."""
    graph = nx.gnp_random_graph(90, 0.3, seed=3)
    profile = flipwise.densest_subgraph(graph, [10, 11, 12, 30, 31], seed=0, effort=0.01)
    weights = [result.bound * result.k / 2 for result in profile]
    pairs = [result.k * (result.k - 1) / 2 for result in profile]
    for less, more in zip(range(4), range(1, 5), strict=True):
        assert weights[less] <= weights[more] <= weights[less] * pairs[more] / pairs[less] + 1e-9
    assert all(result.bound >= result.density for result in profile)


@pytest.mark.parametrize("signed", [False, True])
def test_bounds_from_another_k_are_true(signed: bool) -> None:
    """On small graphs of either sign, whatever was proven for the other k."""
    rng = np.random.default_rng(1)
    for _ in range(8):
        W = np.triu(rng.integers(-2 if signed else 0, 4, (7, 7)).astype(float), 1)
        W = W + W.T
        ks = sorted(rng.choice(np.arange(1, 8), 3, replace=False).tolist())
        profile = flipwise.densest_subgraph(W, ks, seed=0, method=flipwise.DPCD())
        for result in profile:
            assert result.bound * result.k / 2 >= heaviest(W, result.k) - 1e-9
