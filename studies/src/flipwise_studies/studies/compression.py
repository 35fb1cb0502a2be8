"""Embedding compression: how many of the true cosine neighbours do codes of so many bits find?

Rivals: signs of the coordinates (as vector stores do it), random hyperplanes, ITQ. Truth: the 10 nearest by cosine.
"""

from __future__ import annotations

import time
from collections.abc import Sequence

import numpy as np

from flipwise import hashing
from flipwise.hashing.search import exact_search, hamming_search
from flipwise_studies.data import features
from flipwise_studies.data.features import RetrievalData
from flipwise_studies.experiments.cells import Outcome, Skip
from flipwise_studies.experiments.study import Instance, Plan, Study, Task
from flipwise_studies.studies.retrieval import bit_statistics, stored_features

METHODS = ("dpcd (angular)", "dpcd (quantisation)", "itq", "signs of coordinates", "random hyperplanes")


def tasks(plan: Plan) -> Sequence[Task]:
    """Codes from 64 bits to one bit a dimension."""
    if plan.quick:
        instance = Instance("embeddings, 2,000 x 128", lambda: features.embeddings(2_000, 128, 200, 0))
        sizes: tuple[int, ...] = (32, 64, 128)
    else:
        instance = stored_features(plan, "StackOverflow, MiniLM 384", "stackoverflow_minilm384_i8.npz")
        sizes = (64, 128, 256, 384)
    limit = plan.limit(20.0)
    return [Task(instance, method, {"bits": bits, "time_limit": limit}) for bits in sizes for method in METHODS]


def run(data: RetrievalData, task: Task, threads: int) -> Outcome:
    """Make codes (timed), search them, and compare with the exact neighbours."""
    start = time.perf_counter()
    database, queries = _encode(data, task)
    seconds = time.perf_counter() - start
    truth = exact_search(data.queries, data.X, 10).ids
    found = hamming_search(queries, database, 100).ids
    metrics = {
        "recall_at_10": hashing.neighbour_recall(found[:, :10], truth),
        "recall_10_at_100": hashing.neighbour_recall(found, truth),
        "bytes_per_vector": task.parameters["bits"] / 8,
        **bit_statistics(database),
    }
    return Outcome(value=metrics["recall_at_10"], sense="max", seconds=seconds, metrics=metrics)


def _encode(data: RetrievalData, task: Task) -> tuple[hashing.Codes, hashing.Codes]:
    """The codes of the database and of the queries."""
    bits = task.parameters["bits"]
    dimensions = data.X.shape[1]
    if task.method == "signs of coordinates":
        if bits > dimensions:
            raise Skip(f"{bits} bits from {dimensions} coordinates: there is one sign a coordinate")
        mean = data.X.mean(axis=0)
        codes = [hashing.Codes.from_signs((rows - mean)[:, :bits]) for rows in (data.X, data.queries)]
    elif task.method == "random hyperplanes":
        planes = np.random.default_rng(task.seed).standard_normal((dimensions, bits))
        codes = [hashing.Codes.from_signs(rows @ planes) for rows in (data.X, data.queries)]
    else:
        loss = hashing.ARE if task.method == "dpcd (angular)" else hashing.ITQ
        optimizer = "itq" if task.method == "itq" else "dpcd"
        limit = task.parameters["time_limit"]
        estimator = loss(n_bits=bits, optimizer=optimizer, random_state=task.seed, time_limit=limit).fit(data.X)
        codes = [estimator.encode(rows) for rows in (data.X, data.queries)]
    return codes[0], codes[1]


STUDY = Study(
    name="compression",
    title="Embedding compression",
    question="Embeddings as bits: the share of the true 10 nearest neighbours by cosine that Hamming search finds, "
    "among the first 10 and among the first 100 (to be re-ranked). Database and queries are hashed by h.",
    tasks=tasks,
    run=run,
)
