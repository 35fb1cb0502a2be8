"""Dense subgraphs of any size and with conditions: times, bounds, and small graphs against all sets.

    python benchmarks/densest_conditions.py --part any-size   # every graph: proven, and beside the core decomposition
    python benchmarks/densest_conditions.py --part rival      # networkx's FISTA on facebook_combined
    python benchmarks/densest_conditions.py --part at-least   # at least 10, 20, ..., 5000 nodes: how near to the bound
    python benchmarks/densest_conditions.py --part small      # 300 small graphs for each condition, against all sets

A part replaces its own rows of the stored run. Times are processor seconds of one thread, the least of three where they
are short; kernels are loaded before. Data are found through FLIPWISE_DATA.
"""

from __future__ import annotations

import argparse
import importlib.util
import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from recording import Recorder
from scipy.sparse.csgraph import connected_components

import flipwise
from flipwise.densest import enumerated
from flipwise.graphs.convert import as_graph
from flipwise.graphs.graph import Graph
from flipwise.graphs.selection import core_numbers
from flipwise.kernels.jit import compiled_at_once

PARTS = ("any-size", "rival", "at-least", "small")
CONDITIONS = ("include", "exclude", "connected", "at_least", "at_most", "node_weights")
FISTA_ITERATIONS = (1, 10, 100)


def graphs_folder() -> Path:
    """Where the graphs are."""
    return Path(os.environ["FLIPWISE_DATA"]) / "graphs"


def loader() -> Any:
    """The module of the data folder that unpacks its graphs."""
    spec = importlib.util.spec_from_file_location("load_ug", graphs_folder().parent / "load_ug.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def load(name: str) -> Graph:
    """A graph of the data folder; of the actors and their films, the actors that share a film."""
    if name == "imdb-actors-1999":
        header, row, column = loader().load_bip(str(graphs_folder() / f"{name}.bip.xz"))
        films = sp.csr_array(
            (np.ones(row.size, np.int32), (row, column)), shape=(header["rows"], int(column.max()) + 1)
        )
        shared = sp.csr_array(films.T @ films)
        shared.setdiag(0)
        shared.eliminate_zeros()
        shared.data = np.ones(shared.data.size)
        return as_graph(shared)
    header, low, high = loader().load_ug(str(graphs_folder() / f"{name}.ug.xz"))
    return as_graph((header["n"], np.stack([low, high], axis=1)))


def seconds(function: Callable[[], Any]) -> tuple[Any, float]:
    """What a function gives, and the processor seconds it takes: the least of three calls, of one if that is long."""
    least = float("inf")
    for _ in range(3):
        begin = time.process_time()
        found = function()
        least = min(least, time.process_time() - begin)
        if least > 5.0:
            break
    return found, least


def all_graphs() -> list[str]:
    """The names of all graphs, the largest last."""
    return [*sorted(path.name.split(".ug.")[0] for path in graphs_folder().glob("*.ug.xz")), "imdb-actors-1999"]


def any_size(recorder: Recorder, names: list[str]) -> None:
    """The densest set of any size of some graphs, beside their core numbers."""
    small = load("power")
    with compiled_at_once():
        core_numbers(small)
        flipwise.densest_subgraph(small, threads=1)
    for name in names:
        graph = load(name)
        _, cores = seconds(lambda graph=graph: core_numbers(graph))
        result, own = seconds(lambda graph=graph: flipwise.densest_subgraph(graph, threads=1))
        row = {"graph": name, "nodes": graph.n, "edges": graph.n_edges, "set": result.k, "density": result.density}
        row |= {"proven": result.optimal, "seconds": own, "core_seconds": cores, "times_cores": own / cores}
        recorder.add(part="any-size", **row)
        print(
            f"{name:26} {result.density:10.4f} {result.optimal!s:6} {own:8.4f} s {own / cores:6.2f} x cores", flush=True
        )


def rival(recorder: Recorder) -> None:
    """networkx's FISTA beside the exact answer; its density is edges for each node, half of ours."""
    import networkx as nx
    from networkx.algorithms.approximation import densest_subgraph

    graph = load("facebook_combined")
    theirs = graph.to("networkx")
    flipwise.densest_subgraph(graph, threads=1)
    result, own = seconds(lambda: flipwise.densest_subgraph(graph, threads=1))
    recorder.add(part="rival", method="flipwise", seconds=own, density=result.density, proven=result.optimal)
    for iterations in FISTA_ITERATIONS:
        begin = time.process_time()
        density, _ = densest_subgraph(theirs, iterations, method="fista")
        spent = time.process_time() - begin
        row = {"method": f"networkx {nx.__version__} FISTA", "iterations": iterations, "seconds": spent}
        recorder.add(part="rival", **row, density=2.0 * density, times_flipwise=spent / own)
        print(f"FISTA, {iterations} iterations: {2.0 * density:.6f}, {spent:.2f} s, {spent / own:.0f} times ours")


def at_least(recorder: Recorder, name: str) -> None:
    """At least 10, 20, ..., 5000 nodes, each until proven to be within 1 %, or the first descents end."""
    graph, sizes = load(name), list(range(10, 5001, 10))
    begin = time.process_time()
    profile = flipwise.densest_subgraph(graph, at_least=sizes, effort=0.0, gap=0.01, seed=0, threads=1)
    spent = time.process_time() - begin
    shares = sorted(profile.densities / profile.bounds)
    good = sum(share >= 0.99 for share in shares) / len(sizes)
    row = {"graph": name, "sizes": len(shares), "share_within_1_percent": good, "least_share_of_bound": shares[0]}
    recorder.add(part="at-least", **row, optimal=sum(each.optimal for each in profile), seconds=spent)
    print(
        f"{name}: {100 * good:.1f} % of {len(sizes)} within 1 % of the bound, the worst {shares[0]:.4f}, {spent:.0f} s"
    )


# --- small graphs ----------------------------------------------------------------------------------------------------


def all_sets(W: np.ndarray) -> list[list[int]]:
    """Every set of nodes but the empty one."""
    return [[i for i in range(len(W)) if bits >> i & 1] for bits in range(1, 1 << len(W))]


def is_connected(W: np.ndarray, S: list[int]) -> bool:
    """Whether a set is one piece."""
    return int(connected_components(sp.csr_array(W[np.ix_(S, S)] != 0))[0]) == 1


def best_density(W: np.ndarray, asked: dict[str, Any]) -> float | None:
    """The largest density of all sets that keep the conditions, if there is one."""
    n = len(W)
    c = np.asarray(asked.get("node_weights", np.zeros(n)))
    include, exclude = set(asked.get("include", [])), set(asked.get("exclude", []))
    least, most = asked.get("k", asked.get("at_least", 1)), asked.get("k", asked.get("at_most", n))
    kept = [S for S in all_sets(W) if least <= len(S) <= most and include <= set(S) and not exclude & set(S)]
    densities = sorted((((W[np.ix_(S, S)].sum() + c[S].sum()) / len(S), S) for S in kept), reverse=True)
    if asked.get("connected"):
        return next((density for density, S in densities if is_connected(W, S)), None)
    return densities[0][0] if densities else None


def small_case(condition: str, seed: int) -> tuple[np.ndarray, dict[str, Any]]:
    """A graph of 4 to 10 nodes, in three of ten cases with real and in one with negative weights, and what is asked."""
    rng = np.random.default_rng([CONDITIONS.index(condition), seed])
    n = int(rng.integers(4, 11))
    W = np.triu(rng.random((n, n)) < rng.choice([0.25, 0.45, 0.7]), 1).astype(float)
    if seed % 10 >= 6:
        W *= rng.uniform(0.0, 2.0, (n, n)) if seed % 10 < 9 else rng.integers(-3, 4, (n, n))
    W += W.T
    order = rng.permutation(n).tolist()
    asked: dict[str, Any] = {
        "include": {"include": order[: int(rng.integers(1, 4))]},
        "exclude": {"exclude": order[: int(rng.integers(1, 3))]},
        "connected": {"connected": True},
        "at_least": {"at_least": int(rng.integers(1, n + 1))},
        "at_most": {"at_most": int(rng.integers(1, n + 1))},
        "node_weights": {"node_weights": rng.integers(-3, 4, n) if seed % 2 else rng.standard_normal(n)},
    }[condition]
    if condition in ("include", "exclude", "connected", "node_weights") and seed % 3:
        asked["k" if seed % 3 == 1 else "at_least"] = int(rng.integers(2, n + 1))
    if condition == "connected" and seed % 2:
        asked["include"] = order[:1]
    return W, asked


def small(recorder: Recorder, count: int) -> None:
    """Each condition on its own, or with a size, against all sets: as it is, and without the walk through all sets."""
    walked = enumerated.MOST_FREE
    for condition in CONDITIONS:
        for walk in (True, False):
            enumerated.MOST_FREE = walked if walk else -1
            tally = dict.fromkeys(("graphs", "none", "refused", "found", "bound_valid", "optimal", "false_optimal"), 0)
            for seed in range(count):
                W, asked = small_case(condition, seed)
                best = best_density(W, asked)
                tally["graphs"] += 1
                try:
                    result = flipwise.densest_subgraph(sp.csr_array(W), seed=0, threads=1, **asked)
                except flipwise.InvalidInput:
                    tally["refused"] += 1
                    tally["none"] += best is None
                    continue
                assert best is not None and result.bound is not None
                slack = 1e-12 * max(1.0, abs(best))
                tally["found"] += result.density >= best - slack
                tally["bound_valid"] += result.bound >= best - slack
                tally["optimal"] += result.optimal
                tally["false_optimal"] += result.optimal and result.density < best - slack
            recorder.add(
                part="small", condition=condition, all_sets_walked=walk, **{k: int(v) for k, v in tally.items()}
            )
            print(condition, "walk" if walk else "search", tally, flush=True)
    enumerated.MOST_FREE = walked


def main() -> None:
    """Run the parts that were asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--part", choices=PARTS, action="append", help="Only this part; may be repeated.")
    parser.add_argument("--graph", action="append", help="Only this graph, of any-size and at-least.")
    parser.add_argument("--count", type=int, default=300, help="Small graphs for each condition.")
    given = parser.parse_args()
    parts = given.part or list(PARTS)
    recorder = Recorder("densest_conditions", ("networkx",))
    recorder.go_on(
        lambda row: row["part"] not in parts or bool(given.graph and row.get("graph", "") not in given.graph)
    )
    if "any-size" in parts:
        any_size(recorder, given.graph or all_graphs())
    if "rival" in parts:
        rival(recorder)
    if "at-least" in parts:
        for name in given.graph or ["dblp-2010", "uk-2007-05@100000"]:
            at_least(recorder, name)
    if "small" in parts:
        small(recorder, given.count)


if __name__ == "__main__":
    main()
