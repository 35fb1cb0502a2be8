"""Two forms of a quadratic: the one that search kernels work on, and the one that bounds work on.

`IsingForm`: spins, couplings and fields, in integers where possible.

    scale * (f(s) - constant) = sum_{i<j} J_ij s_i s_j + sum_i h_i s_i

A flip of spin i costs -2 s_i f_i with the local field f_i = h_i + sum_j J_ij s_j. Weights that are multiples of one
power of two, such as integers and halves, become integers with a common factor of one; others stay float64.

`Homogeneous`: f as one form y'Hy + constant in y = (x, 1), for spectral and semidefinite bounds.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from flipwise.foundation.arrays import Floats, Ints, Signs
from flipwise.foundation.checks import check_memory
from flipwise.foundation.numbers import largest_size
from flipwise.kernels.dense import dense_fields
from flipwise.kernels.sparse import csr_fields
from flipwise.model.exactness import are_multiples
from flipwise.model.quadratic import Quadratic
from flipwise.model.terms import Dense, LowRank, Sparse

DENSE_FROM = 0.08
"""Share of nonzeros from which whole rows are faster than lists of neighbours (measured; rows are vectorised)."""
DENSE_ENTRIES = 1_000_000_000
"""The most entries a dense copy of a sparse matrix may have."""
PIECE = 65_536
"""Entries that are converted at a time."""
LOW_RANK_ENTRIES = 25_000_000
"""The most entries a low-rank matrix may have when it is written out for the search."""

Numbers = npt.NDArray[Any]


@dataclass(frozen=True, eq=False)
class IsingForm:
    """The couplings, as CSR or as a dense `matrix`, and h; `slack` is what rounding may do to a cost."""

    n: int
    h: Numbers
    scale: float
    slack: float
    width: float
    matrix: Numbers | None
    indptr: Ints
    indices: Ints
    data: Numbers

    @property
    def dense(self) -> bool:
        """Whether rows are stored in full."""
        return self.matrix is not None

    @property
    def couplings(self) -> tuple[Numbers, ...]:
        """The couplings as the kernels take them: the dense matrix, or the three arrays of CSR."""
        return (self.indptr, self.indices, self.data) if self.matrix is None else (self.matrix,)

    @property
    def symmetric(self) -> bool:
        """Whether s and -s have the same energy."""
        return not self.h.any()

    def fields(self, s: Signs) -> Numbers:
        """The local fields at `s`."""
        f = np.empty(self.n, dtype=self.h.dtype)
        kernel = dense_fields if self.dense else csr_fields
        kernel(*self.couplings, self.h, s, f)
        return f

    def energy(self, s: Signs, f: Numbers) -> float:
        """The energy at `s`, whose fields are `f`, in units of `scale`."""
        if np.issubdtype(f.dtype, np.integer):
            return float(int(np.dot(s.astype(np.int64), f.astype(np.int64) + self.h)) // 2)
        return float(np.dot(s, f + self.h)) / 2.0

    def aligned(self, s: Signs, other: Signs) -> Signs:
        """`other`, or its mirror image where that has the same energy and is nearer to `s`."""
        return -other if self.symmetric and np.count_nonzero(s != other) > self.n // 2 else other

    def distance(self, a: Signs, b: Signs) -> int:
        """The number of differing spins, up to a flip of all where that changes nothing."""
        apart = int(np.count_nonzero(a != b))
        return min(apart, self.n - apart) if self.symmetric else apart


def ising_form(objective: Quadratic, dense_from: float = DENSE_FROM) -> IsingForm | None:
    """The form of a quadratic, or None when it has a low-rank term too large to be written out."""
    n = objective.n
    parts = [term.A for term in objective.terms if isinstance(term, Sparse)]
    if len(parts) == len(objective.terms):
        A: Any = parts[0]
        for part in parts[1:]:
            A = A + part
        if A.nnz >= dense_from * n * n and n * n <= DENSE_ENTRIES:
            check_memory(16 * n * n, f"the matrix of {n:,} variables, written out,")
            return _sparse_form(A, objective, written_out=True)
        return _sparse_form(A, objective)
    if any(isinstance(term, LowRank) for term in objective.terms) and n * n > LOW_RANK_ENTRIES:
        return None
    check_memory(16 * n * n, f"the matrix of {n:,} variables, written out,")
    first, *others = objective.terms
    every = np.arange(n)
    whole = first.A.copy() if isinstance(first, Dense) else first.block(every, every)
    for term in others:
        whole += term.A if isinstance(term, Dense) else term.block(every, every)
    return _dense_form(whole, objective)


def _sparse_form(A: Any, objective: Quadratic, written_out: bool = False) -> IsingForm:
    """The form of one sparse matrix, written out where it is small."""
    n = objective.n
    data = A.data
    if objective.diagonal.any():
        rows = np.repeat(np.arange(n, dtype=A.indices.dtype), np.diff(A.indptr))
        data = np.where(A.indices == rows, 0.0, data)
    J, h, scale = _as_integers(data, objective.c, narrowest=written_out)
    slack, width = _field_slack(J, objective), _field_width(data, scale, n)
    if written_out:
        return _form_of_dense(sp.csr_array((J, A.indices, A.indptr), shape=(n, n)).toarray(), h, scale, slack, width)
    indices = A.indices if n >= 2**31 else np.asarray(A.indices, dtype=np.int32)  # one type, to compile for it once
    return IsingForm(n, h, scale, slack, width, None, np.asarray(A.indptr, dtype=np.int64), indices, J)


def _dense_form(A: Floats, objective: Quadratic) -> IsingForm:
    n = objective.n
    np.fill_diagonal(A, 0.0)
    J, h, scale = _as_integers(A.reshape(-1), objective.c, narrowest=True)
    return _form_of_dense(J.reshape(n, n), h, scale, _field_slack(J, objective), _field_width(A.reshape(-1), scale, n))


def _form_of_dense(matrix: Numbers, h: Numbers, scale: float, slack: float, width: float) -> IsingForm:
    """The form of a matrix that is written out."""
    none = np.zeros(0, dtype=np.int64)
    return IsingForm(h.size, h, scale, slack, width, matrix, none, none, matrix[:0, 0])


def _field_slack(J: Numbers, objective: Quadratic) -> float:
    """What rounding can do to the cost of a flip; nothing in integers."""
    return 0.0 if np.issubdtype(J.dtype, np.integer) else float(objective.slack.max(initial=0.0))


def _as_integers(weights: Floats, linear: Floats, narrowest: bool = False) -> tuple[Numbers, Numbers, float]:
    """(J, h, scale) with J = 2 scale A and h = scale c: integers when all are multiples of 1/8, or of any power of two
    that leaves numbers of 32 bits; else float64. J has as few bits as it needs if `narrowest`, else as many as h."""
    # worked through in pieces that stay in the cache, so that a matrix of 10^7 entries is read quickly and not copied
    pieces = [slice(i, i + PIECE) for i in range(0, weights.size, PIECE)]
    largest = max((largest_size(weights[p]) for p in pieces), default=0.0) * 2.0
    largest_h = largest_size(linear)
    # no field is larger than (largest coupling) * n + (largest h), and no cost than twice that
    reach = largest * min(linear.size, weights.size) + largest_h
    exponent = max(math.frexp(reach)[1] - 46, -1020)
    if (
        reach == 0.0
        or reach >= 2.0**1000
        or not (are_multiples(linear, exponent) and are_multiples(weights, exponent - 1))
    ):
        return 2.0 * weights, linear.copy(), 1.0
    grain = math.ldexp(1.0, exponent)
    h = (linear / grain).astype(np.int64)
    factor = int(np.gcd.reduce(h)) if h.size else 0
    for p in pieces:
        if factor == 1:
            break
        factor = math.gcd(factor, int(np.gcd.reduce((weights[p] / (grain / 2.0)).astype(np.int64))))
    narrow = 4.0 * (reach / grain / factor) < 2.0**31
    if not narrow and not (are_multiples(linear, -3) and are_multiples(weights, -4)):
        return 2.0 * weights, linear.copy(), 1.0
    kind: Any = np.int32 if narrow else np.int64
    most = largest / grain / factor
    few: Any = np.int8 if most <= 127 else np.int16 if most <= 32767 else kind
    J = np.empty(weights.size, dtype=few if narrowest and narrow else kind)
    for p in pieces:
        J[p] = weights[p] / (grain / 2.0) / factor  # exact: the quotients are integers
    return J, (h // factor).astype(kind), 1.0 / (factor * grain)


def _field_width(weights: Floats, scale: float, n: int) -> float:
    """The root mean square of a local field's random part, sqrt(sum J^2 / n): the unit of temperature."""
    largest = largest_size(weights)
    if 1e-140 < largest < 1e140:
        return 2.0 * scale * math.sqrt(float(np.dot(weights, weights)) / n)
    if largest == 0.0:
        return 0.0
    unit = weights / largest  # squares of numbers so small or large are 0 or inf
    return 2.0 * scale * largest * math.sqrt(float(np.dot(unit, unit)) / n)


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
        part = np.array(self.part.toarray() if hasattr(self.part, "toarray") else self.part)
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
        check_memory(8 * (n + lifted) ** 2, f"the matrix of the bound for {n:,} variables")
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
