"""How far the proofs for dense subgraphs go, and whether hidden cliques are found: the table of gaps, stored.

    python benchmarks/densest_proofs.py                       # every part
    python benchmarks/densest_proofs.py --parts small social  # some of them
    python benchmarks/densest_proofs.py --seconds 10          # another time limit than 60 s (and 10 s for cliques)
    python benchmarks/densest_proofs.py --before              # store as the run to compare with
    python benchmarks/densest_proofs.py --table               # print the stored runs side by side

Parts: `small` (instances of the k-cluster problem and random graphs of 22 nodes), `dense` (clique graphs of up to 300
nodes, and one of 1,000), `social` (networks at k = 20 to 500), `large` (dblp-2010 and uk-2007-05@100000), `cliques`
(k = clique number: the clique itself). One core, pinned by whoever calls; `--processor` counts the limit in seconds of
the processor, for machines that do other work meanwhile. Data are found through FLIPWISE_DATA.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import tarfile
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from recording import RESULTS, Recorder, count_processor_seconds

import flipwise

DATA = Path(os.environ.get("FLIPWISE_DATA", "."))
DENSE = ("brock200_1", "brock200_2", "C125.9", "C250.9", "p_hat300-1", "p_hat300-3", "keller4")
SOCIAL = ("ca-GrQc", "ca-AstroPh", "email-Enron", "facebook_combined", "as-caida20071105", "PGPgiantcompo")
CLIQUES = {
    "C125.9": 34, "C250.9": 44, "C500.9": 57, "DSJC1000_5": 15, "brock200_1": 21, "brock200_2": 12, "brock400_2": 29,
    "brock800_4": 26, "hamming8-4": 16, "keller4": 11, "keller5": 27, "p_hat1000-3": 68, "p_hat300-1": 8,
    "p_hat300-3": 36, "p_hat700-3": 62,
}  # fmt: skip
LARGE = {"dblp-2010": (200, 400, 800, 1600), "uk-2007-05@100000": (200, 400, 800, 1600)}


def graph_named(name: str) -> Any:
    """A graph of the data folder."""
    from flipwise_studies.data.local import local_graph

    return local_graph(name)


def cluster_instances() -> Iterator[tuple[str, Any, int]]:
    """The k-cluster instances: `n m k`, then the edges, counted from 1."""
    with tarfile.open(DATA / "qubo" / "kcluster.tar.xz") as archive:
        for member in sorted(archive.getmembers(), key=lambda each: each.name):
            opened = archive.extractfile(member)
            assert opened is not None
            numbers = np.array(opened.read().split(), dtype=float).astype(int)
            n, m, k = (int(number) for number in numbers[:3])
            edges = numbers[3:].reshape(m, -1)[:, :2]
            yield member.name.removesuffix(".txt"), (n, (edges - edges.min()).tolist()), k


def random_graphs() -> Iterator[tuple[str, Any, int]]:
    """Graphs of 22 nodes, without weights, with real ones, and with some of them negative."""
    for seed in range(6):
        rng = np.random.default_rng(seed)
        pairs = [(i, j) for i in range(22) for j in range(i) if rng.random() < (0.3, 0.5, 0.8)[seed % 3]]
        weights = rng.uniform(-1.0, 3.0, len(pairs)) if seed >= 3 else np.ones(len(pairs))
        edges = [[i, j, w] for (i, j), w in zip(pairs, weights.tolist(), strict=True)]
        yield f"random-22-{seed}", (22, np.array(edges) if seed >= 3 else [e[:2] for e in edges]), (5, 8, 11)[seed % 3]


def cases(parts: list[str]) -> Iterator[tuple[str, str, Any, int, float | None]]:
    """Part, name, graph, k and time limit."""
    if "small" in parts:
        for name, graph, k in (*cluster_instances(), *random_graphs()):
            yield "small", name, graph, k, 60.0
    if "dense" in parts:
        for name in DENSE:
            for k in (20, 50, 100):
                yield "dense", name, graph_named(f"clique-{name}"), k, 60.0
        yield "dense", "DSJC1000_5", graph_named("clique-DSJC1000_5"), 500, 60.0
    if "social" in parts:
        for name in SOCIAL:
            for k in (20, 50, 100, 200, 500):
                yield "social", name, graph_named(name), k, 60.0
    if "large" in parts:
        for name, ks in LARGE.items():
            for k in ks:
                yield "large", name, graph_named(name), k, 60.0
    if "cliques" in parts:
        for name, k in CLIQUES.items():
            yield "cliques", name, graph_named(f"clique-{name}"), k, 60.0 if name == "brock800_4" else 10.0


def row_of(part: str, name: str, graph: Any, k: int, limit: float | None, seed: int) -> dict[str, Any]:
    """One run."""
    begun, processor = time.perf_counter(), time.process_time()
    result = flipwise.densest_subgraph(graph, k, seed=seed, time_limit=limit)
    return {
        "part": part, "graph": name, "k": k, "time_limit": limit, "seed": seed, "density": result.density,
        "bound": result.bound, "gap": result.gap, "proven": result.optimal, "by": result.bound_method,
        "bounds": result.bounds, "seconds": time.perf_counter() - begun,
        "processor_seconds": time.process_time() - processor,
    }  # fmt: skip


def table(rows: list[dict[str, Any]], before: list[dict[str, Any]]) -> str:
    """The rows as Markdown, beside the earlier run where it has the same case, and the mean gaps of each part."""
    known = {(row["part"], row["graph"], row["k"]): row for row in before}
    lines = ["| part | graph | k | density | bound | gap | by | processor s | density before | gap before |"]
    lines.append("|" + " --- |" * 10)
    for row in rows:
        old = known.get((row["part"], row["graph"], row["k"]))
        earlier = ("-", "-") if old is None else (f"{old['density']:.4f}", f"{100 * old['gap']:.2f} %")
        gap = "optimal" if row["proven"] else f"{100 * row['gap']:.2f} %"
        lines.append(
            f"| {row['part']} | {row['graph']} | {row['k']} | {row['density']:.4f} | {row['bound']:.4f} | {gap} "
            f"| {row['by']} | {row['processor_seconds']:.1f} | {earlier[0]} | {earlier[1]} |"
        )
    lines.append("")
    for part in dict.fromkeys(row["part"] for row in rows):
        own = [row for row in rows if row["part"] == part]
        old = [known[key] for row in own if (key := (row["part"], row["graph"], row["k"])) in known]
        text = f"{part}: mean gap {100 * statistics.mean(row['gap'] for row in own):.2f} %"
        text += f", {sum(row['proven'] for row in own)} of {len(own)} proven"
        if old:
            text += f"; before {100 * statistics.mean(row['gap'] for row in old):.2f} %"
            text += f", {sum(row['proven'] for row in old)} of {len(old)}"
        lines.append(text)
    return "\n".join(lines)


def is_wanted(parts: list[str], only: list[str] | None, part: str, name: str) -> bool:
    """Whether a case is to be run."""
    return part in parts and (only is None or any(each in name for each in only))


def stored(name: str) -> list[dict[str, Any]]:
    """The rows of a stored run."""
    path = RESULTS / f"{name}.json"
    return json.loads(path.read_text(encoding="utf-8"))["rows"] if path.exists() else []


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    every = ["small", "dense", "social", "large", "cliques"]
    parser.add_argument("--parts", nargs="+", choices=every, default=every)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--seconds", type=float, help="the time limit of every case")
    parser.add_argument("--processor", action="store_true", help="count the limit in seconds of the processor")
    parser.add_argument("--only", nargs="+", help="graphs whose name has one of these in it")
    parser.add_argument("--before", action="store_true", help="store as the run that later ones are compared with")
    parser.add_argument("--table", action="store_true", help="print the stored runs")
    arguments = parser.parse_args()
    if not arguments.table:
        recorder = Recorder("densest_proofs_before" if arguments.before else "densest_proofs")
        if arguments.processor:
            count_processor_seconds()
        wanted = partial(is_wanted, arguments.parts, arguments.only)
        recorder.go_on(lambda row: not wanted(row["part"], row["graph"]))
        for part, name, graph, k, limit in cases(arguments.parts):
            if not wanted(part, name):
                continue
            row = row_of(part, name, graph, k, arguments.seconds or limit, arguments.seed)
            row["clock"] = "processor" if arguments.processor else "wall"
            recorder.add(**row)
            print(
                f"{row['graph']:24} k={row['k']:<5} {row['density']:.4f} <= {row['bound']:.4f}  gap "
                f"{100 * row['gap']:.2f} %  by {row['by']}, {row['processor_seconds']:.1f} s of the processor",
                flush=True,
            )
    print(table(stored("densest_proofs"), stored("densest_proofs_before")))


if __name__ == "__main__":
    main()
