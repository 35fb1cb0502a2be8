"""Dense subgraphs killed anywhere go on to the same sets and proofs."""

from __future__ import annotations

import time
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

import flipwise
from tests.engine.killing import EDGES, Killed, killer

WEIGHTED = sp.coo_array((np.random.default_rng(1).random(1500), (EDGES[:, 0], EDGES[:, 1])), shape=(200, 200)).tocsr()


@pytest.mark.parametrize("graph", [(200, EDGES), WEIGHTED + WEIGHTED.T], ids=["plain", "weighted"])
def test_dense_subgraphs_go_on_among_their_walks(graph: Any, tmp_path: Path) -> None:
    """Killed in the starts, in the first walks, among the moves and at a second k: same nodes, bounds, iterations."""
    solve = partial(flipwise.densest_subgraph, graph, [8, 20], seed=1, effort=0.1)
    whole = solve()
    path = tmp_path / "run.checkpoint"
    for size, iteration in ((20, 2), (20, 12), (8, 3), (8, whole[0].iterations)):

        def kill(progress: flipwise.Progress, size: int = size, iteration: int = iteration) -> None:
            if progress.iteration == iteration and int((progress.x > 0).sum()) == size:
                raise Killed

        with pytest.raises(Killed):
            solve(checkpoint=path, every=0, callback=kill)
    resumed = solve(checkpoint=path, every=0)
    assert not path.exists()
    for mine, other in zip(resumed, whole):
        assert mine.info["resumed"] and np.array_equal(mine.x, other.x) and mine.density == other.density
        assert mine.bounds == other.bounds and mine.iterations == other.iterations and mine.status is other.status


def test_a_proof_of_a_dense_subgraph_is_not_made_twice(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The pair bound of the first k comes from the file when the run is killed at the second."""
    from flipwise.densest import solver as densest_solve

    solve = partial(flipwise.densest_subgraph, (200, EDGES), [8, 20], seed=1, effort=0.1)
    whole = solve()
    path = tmp_path / "run.checkpoint"
    calls: list[int] = []
    real = densest_solve.pair_bound

    def counted(core: Any, k: int, *rest: Any) -> float:
        calls.append(k)
        return real(core, k, *rest)

    monkeypatch.setattr(densest_solve, "pair_bound", counted)

    def kill(progress: flipwise.Progress) -> None:
        if int((progress.x > 0).sum()) == 8:
            raise Killed

    with pytest.raises(Killed):
        solve(checkpoint=path, every=0, callback=kill)
    resumed = solve(checkpoint=path, every=0)
    assert calls == [20, 8]
    assert [result.bounds for result in resumed] == [result.bounds for result in whole]


def test_a_dense_subgraph_that_was_stopped_goes_on(tmp_path: Path) -> None:
    """A callback or a time limit leaves the file of one k; the next call ends with the answer of the unlimited run."""
    path = tmp_path / "run.checkpoint"
    solve = partial(flipwise.densest_subgraph, (200, EDGES), 20, seed=1, effort=0.2)
    whole = solve()
    first = solve(checkpoint=path, every=0, callback=lambda progress: progress.iteration == 20)
    assert first.status is flipwise.Status.CALLBACK and path.exists()

    def slow(progress: flipwise.Progress) -> None:
        time.sleep(2.0 if progress.iteration == 25 else 0.0)

    second = solve(checkpoint=path, every=60, time_limit=first.seconds + 1.0, callback=slow)
    assert second.status is flipwise.Status.TIME_LIMIT and path.exists()
    assert np.array_equal(solve(checkpoint=path, every=0).x, whole.x)
    assert not path.exists()


@pytest.mark.parametrize(
    ("graph", "change", "words"),
    [
        ((200, EDGES), {"k": 9}, "its k is"),
        ((200, EDGES), {"effort": 2.0}, "effort"),
        ((200, EDGES), {"start": [1, 2]}, "start"),
        ((200, EDGES[:-50]), {}, "arcs"),
        ((200, (EDGES * 7 + 3) % 200), {}, "weight"),
    ],
)
def test_a_checkpoint_of_another_dense_subgraph_is_refused(
    graph: Any, change: dict[str, Any], words: str, tmp_path: Path
) -> None:
    """Sizes, effort, start and the graph itself must fit."""
    path = tmp_path / "run.checkpoint"
    with pytest.raises(Killed):
        flipwise.densest_subgraph((200, EDGES), 8, seed=1, checkpoint=path, every=0, callback=killer(20))
    with pytest.raises(flipwise.InvalidInput, match=words):
        flipwise.densest_subgraph(graph, **({"k": 8, "seed": 1, "checkpoint": path} | change))
    assert path.exists()


def test_another_method_keeps_a_checkpoint_of_one_dense_subgraph(tmp_path: Path) -> None:
    """One k goes on as in minimize; several are refused."""
    path = tmp_path / "run.checkpoint"
    solve = partial(flipwise.densest_subgraph, (200, EDGES), method="tpm", seed=1)
    whole = solve(k=8, restarts=4)
    assert np.array_equal(solve(k=8, restarts=4, checkpoint=path, every=0).x, whole.x)
    with pytest.raises(flipwise.InvalidInput, match="several k"):
        solve(k=[8, 9], checkpoint=path)
