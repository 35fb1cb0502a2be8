"""The paper's density figure: x'Wx/k for six k, every graph, every method, with the proven bound."""

from __future__ import annotations

from collections.abc import Sequence

from flipwise_studies.experiments.study import Plan, Study, Task
from flipwise_studies.studies.dense_subgraphs import OURS, RIVALS, find_subgraph, patience, warm_up
from flipwise_studies.studies.graphs import collaboration, real_graph, rmat

QUICK_SIZES = (10, 20, 40, 80, 160, 320)
FULL_SIZES = (200, 400, 800, 1600, 3200, 6400)


def tasks(plan: Plan) -> Sequence[Task]:
    """Graph by graph, k by k, method by method."""
    if plan.quick:
        graphs, sizes, limit = [collaboration(1_500, 800), rmat(2_048, 40_000)], QUICK_SIZES, 1.0
    else:
        names = ("uk-2007-05@100000", "dblp-2010", "imdb-actors-1999", "ego-twitter")
        graphs, sizes, limit = [real_graph(plan, name) for name in names], FULL_SIZES, 4.0
    return [
        Task(graph, method, {"k": k, "time_limit": plan.limit(patience(method, plan) * limit)})
        for graph in graphs
        for k in sizes
        for method in (*OURS, *RIVALS)
    ]


STUDY = Study(
    name="densities",
    title="Density of k-node subgraphs",
    question="The paper's density figure: how dense a set of k nodes does each method find, and how much denser could "
    "any set be? The dashed edge of the band is a proven bound; where it touches the points, they are optimal.",
    tasks=tasks,
    run=find_subgraph,
    warm=warm_up,
)
