"""A sharded graph gives what the graph in one place gives, and messages stay small."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import flipwise
from flipwise.densest.whole import GraphInMemory
from flipwise.distributed.graph import ShardedGraph
from flipwise.distributed.shards import shard_graph
from flipwise.distributed.worker import Start, answer
from flipwise.foundation.errors import InvalidInput
from tests.distributed.test_shards import random_graph


@pytest.mark.parametrize("weighted", [False, True])
def test_every_answer_is_that_of_one_machine(client: Any, tmp_path: Path, weighted: bool) -> None:
    """Cores, degrees, weights and published sets of shards are those of the graph itself."""
    graph = random_graph(3000, 20_000, weighted=weighted)
    here = GraphInMemory(graph)
    there = ShardedGraph(shard_graph(graph, tmp_path / "shards", shards=5), client)
    for cap in (3.0, 12.0):
        one, other = here.core_above(cap), there.core_above(cap)
        assert np.array_equal(one.nodes, other.nodes) and np.array_equal(one.graph.indices, other.graph.indices)
        assert other.cap == one.cap if not weighted else one.cap <= other.cap <= one.cap + 1e-9
    one, other = here.core_of_size(300), there.core_of_size(300)
    assert np.array_equal(one.nodes, other.nodes)
    nodes = np.random.default_rng(0).choice(3000, 200, replace=False)
    assert np.array_equal(here.nodes_above(nodes, 2.0), there.nodes_above(nodes, 2.0))
    assert here.inner_weight(np.sort(nodes)) == there.inner_weight(nodes)
    one_part, other_part = here.subgraph(np.sort(nodes)), there.subgraph(nodes)
    assert np.array_equal(one_part.indptr, other_part.indptr) and np.array_equal(one_part.indices, other_part.indices)
    if not weighted:
        assert all(np.array_equal(a, b) for a, b in zip(here.published_sets(50), there.published_sets(50), strict=True))


def test_peeling_on_the_workers(client: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With nothing fetched early, the workers peel to the same core, told only what is gone."""
    monkeypatch.setattr("flipwise.distributed.graph.GATHERED_ARCS", 0)
    graph = random_graph(3000, 20_000)
    there = ShardedGraph(shard_graph(graph, tmp_path / "shards", shards=5), client)
    core = there.core_above(9.0)
    assert np.array_equal(core.nodes, GraphInMemory(graph).core_above(9.0).nodes)
    assert there.traffic["below"].calls > 2 and there.traffic["induced"].calls == 1


@pytest.mark.parametrize("k", [40, [20, 60]])
def test_densest_subgraph_is_the_same(client: Any, tmp_path: Path, k: Any) -> None:
    """Same nodes, same bound, with the same seed."""
    graph = random_graph(2000, 12_000)
    there = ShardedGraph(shard_graph(graph, tmp_path / "shards"), client)
    one, other = (flipwise.densest_subgraph(each, k, seed=3, effort=0.02) for each in (graph, there))
    for a, b in [(one, other)] if isinstance(k, int) else zip(one, other, strict=True):  # type: ignore[call-overload]
        assert np.array_equal(a.x, b.x) and a.bound == b.bound and a.density == b.density
    with pytest.raises(InvalidInput, match="dpcd"):
        flipwise.densest_subgraph(there, 5, method="tpm")
    with pytest.raises(InvalidInput, match="`client`"):
        ShardedGraph(there.folder, None)


def test_a_worker_that_knows_nothing_says_so(client: Any, tmp_path: Path) -> None:
    """An unknown set without its start is None; with start and history it is rebuilt, and steps are repeatable."""
    from flipwise.distributed.worker import Message

    graph = random_graph(300, 2000)
    there = ShardedGraph(shard_graph(graph, tmp_path / "shards", shards=3), client)
    part = there.parts[-1]
    start, flips = Start(False, nodes=np.arange(50)), np.array([3, 60, 61])
    assert answer(part, Message("run", 1, None, flips, None), "total") is None
    told = answer(part, Message("run", 1, start, None, flips), "total")
    answer(part, Message("other", 0, start, None, None), "total")
    assert answer(part, Message("other", 1, None, flips, None), "total") == told
    assert answer(part, Message("other", 1, None, flips, None), "total") == told
    assert answer(part, Message("other", 3, None, flips, None), "total") is None


def test_a_core_that_is_too_large_is_refused(client: Any, tmp_path: Path) -> None:
    """`most_arcs` bounds what comes into this process."""
    graph = random_graph(300, 3000)
    there = ShardedGraph(shard_graph(graph, tmp_path / "shards"), client, most_arcs=10)
    with pytest.raises(flipwise.FlipwiseError, match="most_arcs"):
        flipwise.densest_subgraph(there, 20)
