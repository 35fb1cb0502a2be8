"""The paper's table of supervised losses on multi-label data: each by the method made for it and by DPCD.

The paper used NUS-WIDE; the full scale uses a bag-of-visual-words set with 21 labels (labels follow from the image's
class) and Reuters with sentence embeddings (labels that do not).
"""

from __future__ import annotations

from collections.abc import Sequence

from flipwise_studies.experiments.study import Plan, Study, Task
from flipwise_studies.studies.retrieval import (
    anchors,
    generated_features,
    retrieval_tasks,
    run_loss,
    stored_features,
    warm_up,
)

METHODS = (
    "label regression: sdh",
    "label regression: dpcd",
    "code regression: fsdh",
    "code regression: dpcd",
    "pairwise: fasthash",
    "pairwise: dpcd",
)


def tasks(plan: Plan) -> Sequence[Task]:
    """Generated rows with two labels at most, or two real sets with 21 labels."""
    if plan.quick:
        instances = [generated_features("multi-label", 8, spread=2.5, labels=2)]
    else:
        instances = [
            stored_features(plan, "bag of words, 21 labels", "tinyimagenet_bovw500_ml21.npz"),
            stored_features(plan, "Reuters, 21 labels", "reuters21578_minilm384_i8.npz"),
        ]
    return retrieval_tasks(plan, instances, METHODS, anchors=anchors(plan))


STUDY = Study(
    name="supervised",
    title="Supervised losses",
    question="Three losses with labels, each by the method made for it and by DPCD: ||Y - BW||² (SDH), ||B - YW||² "
    "(FSDH) and ||BB' - rS||² (FastHash). The same hash function for all, a kernel of anchors "
    "(the paper's is linear), so that only the codes differ.",
    tasks=tasks,
    run=run_loss,
    warm=lambda task: warm_up(run_loss, task),
)
