"""Time and density of every method on the densest subgraph with k = 1600 nodes: the paper's CPU-time table.

    python benchmarks/cpu_times.py                     # dblp-2010 and uk-2007-05@100000 (needs FLIPWISE_DATA)
    python benchmarks/cpu_times.py --large             # and a generated graph of the size of hollywood-2009
    python benchmarks/cpu_times.py --quick             # a generated graph of 20,000 nodes, k = 200
    python benchmarks/render.py cpu_times              # the table in the docs, from the stored rows

All methods run in one process, one after another, on the same simple undirected graph and from the same seed, with
their defaults and a cap on the time of each. Kernels are compiled before the clock starts. `seconds` is the time of the
method alone: what it takes to build the matrix that a rival works on is recorded beside it as part of `wall`.
"""

from __future__ import annotations

import argparse
import time
from typing import Any

from recording import Recorder

import flipwise
from flipwise.datasets.generators import rmat_graph
from flipwise.datasets.local import local_graph

SMALL_GRAPHS = ("dblp-2010", "uk-2007-05@100000")
HOLLYWOOD = (1_139_905, 113_891_327)
"""Nodes and arcs of hollywood-2009."""

RUNS: dict[str, dict[str, Any]] = {
    "dpcd": {"method": "dpcd"},
    "dpcd, first descent": {"method": "dpcd", "effort": 0.0},
    **{
        name: {"method": name}
        for name in (
            "lp",
            "ravi",
            "l2box-admm",
            "mpec-epm",
            "mpec-adm",
            "frank-wolfe",
            "tpm",
            "peeling",
            "spectral",
            "sdp",
            "penalty-decomposition",
            "l2box-nonseparable",
            "piecewise",
            "dcc",
        )
    },
}


def graphs(large: bool, quick: bool) -> list[tuple[str, Any]]:
    """Names with functions that load or generate."""
    if quick:
        return [("rmat 20,000", lambda: rmat_graph(20_000, 400_000, seed=0))]
    chosen: list[tuple[str, Any]] = [(name, lambda name=name: local_graph(name)) for name in SMALL_GRAPHS]
    if large:
        chosen.append(("generated, size of hollywood-2009", lambda: rmat_graph(*HOLLYWOOD, seed=0)))
    return chosen


def main() -> None:
    """Run every method on every graph."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--large", action="store_true", help="add the graph of hollywood-2009's size")
    parser.add_argument("--only-large", action="store_true", help="that graph alone")
    parser.add_argument("--quick", action="store_true", help="a small generated graph only")
    parser.add_argument("--cap", type=float, default=120.0, help="seconds for each method on each graph")
    parser.add_argument("--methods", help="comma-separated labels; all by default")
    parser.add_argument("--name", help="name of the results file")
    arguments = parser.parse_args()
    k = 200 if arguments.quick else 1600
    labels = arguments.methods.split(";") if arguments.methods else list(RUNS)
    recorder = Recorder(arguments.name or ("cpu_times-quick" if arguments.quick else "cpu_times"))
    warm = rmat_graph(20_000, 400_000, seed=1)
    chosen = graphs(arguments.large or arguments.only_large, arguments.quick)
    for graph_name, load in chosen[-1:] if arguments.only_large else chosen:
        graph = load()
        for label in labels:
            keywords = RUNS[label]
            flipwise.densest_subgraph(warm, 100, seed=0, certify=False, time_limit=2.0, **keywords)  # compile
            start = time.perf_counter()
            result = flipwise.densest_subgraph(graph, k, seed=0, certify=False, time_limit=arguments.cap, **keywords)
            wall = time.perf_counter() - start
            row = {
                "graph": graph_name,
                "nodes": graph.n,
                "edges": graph.n_edges,
                "k": k,
                "run": label,
                "seconds": round(result.seconds, 4),
                "wall": round(wall, 4),
                "density": round(result.density, 4),
                "status": result.status.name,
                "iterations": result.iterations,
                "cap": arguments.cap,
            }
            recorder.add(**row)
            print(
                f"{graph_name:34} {label:22} {result.seconds:9.3f} s  {result.density:10.4f}  {row['status']}",
                flush=True,
            )


if __name__ == "__main__":
    main()
