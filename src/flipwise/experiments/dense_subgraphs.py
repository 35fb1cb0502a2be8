"""How the graph studies run one method at one k, always the same way."""

from __future__ import annotations

import time
from typing import Any

import flipwise
from flipwise.experiments.cells import Outcome
from flipwise.experiments.curves import run_curves
from flipwise.graphs.graph import Graph
from flipwise.result import Status

RIVALS = ("lp", "ravi", "l2box-admm", "mpec-epm", "mpec-adm", "frank-wolfe", "tpm", "peeling", "spectral")
"""The paper's rivals first, then others with a name in the literature."""
OURS = ("dpcd", "dpcd-fast")
"""The search with its proof, and a single descent from the best loads without a proof."""


def find_subgraph(graph: Graph, k: int, method: str, seed: int, threads: int, time_limit: float) -> Outcome:
    """Run a method; the density is recomputed from the nodes, the bound is proven where our own method proves one."""
    options: dict[str, Any] = {"certify": False}
    if method == "dpcd":
        options = {"effort": 1.0}
    elif method == "dpcd-fast":
        options = {"effort": 0.0, "certify": False}
    name = "dpcd" if method == "dpcd-fast" else method
    before = time.process_time()
    result = flipwise.densest_subgraph(
        graph, k, method=name, seed=seed, threads=threads, time_limit=time_limit, **options
    )
    processor = time.process_time() - before
    return Outcome(
        value=result.density,
        bound=result.bound,
        sense="max",
        seconds=result.seconds,
        metrics={
            "density_doubled": 2 * result.density,
            "cpu_seconds": processor,
            "iterations": float(result.iterations),
            "stopped_by_limit": float(result.status is Status.TIME_LIMIT),
        },
        series=run_curves(result.trace, scale=-1.0 / k),
    )


def warm_up(method: str) -> None:
    """Compile what the method needs on a graph just large enough for the compiled tier."""
    from flipwise.datasets.generators import rmat_graph

    graph = rmat_graph(4096, 120_000, 1)
    find_subgraph(graph, 50, method, 0, 1, 0.5)
