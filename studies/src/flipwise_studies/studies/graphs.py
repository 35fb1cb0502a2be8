"""Studies of dense subgraphs: the paper's density figure and two tables, and how the time grows with the graph.

Neighbourhood search: "literal" is Algorithm 1 to the letter, with alpha = 0.1, the smallest of the paper's grid.
"improved" is this library's default, which ends where no exchange improves. On a large sparse graph a random start
carries no signal: k random nodes share almost no edge. So the improved mode also starts from the k nodes with the most
neighbours.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

import flipwise
from flipwise.engine.limits import Status
from flipwise.foundation.errors import FlipwiseError
from flipwise.graphs.graph import Graph
from flipwise_studies.data import remote
from flipwise_studies.data.local import local_graph, project_incidence
from flipwise_studies.data.rmat import rmat_graph
from flipwise_studies.experiments.cells import Outcome, run_curves
from flipwise_studies.experiments.study import Instance, Plan, Study, Task, file_instance

RIVALS = ("lp", "ravi", "l2box-admm", "mpec-epm", "mpec-adm", "frank-wolfe", "tpm", "peeling", "spectral")
"""The paper's rivals first, then others with a name in the literature."""
OURS = ("dpcd", "dpcd-fast")
"""The search with its proof, and a single descent from the best loads without a proof."""


def find_subgraph(graph: Graph, task: Task, threads: int) -> Outcome:
    """Run a method; the density is recomputed from the nodes, the bound is proven where our own method proves one."""
    k = task.parameters["k"]
    options: dict[str, Any] = {"certify": False}
    if task.method == "dpcd":
        options = {"effort": 1.0}
    elif task.method == "dpcd-fast":
        options = {"effort": 0.0, "certify": False}
    before = time.process_time()
    result = flipwise.densest_subgraph(
        graph,
        k,
        method=task.method.removesuffix("-fast"),
        seed=task.seed,
        threads=threads,
        time_limit=task.parameters["time_limit"],
        **options,
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


def _warm(task: Task) -> None:
    find_subgraph(_small_graph(), Task(task.instance, task.method, {"k": 50, "time_limit": 0.5}), 1)


def _small_graph() -> Graph:
    """Just large enough for the compiled tier."""
    return rmat_graph(4096, 120_000, 1)


def _density_tasks(plan: Plan) -> Sequence[Task]:
    if plan.quick:
        graphs, sizes, limit = [collaboration(1_500, 800), rmat(2_048, 40_000)], (10, 20, 40, 80, 160, 320), 1.0
    else:
        names = ("uk-2007-05@100000", "dblp-2010", "imdb-actors-1999", "ego-twitter")
        graphs, sizes, limit = [real_graph(plan, name) for name in names], (200, 400, 800, 1600, 3200, 6400), 4.0
    return [
        Task(graph, method, {"k": k, "time_limit": plan.limit(limit)})
        for graph in graphs
        for k in sizes
        for method in (*OURS, *RIVALS)
    ]


DENSITIES = Study(
    name="densities",
    title="Density of k-node subgraphs",
    question="The paper's density figure: how dense a set of k nodes does each method find, and how much denser could "
    "any set be? The dashed edge of the band is a proven bound; where it touches the points, they are optimal.",
    tasks=_density_tasks,
    run=find_subgraph,
    warm=_warm,
)


def _time_tasks(plan: Plan) -> Sequence[Task]:
    """Two generated graphs, or the real ones and two generated of the size of those that cannot be had."""
    if plan.quick:
        graphs, k, limit = [collaboration(10_000, 5_000), rmat(16_384, 400_000)], 160, 2.0
    else:
        graphs = [real_graph(plan, name) for name in ("uk-2007-05@100000", "dblp-2010")]
        graphs += [rmat(972_933, 2 * 23_041_488), rmat(1_139_905, 113_891_327)]
        k, limit = 1_600, 10.0
    return [Task(graph, m, {"k": k, "time_limit": plan.limit(limit)}) for graph in graphs for m in (*OURS, *RIVALS)]


CPU_TIMES = Study(
    name="cpu_times",
    title="Time to a dense subgraph",
    question="The paper's table of CPU times at k = 1600 (quick scale: k = 160). dpcd searches from many starts and "
    "proves a bound; dpcd-fast is one descent from the best loads, the nearest to the paper's DPCD. A method that "
    "reaches the time limit is stopped there.",
    tasks=_time_tasks,
    run=find_subgraph,
    warm=_warm,
)


def _growth_tasks(plan: Plan) -> Sequence[Task]:
    """Sizes doubling or more from step to step, 20 (quick) or 100 (full) arcs a node; k = 100 throughout."""
    if plan.quick:
        degree, sizes, limit = 20, (50_000, 100_000, 200_000, 400_000, 800_000), 5.0
    else:
        degree, sizes, limit = 100, (300_000, 1_000_000, 3_000_000, 10_000_000, 30_000_000), 10.0
    return [
        Task(graph, method, {"k": 100, "time_limit": plan.limit(limit)}, seed)
        for graph in [rmat(arcs // degree, arcs) for arcs in sizes]
        for method in ("dpcd-fast", "ravi", "peeling", "tpm", "frank-wolfe", "lp")
        for seed in range(2)
    ]


def _timed_subgraph(graph: Graph, task: Task, threads: int) -> Outcome:
    """The size goes with the cell. The curves do not: only time matters here."""
    outcome = find_subgraph(graph, task, threads)
    return replace(outcome, metrics={**outcome.metrics, "size": float(graph.n_arcs)}, series={})


GROWTH = Study(
    name="growth",
    title="Growth with size",
    question="Does the time stay proportional to the size of the graph?",
    tasks=_growth_tasks,
    run=_timed_subgraph,
    warm=_warm,
)


def _neighbourhood_tasks(plan: Plan) -> Sequence[Task]:
    """Every mode with (m = 5, after every 10 updates) and without the search, from the same starts."""
    if plan.quick:
        graphs, k, seeds = [collaboration(4_000, 2_000), rmat(4_096, 80_000)], 160, 2
    else:
        graphs, k, seeds = [real_graph(plan, name) for name in ("uk-2007-05@100000", "dblp-2010")], 1_600, 3
    limit = plan.limit(20.0)
    return [
        Task(graph, method, {"k": k, "mode": mode, "m": 5 if method == "dpcd" else 0, "time_limit": limit}, seed)
        for graph in graphs
        for mode in ("literal", "improved", "improved, from degrees")
        for method in ("dpcd", "dpcd-0")
        for seed in range(seeds)
    ]


def _descend(graph: Graph, task: Task, threads: int) -> Outcome:
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
        x0=start,
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


def _warm_descent(task: Task) -> None:
    _descend(_small_graph(), Task(task.instance, task.method, {**task.parameters, "k": 50}), 1)


NEIGHBOURHOOD = Study(
    name="neighbourhood",
    title="With and without neighbourhood search",
    question="What the 5-neighbourhood search after every 10 updates adds to a single descent.",
    tasks=_neighbourhood_tasks,
    run=_descend,
    warm=_warm_descent,
)


def real_graph(plan: Plan, name: str) -> Instance:
    """A packed graph or projected incidence of the data folder; the paper's own graphs are downloaded otherwise."""
    packed = f"graphs/{name}.{'bip' if name == 'imdb-actors-1999' else 'ug'}.xz"
    if name in remote.LAW_GRAPHS and (plan.data is None or not (plan.data / packed).is_file()):
        return Instance(name, _tried_once(lambda: remote.law_graph(name)))
    return file_instance(plan, name, packed, lambda path: local_graph(name, path.parent.parent))


def _tried_once(load: Callable[[], Any]) -> Callable[[], Any]:
    """A download that failed is not tried again for every cell; its error is."""
    failed: list[FlipwiseError] = []

    def loaded() -> Any:
        if failed:
            raise failed[0]
        try:
            return load()
        except FlipwiseError as error:
            failed.append(error)
            raise

    return loaded


def rmat(n: int, arcs: int) -> Instance:
    """A generated power-law graph."""
    return Instance(f"R-MAT {n:,} nodes, {arcs:,} arcs", lambda: rmat_graph(n, arcs, 0))


def collaboration(n: int, groups: int) -> Instance:
    """A generated collaboration graph, the kind of dblp and hollywood: everyone in a group knows everyone in it."""
    return Instance(f"collaboration {n:,} nodes", lambda: collaboration_graph(n, groups))


def collaboration_graph(n: int, groups: int, seed: int = 0) -> Graph:
    """Groups of power-law size whose members are drawn by popularity, projected on the members."""
    rng = np.random.default_rng(seed)
    sizes = np.minimum(2 + np.floor(2.0 * rng.pareto(1.6, groups)).astype(np.int64), 120)
    popularity = rng.pareto(1.5, n) + 0.3
    drawn = rng.choice(n, size=int(sizes.sum()), p=popularity / popularity.sum())
    members = [np.unique(group) for group in np.split(drawn, np.cumsum(sizes)[:-1])]
    starts = np.concatenate([[0], np.cumsum([group.size for group in members])]).astype(np.int64)
    return project_incidence((starts, np.concatenate(members).astype(np.int64)), n)
