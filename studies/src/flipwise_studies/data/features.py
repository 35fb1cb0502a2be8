"""Features to hash: seeded generators of labelled features and embeddings, and readers of packed feature files."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from flipwise.foundation.arrays import Floats
from flipwise.foundation.checks import as_generator
from flipwise.foundation.errors import InvalidFile, InvalidInput

Seed = int | np.random.Generator | None


@dataclass(frozen=True, eq=False)
class RetrievalData:
    """A database to learn from and to search in, and queries; labels are classes (n,) or multi-hot (n, classes)."""

    X: Floats
    y: npt.NDArray[Any]
    queries: Floats
    query_labels: npt.NDArray[Any]


def labelled_features(
    n: int, dimensions: int, classes: int, n_queries: int, seed: Seed = None, *, spread: float = 1.0, labels: int = 1
) -> RetrievalData:
    """Features around class centres on curved sheets: separable, but not by single features.

    Each class is a random linear map of a few hidden coordinates, bent by a sine; `spread` is the size of the noise
    relative to the distance between centres. With `labels` above 1 an item has that many labels at most, multi-hot, and
    its features are the mean of its classes'.

    Examples
    --------
    >>> data = labelled_features(100, 16, 5, 10, seed=0)
    >>> data.X.shape, data.y.shape, data.queries.shape
    ((100, 16), (100,), (10, 16))
    """
    if min(n, dimensions, n_queries) < 1 or classes < 2 or not 1 <= labels <= classes:
        raise InvalidInput(
            "`n`, `dimensions`, `n_queries` must be at least 1, `classes` at least 2 and `labels` from 1 to `classes`, "
            f"got {n}, {dimensions}, {n_queries}, {classes}, {labels}."
        )
    rng = as_generator(seed)
    total = n + n_queries
    centres = rng.standard_normal((classes, dimensions))
    maps = rng.standard_normal((classes, 4, dimensions)) / 2.0
    Y = np.zeros((total, classes), dtype=np.int8)
    Y[np.arange(total), rng.integers(0, classes, total)] = 1
    for _ in range(labels - 1):
        more = rng.random(total) < 0.5
        Y[np.flatnonzero(more), rng.integers(0, classes, int(more.sum()))] = 1
    hidden = rng.standard_normal((total, 4))
    features = np.zeros((total, dimensions))
    for c in range(classes):
        own = np.flatnonzero(Y[:, c])
        features[own] += centres[c] + np.sin(2.0 * hidden[own] @ maps[c])
    features = features / Y.sum(axis=1, keepdims=True) + spread * rng.standard_normal((total, dimensions))
    targets = Y.argmax(axis=1) if labels == 1 else Y
    return RetrievalData(features[:n], targets[:n], features[n:], targets[n:])


def embeddings(n: int, dimensions: int, n_queries: int, seed: Seed = None, *, topics: int = 50) -> RetrievalData:
    """Unit vectors as sentence encoders give them: topics of different sizes in a space of decaying variance.

    Examples
    --------
    >>> data = embeddings(50, 8, 5, seed=0)
    >>> bool(abs(float((data.X[0] ** 2).sum()) - 1) < 1e-12)
    True
    """
    rng = as_generator(seed)
    scales = (1.0 + np.arange(dimensions)) ** -0.35
    centres = rng.standard_normal((topics, dimensions)) * scales
    share = rng.dirichlet(np.full(topics, 1.5))
    topic = rng.choice(topics, size=n + n_queries, p=share)
    vectors = centres[topic] + 0.9 * rng.standard_normal((n + n_queries, dimensions)) * scales
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    return RetrievalData(vectors[:n], topic[:n], vectors[n:], topic[n:])


def read_features(path: str | Path, n_queries: int = 1000, seed: Seed = 0) -> RetrievalData:
    """A packed feature file (`.npz`): quantised features with their scale, labels, and a split where it has one.

    Arrays: `Q_train`, `Q_test`, `y_*` and `scale`; or `H_*` counts with `Y_*`; or `Q` with `step` and `y` or `Y`. Where
    classes are single, train and test are pooled and the same number of queries is drawn from each class; otherwise
    queries are drawn from the test part or from everything. The database is shuffled: rows sorted by class would
    inflate MAP.
    """
    try:
        with np.load(path, allow_pickle=False) as file:
            arrays = {name: file[name] for name in file.files}
    except (OSError, ValueError) as error:
        raise InvalidFile(f"{path}: not a packed feature file ({error}).") from None
    rng = as_generator(seed)
    X, y = _features_and_labels(path, arrays)
    if y.ndim == 1:
        each = max(1, n_queries // np.unique(y).size)
        chosen = np.concatenate(
            [
                rng.choice(np.flatnonzero(y == c), min(each, int((y == c).sum()) - 1), replace=False)
                for c in np.unique(y)
            ]
        )
    else:
        chosen = rng.choice(len(X), n_queries, replace=False)
    rest = np.setdiff1d(np.arange(len(X)), chosen)
    rng.shuffle(rest)
    return RetrievalData(X[rest], y[rest], X[chosen], y[chosen])


def _features_and_labels(path: str | Path, arrays: dict[str, npt.NDArray[Any]]) -> tuple[Floats, npt.NDArray[Any]]:
    """All rows of a packed file, features in float64, from whichever of the three layouts it has."""
    if "Q_train" in arrays:
        quantised = np.concatenate([arrays["Q_train"], arrays["Q_test"]])
        return quantised * np.asarray(arrays["scale"], np.float64), np.concatenate(
            [arrays["y_train"], arrays["y_test"]]
        )
    if "H_train" in arrays:
        counts = np.concatenate([arrays["H_train"], arrays["H_test"]]).astype(np.float64)
        return np.sqrt(counts), np.concatenate([arrays["Y_train"], arrays["Y_test"]])
    if "Q" in arrays:
        labels = arrays["y"] if "y" in arrays else arrays["Y"]
        return arrays["Q"] * np.asarray(arrays["step"], np.float64), labels
    raise InvalidFile(f"{path}: holds {', '.join(sorted(arrays))}; expected Q_train, H_train or Q.")
