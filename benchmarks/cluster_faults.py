"""A cluster whose workers, scheduler and shards fail at random moments: the same answer, or an error that says what.

    python benchmarks/cluster_faults.py                # and results/robustness-cluster.json
    python benchmarks/cluster_faults.py --quick        # fewer of each

The answer is that of `densest_subgraph` in one process: nodes, value and bound. Workers are killed (and others started)
or stopped for some seconds at random moments of a call; a scheduler is killed at random moments of a call with a
checkpoint, and the call is repeated with another cluster; shards have a byte changed, are cut short or are missing.
"""

from __future__ import annotations

import argparse
import os
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from distributed import Client
from recording import Recorder

import flipwise
from flipwise.distributed import ClusterLost, ShardedGraph, shard_graph
from flipwise.distributed import graph as sharded
from flipwise.graphs.convert import as_graph

K = 40
SAME, CLEAR = "same answer", "clear error"


def random_graph(n: int = 3000, edges: int = 20_000) -> flipwise.Graph:
    """Weighted by small integers."""
    rng = np.random.default_rng(7)
    pairs = rng.integers(0, n, (edges, 2))
    upper = sp.coo_array((rng.integers(1, 4, edges).astype(float), pairs.T), shape=(n, n))
    return as_graph(upper + upper.T)


def solved(graph: Any) -> flipwise.DensestSubgraph:
    """The call that is disturbed."""
    return flipwise.densest_subgraph(graph, K, seed=3, effort=0.0)


def agrees(one: flipwise.DensestSubgraph, other: flipwise.DensestSubgraph) -> bool:
    """The same nodes, value and bound."""
    return np.array_equal(one.x, other.x) and (one.value, one.bound) == (other.value, other.bound)


def outcome(call: Callable[[], flipwise.DensestSubgraph], truth: flipwise.DensestSubgraph) -> str:
    """What a disturbed call came to."""
    try:
        return SAME if agrees(call(), truth) else "ANOTHER ANSWER"
    except flipwise.FlipwiseError as error:
        return CLEAR if len(str(error)) > 20 else f"UNCLEAR: {error}"
    except Exception as error:
        return f"RAW {type(error).__name__}: {error}"


@contextmanager
def after(seconds: float, act: Callable[[], None]) -> Iterator[None]:
    """Do something so many seconds after the beginning of the block; it is done when the block is over."""
    timer = threading.Timer(seconds, act)
    timer.start()
    try:
        yield
    finally:
        timer.join()


class OwnCluster:
    """A scheduler and workers as processes of their own, without nannies: who dies is replaced here."""

    def __init__(self, folder: Path) -> None:
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self._address = f"tcp://127.0.0.1:{probe.getsockname()[1]}"
        self._folder = folder
        self.scheduler = self._start("scheduler", "--host", self._address)
        self.workers: list[subprocess.Popen[bytes]] = []
        self.client = Client(self._address, timeout=300)

    def _start(self, *command: str) -> subprocess.Popen[bytes]:
        quiet: dict[str, Any] = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, "cwd": self._folder}
        return subprocess.Popen([sys.executable, "-m", "dask", *command, "--no-dashboard"], **quiet)

    def running(self, count: int = 2) -> list[int]:
        """The processes of so many workers that answer; as many are started as are missing."""
        while True:
            self.workers = [worker for worker in self.workers if worker.poll() is None]
            while len(self.workers) < count:
                self.workers.append(self._start("worker", self._address, "--no-nanny", "--nthreads", "1"))
            self.client.wait_for_workers(count, timeout=600)
            answers = self.client.run(os.getpid, on_error="ignore").values()  # who has just died is listed for a while
            found = [pid for pid in answers if isinstance(pid, int)]
            if len(found) == count:
                return found
            time.sleep(0.5)

    def __enter__(self) -> OwnCluster:
        return self

    def __exit__(self, *_: object) -> None:
        with suppress(Exception):
            self.client.close(timeout=1)
        for process in (self.scheduler, *self.workers):
            process.kill()
            process.wait()


def workers(count: int, folder: Path, truth: flipwise.DensestSubgraph, rng: np.random.Generator) -> dict[str, Any]:
    """Workers killed, and workers stopped for three seconds, each in a call of its own."""
    found: dict[str, Counter[str]] = {"killed worker": Counter(), "slow worker": Counter()}

    def stop(pid: int) -> None:
        os.kill(pid, signal.SIGSTOP)
        time.sleep(3.0)
        os.kill(pid, signal.SIGCONT)

    with OwnCluster(folder.parent) as cluster:
        cluster.running()
        began = time.monotonic()
        assert agrees(solved(ShardedGraph(folder, cluster.client)), truth)
        usual = time.monotonic() - began
        for kind, times in (("killed worker", count), ("slow worker", max(1, count // 4))):
            for _ in range(times):
                pid = int(rng.choice(cluster.running()))
                act = partial(os.kill, pid, signal.SIGKILL) if kind == "killed worker" else partial(stop, pid)
                with after(float(rng.uniform(0.0, usual)), act):
                    found[kind][outcome(lambda: solved(ShardedGraph(folder, cluster.client)), truth)] += 1
    return {kind: dict(counts) for kind, counts in found.items()}


def schedulers(count: int, folder: Path, truth: flipwise.DensestSubgraph, rng: np.random.Generator) -> dict[str, Any]:
    """Schedulers killed, and the calls repeated with what the checkpoint holds."""
    first: Counter[str] = Counter()
    again: Counter[str] = Counter()
    for index in range(count):
        answers = folder.parent / f"answers-{index}"
        with OwnCluster(folder.parent) as cluster:
            cluster.running()
            if index == 0:
                began = time.monotonic()
                solved(ShardedGraph(folder, cluster.client))
                usual = time.monotonic() - began
            with after(float(rng.uniform(0.0, usual)), cluster.scheduler.kill):

                def lost(client: Client = cluster.client, answers: Path = answers) -> flipwise.DensestSubgraph:
                    try:
                        return solved(ShardedGraph(folder, client, checkpoint=answers))
                    except ClusterLost as error:
                        assert str(answers) in str(error)
                        raise

                first[outcome(lost, truth)] += 1
        with OwnCluster(folder.parent) as other:
            other.running(1)
            repeated = partial(ShardedGraph, folder, other.client, checkpoint=answers)
            again[outcome(lambda: solved(repeated()), truth)] += 1  # noqa: B023
    return {"killed scheduler": dict(first), "call repeated on another cluster": dict(again)}


def shards(count: int, graph: flipwise.Graph, folder: Path, rng: np.random.Generator) -> dict[str, Any]:
    """Damaged, shortened and missing files of shards: an error that names the file."""
    found: dict[str, Counter[str]] = {"damaged shard": Counter(), "missing shard": Counter()}
    with OwnCluster(folder.parent) as cluster:
        cluster.running()
        for index in range(2 * count):
            here = shard_graph(graph, folder.parent / f"damaged-{index}", shards=5)
            path = here / f"shard-{int(rng.integers(5)):05d}.{('indices', 'indptr', 'weights')[index % 3]}.npy"
            content = bytearray(path.read_bytes())
            kind = "damaged shard" if index < count else "missing shard"
            if kind == "missing shard":
                path.unlink()
            elif index % 2:
                path.write_bytes(content[: int(rng.integers(len(content)))])
            else:
                content[int(rng.integers(200, len(content)))] ^= 1 << int(rng.integers(8))
                path.write_bytes(content)
            try:
                solved(ShardedGraph(here, cluster.client))
                found[kind]["NOT NOTICED"] += 1
            except flipwise.FlipwiseError as error:
                found[kind][CLEAR if path.name in str(error) else f"UNCLEAR: {error}"] += 1
            except Exception as error:
                found[kind][f"RAW {type(error).__name__}: {error}"] += 1
    return {kind: dict(counts) for kind, counts in found.items()}


def main() -> int:
    """All faults, shown and stored."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--quick", action="store_true", help="a quarter of each, not stored")
    arguments = parser.parse_args()
    share = 4 if arguments.quick else 1
    recorder = None if arguments.quick else Recorder("robustness-cluster", ("distributed",))
    rng = np.random.default_rng()
    sharded.GATHERED_ARCS = 0  # the workers peel to the end
    graph = random_graph()
    good = True
    with tempfile.TemporaryDirectory() as temporary:
        folder = shard_graph(graph, Path(temporary) / "shards", shards=5)
        truth = solved(graph)
        for part in (
            lambda: workers(20 // share, folder, truth, rng),
            lambda: schedulers(max(1, 5 // share), folder, truth, rng),
            lambda: shards(max(1, 5 // share), graph, folder, rng),
        ):
            for kind, counts in part().items():
                good &= set(counts) <= {SAME, CLEAR}
                print(f"{kind}: {', '.join(f'{times} x {what}' for what, times in counts.items())}", flush=True)
                if recorder is not None:
                    recorder.add(fault=kind, outcomes=counts)
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
