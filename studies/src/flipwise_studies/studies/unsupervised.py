"""The paper's table of unsupervised losses: each by the method made for it and by DPCD.

The paper used ImageNet with 4096 deep features; the full scale uses Tiny ImageNet with 1280 features of a network that
was trained on ImageNet (100 classes), so the figures compare methods, not papers.
"""

from __future__ import annotations

from collections.abc import Sequence

from flipwise_studies.experiments.study import Plan, Study, Task
from flipwise_studies.studies.retrieval import (
    generated_features,
    retrieval_tasks,
    run_loss,
    stored_features,
    warm_up,
)

METHODS = (
    "laplacian: sadh",
    "laplacian: dpcd",
    "angular: are",
    "angular: dpcd",
    "quantisation: itq",
    "quantisation: dpcd",
)


def tasks(plan: Plan) -> Sequence[Task]:
    """Generated classes, or Tiny ImageNet."""
    if plan.quick:
        instance = generated_features("twenty classes", 20, spread=1.5)
    else:
        instance = stored_features(plan, "Tiny ImageNet, deep features", "tinyimagenet100_effnet1280_u8.npz")
    return retrieval_tasks(plan, [instance], METHODS)


STUDY = Study(
    name="unsupervised",
    title="Unsupervised losses",
    question="Three losses without labels, each by the method made for it and by DPCD: Tr(B'LB) on an anchor graph, "
    "||BB' - rXX'||², and ||B - XWR||².",
    tasks=tasks,
    run=run_loss,
    warm=lambda task: warm_up(run_loss, task),
)
