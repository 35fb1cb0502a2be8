"""Bisection into exact halves: the Walshaw graphs, beside METIS (best of 20 seeds) and KaHIP (strong).

    python benchmarks/bisection.py [--seconds 10] [--only 3elt wave] [--quick]
    python benchmarks/bisection.py --generated --seconds 3    # twenty graphs of other kinds, beside the stored rows

A rival's cut counts only when its halves are exact; a METIS answer that is off by a few nodes is listed apart. KaHIP
strong is also given as many seeds as fit into the same seconds. All cuts are counted by the driver. Everybody has one
thread and the processor's clock.
"""

from __future__ import annotations

import argparse
import sys
import time

import numpy as np
from bisection_graphs import NAMES, generated
from qubo_instances import best_known, data_folder
from recording import Recorder, count_processor_seconds

import flipwise
from flipwise.graphs.convert import as_graph
from flipwise.graphs.graph import Graph

GRAPHS = (
    "3elt", "add20", "add32", "data", "uk", "whitaker3", "bcsstk33", "4elt", "fe_sphere", "finan512", "wing", "wave",
)  # fmt: skip


def load(name: str) -> Graph:
    """A generated graph, or one of the data folder."""
    if name in NAMES:
        return generated(name)
    sys.path.insert(0, str(data_folder()))
    from load_ug import load_ug  # type: ignore[import-not-found]

    header, low, high = load_ug(str(data_folder() / "graphs" / f"walshaw-{name}.ug.xz"))
    return as_graph((int(header["n"]), np.stack([low, high], axis=1)))


def cut(graph: Graph, side: np.ndarray) -> int:
    """The number of cut edges."""
    rows = np.repeat(np.arange(graph.n), graph.degrees)
    return int(np.count_nonzero(side[rows] != side[graph.indices])) // 2


def exact(side: np.ndarray) -> bool:
    """Whether the halves differ by at most one node."""
    return abs(2 * int(np.count_nonzero(side)) - side.size) <= 1


def metis(graph: Graph, seeds: int) -> dict[str, object]:
    """The best exactly balanced cut of METIS over seeds."""
    try:
        import pymetis
    except ImportError as error:
        return {"skipped": str(error)}
    adjacency = pymetis.CSRAdjacency(graph.indptr.astype(np.int64), graph.indices.astype(np.int64))
    started = time.process_time()
    best, off = None, None
    for seed in range(seeds):
        options = pymetis.Options(ufactor=1, seed=seed)
        _, parts = pymetis.part_graph(2, adjacency=adjacency, options=options)
        side = np.asarray(parts) == 1
        value = cut(graph, side)
        if exact(side):
            best = value if best is None else min(best, value)
        else:
            off = value if off is None else min(off, value)
    return {"cut": best, "cut_not_exact": off, "seconds": round(time.process_time() - started, 3), "seeds": seeds}


def kahip(graph: Graph, seconds: float) -> dict[str, object]:
    """The best exactly balanced cut of KaHIP strong: one seed, then more until the time is over."""
    try:
        import kahip
    except ImportError as error:
        return {"skipped": str(error)}
    weights = np.ones(graph.n, dtype=np.int64).tolist()
    indptr, arcs = graph.indptr.tolist(), graph.indices.tolist()
    ones = [1] * len(arcs)
    started = time.process_time()
    best, first, seed = None, None, 0
    while seed == 0 or time.process_time() - started < seconds:
        _, parts = kahip.kaffpa(weights, indptr, ones, arcs, 2, 0.0, True, seed, 2)  # 2: strong
        side = np.asarray(parts) == 1
        if exact(side):
            value = cut(graph, side)
            first = value if seed == 0 else first
            best = value if best is None else min(best, value)
        seed += 1
    return {"cut": best, "first_seed": first, "seconds": round(time.process_time() - started, 3), "seeds": seed}


def main() -> None:
    """Run and store."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=10.0)
    parser.add_argument("--only", nargs="+")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--generated", action="store_true")
    parser.add_argument("--quick", action="store_true")
    arguments = parser.parse_args()
    known = NAMES if arguments.generated else GRAPHS
    names = arguments.only or (known[:5] if arguments.quick else known)
    seconds = 2.0 if arguments.quick else arguments.seconds
    flipwise.warm_up()
    count_processor_seconds()
    recorder = Recorder("bisection", ("pymetis", "kahip"))
    recorder.go_on(lambda row: row["graph"] not in names)
    worse, better = 0, 0
    for name in names:
        graph = load(name)
        started = time.process_time()
        found = flipwise.bisect(graph, time_limit=seconds, seed=arguments.seed, threads=1)
        spent = time.process_time() - started
        side = found.parts == 1
        if not exact(side):
            raise SystemExit(f"{name}: the halves are not exact")
        own = cut(graph, side)
        history = found.trace.records
        after = next((r.seconds for r in history if r.best <= found.value), 0.0)
        row = {
            "graph": name,
            "n": graph.n,
            "edges": graph.n_edges,
            "best_known": best_known().get(f"walshaw-{name}", {}).get("best"),
            "limit": seconds,
            "flipwise": {"cut": own, "seconds": round(spent, 3), "found_after": round(after, 3)},
            "metis": metis(graph, 20),
            "kahip": kahip(graph, seconds),
        }
        recorder.add(**row)
        rivals = [row[k].get("cut") for k in ("metis", "kahip")]
        best = min((v for v in rivals if v is not None), default=own)
        worse += own > best
        better += own < best
        print(name, row["best_known"], "flipwise", own, "metis", row["metis"], "kahip", row["kahip"], flush=True)
    print(f"worse than the better of the two on {worse} graphs, better on {better}, of {len(names)}")


if __name__ == "__main__":
    main()
