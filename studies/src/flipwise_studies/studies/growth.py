"""How the time grows with the size of the problem: dense subgraphs of R-MAT graphs from 10^4 to 10^7 arcs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from flipwise.graphs.graph import Graph
from flipwise_studies.experiments.cells import Outcome
from flipwise_studies.experiments.study import Plan, Study, Task
from flipwise_studies.studies.dense_subgraphs import find_subgraph, warm_up
from flipwise_studies.studies.graphs import rmat

METHODS = ("dpcd-fast", "ravi", "peeling", "tpm", "frank-wolfe", "lp")


def tasks(plan: Plan) -> Sequence[Task]:
    """Sizes doubling or more from step to step, 20 (quick) or 100 (full) arcs a node; k = 100 throughout."""
    if plan.quick:
        degree, sizes, limit = 20, (50_000, 100_000, 200_000, 400_000, 800_000), 5.0
    else:
        degree, sizes, limit = 100, (300_000, 1_000_000, 3_000_000, 10_000_000, 30_000_000), 10.0
    return [
        Task(graph, method, {"k": 100, "time_limit": plan.limit(limit)}, seed)
        for graph in [rmat(arcs // degree, arcs) for arcs in sizes]
        for method in METHODS
        for seed in range(2)
    ]


def run(graph: Graph, task: Task, threads: int) -> Outcome:
    """One method on one graph; the size goes with the cell. The curves do not: only time matters here."""
    outcome = find_subgraph(graph, task, threads)
    return replace(outcome, metrics={**outcome.metrics, "size": float(graph.n_arcs)}, series={})


STUDY = Study(
    name="growth",
    title="Growth with size",
    question="Does the time stay proportional to the size of the graph?",
    tasks=tasks,
    run=run,
    warm=warm_up,
)
