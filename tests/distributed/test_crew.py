"""Workers that are killed cost time, not the answer; a killed scheduler is a clear error and a checkpoint."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import flipwise
from flipwise.distributed.crew import ClusterLost, Crew
from flipwise.distributed.graph import ShardedGraph
from flipwise.distributed.shards import shard_graph
from flipwise.foundation.errors import InvalidInput
from tests.distributed.test_shards import random_graph

distributed = pytest.importorskip("distributed")
pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="needs the signals of POSIX")


def _worker_pids(client: Any) -> list[int]:
    """The processes of the workers, as their nannies know them."""
    processes = [nanny.process for nanny in client.cluster.workers.values()]
    return [process.pid for process in processes if process is not None and process.pid]


def test_killed_workers_do_not_change_the_answer(client: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A worker is killed five times at random moments of the workers' rounds: cores and degrees stay the same."""
    monkeypatch.setattr("flipwise.distributed.graph.GATHERED_ARCS", 0)
    graph = random_graph(3000, 20_000)
    folder = shard_graph(graph, tmp_path / "shards", shards=5)
    nodes = ShardedGraph(folder, client).core_above(9.0).nodes
    rng = np.random.default_rng(0)
    over = threading.Event()
    kills = 0

    def kill() -> None:
        nonlocal kills
        try:
            while kills < 5:
                time.sleep(float(rng.uniform(0.0, 0.5)))
                pids = _worker_pids(client)
                if pids:
                    os.kill(int(rng.choice(pids)), signal.SIGKILL)
                    kills += 1
        finally:
            over.set()

    thread = threading.Thread(target=kill)
    thread.start()
    while True:
        last = over.is_set()
        assert np.array_equal(ShardedGraph(folder, client).core_above(9.0).nodes, nodes)
        if last:
            break
    thread.join()
    client.wait_for_workers(2, timeout=60)
    assert kills == 5


def test_a_killed_scheduler_leaves_a_checkpoint(client: Any, tmp_path: Path) -> None:
    """The error says what to do; another cluster goes on with the answers in the checkpoint."""
    graph = random_graph(3000, 20_000)
    folder = shard_graph(graph, tmp_path / "shards")
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        address = f"tcp://127.0.0.1:{probe.getsockname()[1]}"
    options = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, "cwd": tmp_path}
    command = [sys.executable, "-m", "dask"]
    scheduler = subprocess.Popen([*command, "scheduler", "--dashboard-address", ":0", "--host", address], **options)  # type: ignore[call-overload]
    worker = subprocess.Popen([*command, "worker", address, "--no-nanny", "--dashboard-address", ":0"], **options)  # type: ignore[call-overload]
    try:
        doomed = distributed.Client(address, timeout=60)
        doomed.wait_for_workers(1, timeout=60)
        there = ShardedGraph(folder, doomed, checkpoint=tmp_path / "answers")
        core = there.core_above(9.0)
        scheduler.kill()
        with pytest.raises(ClusterLost, match="answers"):
            flipwise.densest_subgraph(there, 40, seed=3, effort=0.02)
        doomed.close(timeout=1)
    finally:
        for process in (scheduler, worker):
            process.kill()
            process.wait()
    resumed = ShardedGraph(folder, client, checkpoint=tmp_path / "answers")
    assert np.array_equal(resumed.core_above(9.0).nodes, core.nodes) and not resumed.traffic
    one, other = (flipwise.densest_subgraph(each, 40, seed=3, effort=0.02) for each in (graph, resumed))
    assert np.array_equal(one.x, other.x) and one.bound == other.bound
    with pytest.raises(InvalidInput, match="another graph"):
        ShardedGraph(
            shard_graph(random_graph(9, 20), tmp_path / "other"), client, checkpoint=tmp_path / "answers"
        )  # fmt: skip


def test_a_path_that_workers_do_not_have_is_said(client: Any) -> None:
    """An error of a task, here a missing file, is no lost cluster."""
    crew = Crew(client)
    for run in (
        lambda: crew.ask("read", open, [("/no/such/file",)]),
        lambda: crew.reduce("read", open, [("/no",)], max),
    ):
        with pytest.raises(flipwise.FlipwiseError, match="able to read"):
            run()
