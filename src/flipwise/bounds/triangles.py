"""The semidefinite bound with triangle inequalities, for dense parts of up to some hundred spins.

For s in {-1, +1}^N, X = ss' has X_ii = 1, is positive semidefinite, and satisfies for all i < j < k and all signs with
abc = 1 the triangle inequality a X_ij + b X_ik + c X_jk >= -1. For any diagonal u and multipliers z >= 0,
    s'Qs >= sum u - sum z + N * lambda_min(M),    M = Q - Diag(u) - sum_t z_t B_t,                                  (1)
where <B_t, X> is the left side of inequality t. The multipliers are found by maximising the smooth function
    sum u - sum z - |M_-|^2 / (2 alpha),    M_- the negative part of M,
by a quasi-Newton method, alpha falling (Krislock, Malick, Roupin: Improved semidefinite bounding procedure for solving
Max-Cut problems to optimality, Math. Program. 143, 2014); its gradient is X = M_- / alpha, whose violated triangles are
added. Whatever they are, (1) is a bound; the eigenvalue in it is proven by a Cholesky factorisation, and roundings are
accounted for.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np
import scipy.linalg
import scipy.optimize

from flipwise.foundation.arrays import Floats, Ints

VIOLATED = 0.03
"""Triangles that X violates by more than this are added."""
MOST_ADDED = 8
"""The most triangles added at once, for each row of X."""
EVALUATIONS = 40
"""Steps of the quasi-Newton method between two looks at the triangles."""
RECOVERS = 1e6
"""By what the weight of the smoothing rises where the numbers have overflowed."""
SIGNS = np.array([[1, 1, 1], [1, -1, -1], [-1, 1, -1], [-1, -1, 1]], dtype=np.float64)
_EPS = float(np.finfo(np.float64).eps)


@dataclass(eq=False)
class Triangles:
    """Inequalities: three nodes, the three signs of X_ij, X_ik, X_jk, and a multiplier each."""

    nodes: Ints = field(default_factory=lambda: np.zeros((0, 3), dtype=np.int64))
    signs: Floats = field(default_factory=lambda: np.zeros((0, 3)))
    z: Floats = field(default_factory=lambda: np.zeros(0))

    def entries(self, N: int) -> Ints:
        """The places of X_ij, X_ik, X_jk in X, written as one row."""
        i, j, k = self.nodes.T
        return np.stack([i * N + j, i * N + k, j * N + k], axis=1)

    def kept(self, which: np.ndarray) -> Triangles:
        return Triangles(self.nodes[which], self.signs[which], self.z[which])

    def merged(self, other: Triangles, N: int) -> Triangles:
        """These and others that are not among them."""

        def keys(of: Triangles) -> Ints:
            kind = 2 * (of.signs[:, 0] > 0) + (of.signs[:, 1] > 0)
            return np.asarray(((of.nodes @ np.array([N * N, N, 1])) * 4 + kind).astype(np.int64))

        fresh = ~np.isin(keys(other), keys(self))
        nodes, signs = (
            np.concatenate([self.nodes, other.nodes[fresh]]),
            np.concatenate([self.signs, other.signs[fresh]]),
        )
        return Triangles(nodes, signs, np.concatenate([self.z, other.z[fresh]]))

    def contracted(self, i: int, j: int, sign: int) -> Triangles:
        """The inequalities after s_i = sign * s_j, and node i is gone; those with both are dropped."""
        both = (self.nodes == i).any(axis=1) & (self.nodes == j).any(axis=1)
        of = self.kept(~both)
        nodes, signs = of.nodes.copy(), of.signs.copy()
        has = nodes == i
        for pair, (a, b) in enumerate(((0, 1), (0, 2), (1, 2))):
            signs[:, pair] *= np.where(has[:, a] | has[:, b], float(sign), 1.0)
        nodes[has] = j
        order = np.argsort(nodes, axis=1, kind="stable")
        sorted_nodes = np.take_along_axis(nodes, order, axis=1)
        # the sign of a pair of places goes with the pair: places (0, 1), (0, 2), (1, 2) are pairs 0, 1, 2
        pair_of = np.array([[-1, 0, 1], [0, -1, 2], [1, 2, -1]])
        pairs = np.stack([pair_of[order[:, a], order[:, b]] for a, b in ((0, 1), (0, 2), (1, 2))], axis=1)
        signs = np.take_along_axis(signs, pairs, axis=1)
        sorted_nodes[sorted_nodes > i] -= 1
        found = Triangles(sorted_nodes, signs, of.z)
        return Triangles().merged(found.kept(_first_of_each(found)), int(nodes.max(initial=0)) + 1)


def _first_of_each(triangles: Triangles) -> Ints:
    keys = np.concatenate([triangles.nodes, triangles.signs.astype(np.int64)], axis=1)
    return np.sort(np.unique(keys, axis=0, return_index=True)[1])


def violated_triangles(X: Floats, most: int) -> Triangles:
    """The inequalities that X violates most."""
    N = X.shape[0]
    found: list[tuple[Ints, Ints, Ints, Ints, Floats]] = []
    for i in range(N - 2):
        row, block = X[i, i + 1 :], X[i + 1 :, i + 1 :]
        plus, minus = row[:, None] + row[None, :], row[:, None] - row[None, :]
        for kind, left in enumerate((plus + block, minus - block, -minus - block, block - plus)):
            j, k = np.nonzero(np.triu(left < -1.0 - VIOLATED, 1))
            if j.size:
                found.append((np.full(j.size, i), j + i + 1, k + i + 1, np.full(j.size, kind), left[j, k]))
    if not found:
        return Triangles()
    first, second, third, kinds, left = (np.concatenate(part) for part in zip(*found, strict=True))
    best = np.argpartition(left, most)[:most] if left.size > most else np.arange(left.size)
    return Triangles(np.stack([first, second, third], axis=1)[best], SIGNS[kinds[best]], np.zeros(best.size))


@dataclass(eq=False)
class TriangleBound:
    """The bound (1) of a matrix while it is improved."""

    Q: Floats
    u: Floats
    triangles: Triangles
    alpha: float
    X: Floats = field(init=False)

    def __post_init__(self) -> None:
        self.X = np.eye(self.N)
        self.best = self.least = -math.inf
        self.evaluations = 0
        self.at_best: tuple[Floats, Triangles] = self.u, self.triangles

    @property
    def N(self) -> int:
        return int(self.Q.shape[0])

    @classmethod
    def begin(cls, Q: Floats) -> TriangleBound:
        """u by rows, no triangles; alpha so that |M_-|^2 / alpha is a small share of the size of Q."""
        size = float(np.abs(Q).sum())
        N = Q.shape[0]
        return cls(Q, -np.abs(Q).sum(axis=1) * 0.6, Triangles(), max(0.3 * size / N**2, 1e-300))

    def matrix(self, u: Floats, triangles: Triangles) -> Floats:
        N = self.N
        M = self.Q.copy()
        if triangles.z.size:
            weights = (triangles.signs * (0.5 * triangles.z)[:, None]).reshape(-1)
            spread = np.bincount(triangles.entries(N).reshape(-1), weights, N * N).reshape(N, N)
            M -= spread + spread.T
        M[np.diag_indices(N)] -= u
        return M

    def improve(self, evaluations: int = EVALUATIONS) -> float:
        """Steps of the quasi-Newton method on u and z; returns the bound, not yet proven."""
        N, triangles = self.N, self.triangles
        entries, signs = triangles.entries(N), triangles.signs

        def negated(point: Floats) -> tuple[float, Floats]:
            u, z = point[:N], point[N:]
            now = Triangles(triangles.nodes, signs, z)
            M = self.matrix(u, now)
            values, vectors = np.linalg.eigh(M)
            count = int(np.searchsorted(values, 0.0))
            part = vectors[:, :count] * np.sqrt(-values[:count] / self.alpha)
            X = part @ part.T
            self.X = X
            bound = float(u.sum() - z.sum() + N * min(values[0], 0.0))
            if bound > self.best:
                self.best, self.at_best = bound, (u.copy(), Triangles(triangles.nodes, signs, z.copy()))
            smooth = float(u.sum() - z.sum()) - float((values[:count] ** 2).sum()) / (2.0 * self.alpha)
            slope_u = 1.0 - X.diagonal()
            slope_z = -1.0 - (X.reshape(-1)[entries] * signs).sum(axis=1) if z.size else np.zeros(0)
            return -smooth, -np.concatenate([slope_u, slope_z])

        lower = np.concatenate([np.full(N, -np.inf), np.zeros(triangles.z.size)])
        found = scipy.optimize.minimize(
            negated, np.concatenate([self.u, triangles.z]), jac=True, method="L-BFGS-B",
            bounds=scipy.optimize.Bounds(lower, np.full(lower.size, np.inf)),
            options={"maxfun": evaluations, "maxiter": evaluations, "maxcor": 12, "ftol": 1e-12, "gtol": 1e-7},
        )  # fmt: skip
        self.u, self.evaluations = found.x[:N], int(found.nfev)
        triangles.z = np.maximum(found.x[N:], 0.0)
        if not (np.isfinite(found.x).all() and np.isfinite(self.X).all()):  # alpha was too small for this matrix
            u, best = self.at_best
            self.u, self.triangles, self.X = u.copy(), best.kept(np.arange(best.z.size)), np.eye(N)
            self.alpha *= RECOVERS
        return self.best

    def exchange_triangles(self) -> int:
        """Drop triangles that do nothing, add those that X violates; says how many were added."""
        N, triangles = self.N, self.triangles
        scale = np.sqrt(np.maximum(self.X.diagonal(), 1e-9))
        X = self.X / scale[:, None] / scale[None, :]
        if triangles.z.size:
            slack = 1.0 + (X.reshape(-1)[triangles.entries(N)] * triangles.signs).sum(axis=1)
            triangles = triangles.kept((triangles.z > 1e-7 * float(triangles.z.max())) | (slack < 0.1))
        before = triangles.z.size
        self.triangles = triangles.merged(violated_triangles(X, MOST_ADDED * N), N)
        return int(self.triangles.z.size - before)

    def proven(self) -> float:
        """(1) at the best multipliers so far, rounded down; `least` is what u is to be raised by in it."""
        u, triangles = self.at_best
        M = self.matrix(u, triangles)
        N = self.N
        z = triangles.z
        terms = int(np.bincount(triangles.entries(N).reshape(-1), minlength=1).max(initial=0)) + 4
        row = np.abs(self.Q).sum(axis=1) + np.abs(u)
        if z.size:
            row = row + np.bincount(triangles.nodes.reshape(-1), np.repeat(z, 3), N)
        formed = 4.0 * _EPS * (terms + N) * float(row.max(initial=0.0))
        least = least_eigenvalue(M)
        size = float(np.abs(u).sum()) + float(z.sum()) + N * abs(least)
        self.least = min(least, 0.0) - formed
        total = math.fsum(u) - math.fsum(z) + N * self.least
        return total - 16.0 * _EPS * size


def least_eigenvalue(M: Floats) -> float:
    """A proven lower bound on the least eigenvalue of a symmetric matrix (see `eigenvalues`)."""
    N = int(M.shape[0])
    estimate = float(np.linalg.eigvalsh(M)[0])
    size = float(np.abs(M).max(initial=0.0))
    margin = max(1e-12 * N * size, 1e-300)
    u = _EPS / 2.0
    gamma = (N + 1) * u / (1.0 - (N + 1) * u)
    for _ in range(12):
        theta = estimate - margin
        B = M.copy()
        B[np.diag_indices(N)] -= theta
        trace = float(np.trace(B))
        _, failed = scipy.linalg.lapack.dpotrf(B, lower=1, overwrite_a=1, clean=0)
        if not failed:
            return theta - 2.0 * gamma / (1.0 - gamma) * trace - 8.0 * u * (size + abs(theta))
        margin *= 10.0
    return -float(np.abs(M).sum(axis=1).max(initial=0.0)) * (1.0 + N * _EPS)
