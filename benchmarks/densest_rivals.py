"""densest_subgraph against every published method we can run, on every graph in FLIPWISE_DATA.

    python benchmarks/densest_rivals.py            # all graphs and k = 20 ... 6400, as far as not done; goes on where
                                                   # it was stopped as long as the code and the effort are the same
    python benchmarks/densest_rivals.py --fresh    # from the beginning
    python benchmarks/densest_rivals.py --quick    # graphs up to 50,000 edges, k up to 500
    python benchmarks/densest_rivals.py --table    # print the stored run as a Markdown table

Rivals, all run to convergence in this process: Frank-Wolfe with diagonal loading (lambda = 1; until the k largest
entries have stayed the same for 500 iterations, or 4000 iterations), the truncated power method, greedy peeling, RAVI's
greedy growth, and the nodes of largest degree. Density x'Wx / k of the simple graph.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import time
from typing import Any

import numpy as np
from recording import RESULTS, ROOT, Recorder

import flipwise
from flipwise.densest.starts import (
    frank_wolfe_points,
    leading_eigenvalue,
    peeled_nodes,
    power_sets,
    ravi_nodes,
)
from flipwise.densest.subset import inner_weight
from flipwise.foundation.arrays import largest
from flipwise.graphs.graph import Graph
from flipwise_studies.data.local import local_graph, local_graphs

KS = (20, 50, 100, 200, 500, 1600, 6400)
PROJECTED = ("imdb-actors-1999",)
"""Graphs that are stored as incidences; they come last."""
CODE = {
    "densest": ("bounds", "core", "pairs", "search", "solver", "starts", "subset"),
    "kernels": ("bounds", "peeling", "subgraph"),
}
"""The modules that the figures depend on."""


def code_version() -> str:
    """A short hash of those modules: rows of another version are made anew."""
    digest = hashlib.sha256()
    for room, modules in CODE.items():
        for module in modules:
            digest.update((ROOT / "src" / "flipwise" / room / f"{module}.py").read_bytes())
    return digest.hexdigest()[:12]


def top_degree(graph: Graph, k: int) -> np.ndarray:
    """The k nodes of largest degree."""
    return np.argsort(-graph.degrees, kind="stable")[:k]


def truncated_power(graph: Graph, k: int) -> np.ndarray:
    """The heaviest set of the truncated power method."""
    return max(power_sets(graph, k), key=lambda found: found[1])[0]


def frank_wolfe(graph: Graph, k: int) -> np.ndarray:
    """Frank-Wolfe until its rounding has not changed for 500 iterations (a point comes every 10)."""
    nodes, since = np.empty(0, dtype=np.int64), 0
    for point in frank_wolfe_points(graph, k, leading_eigenvalue(graph), iterations=4000):
        following = largest(point, k)
        nodes, since = following, since + 1 if np.array_equal(following, nodes) else 0
        if since == 50:
            break
    return nodes


RIVALS = {
    "frank-wolfe": frank_wolfe,
    "tpm": truncated_power,
    "peeling": peeled_nodes,
    "ravi": ravi_nodes,
    "top-degree": top_degree,
}


def rival_densities(graph: Graph, k: int) -> dict[str, float]:
    """What each rival reaches, counted from its nodes."""
    return {name: inner_weight(graph, np.sort(run(graph, k))) / k for name, run in RIVALS.items()}


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


def beaten(rows: list[dict[str, Any]]) -> list[str]:
    """Where a rival is denser."""
    return [
        f"BEATEN on {row['graph']} k={row['k']}: {name} {row[name]:.4f} > {row['density']:.4f}"
        for row in rows
        for name in RIVALS
        if row[name] > row["density"]
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="small graphs, k up to 500")
    parser.add_argument("--table", action="store_true", help="print the stored run")
    parser.add_argument("--fresh", action="store_true", help="forget the stored run")
    parser.add_argument("--effort", type=float, default=0.3)
    parser.add_argument("--threads", type=int, default=None)
    arguments = parser.parse_args()
    if arguments.table:
        print(table(json.loads((RESULTS / "densest_rivals.json").read_text(encoding="utf-8"))["rows"]))
        return
    if not os.environ.get("FLIPWISE_DATA"):
        raise SystemExit("set FLIPWISE_DATA to the folder with the graphs")
    recorder = Recorder("densest_rivals-quick" if arguments.quick else "densest_rivals")
    here = {"code": code_version(), "effort": arguments.effort}
    if recorder.path.exists() and not arguments.fresh:
        stored = json.loads(recorder.path.read_text(encoding="utf-8"))["rows"]
        recorder.record["rows"] = [row for row in stored if here.items() <= row.items()]
    done = {(row["graph"], row["k"]) for row in recorder.record["rows"]}
    for name in [*sorted(local_graphs()), *PROJECTED]:
        graph = local_graph(name)
        if arguments.quick and graph.n_edges > 50_000:
            continue
        for k in KS:
            if k >= graph.n or (arguments.quick and k > 500) or (name, k) in done:
                continue
            begun = time.perf_counter()
            result = flipwise.densest_subgraph(graph, k, seed=0, effort=arguments.effort, threads=arguments.threads)
            seconds = time.perf_counter() - begun
            rivals = rival_densities(graph, k)
            recorder.add(
                graph=name, nodes=graph.n, edges=graph.n_edges, k=k, density=result.density, bound=result.bound,
                gap=result.gap, seconds=seconds, proven_by=result.bound_method, **here, **rivals,
            )  # fmt: skip
            better = beaten([recorder.record["rows"][-1]])
            print(
                f"{name:20} k={k:<5} {result.density:9.4f}  best rival {max(rivals.values()):9.4f}  "
                f"bound {result.bound:9.4f}  {seconds:6.1f} s {' '.join(better)}",
                flush=True,
            )
    lost = beaten(recorder.record["rows"])
    print(f"{len(recorder.record['rows'])} cases, beaten in {len(lost)}")
    if lost:
        raise SystemExit("\n".join(lost))


if __name__ == "__main__":
    main()
