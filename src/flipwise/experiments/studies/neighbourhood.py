"""The paper's table of DPCD with and without neighbourhood search (m = 5, after every 10 updates), at k = 1600.

"literal" is Algorithm 1 to the letter, with alpha = 0.1, the smallest of the paper's grid: larger values leave the
random start at once. "improved" is this library's default, which ends where no exchange improves.
"""

from __future__ import annotations

from collections.abc import Sequence

import flipwise
from flipwise.experiments.cells import Outcome
from flipwise.experiments.curves import run_curves
from flipwise.experiments.instances import collaboration, real_graph, rmat
from flipwise.experiments.study import Plan, Study, Task
from flipwise.graphs.graph import Graph


def tasks(plan: Plan) -> Sequence[Task]:
    """Both modes, with and without the search, from the same random starts."""
    if plan.quick:
        graphs, k, seeds = [collaboration(4_000, 2_000), rmat(4_096, 80_000)], 160, 3
    else:
        graphs, k, seeds = [real_graph(plan, name) for name in ("uk-2007-05@100000", "dblp-2010")], 1_600, 5
    return [
        Task(graph, method, {"k": k, "mode": mode, "m": 5 if method == "dpcd" else 0}, seed)
        for graph in graphs
        for mode in ("literal", "improved")
        for method in ("dpcd", "dpcd-0")
        for seed in range(seeds)
    ]


def run(graph: Graph, task: Task, threads: int) -> Outcome:
    """One descent from a random start on min -x'Wx, x in {0,1}^n with k ones."""
    options = task.parameters
    literal = options["mode"] == "literal"
    k = options["k"]
    result = flipwise.minimize(
        flipwise.Quadratic(-graph.to_scipy(), variables="binary"),
        constraint=flipwise.Cardinality(k),
        method="dpcd",
        literal=literal,
        alpha=0.1 if literal else 1.0,
        neighbourhood=options["m"],
        seed=task.seed,
        threads=threads,
        time_limit=120.0,
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
    run(flipwise_graph(), Task(task.instance, task.method, {**task.parameters, "k": 50}), 1)


def flipwise_graph() -> Graph:
    """A graph just large enough for the compiled tier."""
    from flipwise.datasets.generators import rmat_graph

    return rmat_graph(4096, 120_000, 1)


STUDY = Study(
    name="neighbourhood",
    title="With and without neighbourhood search",
    question="What the 5-neighbourhood search after every 10 updates adds to a single descent from a random start.",
    tasks=tasks,
    run=run,
    warm=warm,
)
