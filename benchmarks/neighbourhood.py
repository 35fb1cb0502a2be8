"""DPCD with and without the neighbourhood search: the paper's second ablation, on the densest k-subgraph.

    python benchmarks/neighbourhood.py             # dblp-2010 and uk-2007-05@100000 (needs FLIPWISE_DATA), three k
    python benchmarks/neighbourhood.py --large     # and a generated graph of the size of hollywood-2009, k = 1600
    python benchmarks/neighbourhood.py --large --only generated --cap 300
    python benchmarks/neighbourhood.py --quick     # a generated graph of 20,000 nodes
    python benchmarks/render.py neighbourhood      # the table in the docs, from the stored rows

One DPCD descent, the paper's m = 5, T = 10 against m = 0, from the same start: the k nodes of largest degree, or random
nodes (three seeds); the improved algorithm, which is the default, and Algorithm 1 to the letter.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from functools import partial
from itertools import product
from pathlib import Path

import numpy as np
from recording import Recorder

import flipwise
from flipwise.foundation.arrays import largest
from flipwise_studies.data.local import local_graph
from flipwise_studies.data.rmat import rmat_graph

LARGE = "generated, size of hollywood-2009"
SEARCHES = {"with (m = 5)": 5, "without": 0}


def main() -> None:
    """Run both on every graph, size and start."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="a small generated graph only")
    parser.add_argument("--large", action="store_true", help="add a graph of the size of hollywood-2009")
    parser.add_argument("--graph", type=Path, help="that graph, if it has been stored before")
    parser.add_argument("--only", help="graphs whose name has this in it; the rows of others stay")
    parser.add_argument("--cap", type=float, default=60.0, help="seconds for each run")
    arguments = parser.parse_args()
    recorder = Recorder("neighbourhood-quick" if arguments.quick else "neighbourhood")
    if arguments.quick:
        graphs: dict[str, Callable[[], flipwise.Graph]] = {"rmat 20,000": lambda: rmat_graph(20_000, 400_000, seed=0)}
    else:
        graphs = {name: partial(local_graph, name) for name in ("dblp-2010", "uk-2007-05@100000")}
        if arguments.large:
            stored = arguments.graph
            graphs[LARGE] = lambda: (
                flipwise.read_graph(stored) if stored else rmat_graph(1_139_905, 113_891_327, seed=0)
            )
        graphs = {name: load for name, load in graphs.items() if arguments.only is None or arguments.only in name}
        recorder.go_on(lambda row: row["graph"] not in graphs)
    if arguments.graph is not None:  # where it lies says nothing to others
        recorder.record["command"] = recorder.record["command"].replace(str(arguments.graph), arguments.graph.name)
    for name, load in graphs.items():
        graph = load()
        W = graph.to_scipy()
        objective = flipwise.Quadratic(-W, variables="binary")
        degrees = np.asarray(W.sum(axis=1), dtype=np.float64)
        flipwise.minimize(objective, constraint=flipwise.Cardinality(10), seed=0, time_limit=5.0)  # compile
        sizes = (200,) if arguments.quick else (1600,) if name == LARGE else (400, 1600, 6400)
        for k in sizes:
            for start in ("degree", "random 0") if name == LARGE else ("degree", "random 0", "random 1", "random 2"):
                point = None
                if start == "degree":
                    point = np.zeros(graph.n, dtype=np.int8)
                    point[largest(degrees, k)] = 1
                seed = 0 if start == "degree" else int(start.split()[1])
                for mode, (label, m) in product(("improved", "literal"), SEARCHES.items()):
                    began = time.perf_counter()
                    result = flipwise.minimize(
                        objective,
                        constraint=flipwise.Cardinality(k),
                        start=point,
                        seed=seed,
                        neighbourhood=m,
                        literal=mode == "literal",
                        time_limit=arguments.cap,
                    )
                    seconds = time.perf_counter() - began
                    density = -result.value / k
                    recorder.add(
                        graph=name,
                        k=k,
                        start=start,
                        mode=mode,
                        search=label,
                        density=round(density, 4),
                        seconds=round(seconds, 4),
                        iterations=result.iterations,
                        status=result.status.name,
                    )
                    print(
                        f"{name:20} k={k:5} {start:9} {mode:9} {label:13} {density:9.4f} {seconds:8.3f} s", flush=True
                    )


if __name__ == "__main__":
    main()
