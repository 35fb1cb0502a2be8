"""A cluster whose workers, scheduler and shards fail at random moments: the same answer, or an error that says what.

    python benchmarks/cluster_faults.py                # and results/robustness-cluster.json
    python benchmarks/cluster_faults.py --quick        # fewer of each

The answer is that of `densest_subgraph` in one process: nodes, value and bound. Workers are killed (their nannies start
others) or stopped for some seconds at random moments of a call; a scheduler is killed at random moments of a call with
a checkpoint, and the call is repeated with another cluster; shards have a byte changed, are cut short or are missing.
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
from distributed import Client, LocalCluster
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
def local_cluster(workers: int) -> Iterator[Client]:
    """Processes of this machine, each with a nanny that starts another when it dies.

    The client has the address alone: the cluster's own list of workers does not survive two deaths in a row.
    """
    cluster = LocalCluster(
        n_workers=workers, threads_per_worker=1, host="127.0.0.1", dashboard_address=None, silence_logs=50
    )
    try:
        with Client(cluster.scheduler_address) as client:
            yield client
    finally:
        with suppress(KeyError):
            cluster.close()


@contextmanager
def after(seconds: float, act: Callable[[], None]) -> Iterator[None]:
    """Do something so many seconds after the beginning of the block; it is done when the block is over."""
    timer = threading.Timer(seconds, act)
    timer.start()
    try:
        yield
    finally:
        timer.join()


def workers(count: int, folder: Path, truth: flipwise.DensestSubgraph, rng: np.random.Generator) -> dict[str, Any]:
    """Workers killed, and workers stopped for three seconds, each in a call of its own."""
    found: dict[str, Counter[str]] = {"killed worker": Counter(), "slow worker": Counter()}
    with local_cluster(2) as client:

        def stop(pid: int) -> None:
            os.kill(pid, signal.SIGSTOP)
            time.sleep(3.0)
            os.kill(pid, signal.SIGCONT)

        began = time.monotonic()
        assert agrees(solved(ShardedGraph(folder, client)), truth)
        usual = time.monotonic() - began
        for kind, times in (("killed worker", count), ("slow worker", max(1, count // 4))):
            for _ in range(times):
                pid = int(rng.choice(_running(client)))
                act = partial(os.kill, pid, signal.SIGKILL) if kind == "killed worker" else partial(stop, pid)
                with after(float(rng.uniform(0.0, usual)), act):
                    found[kind][outcome(lambda: solved(ShardedGraph(folder, client)), truth)] += 1
    return {kind: dict(counts) for kind, counts in found.items()}


def _running(client: Client) -> list[int]:
    """The processes of two workers, once there are two that answer."""
    while True:
        client.wait_for_workers(2, timeout=300)
        answers = client.run(os.getpid, on_error="ignore").values()  # one that has just died is listed for a while
        found = [pid for pid in answers if isinstance(pid, int)]
        if len(found) == 2:
            return found
        time.sleep(0.5)


@contextmanager
def own_cluster(folder: Path) -> Iterator[tuple[Client, subprocess.Popen[bytes]]]:
    """A scheduler and two workers as processes of their own."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        address = f"tcp://127.0.0.1:{probe.getsockname()[1]}"
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, "cwd": folder}
    command = [sys.executable, "-m", "dask"]
    processes = [subprocess.Popen([*command, "scheduler", "--no-dashboard", "--host", address], **quiet)]  # type: ignore[call-overload]
    try:
        client = Client(address, timeout=120)
        for _ in range(2):
            processes.append(subprocess.Popen([*command, "worker", address, "--no-nanny", "--no-dashboard"], **quiet))  # type: ignore[call-overload]
        client.wait_for_workers(2, timeout=120)
        yield client, processes[0]
        client.close(timeout=1)
    finally:
        for process in processes:
            process.kill()
            process.wait()


def schedulers(count: int, folder: Path, truth: flipwise.DensestSubgraph, rng: np.random.Generator) -> dict[str, Any]:
    """Schedulers killed, and the calls repeated with what the checkpoint holds."""
    first: Counter[str] = Counter()
    again: Counter[str] = Counter()
    for index in range(count):
        answers = folder.parent / f"answers-{index}"
        with own_cluster(folder.parent) as (client, scheduler):
            began = time.monotonic()
            if index == 0:
                solved(ShardedGraph(folder, client))
                usual = time.monotonic() - began
            with after(float(rng.uniform(0.0, usual)), scheduler.kill):

                def lost(client: Client = client, answers: Path = answers) -> flipwise.DensestSubgraph:
                    try:
                        return solved(ShardedGraph(folder, client, checkpoint=answers))
                    except ClusterLost as error:
                        assert str(answers) in str(error)
                        raise

                first[outcome(lost, truth)] += 1
        with local_cluster(1) as client:
            again[outcome(lambda: solved(ShardedGraph(folder, client, checkpoint=answers)), truth)] += 1  # noqa: B023
    return {"killed scheduler": dict(first), "call repeated on another cluster": dict(again)}


def shards(count: int, graph: flipwise.Graph, folder: Path, rng: np.random.Generator) -> dict[str, Any]:
    """Damaged, shortened and missing files of shards: an error that names the file."""
    found: dict[str, Counter[str]] = {"damaged shard": Counter(), "missing shard": Counter()}
    with local_cluster(2) as client:
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
                solved(ShardedGraph(here, client))
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
