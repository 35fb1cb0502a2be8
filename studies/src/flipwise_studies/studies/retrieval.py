"""How the studies of hash codes get their data, fit an estimator and score its codes, always the same way."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from flipwise import hashing
from flipwise.foundation.arrays import Floats
from flipwise_studies.data import features
from flipwise_studies.data.features import RetrievalData
from flipwise_studies.experiments.cells import Outcome
from flipwise_studies.experiments.study import Instance, Plan, Task, file_instance

LOSSES = {
    "laplacian": "SADH",
    "angular": "ARE",
    "quantisation": "ITQ",
    "label regression": "SDH",
    "code regression": "FSDH",
    "pairwise": "FastHash",
}
"""The estimator of each loss."""
OPTIMIZERS = {"sdh": "dcc", "fasthash": "blocks"}
"""What the methods made for a loss are called as its `optimizer`, where that is another name."""


def generated_features(name: str, classes: int, spread: float, labels: int = 1) -> Instance:
    """1,000 generated labelled rows of 64 features."""
    n = 1_000
    return Instance(
        f"{name}, {n:,} rows", lambda: features.labelled_features(n, 64, classes, 200, 0, spread=spread, labels=labels)
    )


def stored_features(plan: Plan, name: str, file: str) -> Instance:
    """Features of the data folder."""
    return file_instance(plan, name, f"hashing/{file}", lambda path: features.read_features(path, 1000))


def retrieval_tasks(
    plan: Plan, instances: Sequence[Instance], methods: Sequence[str], **parameters: Any
) -> Sequence[Task]:
    """A task for every instance, number of bits and method: 32, 64 and 96 bits; quick: 16 and 32."""
    parameters["time_limit"] = plan.limit(20.0)
    return [
        Task(instance, method, {"bits": bits, **parameters})
        for instance in instances
        for bits in ((16, 32) if plan.quick else (32, 64, 96))
        for method in methods
    ]


def anchors(plan: Plan) -> int:
    """The anchors of the kernel hash function that studies with labels use."""
    return 200 if plan.quick else 1_000


def run_loss(data: RetrievalData, task: Task, threads: int) -> Outcome:
    """Fit one loss by one method, "loss: method"; those with labels all have the same anchor-kernel hash function."""
    loss, method = task.method.split(": ")
    return fit_and_score(LOSSES[loss], OPTIMIZERS.get(method, method), data, task)


def fit_and_score(estimator_name: str, optimizer: str, data: RetrievalData, task: Task, **options: Any) -> Outcome:
    """Fit (timed), then score with both databases: the learned codes, and the hashed ones.

    After the time limit the codes are left as they are; the hash function is fitted to them in any case. It is linear,
    or for tasks with anchors, which learn from labels, an anchor kernel; on rows of unit length, as in the originals.
    """
    y = None
    if "anchors" in task.parameters:
        y = data.y
        options |= {"hash_function": "rbf", "hash_options": {"anchors": task.parameters["anchors"]}}
    options |= {"n_bits": task.parameters["bits"], "time_limit": task.parameters["time_limit"]}
    estimator = getattr(hashing, estimator_name)(optimizer=optimizer, random_state=task.seed, **options)
    X, queries = _unit_rows(data.X), _unit_rows(data.queries)
    start = time.perf_counter()
    estimator.fit(X, y)
    seconds = time.perf_counter() - start
    query_codes = estimator.encode(queries)
    hashed = estimator.encode(X)
    labels = data.query_labels, data.y
    metrics = {
        "map_learned": hashing.mean_average_precision(query_codes, estimator.codes_, *labels),
        "map_hashed": hashing.mean_average_precision(query_codes, hashed, *labels),
        **bit_statistics(estimator.codes_),
    }
    if len(X) >= 5_000:  # in a small database 500 is more than there are relevant items
        metrics["precision_500_learned"] = hashing.precision_at(query_codes, estimator.codes_, *labels, 500)
        metrics["precision_500_hashed"] = hashing.precision_at(query_codes, hashed, *labels, 500)
    if hasattr(estimator, "b_step_seconds_"):
        metrics["b_step_seconds"] = float(estimator.b_step_seconds_)
    return Outcome(value=metrics["map_learned"], sense="max", seconds=seconds, metrics=metrics)


def warm_up(run: Callable[[RetrievalData, Task, int], Outcome], task: Task) -> None:
    """Compile what our own methods need, on a few rows; the others bring nothing to compile."""
    if "dpcd" in task.method or task.method in ("dcc", "label regression: sdh"):
        labels = 1 if task.method in ("dpcd", "dpcd-distinct", "dcc") else 2
        data = features.labelled_features(600, 64, 8, 20, 1, labels=labels)
        run(data, replace(task, parameters={**task.parameters, "bits": 16}), 1)


def bit_statistics(codes: hashing.Codes) -> dict[str, float]:
    """How far the bits are from being balanced and uncorrelated: means of |mean of a bit| and of |correlation|."""
    bits = np.asarray(codes.signs(), dtype=np.float64)
    means = bits.mean(axis=0)
    centred = bits - means
    scale = np.sqrt((centred**2).mean(axis=0))
    varying = scale > 0
    correlation = (centred[:, varying].T @ centred[:, varying]) / len(bits) / np.outer(scale[varying], scale[varying])
    off_diagonal = correlation[~np.eye(len(correlation), dtype=bool)]
    return {
        "bit_imbalance": float(np.abs(means).mean()),
        "bit_correlation": float(np.abs(off_diagonal).mean()) if off_diagonal.size else 0.0,
    }


def _unit_rows(X: Floats) -> Floats:
    """Rows scaled to unit length, as the originals' demos do."""
    scaled: Floats = X / np.maximum(np.linalg.norm(X, axis=1, keepdims=True), 1e-12)
    return scaled
