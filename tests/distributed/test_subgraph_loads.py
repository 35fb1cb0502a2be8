"""The load bound on shards: valid after any number of passes, and close to the one of a single machine."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import flipwise
from flipwise.densest.bounds import balanced_loads, top_sum
from flipwise.densest.core import whole_core
from flipwise.distributed.graph import ShardedGraph
from flipwise.distributed.shards import shard_graph
from flipwise.distributed.subgraph import load_bound
from flipwise.foundation.errors import InvalidInput
from tests.distributed.test_shards import random_graph


@pytest.mark.parametrize("weighted", [False, True])
def test_the_bound_holds_and_is_close(client: Any, tmp_path: Path, weighted: bool) -> None:
    """Above the best known set after 1 pass, near the balanced loads after 60, wherever the core is cut."""
    graph = random_graph(600, 6000, weighted=weighted)
    there = ShardedGraph(shard_graph(graph, tmp_path / "shards", shards=3), client)
    found = flipwise.densest_subgraph(graph, 60, seed=0, effort=0.0)
    balanced = 2 * top_sum(balanced_loads(whole_core(graph), [60]), 60, -1.0) / 60
    quick, good = load_bound(there, found.indices, 1), load_bound(there, found.indices, 60)
    assert found.density <= good <= quick and good <= 1.05 * balanced
    assert load_bound(there, np.arange(60, 120), 1) >= found.density
    with pytest.raises(InvalidInput, match="`nodes`"):
        load_bound(there, np.array([600]))
