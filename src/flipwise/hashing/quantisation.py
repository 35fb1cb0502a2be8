"""Iterative quantisation: ||B - VR||^2 over codes B and matrices R with orthonormal rows or columns.

Gong, Lazebnik, Gordo, Perronnin: Iterative quantization, CVPR 2011 / TPAMI 2013. Given R the loss is linear in B: one
DPCD update with the Lipschitz rule is the closed form, and B'V, from which the next R comes, changes by the flipped
entries alone. The original makes 50 rounds; with "dpcd" they end when fewer than one bit in 500 still moves.

V are principal components; with more bits than components R has orthonormal rows (a tight frame).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp
import scipy.sparse.linalg as sla

from flipwise.engine.limits import Limits, Status
from flipwise.engine.run import Run
from flipwise.engine.states import check_array
from flipwise.foundation.arrays import Bools, Floats
from flipwise.hashing.alternation import FitContext, Schedule, end_round, solve_rows
from flipwise.hashing.codes import CodeMatrix
from flipwise.hashing.functions.ridge import chunks, dense
from flipwise.hashing.row_loss import RowQuadratic
from flipwise.kernels import codes as kernels
from flipwise.model.constraints import Free
from flipwise.model.problem import Problem

STILL = 1.0 / 500.0
"""With "dpcd" the rounds end when a smaller part of the bits changes."""


class QuantisationLoss:
    """||B - VR||^2 as a function of the codes, R the rotation that fits them (see `procrustes`)."""

    def __init__(self, V: Floats, n_bits: int) -> None:
        self.V = V
        self.shape = (len(V), int(n_bits))
        # R R' = I where there are as many bits as components: then |VR| is |V|
        self._gram = None if V.shape[1] <= n_bits else V.T @ V
        self._norm = float(np.vdot(V, V))

    def rotation(self, B: CodeMatrix | Floats) -> Floats:
        """The R that fits codes."""
        return procrustes(self._times_codes(B))

    def value(self, x: CodeMatrix | Floats) -> float:
        """The loss of codes with the rotation that fits them."""
        cross = self._times_codes(x)
        return self.value_from(cross, procrustes(cross))

    def value_from(self, cross: Floats, R: Floats) -> float:
        """The loss from V'B and R, without a look at the items."""
        rotated = self._norm if self._gram is None else float((R * (self._gram @ R)).sum())
        return float(self.shape[0] * self.shape[1]) + rotated - 2.0 * float((cross * R).sum())

    def gradient(self, x: CodeMatrix | Floats) -> Floats:
        """2(B - VR) at the rotation that fits the codes."""
        g: Floats = 2.0 * (np.asarray(x, dtype=np.float64) - self.V @ self.rotation(x))
        return g

    def bits(self, R: Floats) -> Bools:
        """Where the codes sgn(VR), which are best for R, are +1."""
        found = np.empty(self.shape, dtype=np.bool_)
        for rows in chunks(len(self.V)):
            np.greater_equal(self.V[rows] @ R, 0.0, out=found[rows])
        return found

    def _times_codes(self, B: CodeMatrix | Floats) -> Floats:
        """V'B."""
        total = np.zeros((self.V.shape[1], self.shape[1]))
        for rows in chunks(len(self.V)):
            total += self.V[rows].T @ B[rows].astype(np.float64)
        return total


@dataclass
class Rotated:
    """Where the rounds stand: codes, rotation, B'V as it was summed up, the rounds done and the generator."""

    B: CodeMatrix
    R: Floats
    cross: Floats
    done: int
    rng: np.random.Generator


@dataclass(frozen=True)
class Quantisation:
    """Rounds of codes given the rotation and the rotation given codes; `context.rotation` is the last one."""

    begins_itself: ClassVar[bool] = True

    optimizer: str
    rounds: int
    loss: QuantisationLoss = field(repr=False)
    context: FitContext = field(repr=False)

    @property
    def name(self) -> str:
        """The optimiser of the B-steps."""
        return self.optimizer

    def solve(self, problem: Problem, x: Floats, rng: np.random.Generator, run: Run) -> Status:
        """Alternate from a random rotation; `x` is not used."""
        kernels.compile_for(*self.loss.shape)
        now = run.resume(Rotated) or self._random_start(rng)
        check_array("B", now.B, self.loss.shape)
        self.context.rng = now.rng
        while now.done < self.rounds:
            with self.context.timed_b_step():
                moved = self._b_step(now, run)
                now.R = procrustes(now.cross.T)
            now.done += 1
            self.context.rotation = now.R
            run.count_evaluation()
            stop = end_round(run, now.B, self.loss.value_from(now.cross.T, now.R), moved, now)
            if stop is not None:
                return stop
            if rounds_are_over(self.optimizer, moved, now.B.size):
                return Status.CONVERGED
        return Status.ITERATION_LIMIT

    def _random_start(self, rng: np.random.Generator) -> Rotated:
        """A random rotation, and codes that have yet to follow it."""
        (n, n_bits), k = self.loss.shape, self.loss.V.shape[1]
        R = random_rotation(k, n_bits, rng)
        # DPCD counts every sign as flipped at first; other methods want a binary point to start from
        B = np.full((n, n_bits), 0 if self.optimizer == "dpcd" else 1, dtype=np.int8)
        return Rotated(B, R, np.zeros((n_bits, k)), 0, rng)

    def _b_step(self, now: Rotated, run: Run) -> int:
        """Let the codes and B'V follow the rotation; returns how many bits moved."""
        V, moved = self.loss.V, 0
        parts = chunks(len(V))  # of a size that stays in the cache from the product to the signs
        if self.optimizer == "dpcd":  # by Lemma 1 every wrong sign flips, and only they change B'V
            return sum(kernels.follow_signs(V[rows] @ now.R, V[rows], now.B[rows], now.cross) for rows in parts)
        schedule, nothing = Schedule(self.optimizer), np.zeros((now.B.shape[1], 0))
        now.cross = np.zeros_like(now.cross)
        for rows in parts:
            new = solve_rows(RowQuadratic(nothing, V[rows] @ now.R), now.B[rows], schedule, now.rng, run)
            moved += int(np.count_nonzero(new != now.B[rows]))
            now.B[rows] = new
            now.cross += new.T.astype(np.float64) @ V[rows]
        return moved


def rounds_are_over(optimizer: str, moved: int, bits: int) -> bool:
    """Whether rounds in which `moved` of so many bits changed are over."""
    return moved == 0 or (optimizer == "dpcd" and moved < STILL * bits)


def quantised_codes(V: Floats, n_bits: int, rounds: int, rng: np.random.Generator, run: Run) -> CodeMatrix:
    """Codes by some rounds of quantisation inside another run, as its start."""
    loss = QuantisationLoss(V, n_bits)
    context = FitContext(rng, run.clock)
    problem = Problem(loss, Free())
    Quantisation("dpcd", rounds, loss, context).solve(problem, np.empty(0), rng, run.part(problem, Limits()))
    assert context.rotation is not None
    return 2 * loss.bits(context.rotation).view(np.int8) - 1


SPARSE_FEATURES = 1000
"""Features above which sparse rows are not made dense for their principal axes."""


def principal_axes(X: Any, count: int) -> tuple[Floats, Floats, Floats]:
    """(mean, axes as columns, variances) of the leading principal components; for d > n by singular values.

    Sparse rows of many features stay sparse where few components are asked for.
    """
    n, d = X.shape
    mean = np.asarray(X.mean(axis=0, dtype=np.float64)).reshape(-1)  # float32 sums of many rows lose digits
    count = min(count, d)
    if sp.issparse(X) and d > SPARSE_FEATURES and 4 * count < min(n, d):
        found = _sparse_axes(X, mean, count)
        if found is not None:
            return mean, *found
    if d > n:
        _, s, Vt = np.linalg.svd(dense(X) - mean, full_matrices=False)
        return mean, _with_fixed_signs(Vt[:count].T), (s * s)[:count] / n
    C = np.zeros((d, d))
    for rows in chunks(n):
        part = dense(X[rows]) - mean
        C += part.T @ part
    return mean, *leading_axes(C / n, count)


def _sparse_axes(X: Any, mean: Floats, count: int) -> tuple[Floats, Floats] | None:
    """(axes, variances) by Lanczos steps on X less its mean, which is never formed; None where variances vanish."""
    n, d = X.shape
    X = X.astype(np.float64)
    turned = X.T.tocsr()
    centred = sla.LinearOperator(
        (n, d),
        matvec=lambda v: X @ v.ravel() - mean @ v.ravel(),
        rmatvec=lambda u: turned @ u.ravel() - mean * u.sum(),
        dtype=np.float64,
    )
    begin = np.random.default_rng(0).standard_normal(min(n, d))
    _, s, Vt = sla.svds(centred, k=count, v0=begin)
    order = np.argsort(-s, kind="stable")
    s, Vt = s[order], Vt[order]
    if s[-1] <= 1e-6 * s[0]:
        return None
    return _with_fixed_signs(Vt.T), s * s / n


def leading_axes(covariance: Floats, count: int) -> tuple[Floats, Floats]:
    """(axes as columns, variances) of the leading eigenvectors of a covariance matrix."""
    values, vectors = np.linalg.eigh(covariance)
    return _with_fixed_signs(vectors[:, ::-1][:, :count]), np.maximum(values[::-1][:count], 0.0)


def _with_fixed_signs(axes: Floats) -> Floats:
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
