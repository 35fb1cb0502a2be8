"""The paper's table of general optimisers on CIFAR-10: one supervised loss, min ||Y - BW||^2 + delta ||W||^2.

The optimisers solve all items, as the paper does. "dpcd-distinct" is this library's default: items with the same labels
share their subproblem, so each distinct label set is solved once.
"""

from __future__ import annotations

from collections.abc import Sequence

from flipwise_studies.data.features import RetrievalData
from flipwise_studies.experiments.cells import Outcome
from flipwise_studies.experiments.study import Plan, Study, Task
from flipwise_studies.studies.retrieval import (
    anchors,
    fit_and_score,
    generated_features,
    retrieval_tasks,
    stored_features,
    warm_up,
)

METHODS = ("dpcd", "dpcd-distinct", "dcc", "sgm", "lp", "l2box-admm", "mpec-epm")


def tasks(plan: Plan) -> Sequence[Task]:
    """Generated classes, or CIFAR-10 with GIST features."""
    if plan.quick:
        instance = generated_features("ten classes", 10, spread=4.0)
    else:
        instance = stored_features(plan, "CIFAR-10, GIST", "cifar10_gist384_u8.npz")
    return retrieval_tasks(plan, [instance], METHODS, anchors=anchors(plan))


def run(data: RetrievalData, task: Task, threads: int) -> Outcome:
    """Fit the one loss by the method."""
    distinct = task.method == "dpcd-distinct"
    return fit_and_score("SDH", "dpcd" if distinct else task.method, data, task, distinct=distinct)


STUDY = Study(
    name="optimisers",
    title="General optimisers under one supervised loss",
    question="The paper's CIFAR-10 table: optimisers of ||Y - BW||² + δ||W||² over codes B, scored by retrieval.",
    tasks=tasks,
    run=run,
    warm=lambda task: warm_up(run, task),
)
