"""Principal components by chunks of rows, and rotations fitted to codes."""

from __future__ import annotations

from typing import Any

import numpy as np

from flipwise.arrays import Floats
from flipwise.hashing.functions.ridge import chunks, dense


def principal_axes(X: Any, count: int) -> tuple[Floats, Floats, Floats]:
    """(mean, axes as columns, variances) of the leading principal components; for d > n by the n x n Gram matrix."""
    n, d = X.shape
    mean = np.asarray(X.mean(axis=0, dtype=np.float64)).reshape(-1)  # float32 sums of many rows lose digits
    count = min(count, d)
    if d > n:
        centred = dense(X) - mean
        _, s, Vt = np.linalg.svd(centred, full_matrices=False)
        axes, variances = Vt[:count].T, (s * s)[:count] / n
    else:
        C = np.zeros((d, d))
        for rows in chunks(n):
            part = dense(X[rows]) - mean
            C += part.T @ part
        return mean, *leading_axes(C / n, count)
    return mean, _signed(axes), variances


def leading_axes(covariance: Floats, count: int) -> tuple[Floats, Floats]:
    """(axes as columns, variances) of the leading eigenvectors of a covariance matrix."""
    values, vectors = np.linalg.eigh(covariance)
    return _signed(vectors[:, ::-1][:, :count]), np.maximum(values[::-1][:count], 0.0)


def _signed(axes: Floats) -> Floats:
    """An eigenvector's sign is arbitrary: its largest entry is made positive."""
    signs = np.sign(axes[np.abs(axes).argmax(axis=0), np.arange(axes.shape[1])])
    return np.ascontiguousarray(axes * np.where(signs == 0, 1.0, signs))


def random_rotation(k: int, r: int, rng: np.random.Generator) -> Floats:
    """A k x r matrix with orthonormal rows (k <= r) or columns."""
    Q = np.linalg.qr(rng.standard_normal((max(k, r), min(k, r))))[0]
    return Q.T if k <= r else Q


def procrustes(cross: Floats) -> Floats:
    """The R with orthonormal rows or columns that maximises <cross, R>; cross = V'B."""
    U, _, Vt = np.linalg.svd(cross, full_matrices=False)
    R: Floats = U @ Vt
    return R
