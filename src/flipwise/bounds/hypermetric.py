"""The semidefinite bound with hypermetric inequalities, for dense parts of up to some hundred spins.

For s in {-1, +1}^N, X = ss' has X_ii = 1, is positive semidefinite, and satisfies (b's)^2 = b'Xb >= 1 for all integers
b with an odd sum: triangles where three entries of b are +-1, pentagons and heptagons where five and seven are. Without
the diagonal this is sum_{i<j} b_i b_j X_ij >= -r with r = (b'b - 1) / 2. For any diagonal u and multipliers z >= 0,
    s'Qs >= sum u - sum_t z_t r_t + N * lambda_min(M),    M = Q - Diag(u) - sum_t z_t B_t,                          (1)
where <B_t, X> is the left side of inequality t. The multipliers are found by maximising the smooth function
    sum u - sum_t z_t r_t - |M_-|^2 / (2 alpha),    M_- the negative part of M,
by a quasi-Newton method (Krislock, Malick, Roupin: Improved semidefinite bounding procedure for solving Max-Cut
problems to optimality, Math. Program. 143, 2014), where M is M - alpha X for the X = -M_- / alpha of the round before:
with this centre the rounds go to the optimum while alpha stays large and the function smooth (the augmented Lagrangian
of the primal). X shows which inequalities to add. Whatever the multipliers are, (1) is a bound; the eigenvalue in it is
proven by a Cholesky factorisation, and roundings are accounted for.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
import scipy.linalg
import scipy.sparse as sp

from flipwise.bounds.ascent import ascend
from flipwise.foundation.arrays import Floats, Ints
from flipwise.kernels import hypermetric as kernels

VIOLATED = 0.03
"""Inequalities that X violates by more than this are added; r + (their left side) is what is looked at."""
NEARLY = -0.3
"""Triangles that are violated by more than this may be grown."""
MOST_ADDED = 3
"""The most triangles added at once, for each row of X."""
BASES = 2
"""The most inequalities that pentagons are grown from at once, for each row of X; and heptagons from pentagons."""
LARGEST = 7
"""Entries of the largest b that is looked for."""
EVALUATIONS = 30
"""Evaluations between two looks at the inequalities."""
SMOOTHING = 0.25
"""The first alpha, in units of the root of the mean of Q_ij^2."""
RECOVERS = 1e6
"""By what the weight of the smoothing rises where the numbers have overflowed."""
KINDS = np.array([[1, 1, 1], [1, 1, -1], [1, -1, 1], [1, -1, -1]], dtype=np.int8)
"""The entries of the four triangles on three spins."""
_EPS = float(np.finfo(np.float64).eps)


@dataclass(eq=False)
class Hypermetric:
    """Inequalities: a row of b each, whose first entry that is not 0 is positive, and a multiplier."""

    b: np.ndarray
    z: Floats

    @classmethod
    def none(cls, N: int) -> Hypermetric:
        return cls(np.zeros((0, N), dtype=np.int8), np.zeros(0))

    @classmethod
    def fresh(cls, b: np.ndarray) -> Hypermetric:
        """New inequalities, whose multipliers are 0."""
        first = np.take_along_axis(b, (b != 0).argmax(axis=1)[:, None], axis=1)
        return cls(b * np.sign(first).astype(np.int8), np.zeros(len(b)))

    @cached_property
    def right(self) -> Floats:
        """r of each."""
        whole = self.b.astype(np.int64)
        return np.asarray(((whole * whole).sum(axis=1) - 1) / 2.0)

    @cached_property
    def products(self) -> sp.csr_array:
        """b_i b_j at the place N i + j, i < j, of each: times the entries of X these are the left sides."""
        rows, columns = np.nonzero(self.b)
        N, entries = self.b.shape[1], self.b[rows, columns].astype(np.int64)
        counts = np.bincount(rows, minlength=len(self.b))
        begins = np.cumsum(counts) - counts
        parts = [(np.zeros(0, np.int64),) * 3]
        for size in np.unique(counts):
            some = np.flatnonzero(counts == size)
            at = begins[some][:, None] + np.arange(size)
            p, q = np.triu_indices(size, 1)
            spins, values = columns[at], entries[at]
            parts.append((np.repeat(some, p.size), (spins[:, p] * N + spins[:, q]).reshape(-1),
                          (values[:, p] * values[:, q]).reshape(-1)))  # fmt: skip
        owner, places, values = (np.concatenate(part) for part in zip(*parts, strict=True))
        return sp.csr_array((values.astype(np.float64), (owner, places)), shape=(len(self.b), N * N))

    @cached_property
    def transposed(self) -> sp.csr_array:
        return sp.csr_array(self.products.T)

    def kept(self, which: np.ndarray) -> Hypermetric:
        return Hypermetric(self.b[which], self.z[which])

    def merged(self, other: Hypermetric) -> Hypermetric:
        """These and others that are not among them, each once."""
        first = {row.tobytes(): t for t, row in reversed(list(enumerate(other.b)))}
        known = {row.tobytes() for row in self.b}
        fresh = sorted(t for row, t in first.items() if row not in known)
        return Hypermetric(np.concatenate([self.b, other.b[fresh]]), np.concatenate([self.z, other.z[fresh]]))

    def contracted(self, i: int, j: int, sign: int) -> Hypermetric:
        """The inequalities after s_i = sign * s_j, and node i is gone; those that always hold are dropped."""
        b = self.b.copy()
        b[:, j] += sign * b[:, i]
        smaller = Hypermetric.fresh(np.delete(b, i, axis=1))
        smaller.z = self.z
        return Hypermetric.none(smaller.b.shape[1]).merged(smaller.kept((smaller.b != 0).sum(axis=1) > 2))


def violated_triangles(X: Floats, most: int, least: float) -> tuple[Ints, np.ndarray, Floats]:
    """The triangles that X violates most, and by more than `least`: their nodes, entries of b, and by how much."""
    N = len(X)
    keys, items = np.zeros(most + 1), np.zeros(most + 1, np.int64)
    count = kernels.violated_triangles(X, least, most, keys, items)
    places, kinds = items[:count] >> 2, items[:count] & 3
    return np.stack([places // N**2, places // N % N, places % N], axis=1), KINDS[kinds], keys[:count]


def grown(X: Floats, b: np.ndarray, most: int) -> np.ndarray:
    """Inequalities with two entries more than `b` that X violates most, from those that it violates most."""
    Y = b @ X
    values = np.einsum("ij,ij->i", Y, b)
    least = np.argsort(values)[:most]
    b, Y, values = b[least], Y[least], values[least]
    pairs, more = np.zeros((len(b), 4), np.int64), np.zeros(len(b))
    kernels.best_pairs(X, b, Y, pairs, more)
    good = np.flatnonzero((pairs[:, 0] >= 0) & (values + more < 1.0 - 2.0 * VIOLATED))
    larger = b[good]
    np.put_along_axis(larger, pairs[good, :2], pairs[good, 2:].astype(np.int8), axis=1)
    return larger


@dataclass(eq=False)
class HypermetricBound:
    """The bound (1) of a matrix while it is improved."""

    Q: Floats
    u: Floats
    cuts: Hypermetric
    alpha: float
    X: Floats = field(init=False)

    def __post_init__(self) -> None:
        self.X = np.zeros((self.N, self.N))
        self.best = self.least = -math.inf
        self.evaluations = 0
        self.at_best: tuple[Floats, Hypermetric] = self.u, self.cuts

    @property
    def N(self) -> int:
        return int(self.Q.shape[0])

    @classmethod
    def begin(cls, Q: Floats) -> HypermetricBound:
        """u a little above the least eigenvalue, no inequalities; |M_-|^2 / alpha a small share of the size of Q."""
        N = Q.shape[0]
        least = float(np.linalg.eigvalsh(Q)[0])
        size = float(np.linalg.norm(Q))
        return cls(Q, np.full(N, 0.9 * least), Hypermetric.none(N), max(SMOOTHING * size / N, 1e-300))

    def matrix(self, u: Floats, cuts: Hypermetric, z: Floats) -> Floats:
        """M of (1)."""
        N = self.N
        M = self.Q.copy()
        if z.size:
            spread = (cuts.transposed @ (0.5 * z)).reshape(N, N)
            M -= spread
            M -= spread.T
        M.reshape(-1)[:: N + 1] -= u
        return M

    def improve(self) -> float:
        """Steps on u and z, then X is the new centre; returns the best bound so far, not yet proven."""
        N, cuts = self.N, self.cuts
        centre = self.alpha * self.X
        most = -math.inf

        def smooth(point: Floats) -> tuple[float, Floats]:
            nonlocal most
            u, z = point[:N], point[N:]
            values, part = negative_part(self.matrix(u, cuts, z) - centre)
            part *= np.sqrt(-values / self.alpha)
            X = part @ part.T
            value = float(u.sum()) - float(z @ cuts.right) - float(values @ values) / (2.0 * self.alpha)
            if value > most:
                most, self.X = value, X
            self.evaluations += 1
            slope = np.empty(point.size)
            slope[:N] = 1.0 - X.diagonal()
            slope[N:] = -cuts.right - cuts.products @ X.reshape(-1)
            return value, slope

        lower = np.zeros(N + cuts.z.size)
        lower[:N] = -np.inf
        self.evaluations = 0
        with np.errstate(all="ignore"):
            found = ascend(smooth, np.concatenate([self.u, cuts.z]), lower, self.alpha, EVALUATIONS)
        if not (np.isfinite(found).all() and math.isfinite(most)):  # alpha was too small for this matrix
            u, best = self.at_best
            self.u, self.cuts, self.X = u.copy(), best.kept(np.arange(best.z.size)), np.zeros((N, N))
            self.alpha *= RECOVERS
            return self.best
        self.u, cuts.z = found[:N], found[N:]
        least = float(np.linalg.eigvalsh(self.matrix(self.u, cuts, cuts.z))[0])
        bound = float(self.u.sum()) - float(cuts.z @ cuts.right) + N * min(least, 0.0)
        if bound > self.best:
            self.best, self.at_best = bound, (self.u.copy(), Hypermetric(cuts.b, cuts.z.copy()))
        return self.best

    def exchange(self) -> int:
        """Drop inequalities that do nothing, add those that X violates; says how many were added."""
        N, cuts = self.N, self.cuts
        scale = np.sqrt(np.maximum(self.X.diagonal(), 1e-9))
        X = self.X / scale[:, None] / scale[None, :]
        if cuts.z.size:
            slack = cuts.right + cuts.products @ X.reshape(-1)
            cuts = cuts.kept((cuts.z > 1e-7 * float(cuts.z.max())) | (slack < 0.1))
        before = cuts.z.size
        nodes, entries, violations = violated_triangles(X, MOST_ADDED * N, NEARLY)
        triangles = np.zeros((violations.size, N), dtype=np.int8)
        np.put_along_axis(triangles, nodes, entries, axis=1)
        fresh = [triangles[violations > VIOLATED]]
        small = np.concatenate([cuts.b, triangles])
        small = small[np.abs(small).max(axis=1, initial=0) == 1]
        for size in range(5, LARGEST + 1, 2):
            small = grown(X, small[(small != 0).sum(axis=1) == size - 2], BASES * N)
            fresh.append(small)
        self.cuts = cuts.merged(Hypermetric.fresh(np.concatenate(fresh)))
        return int(self.cuts.z.size - before)

    def proven(self) -> float:
        """(1) at the best multipliers so far, rounded down; `least` is what u is to be raised by in it."""
        u, cuts = self.at_best
        N, z = self.N, cuts.z
        M = self.matrix(u, cuts, z)
        terms = int(np.bincount(cuts.products.indices, minlength=1).max(initial=0)) + 4 if z.size else 4
        sizes = np.abs(cuts.b.astype(np.float64))
        beside = sizes * (sizes.sum(axis=1)[:, None] - sizes)  # sums of |b_i b_j| over j
        row = np.abs(self.Q).sum(axis=1) + np.abs(u) + z @ beside
        formed = 4.0 * _EPS * (terms + N) * float(row.max(initial=0.0))
        least = least_eigenvalue(M)
        right = z * cuts.right
        size = float(np.abs(u).sum()) + float(right.sum()) + N * abs(least)
        self.least = min(least, 0.0) - formed
        total = math.fsum(u) - math.fsum(right) + N * self.least
        return total - 16.0 * _EPS * size


def negative_part(M: Floats) -> tuple[Floats, Floats]:
    """The negative eigenvalues of a symmetric matrix, and their eigenvectors; no numbers where it has overflowed."""
    size = float(np.abs(M).sum())
    if size == 0.0:
        return np.zeros(0), np.zeros((len(M), 0))
    if math.isfinite(2.0 * size):
        values, vectors, count, _, failed = scipy.linalg.lapack.dsyevr(M, range="V", vl=-2.0 * size, vu=0.0, lower=1)
        if not failed:
            return values[:count], vectors[:, :count]
    return np.full(1, np.nan), np.full((len(M), 1), np.nan)


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
