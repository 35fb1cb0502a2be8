"""Cuts: brute-force optima on small graphs, exact sizes, bounds on the right side, best-known cuts of real meshes."""

from __future__ import annotations

import itertools
import json
from pathlib import Path

import networkx as nx
import numpy as np
import pytest

import flipwise
from flipwise.cuts.parts import cut_between
from flipwise.foundation.errors import InvalidInput
from flipwise.graphs.convert import as_graph


def random_graph(n: int, seed: int, weights: tuple[int, int] = (1, 1)) -> nx.Graph:
    """A random graph with integer weights in a range, without zeros."""
    rng = np.random.default_rng(seed)
    graph = nx.gnp_random_graph(n, 0.5, seed=seed)
    for u, v in graph.edges:
        graph[u][v]["weight"] = int(rng.integers(weights[0], weights[1] + 1)) or 1
    return graph


def cut(graph: nx.Graph, parts: np.ndarray) -> float:
    """The weight between the parts, from the definition."""
    place = {node: k for k, node in enumerate(graph.nodes)}
    return float(sum(d["weight"] for u, v, d in graph.edges(data=True) if parts[place[u]] != parts[place[v]]))


@pytest.mark.parametrize("weights", [(1, 1), (-5, 5)])
@pytest.mark.parametrize("seed", range(3))
def test_maxcut_is_optimal_on_small_graphs(seed: int, weights: tuple[int, int]) -> None:
    """The value is the largest cut, the bound is not below it, and the parts have that cut."""
    graph = random_graph(10, seed, weights)
    best = max(cut(graph, np.array(p)) for p in itertools.product([0, 1], repeat=10))
    found = flipwise.maxcut(graph, seed=0, max_iterations=3)
    assert found.value == best == cut(graph, found.parts)
    assert found.bound is not None and found.bound >= best
    assert found.gap is not None and found.gap >= 0.0


@pytest.mark.parametrize("n", [9, 10])
def test_bisection_is_optimal_on_small_graphs(n: int) -> None:
    """The halves are exact and no others have a smaller cut."""
    graph = random_graph(n, n)
    best = min(cut(graph, np.isin(np.arange(n), chosen)) for chosen in itertools.combinations(range(n), n // 2))
    found = flipwise.bisect(graph, seed=0, bound="sdp")
    assert sorted(found.sizes.tolist()) == [n // 2, n - n // 2]
    assert found.value == best == cut(graph, found.parts)
    assert found.bound is not None and found.bound <= best


@pytest.mark.parametrize("sizes", [[2, 3, 4], [1, 8], [3, 3, 3], 4, 1])
def test_parts_have_exactly_their_sizes(sizes: int | list[int]) -> None:
    """Whatever the sizes, the parts have them, and the value is the weight between the parts."""
    graph = random_graph(9, 3, (1, 6))
    found = flipwise.partition(graph, sizes, seed=0, effort=2 / 30)
    wanted = sizes if isinstance(sizes, list) else [9 // sizes + (k < 9 % sizes) for k in range(sizes)]
    assert found.sizes.tolist() == wanted
    assert found.value == cut(graph, found.parts)


def test_partition_finds_planted_parts() -> None:
    """Four dense groups with few edges between them are found."""
    graph = nx.planted_partition_graph(4, 15, 0.9, 0.02, seed=1)
    found = flipwise.partition(graph, 4, seed=0, effort=5 / 30)
    planted = np.repeat(np.arange(4), 15)
    assert found.value <= cut_between(as_graph(graph), planted)


def test_bisection_does_not_depend_on_the_threads() -> None:
    """With a limit in rounds one seed gives one answer."""
    graph = nx.random_regular_graph(4, 200, seed=2)
    runs = [flipwise.bisect(graph, seed=5, effort=4 / 30, threads=t) for t in (1, 2)]
    assert np.array_equal(runs[0].parts, runs[1].parts)


def test_start_is_never_made_worse() -> None:
    """From a given bisection the answer has at most its cut."""
    graph = nx.grid_2d_graph(10, 10)
    x0 = np.repeat([-1, 1], 50)
    assert flipwise.bisect(graph, start=x0, seed=0, effort=1 / 30).value <= 10.0


def test_nodes_keep_their_names() -> None:
    """The nodes of a part are given by the graph's own labels."""
    graph = nx.Graph([("a", "b"), ("b", "c"), ("c", "a"), ("x", "y"), ("y", "z"), ("z", "x"), ("a", "x")])
    found = flipwise.bisect(graph, seed=0)
    assert {frozenset(found.nodes(0)), frozenset(found.nodes(1))} == {frozenset("abc"), frozenset("xyz")}


def test_wrong_arguments_are_refused() -> None:
    """Sizes that do not add up, tiny graphs and unbalanced starts are errors."""
    graph = nx.path_graph(6)
    with pytest.raises(InvalidInput, match="add up"):
        flipwise.partition(graph, [1, 2])
    with pytest.raises(InvalidInput, match="at least 2"):
        flipwise.bisect(nx.empty_graph(1))
    with pytest.raises(InvalidInput, match="exactly 3"):
        flipwise.bisect(graph, start=np.array([1, 1, 1, 1, -1, -1]))
    with pytest.raises(InvalidInput, match="effort"):
        flipwise.bisect(graph, effort=-1)


@pytest.mark.slow
def test_real_meshes_reach_their_best_known_cuts(data_folder: Path) -> None:
    """3elt and add32 are cut as well as the best known, with exact halves."""
    from flipwise_studies.data.local import read_packed_graph

    best = json.loads((data_folder / "best_known.json").read_text())
    for name in ("3elt", "add32"):
        graph = read_packed_graph(data_folder / "graphs" / f"walshaw-{name}.ug.xz")
        found = flipwise.bisect(graph, seed=1, effort=12 / 30)
        assert found.value == best[f"walshaw-{name}"]["best"]
        assert abs(int(np.diff(found.sizes)[0])) <= 1


def test_a_target_of_a_maximum_cut_is_a_weight_to_reach() -> None:
    """The search stops at a cut of at least the target; what is no number is refused by name."""
    graph = nx.gnm_random_graph(30, 120, seed=1)
    best = flipwise.maxcut(graph, seed=0, effort=0.2).value
    reached = flipwise.maxcut(graph, seed=0, target=best - 10)
    assert reached.status is flipwise.Status.TARGET and best - 10 <= reached.value
    with pytest.raises(InvalidInput, match="`target`"):
        flipwise.maxcut(graph, target="much")  # type: ignore[arg-type]


def test_cuts_are_added_up_in_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever the size of the pieces, with weights and without, and where nodes have no edge."""
    for weights in ((1, 1), (-5, 5)):
        graph = random_graph(15, 3, weights)
        graph.add_nodes_from(range(15, 20))
        parts = np.random.default_rng(0).integers(0, 3, 20)
        for piece in (1, 7, 500_000):
            monkeypatch.setattr("flipwise.cuts.parts.PIECE", piece)
            assert cut_between(as_graph(graph), parts) == cut(graph, parts)
    assert cut_between(as_graph((3, [])), np.array([0, 1, 2])) == 0.0


def test_without_time_for_more_a_half_grows_from_one_node(monkeypatch: pytest.MonkeyPatch) -> None:
    """A large graph gets exact halves that hang together."""
    monkeypatch.setattr("flipwise.cuts.bisection.FORMING", 1e9)
    result = flipwise.bisect((101, [[i, i + 1] for i in range(100)]), seed=0, time_limit=60.0)
    assert result.status is flipwise.Status.TIME_LIMIT
    assert sorted(result.sizes) == [50, 51] and result.value <= 2.0


def test_sides_are_given_as_parts_or_spins() -> None:
    """0 and -1 are one side: that of part 0; another number is refused by the name of its node."""
    ring = nx.relabel_nodes(nx.cycle_graph(6), dict(enumerate("abcdef")))
    for side in (0, -1):
        cut = flipwise.maxcut(ring, fixed={"a": side, "b": 1}, seed=0)
        assert cut.parts.tolist() == [0, 1, 0, 1, 0, 1]
        halves = flipwise.bisect(ring, fixed={"a": side, "d": 1}, seed=0)
        assert halves.parts[[0, 3]].tolist() == [0, 1] and halves.value == 2.0
    with pytest.raises(flipwise.InvalidInput, match="sides 0 and 1, got 5 for node 'a'"):
        flipwise.maxcut(ring, fixed={"a": 5})
