"""The paper's table of general optimisers on CIFAR-10: one supervised loss, min ||Y - BW||^2 + delta ||W||^2.

The optimisers solve all items, as the paper does. "dpcd-distinct" is this library's default: items with the same labels
share their subproblem, so each distinct label set is solved once.
"""

from __future__ import annotations

from collections.abc import Sequence

from flipwise.datasets.features import RetrievalData
from flipwise.experiments.cells import Outcome
from flipwise.experiments.retrieval import fitted_outcome, from_file, generated, warm_up
from flipwise.experiments.study import Plan, Study, Task

METHODS = ("dpcd", "dpcd-distinct", "dcc", "sgm", "lp", "l2box-admm", "mpec-epm")


def tasks(plan: Plan) -> Sequence[Task]:
    """32, 64 and 96 bits; quick: 16 and 32."""
    if plan.quick:
        instance = generated("ten classes", 1_000, 64, 10, spread=4.0)
    else:
        instance = from_file(plan, "CIFAR-10, GIST", "cifar10_gist384_u8.npz")
    bits, anchors = ((16, 32), 200) if plan.quick else ((32, 64, 96), 1_000)
    limit = plan.limit(20.0)
    return [
        Task(instance, method, {"bits": b, "anchors": anchors, "time_limit": limit}) for b in bits for method in METHODS
    ]


def run(data: RetrievalData, task: Task, threads: int) -> Outcome:
    """Fit the one loss by the method."""
    from flipwise.hashing import SDH

    distinct = task.method == "dpcd-distinct"
    estimator = SDH(
        n_bits=task.parameters["bits"],
        optimizer="dpcd" if distinct else task.method,
        distinct=distinct,
        hash_function="rbf",
        hash_options={"anchors": task.parameters["anchors"]},
        random_state=task.seed,
    )
    return fitted_outcome(estimator, data, task.parameters["time_limit"], data.y)


STUDY = Study(
    name="optimisers",
    title="General optimisers under one supervised loss",
    question="The paper's CIFAR-10 table: optimisers of ||Y - BW||² + δ||W||² over codes B, scored by retrieval.",
    tasks=tasks,
    run=run,
    warm=lambda task: warm_up(run, task),
)
