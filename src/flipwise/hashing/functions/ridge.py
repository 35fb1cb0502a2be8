"""Ridge regression in float64, by chunks of rows.

Float32 normal equations of kernel features were seen to lose 40 points of accuracy (condition numbers of 1e8), so
sums and solves are in float64; features may arrive in any type.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.linalg import LinAlgError, cho_factor, cho_solve

from flipwise.arrays import Floats
from flipwise.memory import require

CHUNK = 4096
"""Rows of features that are held in float64 at once."""


class Moments:
    """Sums from which a ridge regression with intercept is solved; they can be added up over chunks of data."""

    def __init__(self, n_features: int, n_columns: int) -> None:
        self.n = 0
        require(24 * n_features**2, f"a hash function on {n_features:,} features (or anchors)")
        self.gram = np.zeros((n_features, n_features))
        self.cross = np.zeros((n_features, n_columns))
        self.feature_sum = np.zeros(n_features)
        self.column_sum = np.zeros(n_columns)

    def add(self, features: Floats, columns: Floats) -> None:
        """Rows of features and of right-hand sides."""
        self.n += len(features)
        self.gram += features.T @ features
        self.cross += features.T @ columns
        self.feature_sum += features.sum(axis=0)
        self.column_sum += columns.sum(axis=0)

    def add_columns(self, more: int) -> None:
        """Room for new right-hand sides that were 0 so far (classes that appear late)."""
        self.cross = np.pad(self.cross, ((0, 0), (0, more)))
        self.column_sum = np.pad(self.column_sum, (0, more))

    def joined(self, other: Moments) -> Moments:
        """The sums of the rows of both."""
        both = Moments(*self.cross.shape)
        both.n = self.n + other.n
        for name in ("gram", "cross", "feature_sum", "column_sum"):
            setattr(both, name, getattr(self, name) + getattr(other, name))
        return both

    def solve(self, penalty: Floats | float) -> tuple[Floats, Floats]:
        """(coefficients, intercepts) of the ridge regression; `penalty` is a number or a matrix."""
        center, mean = self.feature_sum / self.n, self.column_sum / self.n
        A = self.gram - self.n * np.outer(center, center)
        if np.ndim(penalty) == 0:
            A[np.diag_indices_from(A)] += penalty
        else:
            A += penalty
        P = solve_positive(A, self.cross - self.n * np.outer(center, mean))
        return P, mean - center @ P


def solve_positive(A: Floats, b: Floats) -> Floats:
    """Solve with a symmetric matrix that is positive definite up to rounding."""
    lift = 0.0
    base = float(np.abs(np.diagonal(A)).max(initial=0.0)) * np.finfo(np.float64).eps * len(A)
    for _ in range(12):
        try:
            M = A.copy()
            M[np.diag_indices_from(M)] += lift
            x: Floats = cho_solve(cho_factor(M, lower=True, overwrite_a=True, check_finite=False), b)
            return x
        except LinAlgError:
            lift = max(10.0 * lift, base, 1e-300)
    return np.asarray(np.linalg.lstsq(A, b, rcond=None)[0], dtype=np.float64)


def dense(X: Any, dtype: Any = np.float64) -> Any:
    """Rows, sparse or not, as a plain array."""
    full: Any = X
    if sp.issparse(X):
        rows, columns = full.shape
        require(8 * rows * columns, f"features of {rows:,} x {columns:,} entries, written out,")
    return np.asarray(full.toarray() if sp.issparse(X) else full, dtype=dtype)


def chunks(n: int, size: int = CHUNK) -> list[slice]:
    """Slices that cover n rows."""
    return [slice(start, min(start + size, n)) for start in range(0, n, size)]


def in_chunks(f: Callable[[Any], Floats], X: Any, n_columns: int) -> Floats:
    """f(X) by chunks of rows, to bound the memory for intermediate features."""
    require(8 * X.shape[0] * n_columns, f"{X.shape[0]:,} rows of {n_columns:,} values")
    out = np.empty((X.shape[0], n_columns))
    for rows in chunks(X.shape[0]):
        out[rows] = f(X[rows])
    return out
