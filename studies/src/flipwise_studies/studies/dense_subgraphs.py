"""How the studies of dense subgraphs run one method at one k, always the same way."""

from __future__ import annotations

import time
from typing import Any

import flipwise
from flipwise.engine.limits import Status
from flipwise.graphs.graph import Graph
from flipwise_studies.data.rmat import rmat_graph
from flipwise_studies.experiments.cells import Outcome
from flipwise_studies.experiments.curves import run_curves
from flipwise_studies.experiments.study import Plan, Task

RIVALS = ("lp", "ravi", "l2box-admm", "mpec-epm", "mpec-adm", "frank-wolfe", "tpm", "peeling", "spectral")
"""The paper's rivals first, then others with a name in the literature."""
OURS = ("dpcd", "dpcd-fast")
"""The search with its proof, and a single descent from the best loads without a proof."""


def patience(method: str, plan: Plan) -> float:
    """How many times our limit a method may take on real data: rivals are to come to an end of their own."""
    return 1.0 if plan.quick or method in OURS else 10.0


def find_subgraph(graph: Graph, task: Task, threads: int) -> Outcome:
    """Run a method; the density is recomputed from the nodes, the bound is proven where our own method proves one."""
    k = task.parameters["k"]
    options: dict[str, Any] = {"bound": "none"}
    if task.method == "dpcd":
        options = {"effort": 1.0}
    elif task.method == "dpcd-fast":
        options = {"effort": 0.0, "bound": "none"}
    cpu_start = time.process_time()
    result = flipwise.densest_subgraph(
        graph,
        k,
        method=task.method.removesuffix("-fast"),
        seed=task.seed,
        threads=threads,
        time_limit=task.parameters["time_limit"],
        **options,
    )
    cpu_seconds = time.process_time() - cpu_start
    return Outcome(
        value=result.density,
        bound=result.bound,
        sense="max",
        seconds=result.seconds,
        metrics={
            "density_doubled": 2 * result.density,
            "cpu_seconds": cpu_seconds,
            "iterations": float(result.iterations),
            "stopped_by_limit": float(result.status is Status.TIME_LIMIT),
        },
        series=run_curves(result.trace, scale=-1.0 / k),
    )


def warm_up(task: Task) -> None:
    """Compile what the method needs."""
    find_subgraph(small_graph(), Task(task.instance, task.method, {"k": 50, "time_limit": 0.5}), 1)


def small_graph() -> Graph:
    """A graph just large enough for the compiled tier."""
    return rmat_graph(4096, 120_000, 1)
