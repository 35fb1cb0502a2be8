"""Embedding compression: how many of the true cosine neighbours do codes of so many bits find?

Rivals: signs of the coordinates (as vector stores do it), random hyperplanes, ITQ. Truth: the 10 nearest by cosine.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

import numpy as np

from flipwise.datasets import features
from flipwise.datasets.features import RetrievalData
from flipwise.experiments.cells import Outcome, Skip
from flipwise.experiments.retrieval import balance, from_file
from flipwise.experiments.study import Instance, Plan, Study, Task

METHODS = ("dpcd (angular)", "dpcd (quantisation)", "itq", "signs of coordinates", "random hyperplanes")


def tasks(plan: Plan) -> Sequence[Task]:
    """Codes from 64 bits to one bit a dimension."""
    if plan.quick:
        instance = Instance("embeddings, 2,000 x 128", lambda: features.embeddings(2_000, 128, 200, 0))
        bits: tuple[int, ...] = (32, 64, 128)
    else:
        instance = from_file(plan, "StackOverflow, MiniLM 384", "stackoverflow_minilm384_i8.npz")
        bits = (64, 128, 256, 384)
    limit = plan.limit(20.0)
    return [Task(instance, method, {"bits": b, "time_limit": limit}) for b in bits for method in METHODS]


def run(data: RetrievalData, task: Task, threads: int) -> Outcome:
    """Make codes (timed), search them, and compare with the exact neighbours."""
    from flipwise.hashing.metrics import neighbour_recall
    from flipwise.hashing.search import exact_search, hamming_search

    start = time.perf_counter()
    database, queries = _codes(data, task)
    seconds = time.perf_counter() - start
    truth = exact_search(data.queries, data.X, 10).ids
    found = hamming_search(queries, database, 100).ids
    metrics = {
        "recall_at_10": neighbour_recall(found[:, :10], truth),
        "recall_10_at_100": neighbour_recall(found, truth),
        "bytes_per_vector": task.parameters["bits"] / 8,
        **balance(database.signs()),
    }
    return Outcome(value=metrics["recall_at_10"], sense="max", seconds=seconds, metrics=metrics)


def _codes(data: RetrievalData, task: Task) -> tuple[Any, Any]:
    from flipwise.hashing import Codes, fitting

    bits = task.parameters["bits"]
    dimensions = data.X.shape[1]
    if task.method == "signs of coordinates":
        if bits > dimensions:
            raise Skip(f"{bits} bits from {dimensions} coordinates: there is one sign a coordinate")
        mean = data.X.mean(axis=0)
        return Codes.from_signs((data.X - mean)[:, :bits]), Codes.from_signs((data.queries - mean)[:, :bits])
    if task.method == "random hyperplanes":
        planes = np.random.default_rng(task.seed).standard_normal((dimensions, bits))
        return Codes.from_signs(data.X @ planes), Codes.from_signs(data.queries @ planes)
    estimator: Any
    if task.method in ("itq", "dpcd (quantisation)"):
        from flipwise.hashing import ITQ

        optimizer = "itq" if task.method == "itq" else "dpcd"
        estimator = ITQ(n_bits=bits, optimizer=optimizer, random_state=task.seed)
    else:
        from flipwise.hashing import ARE

        estimator = ARE(n_bits=bits, random_state=task.seed)
    with fitting(time_limit=task.parameters["time_limit"]):
        estimator.fit(data.X)
    return estimator.encode(data.X), estimator.encode(data.queries)


STUDY = Study(
    name="compression",
    title="Embedding compression",
    question="Embeddings as bits: the share of the true 10 nearest neighbours by cosine that Hamming search finds, "
    "among the first 10 and among the first 100 (to be re-ranked). Database and queries are hashed by h.",
    tasks=tasks,
    run=run,
)
