"""ITQ: iterative quantisation, ||B - V R||^2 with V the principal components of X and R a rotation.

Gong, Lazebnik, Gordo, Perronnin: Iterative quantization, CVPR 2011 / TPAMI 2013. Given R the loss is linear in B: one
DPCD update with the Lipschitz rule is the closed form, and B'V, from which the next R comes, changes by the flipped
entries alone. The original makes 50 rounds; with "dpcd" they end when fewer than one bit in 500 still moves.

`whitening` is ours: V diag(lambda)^-p in the place of V, p between 0 (ITQ) and 1/2 (whitened). A rotation spreads the
variance over the bits, but the leading components still decide most of them; dividing them down lets others count.
On sentence embeddings it found more neighbours at 64 and 128 bits and hardly more at 256; on image embeddings it made
no difference (five seeds each, docs/benchmarks/hashing.md).

With more bits than components R has orthonormal rows (a tight frame), so n_bits may exceed the number of features.
"""

from __future__ import annotations

import time
from typing import Any

import numpy as np

from flipwise.foundation.arrays import Floats
from flipwise.foundation.errors import InvalidInput
from flipwise.hashing.bstep import CodeMatrix, solve_rows
from flipwise.hashing.estimators.unsupervised import UnsupervisedHasher
from flipwise.hashing.functions.ridge import LinearFunction, chunks, dense
from flipwise.hashing.label_losses import RowQuadratic
from flipwise.hashing.pace import out_of_time, tell_round
from flipwise.kernels import codes as kernels

STILL = 1.0 / 500.0
"""With "dpcd" the rounds end when a smaller part of the bits changes."""

POWERS = (0.0, 0.1, 0.2, 0.3, 0.4)
SAMPLE = 4000
"""Rows on which `whitening="auto"` compares the powers."""


class ITQ(UnsupervisedHasher):
    """A rotation of the principal components whose signs lose least.

    Parameters
    ----------
    n_bits
        Bits of a code.
    optimizer
        "dpcd" or "itq" (the original: no early end).
    n_components
        Principal components that are rotated; None: as many as bits, at most as many as features.
    whitening
        p: components are divided by their variance to this power. 0 is ITQ, 0.5 whitened; "auto" takes the best
        recall@10 on a sample of the rows.
    rounds
        The most alternations of codes and rotation.
    output, random_state
        As in `SDH`.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from flipwise.hashing import ITQ
    >>> X, _ = load_digits(return_X_y=True)
    >>> ITQ(n_bits=32, random_state=0).fit(X).score(X) > 0.4
    True
    """

    _optimizers = ("dpcd", "itq")

    def __init__(
        self,
        n_bits: int = 64,
        *,
        optimizer: str = "dpcd",
        n_components: int | None = None,
        whitening: float | str = 0.0,
        rounds: int = 50,
        output: str = "packed",
        random_state: Any = None,
    ) -> None:
        self.n_bits = n_bits
        self.optimizer = optimizer
        self.n_components = n_components
        self.whitening = whitening
        self.rounds = rounds
        self.output = output
        self.random_state = random_state

    def _learn(self, X: Any, rng: np.random.Generator) -> CodeMatrix:
        if self.n_components is not None and self.n_components < 1:
            raise InvalidInput(f"`n_components` must be None or at least 1, got {self.n_components!r}.")
        k = min(self.n_bits if self.n_components is None else self.n_components, min(X.shape))
        self.whitening_ = self._chosen_whitening(X, rng)
        mean, axes, variances = principal_axes(X, k)
        axes = self.whitened(axes, variances)
        V = np.asarray(X @ axes, dtype=np.float64) - mean @ axes
        started = time.perf_counter()
        B, R = quantise(V, self.n_bits, self.optimizer, self.rounds, rng)
        self.b_step_seconds_ = time.perf_counter() - started
        self.set_rotation(axes, mean, R)
        return B

    def whitened(self, axes: Floats, variances: Floats) -> Floats:
        """The axes divided by powers of their variances."""
        # Components without variance carry nothing; a floor keeps rounding noise from being blown up.
        floor = 1e-9 * float(variances.max(initial=0.0)) + 1e-300
        return np.asarray(axes * np.maximum(variances, floor) ** -self.whitening_)

    def set_rotation(self, axes: Floats, mean: Floats, R: Floats) -> None:
        """The hash function of a rotation."""
        P = axes @ R
        self.function_ = LinearFunction.from_arrays({"P": P, "bias": -mean @ P})

    def still(self, moved: int, bits: int) -> bool:
        """Whether so few bits moved that the rounds end."""
        return ended(self.optimizer, moved, bits)

    def _chosen_whitening(self, X: Any, rng: np.random.Generator) -> float:
        """p itself, or the one of `POWERS` with the best recall on a sample of rows."""
        if self.whitening != "auto":
            if isinstance(self.whitening, str) or not 0.0 <= self.whitening <= 0.5:
                raise InvalidInput(f'`whitening` must be "auto" or between 0 and 0.5, got {self.whitening!r}.')
            return float(self.whitening)
        from sklearn.base import clone

        sample = X[np.sort(rng.permutation(X.shape[0])[:SAMPLE])]
        scores = []
        for power in POWERS:
            model = clone(self).set_params(whitening=power, random_state=0, rounds=min(self.rounds, 5))
            scores.append(model.fit(sample).score(sample))
        return POWERS[int(np.argmax(scores))]

    def _fit_function(self, X: Any, B: CodeMatrix, rng: np.random.Generator) -> None:
        """It is the rotation that was learned."""


def ended(optimizer: str, moved: int, bits: int) -> bool:
    """Whether rounds in which `moved` of so many bits changed are over."""
    return moved == 0 or (optimizer == "dpcd" and moved < STILL * bits)


def quantise(
    V: Floats, n_bits: int, optimizer: str, rounds: int, rng: np.random.Generator
) -> tuple[CodeMatrix, Floats]:
    """(codes, R) with small ||B - VR||^2."""
    kernels.compile_for(len(V), n_bits)
    R = random_rotation(V.shape[1], n_bits, rng)
    # DPCD counts every sign as flipped at first; other methods want a binary point to start from
    B = np.full((len(V), n_bits), 0 if optimizer == "dpcd" else 1, dtype=np.int8)
    cross = np.zeros((n_bits, V.shape[1]))  # B'V
    parts = chunks(len(V))  # of a size that stays in the cache from the product to the signs
    for _ in range(rounds):
        if optimizer == "dpcd":  # by Lemma 1 every wrong sign flips, and only they change B'V
            moved = sum(kernels.follow_signs(V[rows] @ R, V[rows], B[rows], cross) for rows in parts)
        else:
            moved, cross = _solved(V, R, B, parts, optimizer, rng)
        R = procrustes(cross.T)
        tell_round(lambda: float(((B - V @ R) ** 2).sum()), moved)  # noqa: B023 - called at once
        if ended(optimizer, moved, B.size) or out_of_time():
            break
    for rows in parts:
        B[rows] = np.where(V[rows] @ R >= 0.0, 1, -1)
    return B, R


def _solved(
    V: Floats, R: Floats, B: CodeMatrix, parts: list[slice], optimizer: str, rng: np.random.Generator
) -> tuple[int, Floats]:
    """A B-step by any optimiser, written into `B`; (how many bits moved, B'V)."""
    moved, cross, nothing = 0, np.zeros((B.shape[1], V.shape[1])), np.zeros((B.shape[1], 0))
    for rows in parts:
        new = solve_rows(RowQuadratic(nothing, V[rows] @ R), B[rows], optimizer, rng)
        moved += int(np.count_nonzero(new != B[rows]))
        B[rows] = new
        cross += new.T.astype(np.float64) @ V[rows]
    return moved, cross


def principal_axes(X: Any, count: int) -> tuple[Floats, Floats, Floats]:
    """(mean, axes as columns, variances) of the leading principal components; for d > n by the n x n Gram matrix."""
    n, d = X.shape
    mean = np.asarray(X.mean(axis=0, dtype=np.float64)).reshape(-1)  # float32 sums of many rows lose digits
    count = min(count, d)
    if d > n:
        _, s, Vt = np.linalg.svd(dense(X) - mean, full_matrices=False)
        return mean, _signed(Vt[:count].T), (s * s)[:count] / n
    C = np.zeros((d, d))
    for rows in chunks(n):
        part = dense(X[rows]) - mean
        C += part.T @ part
    return mean, *leading_axes(C / n, count)


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
