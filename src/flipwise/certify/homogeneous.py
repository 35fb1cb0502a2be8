"""A quadratic as one form y'Hy + constant in y = (x, 1), the shape that spectral and semidefinite bounds work on."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from flipwise.arrays import Floats
from flipwise.memory import require
from flipwise.objectives.quadratic import Quadratic
from flipwise.objectives.terms import Dense, LowRank, Sparse


@dataclass(frozen=True, eq=False)
class Homogeneous:
    """H = part + U diag(s) U' of size N, where `part` is dense or sparse; f(x) = y'Hy + constant.

    `lifted` says whether y has the extra last entry 1 that carries linear terms.
    """

    part: Any
    U: Floats
    s: Floats
    constant: float
    lifted: bool

    @property
    def N(self) -> int:
        """Size of H."""
        return int(self.part.shape[0])

    @property
    def is_sparse(self) -> bool:
        return bool(sp.issparse(self.part))

    @property
    def diagonal(self) -> Floats:
        return np.asarray(self.part.diagonal(), dtype=np.float64) + (self.U * self.U) @ self.s

    def times(self, v: Floats) -> Floats:
        """H v, for a vector or a matrix with N rows."""
        inner = self.U.T @ v
        return np.asarray(self.part @ v) + self.U @ (inner * (self.s if v.ndim == 1 else self.s[:, None]))

    def to_dense(self) -> Floats:
        part = np.asarray(self.part.todense()) if self.is_sparse else np.array(self.part)
        return part + (self.U * self.s) @ self.U.T if self.s.size else part

    def rounding(self) -> float:
        """More than the norm of what rounding can have done to `to_dense`."""
        eps = float(np.finfo(np.float64).eps)
        size = float((self.U * self.U).sum(axis=0) @ np.abs(self.s)) if self.s.size else 0.0
        return 4.0 * eps * (self.s.size + 4) * size


def homogeneous(quadratic: Quadratic, *, lift: bool | None = None) -> Homogeneous:
    """The form of a quadratic; sparse terms stay sparse, low-rank ones low-rank. `lift` is automatic by default."""
    c = quadratic.c
    lifted = bool(c.any()) if lift is None else lift
    sparse = [term.A for term in quadratic.terms if isinstance(term, Sparse)]
    dense = [term.A for term in quadratic.terms if isinstance(term, Dense)]
    low = [term for term in quadratic.terms if isinstance(term, LowRank)]
    n = quadratic.n
    part: Any
    if dense:
        require(8 * (n + lifted) ** 2, f"the matrix of the bound for {n:,} variables")
        part = np.zeros((n + lifted, n + lifted))
        for matrix in dense:
            part[:n, :n] += matrix
        for csr in sparse:
            part[:n, :n] += csr.todense()
        if lifted:
            part[:n, n] = part[n, :n] = c / 2.0
    else:
        total = sum(sparse[1:], sparse[0]) if sparse else sp.csr_array((n, n))
        if lifted:
            column = sp.csr_array((c / 2.0)[:, None])
            total = sp.block_array([[total, column], [column.T, None]], format="csr")
        part = sp.csr_array(total)
        part.sum_duplicates()
    U = np.concatenate([term.U for term in low], axis=1) if low else np.zeros((n, 0))
    if lifted:
        U = np.concatenate([U, np.zeros((1, U.shape[1]))])
    s = np.concatenate([term.s for term in low]) if low else np.zeros(0)
    return Homogeneous(part, np.ascontiguousarray(U), s, quadratic.d, lifted)
