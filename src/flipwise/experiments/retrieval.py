"""How the hashing studies fit an estimator and score its codes, always the same way."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from flipwise.datasets import features
from flipwise.datasets.features import RetrievalData
from flipwise.experiments.cells import Outcome
from flipwise.experiments.instances import file_instance
from flipwise.experiments.study import Instance, Plan, Task


def generated(name: str, n: int, dimensions: int, classes: int, labels: int = 1, spread: float = 1.0) -> Instance:
    """Generated labelled features."""
    described = f"{name}, {n:,} rows"
    return Instance(
        described,
        lambda: features.labelled_features(n, dimensions, classes, 200, 0, spread=spread, labels=labels),
    )


def from_file(plan: Plan, name: str, file: str, n_queries: int = 1000) -> Instance:
    """Features of the data folder."""
    return file_instance(plan, name, f"hashing/{file}", lambda path: features.read_features(path, n_queries))


def fitted_outcome(estimator: Any, data: RetrievalData, time_limit: float, y: Any = None) -> Outcome:
    """Fit (timed), then score with both databases: the learned codes, and the hashed ones.

    After `time_limit` seconds the codes are left as they are; the hash function is fitted to them in any case. It is
    linear or an anchor kernel on rows of unit length, as in the originals.
    """
    from flipwise.hashing import fitting, mean_average_precision, precision_at

    X, queries = unit_rows(data.X), unit_rows(data.queries)
    start = time.perf_counter()
    with fitting(time_limit=time_limit):
        estimator.fit(X, y)
    seconds = time.perf_counter() - start
    asked = estimator.encode(queries)
    hashed = estimator.encode(X)
    labels = data.query_labels, data.y
    metrics = {
        "map_learned": mean_average_precision(asked, estimator.codes_, *labels),
        "map_hashed": mean_average_precision(asked, hashed, *labels),
        **balance(estimator.codes_.signs()),
    }
    if len(X) >= 5_000:  # in a small database 500 is more than there are relevant items
        metrics["precision_500_learned"] = precision_at(asked, estimator.codes_, *labels, 500)
        metrics["precision_500_hashed"] = precision_at(asked, hashed, *labels, 500)
    if hasattr(estimator, "b_step_seconds_"):
        metrics["b_step_seconds"] = float(estimator.b_step_seconds_)
    return Outcome(value=metrics["map_learned"], sense="max", seconds=seconds, metrics=metrics)


def warm_up(run: Callable[[RetrievalData, Task, int], Outcome], task: Task) -> None:
    """Compile what our own methods need, on a few rows; the others bring nothing to compile."""
    if "dpcd" in task.method or task.method in ("dcc", "label regression: sdh"):
        labels = 1 if task.method in ("dpcd", "dpcd-distinct", "dcc") else 2
        data = features.labelled_features(600, 64, 8, 20, 1, labels=labels)
        run(data, replace(task, parameters={**task.parameters, "bits": 16}), 1)


def balance(signs: Any) -> dict[str, float]:
    """How far the bits are from being balanced and uncorrelated: means of |mean of a bit| and of |correlation|."""
    bits = np.asarray(signs, dtype=np.float64)
    means = bits.mean(axis=0)
    centred = bits - means
    scale = np.sqrt((centred**2).mean(axis=0))
    usable = scale > 0
    correlation = (centred[:, usable].T @ centred[:, usable]) / len(bits) / np.outer(scale[usable], scale[usable])
    off_diagonal = correlation[~np.eye(len(correlation), dtype=bool)]
    return {
        "bit_imbalance": float(np.abs(means).mean()),
        "bit_correlation": float(np.abs(off_diagonal).mean()) if off_diagonal.size else 0.0,
    }


def unit_rows(X: Any) -> Any:
    """Rows scaled to unit length, as the originals' demos do."""
    return X / np.maximum(np.linalg.norm(X, axis=1, keepdims=True), 1e-12)
