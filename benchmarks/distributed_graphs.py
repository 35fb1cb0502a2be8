"""Dense subgraphs on two worker processes: the answer of one process, what is sent, what losses cost, how it scales.

    python benchmarks/distributed_graphs.py              # dblp-2010 (through FLIPWISE_DATA), 5 x 10^7 generated arcs
    python benchmarks/distributed_graphs.py --scaling    # times, on the generated graph
    python benchmarks/distributed_graphs.py --quick      # 2 x 10^6 generated arcs only, with or without --scaling

Each row is measured on a local Dask cluster, kernels loaded on a small graph before. "same" runs `densest_subgraph` in
this process and on shards with the same seed; "kills" repeats it while a worker is killed (SIGKILL) five times at
random moments; "flips" runs DPCD on all shards from random nodes and counts the bytes of each iteration's messages, as
they are serialised, and the bytes through the loopback device (with heartbeats, headers and all else that Dask sends).
`--scaling` times one whole-graph gradient and one solve on 1 and 2 workers of one thread, beside the plain function on
one thread, and the messages of a DPCD run.
"""

from __future__ import annotations

import argparse
import os
import pickle
import signal
import statistics
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from distributed import Client, LocalCluster
from recording import Recorder

import flipwise
from flipwise.densest.whole import GraphInMemory
from flipwise.distributed import ShardedGraph, shard_graph
from flipwise.distributed.subgraph import ShardedDescent
from flipwise.kernels.jit import threads
from flipwise_studies.data.local import local_graph
from flipwise_studies.data.rmat import rmat_graph

K = 1600
EFFORT = 0.02


def cluster(workers: int) -> LocalCluster:
    """Worker processes of one thread each, restarted by their nannies."""
    return LocalCluster(
        n_workers=workers, threads_per_worker=1, dashboard_address=":0", memory_limit=0, silence_logs=50
    )


def timed(run: Callable[[], Any]) -> tuple[Any, float]:
    """The answer and the seconds it took."""
    begun = time.perf_counter()
    answer = run()
    return answer, time.perf_counter() - begun


def loopback() -> int:
    """Bytes received through the loopback device so far."""
    lines = Path("/proc/net/dev").read_text().splitlines()
    return next((int(line.split()[1]) for line in lines if line.strip().startswith("lo:")), 0)


def weighed(graph: ShardedGraph) -> Counter[tuple[str, str]]:
    """The bytes of the messages from now on, by question and direction."""
    sizes: Counter[tuple[str, str]] = Counter()
    ask = graph.crew.ask

    def asked(name: str, function: Any, tasks: Any) -> Any:
        answers = ask(name, function, tasks)
        for direction, messages in (("sent", tasks), ("received", answers)):
            sizes[name, direction] += sum(len(pickle.dumps(message, protocol=5)) for message in messages)
        return answers

    graph.crew.ask = asked  # type: ignore[method-assign]
    return sizes


def same(name: str, graph: flipwise.Graph, folder: Path, client: Client, recorder: Recorder) -> None:
    """The answer here and on shards."""
    alone = flipwise.densest_subgraph(graph, K, seed=0, effort=EFFORT)
    there = ShardedGraph(folder, client)
    sizes = weighed(there)
    shared = flipwise.densest_subgraph(there, K, seed=0, effort=EFFORT)
    assert np.array_equal(alone.x, shared.x) and alone.bound == shared.bound
    traffic = {
        question: {"calls": told.calls, "sent": sizes[question, "sent"], "received": sizes[question, "received"]}
        for question, told in there.traffic.items()
    }
    total = sizes.total()
    print(
        f"{name}: {graph.n:,} nodes, {graph.n_arcs:,} arcs, k = {K}: density {shared.density:.6f}, bound "
        f"{shared.bound:.6f}, the same nodes and bound in one process and on shards; {total / 1e6:.2f} MB sent"
    )
    recorder.add(
        kind="same", graph=name, nodes=graph.n, arcs=graph.n_arcs, k=K, effort=EFFORT, density=shared.density,
        bound=shared.bound, bytes=total, traffic=traffic,
    )  # fmt: skip


def kills(name: str, folder: Path, client: Client, recorder: Recorder) -> None:
    """Five workers killed at random moments."""
    rng = np.random.default_rng(0)
    over = threading.Event()
    killed = 0

    def kill() -> None:
        nonlocal killed
        while killed < 5:
            time.sleep(float(rng.uniform(0.2, 3.0)))
            found = [nanny.process for nanny in client.cluster.workers.values()]
            pids = [process.pid for process in found if process is not None and process.pid]
            if pids:
                os.kill(int(rng.choice(pids)), signal.SIGKILL)
                killed += 1
        over.set()

    thread = threading.Thread(target=kill)
    thread.start()
    runs, rebuilt = 0, 0
    while True:
        last = over.is_set()
        there = ShardedGraph(folder, client)
        result = flipwise.densest_subgraph(there, K, seed=0, effort=0.0)
        if runs == 0:
            first = result
        assert np.array_equal(result.x, first.x) and result.bound == first.bound
        rebuilt += sum(told.calls for question, told in there.traffic.items() if question.endswith("rebuilt"))
        runs += 1
        if last:
            break
    thread.join()
    undisturbed = flipwise.densest_subgraph(ShardedGraph(folder, client), K, seed=0, effort=0.0)
    assert np.array_equal(undisturbed.x, first.x)
    print(f"{name}: {killed} workers killed during {runs} runs; every run had the answer of an undisturbed one")
    recorder.add(kind="kills", graph=name, kills=killed, runs=runs, sets_rebuilt=rebuilt)


def flips(name: str, folder: Path, client: Client, recorder: Recorder) -> None:
    """Bytes of each DPCD iteration on all shards."""
    there = ShardedGraph(folder, client)
    start = np.random.default_rng(0).choice(there.n, K, replace=False)
    sizes = weighed(there)
    descent = ShardedDescent(there, start)
    wire = loopback()
    rows = []
    sent = sizes.total

    more = True
    while more:
        before, flipped, calls = sent(), descent.flips, sum(told.calls for told in there.traffic.values())
        more = descent.update()
        asked = sum(told.calls for told in there.traffic.values()) - calls
        rows.append({"flips": descent.flips - flipped, "bytes": sent() - before, "questions": asked})
    moved = np.array([row["flips"] for row in rows]), np.array([row["bytes"] for row in rows])
    per_flip = float(np.polyfit(*moved, 1)[0])
    # the least constant for which 64 bytes for each flip and the constant for each worker cover every iteration
    constant = float((moved[1] - 64 * moved[0]).max()) / len(there.parts)
    wire = loopback() - wire
    print(
        f"{name}: {len(rows)} iterations of DPCD, {moved[0].sum():,} flips, {moved[1].sum():,} bytes; a flip costs "
        f"{per_flip:.1f} bytes, an iteration with all its questions {constant:,.0f} bytes a worker; loopback {wire:,} "
        "bytes with all overheads of Dask"
    )
    recorder.add(
        kind="flips", graph=name, workers=len(there.parts), iterations=rows, constant=constant, bytes_per_flip=per_flip,
        loopback=wire, density=2.0 * descent.weight / K,
    )  # fmt: skip


def scaling(name: str, graph: flipwise.Graph, folder: Path, recorder: Recorder) -> None:
    """One gradient and one solve on one thread here, and on one and two workers."""
    nodes = np.arange(K)
    whole = GraphInMemory(graph)
    row: dict[str, float] = {}
    with threads(1):
        row["gradient_plain"] = statistics.median(timed(lambda: whole.nodes_above(nodes, 1e9))[1] for _ in range(3))
        row["solve_plain"] = timed(lambda: flipwise.densest_subgraph(graph, K, seed=0, effort=0.0, threads=1))[1]
    for workers in (1, 2):
        with cluster(workers) as local, Client(local) as client:
            there = ShardedGraph(folder, client)
            there.nodes_above(nodes + 1, 1e9)  # maps and checks the shards, loads the kernels
            row[f"gradient_{workers}"] = statistics.median(_gradient(there, nodes + i) for i in (2, 3, 4))
            ShardedGraph(folder, client).core_of_size(3 * K)
            fresh = ShardedGraph(folder, client)
            row[f"solve_{workers}"] = timed(lambda: flipwise.densest_subgraph(fresh, K, seed=0, effort=0.0))[1]  # noqa: B023
            row["asking"] = sum(told.seconds for told in fresh.traffic.values())
            row["questions"] = sum(told.calls for told in fresh.traffic.values())
            descent = ShardedDescent(there, np.random.default_rng(0).choice(there.n, K, replace=False))
            before = sum(told.calls for told in there.traffic.values())
            seconds = timed(descent.update)[1]
            row["question"] = seconds / (sum(told.calls for told in there.traffic.values()) - before)
    for what in ("gradient", "solve"):
        plain, one, two = row[f"{what}_plain"], row[f"{what}_1"], row[f"{what}_2"]
        print(
            f"{name}: {what}: plain {plain:.3f} s, 1 worker {one:.3f} s ({100 * (one / plain - 1):+.0f} %), "
            f"2 workers {two:.3f} s ({one / two:.2f} times faster than 1)"
        )
    recorder.add(kind="scaling", graph=name, arcs=graph.n_arcs, **row)


def _gradient(there: ShardedGraph, nodes: np.ndarray) -> float:
    return timed(lambda: there.nodes_above(nodes, 1e9))[1]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--scaling", action="store_true")
    arguments = parser.parse_args()
    arcs = 2_000_000 if arguments.quick else 50_000_000
    name = "distributed_scaling" if arguments.scaling else "distributed_graphs"
    recorder = Recorder(f"{name}-quick" if arguments.quick else name, ("dask", "distributed"))
    generated = f"R-MAT, {arcs:.0e} arcs".replace("e+0", " x 10^"), rmat_graph(arcs // 100, arcs, seed=0)
    with tempfile.TemporaryDirectory() as folder:
        path = shard_graph(generated[1], Path(folder, "generated"))
        if arguments.scaling:
            scaling(*generated, path, recorder)
            return
        with cluster(2) as local, Client(local) as client:
            same(*generated, path, client, recorder)
            flips(generated[0], path, client, recorder)
            kills(generated[0], path, client, recorder)
            if not arguments.quick:
                real = local_graph("dblp-2010")
                path = shard_graph(real, Path(folder, "real"))
                same("dblp-2010", real, path, client, recorder)
                kills("dblp-2010", path, client, recorder)


if __name__ == "__main__":
    main()
