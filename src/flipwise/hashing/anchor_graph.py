"""The anchor graph of Liu, Wang, Kumar, Chang: Hashing with graphs, ICML 2011.

Each item has positive weights with sum 1 on its nearest anchors, the matrix Z. The graph's similarity is
A = Z Lambda^-1 Z' with Lambda = diag(Z'1); it has row sums 1, so the Laplacian is I - A. A is never formed.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from flipwise.foundation.arrays import Floats
from flipwise.foundation.checks import check_memory
from flipwise.hashing.functions.ridge import chunks


def choose_anchors(X: npt.NDArray[Any], count: int, rng: np.random.Generator, rounds: int = 5) -> Floats:
    """Centres of a short k-means run (Lloyd) on at most 50 rows a centre."""
    n = len(X)
    count = min(count, n)
    sample = np.asarray(X[rng.choice(n, min(n, 50 * count), replace=False)], dtype=np.float64)
    centres = sample[rng.choice(len(sample), count, replace=False)]
    for _ in range(rounds):
        at = np.concatenate([_squared_distances(sample[rows], centres).argmin(axis=1) for rows in chunks(len(sample))])
        E = sp.csr_array((np.ones(len(sample)), (at, np.arange(len(sample)))), shape=(count, len(sample)))
        sizes = np.bincount(at, minlength=count)
        means = np.asarray(E @ sample) / np.maximum(sizes, 1)[:, None]
        centres = np.where(sizes[:, None] > 0, means, centres)
    return centres


def anchor_weights(X: npt.NDArray[Any], anchors: Floats, nearest: int) -> sp.csr_array:
    """Z: Gaussian weights on the nearest anchors, width = mean squared distance to the farthest of them."""
    n, s = len(X), min(nearest, len(anchors))
    check_memory(32 * n * s, f"an anchor graph of {n:,} rows with {s} anchors each")
    columns = np.empty((n, s), dtype=np.int64)
    squared = np.empty((n, s))
    for rows in chunks(n):
        D = _squared_distances(np.asarray(X[rows], dtype=np.float64), anchors)
        columns[rows] = np.argpartition(D, s - 1, axis=1)[:, :s] if s < len(anchors) else np.arange(len(anchors))
        squared[rows] = np.take_along_axis(D, columns[rows], axis=1)
    width = max(float(squared.max(axis=1).mean()), 1e-12)
    weights = np.exp(-(squared - squared.min(axis=1, keepdims=True)) / width)
    weights /= weights.sum(axis=1, keepdims=True)
    return sp.csr_array((weights.reshape(-1), columns.reshape(-1), np.arange(0, n * s + 1, s)), shape=(n, len(anchors)))


def _squared_distances(A: Floats, B: Floats) -> Floats:
    """Squared distances between rows; `rbf` adds in another order, which here would give other codes for a seed."""
    D: Floats = (A * A).sum(axis=1)[:, None] + (B * B).sum(axis=1)[None, :] - 2.0 * (A @ B.T)
    return np.maximum(D, 0.0, out=D)
