"""The symmetric matrices a quadratic is made of: dense, sparse (CSR) and low-rank, behind one small interface."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from flipwise.foundation.arrays import Floats, Ints
from flipwise.foundation.errors import FlipwiseWarning, InvalidInput
from flipwise.foundation.numbers import as_floats, as_square, largest_size
from flipwise.kernels import sparse as kernels

ENTRIES_AT_A_TIME = 1 << 16
"""Entries of a dense matrix whose sizes are looked at together: they stay in the cache."""


class Term(Protocol):
    """A symmetric n x n matrix A."""

    @property
    def n(self) -> int:
        """Number of rows."""

    @property
    def diagonal(self) -> Floats:
        """The diagonal of A."""

    def times(self, v: Floats) -> Floats:
        """A v, for a vector or a matrix with n rows."""

    def add_columns(self, g: Floats, batch: Ints, step: Floats) -> None:
        """g += 2 A[:, batch] step."""

    def inner(self, batch: Ints, step: Floats) -> float:
        """step' A[batch, batch] step."""

    def block(self, rows: Ints, columns: Ints) -> Floats:
        """A[rows, columns], dense."""

    def absolute_row_sums(self) -> Floats:
        """An upper bound on each row sum of |A|."""

    def norm_bound(self) -> float:
        """A proven upper bound on the spectral norm of A."""

    def scaled(self, factor: float) -> Term:
        """factor * A."""


def rounded_up(value: float, operations: int) -> float:
    """`value` enlarged by more than `operations` roundings can have taken from it."""
    return float(value) * (1.0 + 4.0 * (operations + 8) * np.finfo(np.float64).eps)


@dataclass(frozen=True, eq=False)
class Dense:
    """A dense symmetric matrix."""

    A: Floats

    @property
    def n(self) -> int:
        return int(self.A.shape[0])

    @cached_property
    def diagonal(self) -> Floats:
        return np.ascontiguousarray(np.diagonal(self.A))

    def times(self, v: Floats) -> Floats:
        return self.A @ v

    def add_columns(self, g: Floats, batch: Ints, step: Floats) -> None:
        g += 2.0 * (step @ self.A[batch])

    def inner(self, batch: Ints, step: Floats) -> float:
        return float(step @ self.A[np.ix_(batch, batch)] @ step)

    def block(self, rows: Ints, columns: Ints) -> Floats:
        return np.asarray(self.A[np.ix_(rows, columns)])

    def absolute_row_sums(self) -> Floats:
        few = max(1, ENTRIES_AT_A_TIME // max(1, self.n))
        sums = [np.abs(self.A[low : low + few]).sum(axis=1) for low in range(0, self.n, few)]
        return np.concatenate(sums) if sums else np.zeros(0)

    def norm_bound(self) -> float:
        if self.n <= 2000:  # eigenvalues with a backward error far below n * eps * ||A||_F
            norm = float(np.abs(np.linalg.eigvalsh(self.A)).max(initial=0.0))
            return norm + 16.0 * self.n * np.finfo(np.float64).eps * float(np.linalg.norm(self.A))
        return min(
            rounded_up(float(np.linalg.norm(self.A)), self.n),
            collatz_wielandt_bound(lambda v: np.array([np.abs(row) @ v for row in self.A]), self.n),
        )

    def scaled(self, factor: float) -> Dense:
        return Dense(self.A * factor)


@dataclass(frozen=True, eq=False)
class Sparse:
    """A sparse symmetric matrix in canonical CSR form."""

    A: sp.csr_array

    @property
    def n(self) -> int:
        return int(self.A.shape[0])

    @property
    def arrays(self) -> tuple[Ints, Ints, Floats]:
        """A as the kernels take it: indptr, indices, data."""
        return self.A.indptr, self.A.indices, self.A.data

    @cached_property
    def diagonal(self) -> Floats:
        return np.asarray(self.A.diagonal(), dtype=np.float64)

    def times(self, v: Floats) -> Floats:
        return np.asarray(self.A @ v)

    def add_columns(self, g: Floats, batch: Ints, step: Floats) -> None:
        rows = self.A[batch]
        g += 2.0 * np.asarray(rows.T @ step)

    def inner(self, batch: Ints, step: Floats) -> float:
        if batch.size <= 16:
            return float(sum(s * (self._row_at(i, batch) @ step) for i, s in zip(batch, step, strict=True)))
        full = np.zeros(self.n)
        full[batch] = step
        return float(step @ (self.A[batch] @ full))

    def _row_at(self, i: int, columns: Ints) -> Floats:
        """A[i, columns], for a few columns."""
        start, end = self.A.indptr[i], self.A.indptr[i + 1]
        if start == end:
            return np.zeros(columns.size)
        row = self.A.indices[start:end]
        at = np.minimum(np.searchsorted(row, columns), row.size - 1)
        return np.where(row[at] == columns, self.A.data[start + at], 0.0)

    def block(self, rows: Ints, columns: Ints) -> Floats:
        return np.asarray(self.A[rows][:, columns].todense())

    def absolute_row_sums(self) -> Floats:
        sums = np.empty(self.n)
        kernels.csr_row_sums(self.A.indptr, self.A.data, np.zeros(self.n), sums)
        return sums / 2.0

    def norm_bound(self) -> float:
        if self.n <= 500:
            return Dense(np.asarray(self.A.todense())).norm_bound()
        frobenius = rounded_up(float(np.linalg.norm(self.A.data)), self.A.nnz)
        absolute = abs(self.A)
        return min(frobenius, collatz_wielandt_bound(lambda v: np.asarray(absolute @ v), self.n))

    def scaled(self, factor: float) -> Sparse:
        return Sparse(sp.csr_array((self.A.data * factor, self.A.indices, self.A.indptr), shape=self.A.shape))


@dataclass(frozen=True, eq=False)
class LowRank:
    """U diag(s) U', with U of size n x r: never formed as an n x n matrix.

    Examples
    --------
    >>> import flipwise, numpy as np
    >>> square = flipwise.Quadratic(flipwise.LowRank(np.ones((4, 1))))  # (x_1 + ... + x_4)^2
    >>> flipwise.minimize(square, seed=0).value
    0.0
    """

    U: Floats
    s: Floats

    def __init__(self, U: npt.ArrayLike, s: npt.ArrayLike | None = None) -> None:
        factor = as_floats("U", U)
        if factor.ndim != 2:
            raise InvalidInput(f"`U` must be a matrix of size n x r, got shape {factor.shape}.")
        weights = np.ones(factor.shape[1]) if s is None else as_floats("s", s)
        if weights.shape != (factor.shape[1],):
            raise InvalidInput(
                f"`s` must have one entry for each column of U, {factor.shape[1]}, got shape {weights.shape}."
            )
        object.__setattr__(self, "U", factor)
        object.__setattr__(self, "s", weights)

    @property
    def n(self) -> int:
        return int(self.U.shape[0])

    @cached_property
    def diagonal(self) -> Floats:
        return (self.U * self.U) @ self.s

    def times(self, v: Floats) -> Floats:
        inner = self.U.T @ v
        return self.U @ (inner * (self.s if v.ndim == 1 else self.s[:, None]))

    def add_columns(self, g: Floats, batch: Ints, step: Floats) -> None:
        g += 2.0 * (self.U @ (self.s * (step @ self.U[batch])))

    def inner(self, batch: Ints, step: Floats) -> float:
        projected = step @ self.U[batch]
        return float(self.s @ (projected * projected))

    def block(self, rows: Ints, columns: Ints) -> Floats:
        return np.asarray((self.U[rows] * self.s) @ self.U[columns].T)

    def absolute_row_sums(self) -> Floats:
        return np.asarray(np.abs(self.U) @ (np.abs(self.s) * np.abs(self.U).sum(axis=0)))

    def norm_bound(self) -> float:
        # ||U S U'|| = ||R S R'|| with U = QR
        R = np.asarray(np.linalg.qr(self.U, mode="r"))
        core = (R * self.s) @ R.T
        return rounded_up(Dense((core + core.T) / 2).norm_bound(), self.n * max(1, self.U.shape[1]))

    def scaled(self, factor: float) -> LowRank:
        return LowRank(self.U, self.s * factor)


def collatz_wielandt_bound(absolute_times: Any, n: int) -> float:
    """An upper bound on ||A|| for symmetric A: max_i (|A|v)_i / v_i, valid for every v > 0, v by power iteration."""
    v = np.ones(n)
    best = np.inf
    for _ in range(30):
        w = absolute_times(v)
        best = min(best, rounded_up(float((w / v).max(initial=0.0)), n))
        largest = float(w.max(initial=0.0))
        if largest == 0.0:
            return 0.0
        v = np.maximum(w / largest, 1e-8)  # the floor keeps v > 0, which is all the bound needs
    return best


def as_term(A: Any) -> Term:
    """The matrix a user gave, checked, in float64, symmetrised where necessary (with a warning)."""
    if isinstance(A, Dense | Sparse | LowRank):
        return A
    matrix = as_square("A", A)
    is_sparse = sp.issparse(matrix)
    symmetric = _is_symmetric(matrix) if is_sparse else is_symmetric_in_tiles(matrix)
    if not symmetric:
        _warn_asymmetric()
        matrix = _symmetric_part(matrix) if is_sparse else symmetrised_in_tiles(matrix)
    if not is_sparse:
        return Dense(np.ascontiguousarray(matrix))
    if not symmetric:
        matrix = sp.csr_array(matrix)
        matrix.sum_duplicates()
    return Sparse(matrix)


def _symmetric_part(A: Any) -> Any:
    """(A + A')/2, halved first where the sum would overflow, and only there: halves of the smallest numbers round."""
    if abs(A).max() > np.finfo(float).max / 2:
        return A / 2.0 + A.T / 2.0
    return (A + A.T) / 2.0


TILE = 512
"""Rows and columns of a dense matrix that are compared with their mirror image at a time: both stay in the cache."""


def _upper_tiles(n: int) -> Iterator[tuple[slice, slice]]:
    """The tiles on and above the diagonal."""
    for low in range(0, n, TILE):
        for left in range(low, n, TILE):
            yield slice(low, low + TILE), slice(left, left + TILE)


def is_symmetric_in_tiles(A: Floats) -> bool:
    return all(np.array_equal(A[rows, columns], A[columns, rows].T) for rows, columns in _upper_tiles(len(A)))


def symmetrised_in_tiles(A: Floats) -> Floats:
    """As `_symmetric_part`, in one pass over a dense matrix."""
    whole = np.empty_like(A, order="C")
    halved = largest_size(A) > np.finfo(float).max / 2
    for rows, columns in _upper_tiles(len(A)):
        tile, mirrored = A[rows, columns], A[columns, rows].T
        mean = tile / 2.0 + mirrored / 2.0 if halved else (tile + mirrored) / 2.0
        whole[rows, columns] = mean
        whole[columns, rows] = mean.T
    return whole


FINGERPRINTED = 1_000_000
"""Of a sparse matrix with more entries than this a fingerprint is looked at first."""


def _is_symmetric(A: sp.csr_array) -> bool:
    if A.nnz > FINGERPRINTED and has_symmetric_fingerprint(A):
        return True
    return bool(kernels.csr_is_symmetric(A.indptr, A.indices, A.data, A.indptr[:-1].copy()))


def has_symmetric_fingerprint(A: sp.csr_array) -> bool:
    """Whether A = A', in one pass that reads memory in order, on all threads; wrong once in 2^64 matrices.

    A no may be false (0.0 and -0.0 have different bits), so the entries themselves are compared then.
    """
    sums = np.empty(A.shape[0], dtype=np.uint64)
    with np.errstate(over="ignore"):  # of the interpreted kernel
        kernels.csr_fingerprint(A.indptr, A.indices, A.data.view(np.uint64), sums)
    return int(sums.sum()) == 0


def _warn_asymmetric() -> None:
    warnings.warn(
        "`A` is not symmetric; it was replaced by (A + A')/2, which gives the same x'Ax. "
        "Pass a symmetric matrix to silence this.",
        FlipwiseWarning,
        stacklevel=4,
    )


# --- improving swaps: for every +1 the best -1 to exchange it with ----------------------------------------------------


def sparse_partners(matrix: Sparse, x: Floats, loss: Floats, slack: Floats, labels: Ints) -> Ints:
    """For a sparse matrix: the best partner of every +1 that has an improving one, as pairs, best first."""
    ones = np.flatnonzero(x > 0)
    zeros = np.flatnonzero(x < 0)
    groups = int(labels.max(initial=-1)) + 1
    zeros = zeros[np.lexsort((loss[zeros], labels[zeros]))]
    zero_start = np.searchsorted(labels[zeros], np.arange(groups + 1)).astype(np.int64)
    partner = np.empty(ones.size, dtype=np.int64)
    best = np.empty(ones.size)
    mark = np.full(x.size, -1, dtype=np.int64)
    kernels.csr_best_partners(*matrix.arrays, loss, slack, labels, ones, zeros, zero_start, mark, x, partner, best)
    found = np.flatnonzero(partner >= 0)
    found = found[np.argsort(best[found], kind="stable")]
    return np.stack([ones[found], partner[found]], axis=1)


def block_partners(
    terms: Sequence[Term], x: Floats, loss: Floats, slack: Floats, labels: Ints, block: int = 512
) -> Ints:
    """The same for any sum of terms, with A looked at in blocks of rows."""
    pairs: list[Ints] = []
    changes: list[Floats] = []
    for group in range(int(labels.max(initial=-1)) + 1):
        ones = np.flatnonzero((x > 0) & (labels == group))
        zeros = np.flatnonzero((x < 0) & (labels == group))
        if not ones.size or not zeros.size:
            continue
        for start in range(0, ones.size, block):
            rows = ones[start : start + block]
            change = loss[rows][:, None] + loss[zeros][None, :]
            for term in terms:
                change -= 8.0 * term.block(rows, zeros)
            at = change.argmin(axis=1)
            best = change[np.arange(rows.size), at]
            keep = best < -(slack[rows] + slack[zeros[at]])
            pairs.append(np.stack([rows[keep], zeros[at[keep]]], axis=1))
            changes.append(best[keep])
    if not pairs:
        return np.empty((0, 2), dtype=np.int64)
    return np.concatenate(pairs)[np.argsort(np.concatenate(changes), kind="stable")]
