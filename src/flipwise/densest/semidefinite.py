"""The semidefinite bound: what a square that is never negative says about k nodes.

Take any positive semidefinite S with rows 0..n (row 0 stands for the constant 1) and any price v_i on every node. For a
set of k nodes, y = (1, x), the square y'Sy >= 0 is added and the prices are paid k - 1 times by each member, so
    2 E(S) <= S_00 + sum over members of (2 S_0i + S_ii + (k-1) v_i) + sum over pairs i != j of members of r_ij,
    r_ij = w_ij + S_ij - (v_i + v_j) / 2.
What is positive in r is split between both ends of a pair, as in the load bound, and the k largest sums of a node are
at least what any k members have. Scaling row 0 of S by any number leaves it semidefinite, so one S serves every k.
(The bonus of a node, what it adds by itself where some nodes are taken already, is added to its sum.) Triangle
inequalities that the relaxed solution violates add to the weights, see `densest.triangles`: their multipliers rise with
the violation.

The best S solves the dual of: max <W, X>, X 1 = k x, x = diag X, X semidefinite and nowhere negative (see Lovasz and
Schrijver 1991 for the second kind of rows). An alternating direction method (Oliveira, Wolkowicz and Xu 2018, for
another problem) proposes S and v. The proof takes these as they are: a Cholesky factorisation that runs to its end says
by how little S can fail to be semidefinite (Rump 2006, see `bounds.eigenvalues`), and sums are rounded up.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import scipy.linalg
from scipy.sparse.linalg import eigsh

from flipwise.densest.triangles import Triangles, looked_for, missing, moved, restricted, scaled, spins_of, terms_of
from flipwise.foundation.arrays import Bools, Floats

_EPS = float(np.finfo(np.float64).eps)
STEP = 1.6
"""Step length of the multipliers, below the golden ratio."""
FULL_SPECTRUM = 450
"""Up to so many rows all eigenvectors are computed; above only those of positive eigenvalues, roughly."""
FILTER = 8
"""Degree of the polynomial that filters them out."""
BASIS = 24
"""Of so many vectors the subspace has, at least."""
CERTIFICATE_ROUNDS = 4
"""Rounds in which the negative part of the multipliers is filtered out for a proof."""
SETTLING_STEPS = 300
"""The penalty is adjusted in the first so many steps."""
MOVED = 5
"""Steps between two moves of the multipliers of triangles, ..."""
LOOKED = 60
"""... and between two looks for triangles that are violated."""
RISE = 1e-2
"""How much of its violation a multiplier gains in a move, at first, for weights of up to 1."""


class BoundSums(NamedTuple):
    """Twice a bound on E for sets of k nodes: a constant and the k largest of `sums`, rounded up by `error`; at t."""

    sums: Floats
    total: float
    error: float
    t: float


@dataclass(frozen=True, eq=False)
class DualCertificate:
    """What S and v prove, for sets of any size and every number t.

    2 E <= offset + t^2 constant + the k largest of own + (k-1) prices + 2 t ties.
    """

    constant: float
    ties: Floats
    own: Floats
    prices: Floats
    offset: float = 0.0
    """To be added: the constant of the triangles."""
    square: Floats | None = None
    """S, where it is kept, ..."""
    lifted: float = 0.0
    """... by how much its diagonal is to be raised for it to be semidefinite, ..."""
    triangles: Triangles | None = None
    """... and the triangles, their multipliers in the unit of the weights."""

    def bound(self, k: int) -> float:
        """A bound on E for sets of k nodes, rounded up."""
        return 0.5 * self.best_sums(k).total

    def best_sums(self, k: int) -> BoundSums:
        """The sums at the best t, which is found by bisection of the slope."""
        low, high = 0.0, 2.0
        base = self.own + (k - 1.0) * self.prices
        sizes = np.abs(self.own) + (k - 1.0) * np.abs(self.prices)
        best = None
        for _ in range(24):
            t = 0.5 * (low + high)
            sums = base + 2.0 * t * self.ties
            chosen = np.argpartition(sums, sums.size - k)[sums.size - k :]
            size = abs(self.offset) + t * t * self.constant
            error = 16.0 * _EPS * (size + math.fsum(sizes[chosen] + np.abs(2.0 * t * self.ties[chosen])))
            total = self.offset + t * t * self.constant + math.fsum(sums[chosen]) + error
            if best is None or total < best.total:
                best = BoundSums(sums, total, error, t)
            if t * self.constant + float(self.ties[chosen].sum()) > 0.0:  # half the slope at t
                high = t
            else:
                low = t
        assert best is not None
        return best

    def decided(self, k: int, goal: float) -> tuple[Bools, Bools]:
        """The nodes that are in every set of k nodes with E above `goal`, and those that are in none."""
        found = self.best_sums(k)
        if k >= found.sums.size:
            return np.ones(found.sums.size, bool), np.zeros(found.sums.size, bool)
        ordered = np.sort(found.sums)
        last, following = ordered[ordered.size - k], ordered[ordered.size - k - 1]
        margin = 4.0 * found.error + 16.0 * _EPS * (abs(last) + abs(following) + abs(2.0 * goal) + np.abs(found.sums))
        never = (found.sums < last) & (found.total - last + found.sums + margin <= 2.0 * goal)
        always = (found.sums > following) & (found.total - found.sums + following + margin <= 2.0 * goal)
        return always, never


def certified(
    W: Floats, bonus: Floats, S: Floats, v: Floats, *, triangles: Triangles | None = None, keep: bool = False
) -> DualCertificate | None:
    """What S, v and triangles prove about W, a matrix with zero diagonal, and a bonus for each node; None where S is
    far from semidefinite. S and the triangles are kept on demand."""
    terms = None if triangles is None else terms_of(triangles, len(S))
    if terms is not None:
        W, bonus = W + terms.weights, bonus + terms.bonus
    N, n = len(S), len(W)
    size = float(np.abs(S).max(initial=0.0))
    shift, lifted = (1e-12 if N <= FULL_SPECTRUM else 1e-9) * N * size + 1e-300, None
    for _ in range(16):
        B = S.copy()
        B[np.diag_indices(N)] += shift
        trace = float(np.trace(B)) * (1.0 + N * _EPS)
        _, failed = scipy.linalg.lapack.dpotrf(B, lower=1, overwrite_a=1, clean=0)
        if not failed:
            gamma = (N + 2.0) * _EPS / (1.0 - (N + 2.0) * _EPS)
            lifted = shift + 2.0 * gamma * trace + 4.0 * _EPS * (size + shift)  # S + lifted I is semidefinite
            break
        shift *= 4.0
    if lifted is None:
        return None
    rest = W + S[1:, 1:]
    half = v / 2.0
    rest -= half[:, None]
    rest -= half
    rest += 6.0 * _EPS * (float(np.abs(W).max(initial=0.0)) + size + float(np.abs(v).max(initial=0.0)))
    np.maximum(rest, 0.0, out=rest)
    np.fill_diagonal(rest, 0.0)
    parts = np.diag(S)[1:], lifted, 2.0 * bonus, rest.sum(axis=1) * (1.0 + 2.0 * n * _EPS)
    own = parts[0] + parts[1] + parts[2] + parts[3]
    own += 8.0 * _EPS * (np.abs(parts[0]) + parts[1] + np.abs(parts[2]) + parts[3])
    constant = (float(S[0, 0]) + lifted) * (1.0 + 4.0 * _EPS)
    offset = 0.0 if terms is None else terms.constant
    return DualCertificate(constant, S[0, 1:].copy(), own, v, offset, S if keep else None, lifted, triangles)


class Relaxation:
    """The alternating direction method for weights W, a bonus for each node, and k.

    Two copies of the lifted matrix (1, x; x, X) come together: Y keeps the linear rows, R is semidefinite with R w = 0,
    w = (-k, 1, ..., 1). Z holds the multipliers.
    """

    def __init__(self, W: Floats, k: int, bonus: Floats | None = None) -> None:
        n = len(W)
        self.W, self.k, self.N = W, k, n + 1
        self.bonus = np.zeros(n) if bonus is None else bonus
        largest = float(np.abs(W).max(initial=0.0)) or 1.0
        self.scale = math.ldexp(1.0, math.frexp(largest)[1] - 1)  # a power of two: multiplying by it is exact
        kind = np.float64 if self.N <= FULL_SPECTRUM else np.float32  # proofs are made in float64
        self.C = np.zeros((self.N, self.N), dtype=kind)
        self.C[1:, 1:] = W / self.scale
        self.C[0, 1:] = self.C[1:, 0] = self.bonus / self.scale
        self.plain = self.C
        self.triangles = Triangles()
        self.rise = 0.0
        self.offset = 0.0
        w = np.ones(self.N)
        w[0] = -k
        self.w = (w / np.linalg.norm(w)).astype(kind)
        self.penalty = 2.0
        self.steps = 0
        self.basis: Floats | None = None
        self.Y = np.full_like(self.C, k * (k - 1) / (n * max(1, n - 1)))
        _put_x(self.Y, np.full(n, k / n))
        self.begin_anew()

    def begin_anew(self) -> None:
        """No multipliers."""
        self.Z = np.zeros_like(self.C)

    def begin_from_spectrum(self) -> None:
        """Multipliers that prove the spectral bound.

        With J = I - 11'/n, W = JWJ + (1p' + p1')/2 and m the largest eigenvalue of JWJ, on 1'x = k
            x'Wx <= m (|x|^2 - k^2/n) + k p'x = sum over members of m (1 - k/n) + k p_i.
        """
        n, k = self.N - 1, self.k
        W = self.C[1:, 1:].astype(np.float64)
        degrees = W.sum(axis=1)
        p = 2.0 * degrees / n - degrees.sum() / n**2
        inner = W - 0.5 * (p[:, None] + p)
        if n <= FULL_SPECTRUM:
            level = float(scipy.linalg.eigh(inner, eigvals_only=True, check_finite=False)[-1])
        else:
            start = np.random.default_rng(0).standard_normal(n)
            level = 1.001 * float(eigsh(inner, k=1, which="LA", tol=1e-3, v0=start, return_eigenvectors=False)[0])
        self.Z = self.C.copy()
        nodes = np.arange(1, self.N)
        self.Z[nodes, nodes] -= level
        prices = (0.5 * k * (p - level / n)).astype(self.C.dtype)
        self.Z[0, 1:] -= prices
        self.Z[1:, 0] -= prices

    def tighten(self) -> None:
        """From now on look for triangles that are violated."""
        self.rise = RISE

    def begin_from(self, other: Relaxation, kept: Bools, taken: Bools) -> None:
        """Take over where the relaxation of more nodes stands, of which others are taken, or are not."""
        rows = np.concatenate([[True], kept])
        self.Y, self.Z = other.Y[np.ix_(rows, rows)].astype(self.C.dtype), other.Z[np.ix_(rows, rows)].copy()
        self.Z *= other.scale / self.scale
        self.Z = self.Z.astype(self.C.dtype)
        self.penalty = other.penalty * other.scale / self.scale
        if other.rise:
            self.rise = other.rise
            self._put_triangles(scaled(restricted(other.triangles, kept, taken), other.scale / self.scale))

    @property
    def x(self) -> Floats:
        """How much of each node the relaxed solution takes."""
        return self.Y[0, 1:].astype(np.float64)

    @property
    def value(self) -> float:
        """About what the bound on E will come to."""
        return 0.5 * self.scale * (self.offset + float(np.vdot(self.C, self.Y)))

    @property
    def work(self) -> float:
        """Floating-point operations of one step, about."""
        if self.N <= FULL_SPECTRUM:
            return 20.0 * float(self.N) ** 3 + 1e6
        columns = BASIS if self.basis is None else self.basis.shape[1]
        return float(self.N) ** 2 * (3.0 * (FILTER + 3) * columns + 400.0)

    def run(self, steps: int) -> None:
        """Make some steps."""
        for _ in range(steps):
            if self.rise and self.steps % MOVED == 0:
                self._move_triangles()
            penalty = self.penalty
            G, _ = self._on_face(self.Y + self.Z / penalty)
            R = self._positive_part(G)
            target = (self.C - self.Z) / penalty
            target += R
            x = (np.diagonal(target)[1:].astype(np.float64) + 2.0 * target[0, 1:].astype(np.float64)) / 3.0
            np.clip(target, 0.0, 1.0, out=target)
            _put_x(target, _nearest_in_box(x, self.k))
            moved = float(np.linalg.norm(target - self.Y))
            self.Y = target
            apart = target - R
            self.Z += (STEP * penalty) * apart
            self.steps += 1
            if self.steps % 10 == 0 and self.steps <= SETTLING_STEPS:  # the two residuals are kept at the same size
                ratio = float(np.linalg.norm(apart)) / max(moved, 1e-300)
                self.penalty *= 1.4 if ratio > 3.0 else 1.0 / 1.4 if ratio < 1.0 / 3.0 else 1.0

    def certificate(self, *, keep: bool = False) -> DualCertificate | None:
        """What the multipliers prove so far; the matrix is kept on demand."""
        M, a = self._on_face(-self.Z.astype(np.float64))
        M = 0.5 * (M + M.T)
        if self.N <= FULL_SPECTRUM or not self.steps:  # without a step it is the spectral bound, all but semidefinite
            M += _positive_part(-M) if self.steps else 0.0
        else:
            basis = self.basis
            for _ in range(CERTIFICATE_ROUNDS):
                part = self._positive_part(-M)
            M += part
            self.basis = basis
        v = -2.0 * a[1:] / math.sqrt(self.k * self.k + self.N - 1.0)
        of = self.triangles
        triangles = Triangles(of.nodes, of.signs, self.scale * of.z) if of.z.size else None
        return certified(self.W, self.bonus, self.scale * M, self.scale * v, triangles=triangles, keep=keep)

    def _move_triangles(self) -> None:
        """Raise the multipliers of what is violated; now and then look for more."""
        Z = spins_of(self.Y)
        if self.steps % LOOKED == 0:
            self.triangles = looked_for(self.triangles, Z)
        if self.triangles.z.size:
            self._put_triangles(moved(self.triangles, missing(self.triangles, Z), self.rise))

    def _put_triangles(self, triangles: Triangles) -> None:
        """Take these into the weights; what the other multipliers say of a pair stays as it is."""
        self.triangles, terms = triangles, terms_of(triangles, self.N)
        C = self.plain.astype(np.float64)
        C[1:, 1:] += terms.weights
        C[0, 1:] += terms.bonus
        C[1:, 0] += terms.bonus
        changed = C.astype(self.C.dtype)
        self.Z += changed - self.C
        self.C, self.offset = changed, terms.constant

    def _on_face(self, M: Floats) -> tuple[Floats, Floats]:
        """M' = (I - ww') M (I - ww'), and a with M = M' + wa' + aw'."""
        w = self.w.astype(M.dtype, copy=False)
        a = M @ w
        a = a - w * (0.5 * (w @ a))
        product = np.outer(w, a)
        inner: Floats = M - product
        inner -= product.T
        return inner, a

    def _positive_part(self, G: Floats) -> Floats:
        """The positive part of a symmetric matrix; of a large one from a subspace that is kept from step to step.

        (Zhou, Saad, Tiago and Chelikowsky 2006: a Chebyshev polynomial that is large where eigenvalues are positive.)
        """
        if self.N <= FULL_SPECTRUM:
            return _positive_part(G)
        rng = np.random.default_rng(self.steps)
        kind = self.C.dtype
        V = rng.standard_normal((self.N, BASIS)).astype(kind) if self.basis is None else self.basis
        V = V.astype(G.dtype, copy=False)
        probe = rng.standard_normal(self.N).astype(G.dtype)
        low = 0.0
        for _ in range(6):  # the size of the least eigenvalue, by power steps
            low = float(np.linalg.norm(probe))
            probe = G @ (probe / max(low, 1e-30))
        radius = 0.6 * max(low, float(np.linalg.norm(probe)), 1e-12)
        first, second = V, (G @ V + radius * V) / radius
        for _ in range(FILTER - 1):
            first, second = second, (2.0 / radius) * (G @ second + radius * second) - first
        V, _ = np.linalg.qr(second)
        values, turn = np.linalg.eigh(V.T @ (G @ V))
        V = V @ turn
        high = values > 0.0
        count = int(np.count_nonzero(high))
        self.basis = V.astype(kind, copy=False)
        if count > V.shape[1] - 6 and V.shape[1] < self.N // 4:
            more = rng.standard_normal((self.N, V.shape[1] // 2)).astype(kind)
            self.basis = np.concatenate([self.basis, more], axis=1)
        elif count < V.shape[1] // 3 and V.shape[1] > BASIS:
            self.basis = np.ascontiguousarray(self.basis[:, -max(BASIS, 2 * count) :])
        above = V[:, high] * np.sqrt(values[high])
        part: Floats = above @ above.T
        return part


def _positive_part(G: Floats) -> Floats:
    """The positive part of a symmetric matrix, from all its eigenvectors."""
    values, vectors = scipy.linalg.eigh(G, driver="evd", check_finite=False)
    high = values > 0.0
    if 2 * np.count_nonzero(high) <= len(G):
        above = vectors[:, high] * np.sqrt(values[high])
        part: Floats = above @ above.T
        return part
    below = vectors[:, ~high] * np.sqrt(-values[~high])
    part = G + below @ below.T
    return part


def _put_x(Y: Floats, x: Floats) -> None:
    """Write x into the first row, the first column and the diagonal of (1, x; x, X)."""
    Y[0, 0] = 1.0
    Y[0, 1:] = Y[1:, 0] = x
    inner = np.arange(1, len(Y))
    Y[inner, inner] = x


def _nearest_in_box(c: Floats, k: int) -> Floats:
    """The nearest x with 0 <= x <= 1 and sum k."""
    low, high = float(c.min()) - 1.0, float(c.max())
    for _ in range(50):
        middle = 0.5 * (low + high)
        if float(np.clip(c - middle, 0.0, 1.0).sum()) > k:
            low = middle
        else:
            high = middle
    nearest: Floats = np.clip(c - high, 0.0, 1.0)
    return nearest
