"""The paper's table of supervised losses on multi-label data: each by the method made for it and by DPCD.

The paper used NUS-WIDE; the full scale uses a bag-of-visual-words set with 21 labels (labels follow from the image's
class) and Reuters with sentence embeddings (labels that do not).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from flipwise.datasets.features import RetrievalData
from flipwise.experiments.cells import Outcome
from flipwise.experiments.retrieval import fitted_outcome, from_file, generated, warm_up
from flipwise.experiments.study import Plan, Study, Task

METHODS = (
    "label regression: sdh",
    "label regression: dpcd",
    "code regression: fsdh",
    "code regression: dpcd",
    "pairwise: fasthash",
    "pairwise: dpcd",
)
_OPTIMIZERS = {"sdh": "dcc", "fsdh": "fsdh", "fasthash": "blocks", "dpcd": "dpcd"}


def tasks(plan: Plan) -> Sequence[Task]:
    """32, 64 and 96 bits; quick: 16 and 32."""
    if plan.quick:
        instances = [generated("multi-label", 1_000, 64, 8, labels=2, spread=2.5)]
    else:
        instances = [
            from_file(plan, "bag of words, 21 labels", "tinyimagenet_bovw500_ml21.npz"),
            from_file(plan, "Reuters, 21 labels", "reuters21578_minilm384_i8.npz"),
        ]
    bits, anchors = ((16, 32), 200) if plan.quick else ((32, 64, 96), 1_000)
    return [
        Task(instance, method, {"bits": b, "anchors": anchors, "time_limit": plan.limit(20.0)})
        for instance in instances
        for b in bits
        for method in METHODS
    ]


def run(data: RetrievalData, task: Task, threads: int) -> Outcome:
    """Fit one loss by one method; the same anchor-kernel hash function for all."""
    from flipwise import hashing

    loss, method = task.method.split(": ")
    makers: dict[str, Any] = {
        "label regression": hashing.SDH,
        "code regression": hashing.FSDH,
        "pairwise": hashing.FastHash,
    }
    estimator = makers[loss](
        n_bits=task.parameters["bits"],
        optimizer=_OPTIMIZERS[method],
        hash_function="rbf",
        hash_options={"anchors": task.parameters["anchors"]},
        random_state=task.seed,
    )
    return fitted_outcome(estimator, data, task.parameters["time_limit"], data.y)


STUDY = Study(
    name="supervised",
    title="Supervised losses",
    question="Three losses with labels, each by the method made for it and by DPCD: ||Y - BW||² (SDH), ||B - YW||² "
    "(FSDH) and ||BB' - rS||² (FastHash). The same hash function for all, so that only the codes differ.",
    tasks=tasks,
    run=run,
    warm=lambda task: warm_up(run, task),
)
