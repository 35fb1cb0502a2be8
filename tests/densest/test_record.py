"""The part of a checkpoint that belongs to the whole call: other calls are refused, what is finished is found."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import flipwise
from flipwise.densest.bounds import CoreLoads, SubgraphBounds, balanced_loads
from flipwise.densest.record import CallRecord
from flipwise.densest.whole import GraphInMemory
from flipwise.engine.checkpoint import Checkpoint
from flipwise.foundation.container import decode, encode
from flipwise.graphs.convert import as_graph
from tests.engine.killing import EDGES, Killed, killer


@pytest.mark.parametrize(
    ("graph", "change", "words"),
    [
        ((200, EDGES), {"k": 9}, "k is"),
        ((200, EDGES), {"k": [8, 9]}, "k is"),
        ((200, EDGES), {"effort": 2.0}, "effort"),
        ((200, EDGES), {"bound": "none"}, "bound"),
        ((200, EDGES), {"start": [1, 2]}, "start"),
        ((200, EDGES), {"method": "tpm"}, "method"),
        ((200, EDGES[:-50]), {}, "arcs"),
        ((200, (EDGES * 7 + 3) % 200), {}, "other numbers"),
    ],
)
def test_a_checkpoint_of_another_dense_subgraph_is_refused(
    graph: Any, change: dict[str, Any], words: str, tmp_path: Path
) -> None:
    """Sizes, effort, bound, start, method and the graph itself must fit."""
    path = tmp_path / "run.checkpoint"
    with pytest.raises(Killed):
        flipwise.densest_subgraph((200, EDGES), 8, seed=1, checkpoint=path, every=0, callback=killer(20))
    with pytest.raises(flipwise.InvalidInput, match=f"belongs to another run: its .*{words}"):
        flipwise.densest_subgraph(graph, **({"k": 8, "seed": 1, "checkpoint": path} | change))
    assert path.exists()


def test_a_checkpoint_of_another_function_is_refused_both_ways(tmp_path: Path) -> None:
    """Before any work, whatever parts it holds."""
    A = np.random.default_rng(0).standard_normal((30, 30))
    path, other = tmp_path / "run.checkpoint", tmp_path / "other.checkpoint"
    with pytest.raises(Killed):
        flipwise.minimize(A + A.T, seed=1, checkpoint=path, every=0, restarts=9, callback=killer(5))
    with pytest.raises(flipwise.InvalidInput, match="belongs to another run"):
        flipwise.densest_subgraph((200, EDGES), 8, seed=1, checkpoint=path, callback=killer(1))
    with pytest.raises(Killed):
        flipwise.densest_subgraph((200, EDGES), [8, 20], seed=1, checkpoint=other, every=0, callback=killer(20))
    with pytest.raises(flipwise.InvalidInput, match="its k is"):
        flipwise.densest_subgraph((200, EDGES), [20, 30], seed=1, checkpoint=other, callback=killer(1))


def test_what_finished_sizes_have_left_comes_back(tmp_path: Path) -> None:
    """Bounds by their names, the core and its loads, to the bit."""
    graph = GraphInMemory(as_graph((200, EDGES)))
    path = tmp_path / "run.checkpoint"
    checkpoint = Checkpoint(path)
    record = CallRecord(checkpoint, graph, [20, 8], [], effort=1.0)
    assert record.bounds(graph) == {} and record.loads(graph) is None
    core = graph.core_above(9.0)
    left = CoreLoads(core, balanced_loads(core, [20]))
    bounds = SubgraphBounds(20, True)
    bounds.add("loads", 77.3)
    record.add(bounds, left)
    assert not path.exists()  # it is written with the part of its k
    checkpoint.save("k=20", {"any": 1})
    checkpoint.close(over=False)

    again = CallRecord(reopened := Checkpoint(path), graph, [20, 8], [], effort=1.0)
    assert {k: each.known for k, each in again.bounds(graph).items()} == {20: {"loads": 77.0}}
    loads = again.loads(graph)
    assert loads is not None and np.array_equal(loads.loads, left.loads) and loads.core.cap == core.cap
    assert np.array_equal(loads.core.nodes, core.nodes)
    assert np.array_equal(loads.core.graph.indices, core.graph.indices)
    assert np.array_equal(loads.core.graph.indptr, core.graph.indptr)
    reopened.close(over=False)


def test_nodes_of_another_graph_are_no_core(tmp_path: Path) -> None:
    """A file that was tampered with is refused by name."""
    path = tmp_path / "run.checkpoint"
    with pytest.raises(Killed):
        flipwise.densest_subgraph(
            (200, EDGES), [8, 20], seed=1, effort=0.02, checkpoint=path, every=0, callback=_killer_at(8)
        )
    content = decode("checkpoint", path.read_bytes(), "it")
    content["call/nodes"] = content["call/nodes"] + 150
    path.write_bytes(encode("checkpoint", content))
    with pytest.raises(flipwise.InvalidFile, match="none of this graph"):
        flipwise.densest_subgraph((200, EDGES), [8, 20], seed=1, effort=0.02, checkpoint=path)


def _killer_at(size: int) -> Any:
    """A callback that dies in the search for a size."""

    def callback(progress: flipwise.Progress) -> None:
        if int((progress.x > 0).sum()) == size:
            raise Killed

    return callback
