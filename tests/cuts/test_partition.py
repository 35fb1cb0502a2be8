"""Parts within an imbalance: sizes are kept to, and small graphs are cut as well as any allowed partition is."""

from __future__ import annotations

import itertools
from pathlib import Path

import networkx as nx
import numpy as np
import pytest

import flipwise
from flipwise.cuts.bisection import bisected, level_of
from flipwise.cuts.parts import PartitionProblem, PartSizes, WantedParts, part_sizes
from flipwise.engine.limits import Clock
from flipwise.engine.pool import parts_apart
from flipwise.graphs.convert import as_graph


def cut_of(graph: nx.Graph, parts: np.ndarray) -> int:
    """The edges between parts."""
    return sum(parts[u] != parts[v] for u, v in graph.edges)


@pytest.mark.parametrize("seed", range(6))
def test_a_small_graph_is_cut_as_well_as_the_imbalance_allows(seed: int) -> None:
    """The cut is the least of all partitions into two parts of at most five of eight nodes, tried one by one."""
    graph = nx.gnp_random_graph(8, 0.4, seed=seed)
    edges = (8, np.array(graph.edges).reshape(-1, 2))
    found = flipwise.partition(edges, 2, imbalance=0.25, seed=seed)
    points = (np.array(p) for p in itertools.product([0, 1], repeat=8))
    assert found.value == cut_of(graph, found.parts)
    assert found.sizes.max() <= 5
    assert found.value == min(cut_of(graph, p) for p in points if 3 <= p.sum() <= 5)


@pytest.mark.parametrize("sizes", [4, [100, 200, 100]])
def test_parts_stay_within_the_imbalance_and_lose_nothing(sizes: object) -> None:
    """No part is larger than allowed, and freedom never costs: one seed cuts no more than with exact sizes."""
    graph = nx.random_regular_graph(3, 400, seed=1)
    edges = (400, np.array(graph.edges))
    exact = flipwise.partition(edges, sizes, seed=0, effort=0.3)  # type: ignore[arg-type]
    loose = flipwise.partition(edges, sizes, imbalance=0.05, seed=0, effort=0.3, start=exact.parts)  # type: ignore[arg-type]
    wanted = part_sizes(400, sizes)
    assert np.array_equal(exact.sizes, wanted)
    assert (loose.sizes <= np.floor(1.05 * wanted + 1e-9)).all()
    assert loose.sizes.sum() == 400
    assert loose.value == cut_of(graph, loose.parts) <= exact.value


def test_what_breaks_the_sizes_is_named() -> None:
    """Parts too large, empty ones, parts too many, and an imbalance that is no share."""
    sizes = PartSizes(np.array([2, 2]), 0.5)
    assert sizes.violation(np.array([0, 0, 0, 1])) is None
    assert "part 0" in str(sizes.violation(np.array([0, 0, 0, 0])))
    assert "part 1" in str(PartSizes(np.array([4, 4]), 9.0).violation(np.zeros(8, dtype=int)))
    assert "only 2 parts" in str(sizes.violation(np.array([0, 1, 1, 2])))
    for wrong in (-0.1, float("nan"), "much", None):
        with pytest.raises(flipwise.InvalidInput, match="imbalance"):
            flipwise.partition(nx.path_graph(4), 2, imbalance=wrong)  # type: ignore[arg-type]


def test_without_time_the_sizes_are_kept_all_the_same() -> None:
    """A clock that is over leaves no time for levels or passes, and a partition that says so."""
    graph = as_graph((60, [(i, (i + step) % 60) for i in range(60) for step in (1, 7)]))
    level = level_of(graph.to_scipy())
    for goal in (30, 17):
        s = bisected(level, goal, np.random.default_rng(0), clock=Clock(0.0))
        assert np.count_nonzero(s > 0) == goal
        again = bisected(level, goal, np.random.default_rng(1), (s,), clock=Clock(0.0))
        assert np.array_equal(again, s)
    for imbalance in (0.0, 0.1):
        found = flipwise.partition(graph, [10, 20, 30], imbalance=imbalance, seed=0, time_limit=0.0)
        assert found.status is flipwise.Status.TIME_LIMIT
        assert np.bincount(found.parts).tolist() == [10, 20, 30]


def test_fixed_nodes_stay_in_their_parts() -> None:
    """By name, with exact sizes and with an imbalance, and as well as any partition of a small graph."""
    for seed in range(4):
        graph = nx.gnp_random_graph(7, 0.5, seed=seed)
        named = nx.relabel_nodes(graph, {node: f"n{node}" for node in graph})
        fixed = {"n0": 2, "n3": 0, "n5": 2}
        held = {int(name[1:]): part for name, part in fixed.items()}
        every = [np.array(p) for p in itertools.product(range(3), repeat=7)]
        allowed = [p for p in every if all(p[node] == part for node, part in held.items())]
        exact = flipwise.partition(named, [2, 2, 3], fixed=fixed, seed=seed, effort=0.3)
        assert exact.sizes.tolist() == [2, 2, 3] and all(exact.parts[node] == part for node, part in held.items())
        assert exact.value == min(cut_of(graph, p) for p in allowed if np.bincount(p).tolist() == [2, 2, 3])
        loose = flipwise.partition(named, [2, 2, 3], imbalance=0.5, fixed=fixed, seed=seed, effort=0.3)
        assert all(loose.parts[node] == part for node, part in held.items()) and loose.value <= exact.value
        assert (loose.sizes <= [3, 3, 4]).all() and loose.sizes.min() > 0


def test_a_pool_of_partitions_is_one_of_distinct_partitions(tmp_path: Path) -> None:
    """Names of equal parts make no difference; values are those of the points; saved and read again."""
    graph = nx.random_regular_graph(3, 40, seed=2)
    edges = (40, np.array(graph.edges))
    for more in ({"sizes": 2}, {"sizes": 4}, {"sizes": [10, 15, 15]}, {"sizes": 3, "imbalance": 0.1}):
        result = flipwise.partition(edges, pool=5, distance=3, seed=0, effort=0.3, **more)  # type: ignore[arg-type]
        pool = result.pool
        assert pool is not None and 1 < len(pool) <= 5 and (pool[0].x == result.parts).all()
        assert pool.distances[~np.eye(len(pool), dtype=bool)].min() >= 3
        assert pool.values.tolist() == [cut_of(graph, parts) for parts in pool.points] == sorted(pool.values)
        sizes = part_sizes(40, more["sizes"])
        assert all(PartSizes(sizes, more.get("imbalance", 0.0)).contains(parts) for parts in pool.points)  # type: ignore[arg-type]
        plain = flipwise.partition(edges, seed=0, effort=0.3, **more)  # type: ignore[arg-type]
        assert plain.value == result.value and plain.pool is None
        result.save(tmp_path / "parts.npz")
        again = flipwise.CutResult.load(tmp_path / "parts.npz").pool
        assert again is not None and (again.points == pool.points).all() and (again.distances == pool.distances).all()


def test_no_answer_of_a_pool_is_better_than_the_first() -> None:
    """What is found beside the best points is the answer where it is better."""
    graph = nx.random_regular_graph(4, 600, seed=2)
    edges = (600, np.array(graph.edges))
    for more in ({}, {"imbalance": 0.05}):
        result = flipwise.partition(edges, 4, effort=0.05, seed=1, pool=6, distance=2, **more)  # type: ignore[arg-type]
        assert result.pool is not None and result.pool.values.tolist() == sorted(result.pool.values)
        assert result.value == result.pool.values[0]


def test_partitions_differ_by_more_than_the_names_of_equal_parts() -> None:
    one, other = np.array([0, 0, 1, 1, 2]), np.array([1, 1, 0, 2, 0])
    assert parts_apart(one, other, np.array([0, 0, 1])) == 2
    assert parts_apart(one, other, np.array([0, 1, 2])) == 5
    wanted = WantedParts(5, 1).collector(PartitionProblem.of(as_graph((5, [[0, 1]])), np.array([2, 2, 1])))
    wanted.offer(one, 1.0)
    wanted.offer(np.array([1, 1, 0, 0, 2]), 1.0)
    wanted.offer(np.array([0, 1, 0, 1, 2]), 1.0)
    assert len(wanted.points) == 2


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ({"fixed": {9: 0}}, "nodes are 0 to 3"),
        ({"fixed": {0: 2}}, "parts from 0 to 1"),
        ({"fixed": {0: 1, 1: 1, 2: 1}}, "cannot be kept"),
        ({"pool": "optima"}, "number of partitions"),
        ({"pool": 3, "distance": 0}, "distance"),
        ({"start": [0, 0, 1, 1], "fixed": {0: 1}}, "node 0 must be in part 1"),
    ],
)
def test_what_makes_no_sense_for_a_partition_is_refused(more: dict[str, object], message: str) -> None:
    with pytest.raises(flipwise.InvalidInput, match=message):
        flipwise.partition(nx.path_graph(4), 2, **more)  # type: ignore[arg-type]
