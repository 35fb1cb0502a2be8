"""densest_subgraph against every published method we can run, on every graph in FLIPWISE_DATA.

    python benchmarks/densest_rivals.py            # all graphs, k = 20 ... 6400 where k is at most half the nodes
    python benchmarks/densest_rivals.py --quick    # graphs up to 50,000 edges, k up to 500
    python benchmarks/densest_rivals.py --table    # print the stored run as a Markdown table

Rivals, all run to convergence in this process: Frank-Wolfe with diagonal loading (lambda = 1), the truncated power
method, greedy peeling, RAVI's greedy growth, and the nodes of largest degree. Density x'Wx / k of the simple graph.
"""

from __future__ import annotations

import argparse
import json
import os
import time
from typing import Any

import numpy as np
from recording import RESULTS, Recorder

import flipwise
from flipwise.datasets.local import local_graph, local_graphs
from flipwise.graphs.graph import Graph
from flipwise.graphs.whole import inner_weight
from flipwise.solvers.frank_wolfe import frank_wolfe
from flipwise.solvers.peeling import peel
from flipwise.solvers.ravi import greedy_dispersion
from flipwise.solvers.tpm import truncated_power

KS = (20, 50, 100, 200, 500, 1600, 6400)


def top_degree(indptr: np.ndarray, indices: np.ndarray, weights: None, k: int) -> np.ndarray:
    """The k nodes of largest degree."""
    return np.argsort(-np.diff(indptr), kind="stable")[:k]


RIVALS = {
    "frank-wolfe": lambda indptr, indices, weights, k: frank_wolfe(indptr, indices, weights, k, iterations=2000),
    "tpm": truncated_power,
    "peeling": peel,
    "ravi": greedy_dispersion,
    "top-degree": top_degree,
}


def rival_densities(graph: Graph, k: int) -> dict[str, float]:
    """What each rival reaches, counted from its nodes."""
    return {
        name: inner_weight(graph, np.sort(run(graph.indptr, graph.indices, None, k))) / k
        for name, run in RIVALS.items()
    }


def table(rows: list[dict[str, Any]]) -> str:
    """The rows as Markdown; the best rival of each row is in bold when it beats us."""
    names = list(RIVALS)
    lines = ["| graph | k | flipwise | bound | " + " | ".join(names) + " |", "|" + " --- |" * (4 + len(names))]
    for row in rows:
        cells = [f"{row[name]:.3f}" if row[name] <= row["density"] else f"**{row[name]:.3f}**" for name in names]
        lines.append(
            f"| {row['graph']} | {row['k']} | {row['density']:.3f} | {row['bound']:.3f} | {' | '.join(cells)} |"
        )
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="small graphs, k up to 500")
    parser.add_argument("--table", action="store_true", help="print the stored run")
    parser.add_argument("--resume", action="store_true", help="keep the rows of the stored run, add what is missing")
    parser.add_argument("--effort", type=float, default=0.3)
    parser.add_argument("--threads", type=int, default=None)
    arguments = parser.parse_args()
    if arguments.table:
        print(table(json.loads((RESULTS / "densest_rivals.json").read_text(encoding="utf-8"))["rows"]))
        return
    if not os.environ.get("FLIPWISE_DATA"):
        raise SystemExit("set FLIPWISE_DATA to the folder with the graphs")
    recorder = Recorder("densest_rivals")
    if arguments.resume:
        recorder.record["rows"] = json.loads((RESULTS / "densest_rivals.json").read_text(encoding="utf-8"))["rows"]
    done = {(row["graph"], row["k"]) for row in recorder.record["rows"]}
    beaten: list[str] = []
    for name in sorted(local_graphs()):
        graph = local_graph(name)
        if arguments.quick and graph.n_edges > 50_000:
            continue
        for k in KS:
            if 2 * k > graph.n or (arguments.quick and k > 500) or (name, k) in done:
                continue
            begun = time.perf_counter()
            result = flipwise.densest_subgraph(graph, k, seed=0, effort=arguments.effort, threads=arguments.threads)
            seconds = time.perf_counter() - begun
            rivals = rival_densities(graph, k)
            recorder.add(
                graph=name, k=k, density=result.density, bound=result.bound, gap=result.gap, seconds=seconds,
                proven_by=result.bound_method, effort=arguments.effort, **rivals,
            )  # fmt: skip
            better = [rival for rival, density in rivals.items() if density > result.density]
            beaten += [f"{name} k={k}: {rival} {rivals[rival]:.4f} > {result.density:.4f}" for rival in better]
            print(
                f"{name:20} k={k:<5} {result.density:9.4f}  best rival {max(rivals.values()):9.4f}  "
                f"bound {result.bound:9.4f}  {seconds:6.1f} s {'BEATEN by ' + ', '.join(better) if better else ''}",
                flush=True,
            )
    print(f"{len(recorder.record['rows'])} cases, beaten in {len(beaten)}")
    if beaten:
        raise SystemExit("\n".join(beaten))


if __name__ == "__main__":
    main()
