"""The paper's table of the neighbourhood search: a single descent with and without it.

"literal" is Algorithm 1 to the letter, with alpha = 0.1, the smallest of the paper's grid. "improved" is this library's
default, which ends where no exchange improves. On a large sparse graph a random start carries no signal: k random nodes
share almost no edge. So the improved mode also starts from the k nodes with the most neighbours.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

import flipwise
from flipwise.graphs.graph import Graph
from flipwise_studies.experiments.cells import Outcome
from flipwise_studies.experiments.curves import run_curves
from flipwise_studies.experiments.study import Plan, Study, Task
from flipwise_studies.studies.dense_subgraphs import small_graph
from flipwise_studies.studies.graphs import collaboration, real_graph, rmat

MODES = ("literal", "improved", "improved, from degrees")


def tasks(plan: Plan) -> Sequence[Task]:
    """Every mode with (m = 5, after every 10 updates) and without the search, from the same starts."""
    if plan.quick:
        graphs, k, seeds = [collaboration(4_000, 2_000), rmat(4_096, 80_000)], 160, 2
    else:
        graphs, k, seeds = [real_graph(plan, name) for name in ("uk-2007-05@100000", "dblp-2010")], 1_600, 3
    limit = plan.limit(20.0)
    return [
        Task(graph, method, {"k": k, "mode": mode, "m": 5 if method == "dpcd" else 0, "time_limit": limit}, seed)
        for graph in graphs
        for mode in MODES
        for method in ("dpcd", "dpcd-0")
        for seed in range(seeds)
    ]


def run(graph: Graph, task: Task, threads: int) -> Outcome:
    """One descent on min -x'Wx, x in {0,1}^n with k ones."""
    options = task.parameters
    literal = options["mode"] == "literal"
    k = options["k"]
    start = None
    if options["mode"] == "improved, from degrees":
        start = np.zeros(graph.n, dtype=np.int8)
        start[np.argsort(-graph.degrees, kind="stable")[:k]] = 1
    result = flipwise.minimize(
        flipwise.Quadratic(-graph.to_scipy(), variables="binary"),
        constraint=flipwise.Cardinality(k),
        method="dpcd",
        literal=literal,
        alpha=0.1 if literal else 1.0,
        neighbourhood=options["m"],
        start=start,
        seed=task.seed,
        threads=threads,
        time_limit=options["time_limit"],
    )
    return Outcome(
        value=-result.value / k,
        sense="max",
        seconds=result.seconds,
        metrics={"iterations": float(result.iterations)},
        series=run_curves(result.trace, scale=-1.0 / k),
    )


def warm(task: Task) -> None:
    """Compile the sparse kernels."""
    run(small_graph(), Task(task.instance, task.method, {**task.parameters, "k": 50}), 1)


STUDY = Study(
    name="neighbourhood",
    title="With and without neighbourhood search",
    question="What the 5-neighbourhood search after every 10 updates adds to a single descent.",
    tasks=tasks,
    run=run,
    warm=warm,
)
