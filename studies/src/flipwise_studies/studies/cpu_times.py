"""The paper's table of CPU times at k = 1600: seconds until a method stops by itself, and the density it reached."""

from __future__ import annotations

from collections.abc import Sequence

from flipwise_studies.experiments.study import Plan, Study, Task
from flipwise_studies.studies.dense_subgraphs import OURS, RIVALS, find_subgraph, patience, warm_up
from flipwise_studies.studies.graphs import collaboration, real_graph, rmat


def tasks(plan: Plan) -> Sequence[Task]:
    """Two generated graphs, or the real ones and two generated of the size of those that cannot be had."""
    if plan.quick:
        graphs, k, limit = [collaboration(10_000, 5_000), rmat(16_384, 400_000)], 160, 2.0
    else:
        graphs = [real_graph(plan, name) for name in ("uk-2007-05@100000", "dblp-2010")]
        graphs += [rmat(972_933, 2 * 23_041_488), rmat(1_139_905, 113_891_327)]
        k, limit = 1_600, 10.0
    return [
        Task(graph, method, {"k": k, "time_limit": plan.limit(patience(method, plan) * limit)})
        for graph in graphs
        for method in (*OURS, *RIVALS)
    ]


STUDY = Study(
    name="cpu_times",
    title="Time to a dense subgraph",
    question="The paper's table of CPU times at k = 1600 (quick scale: k = 160). dpcd searches from many starts and "
    "proves a bound; dpcd-fast is one descent from the best loads, the nearest to the paper's DPCD. A method that "
    "reaches the time limit is stopped there.",
    tasks=tasks,
    run=find_subgraph,
    warm=warm_up,
)
