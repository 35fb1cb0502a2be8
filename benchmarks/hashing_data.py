"""Features for the hashing benchmarks, found through FLIPWISE_DATA and put into floats."""

from __future__ import annotations

from typing import Any

import numpy as np
from qubo_instances import data_folder

Split = tuple[Any, Any, Any, Any]
"""Database features and labels, query features and labels."""


def _load(name: str) -> Any:
    return np.load(data_folder() / "hashing" / name, allow_pickle=False)


def cifar10(seed: int, rows: int | None = None) -> Split:
    """GIST-384 of CIFAR-10, pooled; 100 queries a class, the others are training set and database (shuffled)."""
    X, y = _pooled_cifar10()
    rng = np.random.default_rng(seed)
    queries = _queries(y, rng)
    others = rng.permutation(np.setdiff1d(np.arange(len(y)), queries))[:rows]
    return X[others], y[others], X[queries], y[queries]


def cifar10_tuning(seed: int, rows: int, validation: int) -> Split:
    """Training and validation rows that are queries of none of the seeds 0 to 4."""
    X, y = _pooled_cifar10()
    asked = np.concatenate([_queries(y, np.random.default_rng(other)) for other in range(5)])
    free = np.random.default_rng([seed, 1]).permutation(np.setdiff1d(np.arange(len(y)), asked))
    held, training = free[:validation], free[validation : validation + rows]
    return X[training], y[training], X[held], y[held]


def _pooled_cifar10() -> tuple[Any, Any]:
    file = _load("cifar10_gist384_u8.npz")
    X = np.concatenate([file["Q_train"], file["Q_test"]]).astype(np.float32) * file["scale"].astype(np.float32)
    return X, np.concatenate([file["y_train"], file["y_test"]]).astype(np.int64)


def _queries(y: Any, rng: np.random.Generator) -> Any:
    return np.concatenate([rng.choice(np.flatnonzero(y == c), 100, replace=False) for c in range(10)])


def tiny_imagenet(seed: int, rows: int | None = None, queries: int = 1000) -> Split:
    """EfficientNet features (1280) of 100 classes, rows of unit length."""
    file = _load("tinyimagenet100_effnet1280_u8.npz")
    rng = np.random.default_rng(seed)
    chosen = rng.permutation(len(file["y_train"]))[:rows]
    asked = rng.permutation(len(file["y_test"]))[:queries]
    scale = file["scale"].astype(np.float32)
    X, Q = file["Q_train"][chosen] * scale, file["Q_test"][asked] * scale
    return _unit(X), file["y_train"][chosen].astype(np.int64), _unit(Q), file["y_test"][asked].astype(np.int64)


def bag_of_words(seed: int, rows: int | None = None, queries: int = 1000) -> Split:
    """500 visual words, 21 labels; square roots of frequencies."""
    file = _load("tinyimagenet_bovw500_ml21.npz")
    rng = np.random.default_rng(seed)
    chosen = rng.permutation(len(file["Y_train"]))[:rows]
    asked = rng.permutation(len(file["Y_test"]))[:queries]

    def features(H: Any) -> Any:
        H = H.astype(np.float32)
        return np.sqrt(H / np.maximum(H.sum(axis=1, keepdims=True), 1.0))

    training = features(file["H_train"][chosen]), file["Y_train"][chosen]
    return (*training, features(file["H_test"][asked]), file["Y_test"][asked])


def reuters(seed: int, queries: int = 500) -> tuple[Any, Any]:
    """MiniLM-384 embeddings of news, unit length: (database, queries)."""
    file = _load("reuters21578_minilm384_i8.npz")
    X = _unit(file["Q"].astype(np.float32) * np.float32(file["step"]))
    order = np.random.default_rng(seed).permutation(len(X))
    return X[order[queries:]], X[order[:queries]]


def stackoverflow(seed: int, queries: int = 1000) -> tuple[Any, Any]:
    """MiniLM-384 sentence embeddings of unit length: (database, queries)."""
    file = _load("stackoverflow_minilm384_i8.npz")
    X = _unit(file["Q"].astype(np.float32) * np.float32(file["step"]))
    order = np.random.default_rng(seed).permutation(len(X))
    return X[order[queries:]], X[order[:queries]]


def _unit(X: Any) -> Any:
    return X / np.maximum(np.linalg.norm(X, axis=1, keepdims=True), 1e-12)
