"""Kernels of the bounds on the density of a subgraph against naive twins."""

from __future__ import annotations

import numpy as np
import pytest

from flipwise.densest.bounds import add_up_shares, positive_edges, split_in_halves
from flipwise.densest.core import whole_core
from flipwise.graphs.graph import Graph
from flipwise.kernels import blocks, bounds
from flipwise.kernels.jit import compiled_at_once, threads
from tests.kernels.graphs import a_graph

pytestmark = pytest.mark.kernels


@pytest.fixture(params=[False, True], ids=["plain", "weighted"])
def pair(request: pytest.FixtureRequest) -> tuple[Graph, np.ndarray]:
    return a_graph(request.param)


def test_every_edge_is_dealt_once_to_the_group_of_its_blocks(pair) -> None:
    """The shares hold each edge of positive weight once, in the group of its two blocks, and halves add up."""
    graph, W = pair
    shares = split_in_halves(graph.n, positive_edges(whole_core(graph)))
    group = np.searchsorted(shares.group_start, np.arange(shares.first.size), side="right") - 1
    blocks = np.sort(np.stack([shares.first % bounds.BLOCKS, shares.second % bounds.BLOCKS]), axis=0)
    assert np.array_equal(group, blocks[0] * bounds.BLOCKS + blocks[1])
    P = np.zeros_like(W)
    np.add.at(P, (shares.first, shares.second), shares.weight if shares.weight.size > 1 else 1.0)
    assert np.allclose(P + P.T, np.maximum(W, 0.0))
    assert np.allclose(shares.loads, np.maximum(W, 0.0).sum(axis=1) / 2)
    assert np.array_equal(shares.counts, (W > 0).sum(axis=1))


def test_balancing_on_one_and_on_two_threads_gives_the_same_bits(monkeypatch: pytest.MonkeyPatch) -> None:
    """Round by round or all at once, the same weight moves, and adds up to the same loads."""
    graph, _ = a_graph(False, 60, 5)
    one, other = (split_in_halves(graph.n, positive_edges(whole_core(graph))) for _ in range(2))
    arguments = (one.first, one.second, one.weight)
    one.balance(5)
    monkeypatch.setattr("flipwise.densest.bounds.SERIAL_EDGES", 0)
    monkeypatch.setattr(blocks, "SERIAL_WORK", 0)
    added, added_on_two = np.zeros(graph.n), np.zeros(graph.n)
    add_up_shares(*arguments, one.share, added, one.group_start, one.rounds)
    with compiled_at_once(), threads(2):
        other.balance(5)
        add_up_shares(*arguments, one.share, added_on_two, one.group_start, one.rounds)
    assert np.array_equal(one.share, other.share) and np.array_equal(one.loads, other.loads)
    assert np.array_equal(added, added_on_two)
    assert np.isclose(one.loads.sum(), graph.n_edges)


def test_few_edges_are_balanced_on_one_thread_however_many_passes(monkeypatch: pytest.MonkeyPatch) -> None:
    """All rounds in one call: threads, which would not meet between them, are never asked to share it."""
    graph, _ = a_graph(False, 60, 5)
    shares = split_in_halves(graph.n, positive_edges(whole_core(graph)))
    monkeypatch.setattr(blocks, "SERIAL_WORK", 0)
    monkeypatch.setattr(blocks, "run_blocks", lambda *_: pytest.fail("threads share rounds that depend on each other"))
    with compiled_at_once(), threads(2):
        shares.balance(5)
        shares.proven_loads()
