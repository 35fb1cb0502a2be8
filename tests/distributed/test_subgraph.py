"""DPCD on shards: a set that no exchange improves, with few bytes for each flip."""

from __future__ import annotations

import pickle
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from flipwise.densest.subset import Subset, descend, principal_coordinates
from flipwise.distributed.graph import ShardedGraph
from flipwise.distributed.shards import shard_graph
from flipwise.distributed.subgraph import ShardedDescent, descend_subgraph
from flipwise.foundation.errors import InvalidInput
from tests.distributed.test_shards import random_graph


@pytest.mark.parametrize("weighted", [False, True])
def test_no_exchange_improves_the_end(client: Any, tmp_path: Path, weighted: bool) -> None:
    """From a random set the descent ends where no exchange of all pairs improves; its weight is that of the set."""
    graph = random_graph(600, 6000, weighted=weighted)
    there = ShardedGraph(shard_graph(graph, tmp_path / "shards", shards=4), client)
    start = np.random.default_rng(0).choice(600, 40, replace=False)
    nodes, density = descend_subgraph(there, start)
    W = graph.to_scipy().toarray()
    x = np.zeros(600)
    x[nodes] = 1.0
    assert x.sum() == 40 and density == pytest.approx(x @ W @ x / 40)
    d = W @ x
    gains = d[x == 0][None, :] - d[nodes][:, None] - W[np.ix_(nodes, np.flatnonzero(x == 0))]
    assert gains.max() <= 1e-9
    assert density > 2 * W[np.ix_(start, start)].sum() / 40


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("seed", range(3))
def test_updates_are_those_of_one_machine(
    client: Any, tmp_path: Path, weighted: bool, seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """From the same set every update pairs the same nodes and leads to the same set as `densest.subset`."""
    graph = random_graph(600, 6000, weighted=weighted)
    there = ShardedGraph(shard_graph(graph, tmp_path / "shards", shards=4), client)
    start = np.random.default_rng(seed).choice(600, 60, replace=False)
    descent = ShardedDescent(there, np.sort(start))
    here = Subset.of(graph, descent.inside)
    monkeypatch.setattr("flipwise.densest.subset.MOST_BATCHES", 1)
    monkeypatch.setattr(Subset, "best_swaps", lambda *_: 0)
    updates = 0
    more = True
    while more:
        leaving, entering = principal_coordinates(here)
        pairs = descent.principal_coordinates()
        assert np.array_equal(pairs.leaving, leaving) and np.array_equal(pairs.entering, entering)
        assert np.allclose(pairs.leaving_degrees, here.degrees[leaving])
        before = here.mask
        descend(here)
        more = descent.update()
        assert np.array_equal(descent.inside, here.mask) and descent.weight == pytest.approx(here.weight)
        assert more == (not np.array_equal(before, here.mask))
        updates += more
    assert updates > 1


def _weighed(crew: Any) -> Counter[str]:
    """The bytes of the messages from now on, by the name of the question."""
    sizes: Counter[str] = Counter()
    ask = crew.ask

    def asked(name: str, function: Any, tasks: Any) -> Any:
        answers = ask(name, function, tasks)
        sizes[name] += sum(len(pickle.dumps(each, protocol=5)) for each in [*tasks, *answers])
        return answers

    crew.ask = asked
    return sizes


def test_bytes_for_each_flip(client: Any, tmp_path: Path) -> None:
    """Ten times as many flips cost at most 64 bytes for each one more; the gradient is never sent."""
    graph = random_graph(20_000, 100_000)
    there = ShardedGraph(shard_graph(graph, tmp_path / "shards", shards=4), client)
    bytes_sent = _weighed(there.crew)
    costs = []
    for k in (200, 4000):
        descent = ShardedDescent(there, np.random.default_rng(0).choice(20_000, k, replace=False))
        bytes_sent.clear()  # of the set itself
        assert descent.update()
        counted = {"sides", "chosen", "extremes", "at-least", "total"}
        assert set(bytes_sent) <= counted | {"candidates", "levels"}, bytes_sent
        costs.append((descent.flips, sum(bytes_sent[name] for name in counted)))
    (few, little), (many, much) = costs
    assert many > 5 * few and (much - little) / (many - few) <= 64 and little <= 64 * few + 2 * 16_384


def test_nodes_are_checked(client: Any, tmp_path: Path) -> None:
    """Nodes outside the graph are refused."""
    there = ShardedGraph(shard_graph(random_graph(9, 20), tmp_path / "shards"), client)
    with pytest.raises(InvalidInput, match="`nodes`"):
        descend_subgraph(there, [9])
