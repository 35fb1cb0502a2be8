"""Studies of hash codes: the paper's three tables of losses and optimisers, and the compression of embeddings.

The paper's unsupervised losses are on ImageNet with 4096 deep features; the full scale uses Tiny ImageNet with 1280
features of a network that was trained on ImageNet (100 classes), so the figures compare methods, not papers. Its
supervised losses are on NUS-WIDE; the full scale uses a bag-of-visual-words set with 21 labels (labels follow from the
image's class) and Reuters with sentence embeddings (labels that do not).
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from flipwise import hashing
from flipwise.hashing.search import exact_search, hamming_search
from flipwise_studies.data import features
from flipwise_studies.data.features import RetrievalData
from flipwise_studies.experiments.cells import Outcome, Skip
from flipwise_studies.experiments.study import Instance, Plan, Study, Task, file_instance

_LOSSES = {
    "laplacian": "SADH",
    "angular": "ARE",
    "quantisation": "ITQ",
    "label regression": "SDH",
    "code regression": "FSDH",
    "pairwise": "FastHash",
}
"""The estimator of each loss."""
_OPTIMIZERS = {"sdh": "dcc", "fasthash": "blocks"}
"""What the methods made for a loss are called as its `optimizer`, where that is another name."""


def _fitted(name: str, optimizer: str, data: RetrievalData, task: Task, **options: Any) -> Outcome:
    """Fit (timed), then score with both databases: the learned codes, and the hashed ones.

    After the time limit the codes are left as they are; the hash function is fitted to them in any case. It is linear,
    or for tasks with anchors, which learn from labels, an anchor kernel; on rows of unit length, as in the originals.
    """
    y = None
    if "anchors" in task.parameters:
        y = data.y
        options |= {"hash_function": "rbf", "hash_options": {"anchors": task.parameters["anchors"]}}
    bits = task.parameters["bits"]
    estimator = getattr(hashing, name)(n_bits=bits, optimizer=optimizer, random_state=task.seed, **options)
    X, queries = _unit_rows(data.X), _unit_rows(data.queries)
    start = time.perf_counter()
    with hashing.fitting(time_limit=task.parameters["time_limit"]):
        estimator.fit(X, y)
    seconds = time.perf_counter() - start
    asked = estimator.encode(queries)
    hashed = estimator.encode(X)
    labels = data.query_labels, data.y
    metrics = {
        "map_learned": hashing.mean_average_precision(asked, estimator.codes_, *labels),
        "map_hashed": hashing.mean_average_precision(asked, hashed, *labels),
        **_balance(estimator.codes_.signs()),
    }
    if len(X) >= 5_000:  # in a small database 500 is more than there are relevant items
        metrics["precision_500_learned"] = hashing.precision_at(asked, estimator.codes_, *labels, 500)
        metrics["precision_500_hashed"] = hashing.precision_at(asked, hashed, *labels, 500)
    if hasattr(estimator, "b_step_seconds_"):
        metrics["b_step_seconds"] = float(estimator.b_step_seconds_)
    return Outcome(value=metrics["map_learned"], sense="max", seconds=seconds, metrics=metrics)


def _unit_rows(X: Any) -> Any:
    """As the originals' demos do."""
    return X / np.maximum(np.linalg.norm(X, axis=1, keepdims=True), 1e-12)


def _balance(signs: Any) -> dict[str, float]:
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


def _warm(run: Callable[[RetrievalData, Task, int], Outcome], task: Task) -> None:
    """Compile what our own methods need, on a few rows; the others bring nothing to compile."""
    if "dpcd" in task.method or task.method in ("dcc", "label regression: sdh"):
        labels = 1 if task.method in ("dpcd", "dpcd-distinct", "dcc") else 2
        data = features.labelled_features(600, 64, 8, 20, 1, labels=labels)
        run(data, replace(task, parameters={**task.parameters, "bits": 16}), 1)


def _generated(name: str, classes: int, spread: float, labels: int = 1) -> Instance:
    n = 1_000
    return Instance(
        f"{name}, {n:,} rows", lambda: features.labelled_features(n, 64, classes, 200, 0, spread=spread, labels=labels)
    )


def _from_file(plan: Plan, name: str, file: str) -> Instance:
    return file_instance(plan, name, f"hashing/{file}", lambda path: features.read_features(path, 1000))


def _tasks(plan: Plan, instances: Sequence[Instance], methods: Sequence[str], **parameters: Any) -> Sequence[Task]:
    """32, 64 and 96 bits; quick: 16 and 32."""
    parameters["time_limit"] = plan.limit(20.0)
    return [
        Task(instance, method, {"bits": bits, **parameters})
        for instance in instances
        for bits in ((16, 32) if plan.quick else (32, 64, 96))
        for method in methods
    ]


def _anchors(plan: Plan) -> int:
    return 200 if plan.quick else 1_000


def _optimiser_tasks(plan: Plan) -> Sequence[Task]:
    """The optimisers solve all items, as the paper does.

    "dpcd-distinct" is this library's default: items with the same labels share their subproblem, so each distinct label
    set is solved once.
    """
    if plan.quick:
        instance = _generated("ten classes", 10, spread=4.0)
    else:
        instance = _from_file(plan, "CIFAR-10, GIST", "cifar10_gist384_u8.npz")
    methods = ("dpcd", "dpcd-distinct", "dcc", "sgm", "lp", "l2box-admm", "mpec-epm")
    return _tasks(plan, [instance], methods, anchors=_anchors(plan))


def _run_optimiser(data: RetrievalData, task: Task, threads: int) -> Outcome:
    """One supervised loss, min ||Y - BW||^2 + delta ||W||^2, by the method."""
    distinct = task.method == "dpcd-distinct"
    return _fitted("SDH", "dpcd" if distinct else task.method, data, task, distinct=distinct)


OPTIMISERS = Study(
    name="optimisers",
    title="General optimisers under one supervised loss",
    question="The paper's CIFAR-10 table: optimisers of ||Y - BW||² + δ||W||² over codes B, scored by retrieval.",
    tasks=_optimiser_tasks,
    run=_run_optimiser,
    warm=lambda task: _warm(_run_optimiser, task),
)


def _run_loss(data: RetrievalData, task: Task, threads: int) -> Outcome:
    """One loss by one method; those with labels all have the same anchor-kernel hash function."""
    loss, method = task.method.split(": ")
    return _fitted(_LOSSES[loss], _OPTIMIZERS.get(method, method), data, task)


def _unsupervised_tasks(plan: Plan) -> Sequence[Task]:
    if plan.quick:
        instance = _generated("twenty classes", 20, spread=1.5)
    else:
        instance = _from_file(plan, "Tiny ImageNet, deep features", "tinyimagenet100_effnet1280_u8.npz")
    methods = (
        *("laplacian: sadh", "laplacian: dpcd"),
        *("angular: are", "angular: dpcd"),
        *("quantisation: itq", "quantisation: dpcd"),
    )
    return _tasks(plan, [instance], methods)


UNSUPERVISED = Study(
    name="unsupervised",
    title="Unsupervised losses",
    question="Three losses without labels, each by the method made for it and by DPCD: Tr(B'LB) on an anchor graph, "
    "||BB' - rXX'||², and ||B - XWR||².",
    tasks=_unsupervised_tasks,
    run=_run_loss,
    warm=lambda task: _warm(_run_loss, task),
)


def _supervised_tasks(plan: Plan) -> Sequence[Task]:
    if plan.quick:
        instances = [_generated("multi-label", 8, spread=2.5, labels=2)]
    else:
        instances = [
            _from_file(plan, "bag of words, 21 labels", "tinyimagenet_bovw500_ml21.npz"),
            _from_file(plan, "Reuters, 21 labels", "reuters21578_minilm384_i8.npz"),
        ]
    methods = (
        *("label regression: sdh", "label regression: dpcd"),
        *("code regression: fsdh", "code regression: dpcd"),
        *("pairwise: fasthash", "pairwise: dpcd"),
    )
    return _tasks(plan, instances, methods, anchors=_anchors(plan))


SUPERVISED = Study(
    name="supervised",
    title="Supervised losses",
    question="Three losses with labels, each by the method made for it and by DPCD: ||Y - BW||² (SDH), ||B - YW||² "
    "(FSDH) and ||BB' - rS||² (FastHash). The same hash function for all, so that only the codes differ.",
    tasks=_supervised_tasks,
    run=_run_loss,
    warm=lambda task: _warm(_run_loss, task),
)


def _compression_tasks(plan: Plan) -> Sequence[Task]:
    """Codes from 64 bits to one bit a dimension.

    Rivals: signs of the coordinates (as vector stores do it), random hyperplanes, ITQ.
    """
    if plan.quick:
        instance = Instance("embeddings, 2,000 x 128", lambda: features.embeddings(2_000, 128, 200, 0))
        sizes: tuple[int, ...] = (32, 64, 128)
    else:
        instance = _from_file(plan, "StackOverflow, MiniLM 384", "stackoverflow_minilm384_i8.npz")
        sizes = (64, 128, 256, 384)
    methods = ("dpcd (angular)", "dpcd (quantisation)", "itq", "signs of coordinates", "random hyperplanes")
    limit = plan.limit(20.0)
    return [Task(instance, method, {"bits": bits, "time_limit": limit}) for bits in sizes for method in methods]


def _compress(data: RetrievalData, task: Task, threads: int) -> Outcome:
    """Make codes (timed), search them, and compare with the exact neighbours: the 10 nearest by cosine."""
    start = time.perf_counter()
    database, queries = _codes(data, task)
    seconds = time.perf_counter() - start
    truth = exact_search(data.queries, data.X, 10).ids
    found = hamming_search(queries, database, 100).ids
    metrics = {
        "recall_at_10": hashing.neighbour_recall(found[:, :10], truth),
        "recall_10_at_100": hashing.neighbour_recall(found, truth),
        "bytes_per_vector": task.parameters["bits"] / 8,
        **_balance(database.signs()),
    }
    return Outcome(value=metrics["recall_at_10"], sense="max", seconds=seconds, metrics=metrics)


def _codes(data: RetrievalData, task: Task) -> tuple[hashing.Codes, hashing.Codes]:
    """The codes of the database and of the queries."""
    bits = task.parameters["bits"]
    dimensions = data.X.shape[1]
    if task.method == "signs of coordinates":
        if bits > dimensions:
            raise Skip(f"{bits} bits from {dimensions} coordinates: there is one sign a coordinate")
        mean = data.X.mean(axis=0)
        coded = [hashing.Codes.from_signs((rows - mean)[:, :bits]) for rows in (data.X, data.queries)]
    elif task.method == "random hyperplanes":
        planes = np.random.default_rng(task.seed).standard_normal((dimensions, bits))
        coded = [hashing.Codes.from_signs(rows @ planes) for rows in (data.X, data.queries)]
    else:
        loss = hashing.ARE if task.method == "dpcd (angular)" else hashing.ITQ
        estimator = loss(n_bits=bits, optimizer="itq" if task.method == "itq" else "dpcd", random_state=task.seed)
        with hashing.fitting(time_limit=task.parameters["time_limit"]):
            estimator.fit(data.X)
        coded = [estimator.encode(rows) for rows in (data.X, data.queries)]
    return coded[0], coded[1]


COMPRESSION = Study(
    name="compression",
    title="Embedding compression",
    question="Embeddings as bits: the share of the true 10 nearest neighbours by cosine that Hamming search finds, "
    "among the first 10 and among the first 100 (to be re-ranked). Database and queries are hashed by h.",
    tasks=_compression_tasks,
    run=_compress,
)
