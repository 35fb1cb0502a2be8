"""Smallest eigenvalues: an estimate by Lanczos, and a lower bound that is proven.

The proof is a Cholesky factorisation. If it runs to its end in floating point on a matrix B of size N, then
lambda_min(B) >= -alpha * trace(B) with alpha = gamma/(1 - gamma), gamma = (N + 1) u / (1 - (N + 1) u), u the unit
roundoff (Rump: Verification of positive definiteness, BIT 46, 2006). The factor is banded where the matrix, after
reordering, is; otherwise dense. Matrices too large for either get the scaled Gershgorin bound
min_i (h_ii - sum_j |h_ij| w_j / w_i), true for every w > 0.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from contextlib import suppress

import numpy as np
import scipy.linalg
import scipy.sparse as sp
from scipy.sparse.csgraph import reverse_cuthill_mckee
from scipy.sparse.linalg import ArpackNoConvergence, LinearOperator, eigsh

from flipwise.foundation.arrays import Floats
from flipwise.kernels.compile_time import working_time
from flipwise.model.forms import Homogeneous

DENSE_LIMIT = 6000
"""The largest matrix that is factored densely."""
BAND_LIMIT = 60_000_000
"""The largest number of entries of a banded factor."""
FACTOR = 2e-11
"""About the seconds that a factorisation takes for each row and the square of its width."""
_SMALL = 300
_U = float(np.finfo(np.float64).eps) / 2.0


def smallest_eigenpair(times: Callable[[Floats], Floats], n: int, tolerance: float = 1e-6) -> tuple[float, Floats]:
    """An estimate of the smallest eigenvalue of a symmetric operator, with its vector; deterministic."""
    if n <= _SMALL:
        matrix = times(np.eye(n))
        values, vectors = np.linalg.eigh((matrix + matrix.T) / 2.0)
        return float(values[0]), vectors[:, 0]
    start = np.random.default_rng(0).standard_normal(n)
    # ARPACK stops relative to the eigenvalue it finds, or to 1e-11, so it is given A / size - I, whose least eigenvalue
    # is about -1/2 or below: that of A is at most the root of the mean square of all, by which A stretches the start.
    size = 2.0 * float(np.linalg.norm(times(start)) / np.linalg.norm(start)) or 1.0

    def scaled(v: Floats) -> Floats:
        v = np.ascontiguousarray(v).reshape(-1)
        return times(v) / size - v

    def lanczos(tolerance: float) -> tuple[float, Floats]:
        operator = LinearOperator((n, n), matvec=scaled, dtype=np.float64)
        values, vectors = eigsh(operator, k=1, which="SA", tol=tolerance, v0=start, maxiter=1000)
        return size * (float(values[0]) + 1.0), np.asarray(vectors[:, 0])

    for slack in (1.0, 100.0):
        with suppress(ArpackNoConvergence):
            return lanczos(slack * tolerance)
    return lanczos(1e4 * tolerance)


class _TooLate(Exception):
    """What is left of the time is too short for the factorisation, which cannot be broken off."""


def eigenvalue_bound(form: Homogeneous, y: Floats, deadline: float = math.inf) -> float:
    """A proven lower bound on lambda_min(H - Diag(y)); a weaker one where a `working_time` would be over before it."""
    banded = band_of(form)
    if banded is None and form.N > DENSE_LIMIT:
        return gershgorin_bound(form, y)
    begin = deadline - FACTOR * form.N * float(form.N if banded is None else banded[0].shape[0]) ** 2

    def times(v: Floats) -> Floats:
        if working_time() > begin:
            raise _TooLate
        return form.times(v) - (y * v if v.ndim == 1 else y[:, None] * v)

    try:
        estimate, _ = smallest_eigenpair(times, form.N, tolerance=1e-4)
    except _TooLate:
        return gershgorin_bound(form, y)
    scale = float(np.abs(form.diagonal - y).max(initial=0.0)) + abs(estimate)
    margin = max(1e-7 * scale, 1e-300)
    if working_time() > 2.0 * begin - deadline:  # there is time for one attempt, which should succeed
        margin *= 30.0
    for _ in range(6):
        if working_time() > begin:
            break
        theta = estimate - margin
        proven = dense_proof(form, y, theta) if banded is None else banded_proof(banded, y, theta)
        if proven is not None:
            return proven
        margin *= 30.0
    return gershgorin_bound(form, y)


def gershgorin_bound(form: Homogeneous, y: Floats) -> float:
    """The scaled Gershgorin bound on lambda_min(H - Diag(y)), w by power iteration."""
    absolute = abs(form.part)
    U, s = np.abs(form.U), np.abs(form.s)
    own = form.diagonal - y
    outside = np.asarray(absolute.diagonal()) + (U * U) @ s

    def radius(w: Floats) -> Floats:
        reach: Floats = np.asarray(absolute @ w) + U @ (s * (U.T @ w)) - outside * w
        return np.maximum(reach, 0.0)

    w = np.ones(form.N)
    best = -np.inf
    for _ in range(30):
        r = radius(w)
        # `reach` holds the diagonal before it is taken away again: its rounding counts even where `own` is 0.
        rounding = 4.0 * _U * (form.N + 8) * float((r / w + outside + np.abs(y)).max(initial=0.0))
        best = max(best, float((own - r / w).min(initial=np.inf)) - rounding)
        # Towards the Perron vector of the shifted comparison matrix; the floor keeps w > 0.
        w = np.maximum(r + (own.max() - own) * w, 1e-12)
        w = np.maximum(w / w.max(), 1e-8)
    return best


def rounding_share(inner: int) -> float:
    """The share of the trace by which rounding can make a factorisation of `inner` rows succeed wrongly."""
    gamma = (inner + 1) * _U / (1.0 - (inner + 1) * _U)
    return 2.0 * gamma / (1.0 - gamma)  # doubled: a margin for the roundings of this line and of the trace


def dense_proof(form: Homogeneous, y: Floats, theta: float) -> float | None:
    """What the smallest eigenvalue is at least, if a factorisation shows it to be about `theta`; None if it fails."""
    B = form.to_dense()
    entries = float(np.abs(B).max(initial=0.0))
    B[np.diag_indices(form.N)] -= y + theta
    trace = float(np.trace(B))
    factor, failed = scipy.linalg.lapack.dpotrf(B, lower=1, overwrite_a=1, clean=0)
    del factor
    if failed:
        return None
    formed = 8.0 * _U * (entries + float(np.abs(y).max(initial=0.0)) + abs(theta)) + form.rounding()
    return theta - rounding_share(form.N) * trace - formed


def band_of(form: Homogeneous) -> tuple[Floats, np.ndarray] | None:
    """H in lower banded form with its ordering, if it is sparse and narrow enough."""
    if not form.is_sparse or form.s.size or form.lifted or form.N <= _SMALL:
        return None
    matrix = sp.csr_array(form.part)
    order = reverse_cuthill_mckee(sp.csr_matrix(matrix), symmetric_mode=True)
    place = np.empty(form.N, dtype=np.int64)
    place[order] = np.arange(form.N)
    entries = matrix.tocoo()
    row, column = place[entries.row], place[entries.col]
    width = int(np.abs(row - column).max(initial=0))
    if (width + 1) * form.N > BAND_LIMIT:
        return None
    band = np.zeros((width + 1, form.N))
    lower = row >= column
    band[(row - column)[lower], column[lower]] = entries.data[lower]
    return band, order


def banded_proof(banded: tuple[Floats, np.ndarray], y: Floats, theta: float) -> float | None:
    """As `dense_proof`, of a matrix in banded form."""
    band, order = banded
    B = band.copy()
    B[0] -= y[order] + theta
    trace = float(B[0].sum())
    try:
        scipy.linalg.cholesky_banded(B, overwrite_ab=True, lower=True, check_finite=False)
    except np.linalg.LinAlgError:
        return None
    size = float(np.abs(band).max(initial=0.0)) + float(np.abs(y).max(initial=0.0)) + abs(theta)
    return theta - rounding_share(band.shape[0]) * trace - 8.0 * _U * size
