"""Dense sets with conditions: against all sets of small graphs, with the walk through all sets and without it."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import networkx as nx
import numpy as np
import pytest
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components

import flipwise
from flipwise.densest import enumerated
from flipwise.foundation.errors import InvalidInput
from tests.densest.graphs import random_weights


def densest_of_all(W: np.ndarray, asked: dict[str, Any]) -> float | None:
    """The largest density of all sets that keep the conditions, if there is one."""
    n = len(W)
    c = np.asarray(asked.get("node_weights", np.zeros(n)))
    include, exclude = set(asked.get("include", [])), set(asked.get("exclude", []))
    least, most = asked.get("k", asked.get("at_least", 1)), asked.get("k", asked.get("at_most", n))
    found = [
        (W[np.ix_(S, S)].sum() + c[list(S)].sum()) / len(S)
        for k in range(least, most + 1)
        for S in combinations(range(n), k)
        if include <= set(S) and not exclude & set(S) and (not asked.get("connected") or is_connected(W, S))
    ]
    return max(found, default=None)


def is_connected(W: np.ndarray, S: tuple[int, ...]) -> bool:
    """Whether a set is one piece."""
    return int(connected_components(sp.csr_array(W[np.ix_(S, S)] != 0))[0]) == 1


def some_conditions(n: int, rng: np.random.Generator) -> dict[str, Any]:
    """Conditions of every kind, some of which contradict each other."""
    order = rng.permutation(n).tolist()
    asked: dict[str, Any] = {}
    if rng.random() < 0.5:
        asked["include"] = order[: int(rng.integers(1, 3))]
    if rng.random() < 0.4:
        asked["exclude"] = order[-1:]
    if rng.random() < 0.3:
        asked["node_weights"] = rng.integers(-3, 4, n) if rng.random() < 0.5 else rng.standard_normal(n)
    if rng.random() < 0.4:
        asked["connected"] = True
    name = rng.choice(["k", "at_least", "at_most", ""])
    return {**asked, name: int(rng.integers(1, n + 1))} if name else asked


@pytest.mark.parametrize("walked", [True, False])
def test_the_best_of_all_sets_is_found_and_never_exceeds_the_bound(
    walked: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without and with weights, real ones and negative ones too; what no set can keep is refused."""
    if not walked:
        monkeypatch.setattr(enumerated, "MOST_FREE", -1)
    for seed in range(60 if walked else 25):
        rng = np.random.default_rng(seed)
        n = int(rng.integers(3, 8))
        W = random_weights(n, seed, (0.3, 0.6)[seed % 2], weighted=seed % 3 == 2)
        if seed % 5 == 4:
            W *= np.sign(W + W.T - 0.7)
        asked = some_conditions(n, rng)
        if not asked:
            continue
        best = densest_of_all(W, asked)
        if best is None:
            with pytest.raises(InvalidInput):
                flipwise.densest_subgraph(sp.csr_array(W), seed=0, **asked)
            continue
        result = flipwise.densest_subgraph(sp.csr_array(W), seed=0, **asked)
        assert result.density == pytest.approx(best, rel=1e-12, abs=1e-12)
        assert result.bound is not None and result.bound >= best - 1e-12 * max(1.0, abs(best))
        assert result.optimal or not walked or result.bound == pytest.approx(best, rel=1e-9, abs=1e-9)


def test_ties_of_included_nodes_count_where_no_other_edge_is_left(monkeypatch: pytest.MonkeyPatch) -> None:
    """Real weights that only lead to included nodes: what is left has bonuses, and no edge."""
    monkeypatch.setattr(enumerated, "MOST_FREE", -1)
    result = flipwise.densest_subgraph((4, [[0, 1, 0.14397671]]), include=[1, 3])
    assert sorted(result.nodes) == [0, 1, 3] and result.bound is not None and result.bound >= 2 * 0.14397671 / 3


def test_random_graphs_of_22_nodes_are_proven() -> None:
    """With everything at once."""
    W = random_weights(22, 1, 0.3)
    result = flipwise.densest_subgraph(sp.csr_array(W), include=[3, 4], exclude=[9], connected=True, at_least=6)
    assert result.optimal and result.bound_method == "exact"
    assert {3, 4} <= set(result.nodes) and 9 not in result.nodes and result.k >= 6


def test_larger_graphs_are_searched_and_bounded() -> None:
    """Two groups and what joins them: names, a query node, a size, connection, and the words for them."""
    graph = nx.relabel_nodes(nx.barbell_graph(20, 5), lambda node: f"n{node}")
    around = flipwise.densest_subgraph(graph, include=["n22"], connected=True, seed=0)
    assert "n22" in around.nodes and around.density < 19.0 < around.bound + 1.0
    assert around.conditions == "1 included, connected" and "connected" in str(around)
    both = flipwise.densest_subgraph(graph, at_least=30, connected=True, seed=0)
    assert both.density == pytest.approx(2 * (190 + 190 + 6) / 45) and both.k == 45
    loose = flipwise.densest_subgraph(graph, at_least=30, seed=0)
    assert loose.density == 19.0 and loose.optimal and loose.k == 40
    few = flipwise.densest_subgraph(graph, at_most=25, connected=True, seed=0)
    assert few.optimal and few.k == 20 and few.bound_method == "flow"
    exact = flipwise.densest_subgraph(graph, 12, include=["n0", "n44"], exclude=["n19"], seed=0)
    assert exact.k == 12 and {"n0", "n44"} <= set(exact.nodes) and exact.bound >= exact.density
    weighed = flipwise.densest_subgraph(graph, node_weights={"n22": 1000.0}, seed=0)
    assert weighed.nodes == ["n22"] and weighed.optimal


def test_lists_of_sizes_share_their_work() -> None:
    """A profile, ascending; sizes that a larger set serves have the same one."""
    graph = nx.barbell_graph(20, 5)
    profile = flipwise.densest_subgraph(graph, at_least=[5, 15, 25], seed=0)
    assert [each.density for each in profile] == [19.0] * 3 and profile.ks.tolist() == [40] * 3
    profile = flipwise.densest_subgraph(graph, at_most=[5, 15], include=[0], effort=0)
    assert profile.densities.tolist() == [4.0, 14.0] and all(each.optimal for each in profile)
    assert flipwise.densest_subgraph(graph, [3, 6], exclude=[0], seed=0).densities.tolist() == [2.0, 5.0]


def test_several_sets() -> None:
    """Without a common node, then with some; fewer where nothing is left, and none of them above its bound."""
    graph = nx.disjoint_union(nx.barbell_graph(8, 1), nx.complete_graph(5))
    apart = flipwise.densest_subgraph(graph, several=3, at_least=4, seed=0)
    assert [each.k for each in apart] == [8, 8, 5] and apart.densities.tolist() == [7.0, 7.0, 4.0]
    assert "set" in str(apart) and (apart.bounds >= apart.densities).all()
    shared = flipwise.densest_subgraph(graph, 6, several=2, overlap=0.5, seed=0)
    first, second = (set(each.nodes) for each in shared)
    assert len(first & second) <= 3 and shared[1].density == 5.0 and shared[1].bound >= 5.0
    assert shared[1].conditions.endswith("overlap at most 50 %")


@pytest.mark.parametrize("connected", [True, False])
def test_several_sets_that_all_have_a_node(connected: bool) -> None:
    """They may share all their nodes, so the included ones, too; none is apart from those before it."""
    graph = nx.barbell_graph(5, 2)
    found = flipwise.densest_subgraph(graph, 4, several=2, overlap=1.0, include=[0, 1], connected=connected, seed=0)
    assert all({0, 1} <= set(each.nodes) and len(each.nodes) == 4 and each.density == 3.0 for each in found)


CONTRADICTIONS: list[tuple[dict[str, Any], str]] = [
    ({"k": 2, "at_least": 2}, "`k`"),
    ({"at_least": 4, "at_most": 2}, "`at_least`"),
    ({"at_least": [2, 3], "at_most": [4, 5]}, "a list"),
    ({"at_most": 9}, "`at_most`"),
    ({"include": [0], "exclude": [0]}, "in common"),
    ({"include": [0, 1, 2], "at_most": 2}, "`include`"),
    ({"include": 1}, "a list"),
    ({"include": [7]}, "`include`"),
    ({"fixed": [0]}, "dictionary"),
    ({"fixed": {0: 2}}, "only 0"),
    ({"fixed": {0: "1"}}, "only 0"),
    ({"fixed": {7: 1}}, "`fixed`"),
    ({"fixed": {0: 1}, "exclude": [0]}, "`exclude` holds 0, which `fixed` sets to 1"),
    ({"fixed": {1: 0}, "include": [0, 1]}, "`include` holds 1, which `fixed` sets to 0"),
    ({"fixed": {0: 1, 1: 1}, "k": 1}, "`fixed` hold 2 nodes"),
    ({"fixed": dict.fromkeys(range(5), 0)}, "`fixed` must leave a node"),
    ({"fixed": {0: 1}, "several": 2}, "`several`"),
    ({"fixed": {0: 1}, "pool": 2, "k": 2}, "`pool`"),
    ({"exclude": [0, 1, 2, 3, 4]}, "`exclude`"),
    ({"exclude": [0, 1], "k": 4}, "`exclude`"),
    ({"connected": 1}, "`connected`"),
    ({"connected": True, "include": [0, 4]}, "pieces"),
    ({"connected": True, "at_least": 4}, "3"),
    ({"node_weights": [1.0]}, "`node_weights`"),
    ({"node_weights": {9: 1.0}}, "`node_weights`"),
    ({"node_weights": [np.nan] * 5}, "finite"),
    ({"node_weights": {0: "heavy"}}, "`node_weights`"),
    ({"node_weights": {0: [1.0, 2.0]}}, "`node_weights`"),
    ({"node_weights": {0: 1j}}, "`node_weights`"),
    ({"several": 0}, "`several`"),
    ({"overlap": 0.5}, "`several`"),
    ({"several": 2, "overlap": 2.0}, "`overlap`"),
    ({"several": 2, "include": [0]}, "`several`"),
    ({"several": 2, "k": [2, 3]}, "`several`"),
    ({"include": [0], "method": "peeling"}, "`method`"),
    ({"include": [0], "checkpoint": "x"}, "`checkpoint`"),
]


@pytest.mark.parametrize(("asked", "words"), CONTRADICTIONS)
def test_what_contradicts_itself_is_refused(asked: dict[str, Any], words: str) -> None:
    """By its name, before any work: a triangle and an edge."""
    with pytest.raises(InvalidInput, match=words):
        flipwise.densest_subgraph((5, [[0, 1], [1, 2], [2, 0], [3, 4]]), **asked)


def test_fixed_nodes_are_included_and_excluded_ones_by_another_name() -> None:
    """By name where the graph has names, beside `include` and `exclude`, and with the same answer."""
    graph = nx.relabel_nodes(nx.karate_club_graph(), "n{}".format)
    two = flipwise.densest_subgraph(graph, 8, include=["n9", "n11"], exclude=["n33", "n0"], seed=0)
    for asked in (
        {"fixed": {"n9": 1, "n11": 1, "n33": 0, "n0": 0}},
        {"fixed": {"n9": True, "n33": 0}, "include": ["n11", "n9"], "exclude": ["n0", "n33"]},
    ):
        one = flipwise.densest_subgraph(graph, 8, seed=0, **asked)
        assert (one.nodes, one.bound, one.conditions) == (two.nodes, two.bound, two.conditions)
    assert {"n9", "n11"} <= set(two.nodes) and not {"n33", "n0"} & set(two.nodes)


def test_no_connected_set_of_the_size() -> None:
    """Ends of a path that a small set cannot hold; without time there is still a set."""
    with pytest.raises(InvalidInput, match="connected"):
        flipwise.densest_subgraph(nx.path_graph(6), 3, include=[0, 5], connected=True)
    with pytest.raises(InvalidInput, match="connected"):
        flipwise.densest_subgraph(nx.path_graph(60), 3, include=[0, 59], connected=True)
    hasty = flipwise.densest_subgraph(nx.path_graph(60), include=[0, 9], connected=True, time_limit=0.0)
    assert set(range(10)) <= set(hasty.nodes)
