"""The paper's table of unsupervised losses: each by the method made for it and by DPCD.

The paper used ImageNet with 4096 deep features; the full scale uses Tiny ImageNet with 1280 features of a network that
was trained on ImageNet (100 classes), so the figures compare methods, not papers.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from flipwise.datasets.features import RetrievalData
from flipwise.experiments.cells import Outcome
from flipwise.experiments.retrieval import fitted_outcome, from_file, generated, warm_up
from flipwise.experiments.study import Plan, Study, Task

METHODS = (
    "laplacian: sadh",
    "laplacian: dpcd",
    "angular: are",
    "angular: dpcd",
    "quantisation: itq",
    "quantisation: dpcd",
)


def tasks(plan: Plan) -> Sequence[Task]:
    """32, 64 and 96 bits; quick: 16 and 32."""
    if plan.quick:
        instance = generated("twenty classes", 1_000, 64, 20, spread=1.5)
    else:
        instance = from_file(plan, "Tiny ImageNet, deep features", "tinyimagenet100_effnet1280_u8.npz")
    bits = (16, 32) if plan.quick else (32, 64, 96)
    return [Task(instance, method, {"bits": b, "time_limit": plan.limit(20.0)}) for b in bits for method in METHODS]


def run(data: RetrievalData, task: Task, threads: int) -> Outcome:
    """Fit one loss by one method."""
    from flipwise import hashing

    loss, method = task.method.split(": ")
    makers: dict[str, Any] = {"laplacian": hashing.SADH, "angular": hashing.ARE, "quantisation": hashing.ITQ}
    estimator = makers[loss](n_bits=task.parameters["bits"], optimizer=method, random_state=task.seed)
    return fitted_outcome(estimator, data, task.parameters["time_limit"])


STUDY = Study(
    name="unsupervised",
    title="Unsupervised losses",
    question="Three losses without labels, each by the method made for it and by DPCD: Tr(B'LB) on an anchor graph, "
    "||BB' - rXX'||², and ||B - XWR||².",
    tasks=tasks,
    run=run,
    warm=lambda task: warm_up(run, task),
)
