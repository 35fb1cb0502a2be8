"""Parts within an imbalance: sizes are kept to, and small graphs are cut as well as any allowed partition is."""

from __future__ import annotations

import itertools

import networkx as nx
import numpy as np
import pytest

import flipwise
from flipwise.cuts.bisection import bisected, level_of
from flipwise.cuts.partition import PartSizes, part_sizes
from flipwise.engine.limits import Clock
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
