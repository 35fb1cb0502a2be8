"""ARE and SADH-L: codes whose inner products reproduce similarities of the rows, which are never formed.

ARE, angular reconstructive embeddings: ||BB' - rXX'||^2 with X centred and its rows of unit length. Hu et al.: Hashing
with angular reconstructive embeddings, TIP 2018. "are" is written from the description: bit by bit with the others
fixed, each by signed gradients as long as they improve.

SADH-L: tr(B'LB) with the Laplacian of an anchor graph, bits balanced and decorrelated. Shen et al.: Unsupervised deep
hashing with similarity-adaptive and discrete optimization, TPAMI 2018; SADH-L is its linear variant. With
A = Z Lambda^-1 Z' the graph's similarity, tr(B'LB) = n r - tr(B'AB). As one objective,
||BB' - n(A - 11'/n)||^2 = ||B'B||^2 - 2n tr(B'AB) + 2|B'1|^2 + const: the first term decorrelates the bits, the last
balances them. "sadh" alternates as described there, B <- sgn(AB + rho Y) with Y the real matrix nearest to B whose
columns are balanced and decorrelated.

The anchor graph is that of Liu, Wang, Kumar, Chang: Hashing with graphs, ICML 2011. Each item has positive weights with
sum 1 on its `nearest` anchors; Lambda = diag(Z'1). A has row sums 1, so the Laplacian is I - A.

No code of the authors of ARE or SADH was found.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from flipwise.foundation.arrays import Floats
from flipwise.foundation.memory import require
from flipwise.hashing.bstep import CodeMatrix, solve_gram
from flipwise.hashing.estimators.itq import principal_axes, quantise, random_rotation
from flipwise.hashing.estimators.unsupervised import UnsupervisedHasher
from flipwise.hashing.functions.ridge import chunks, dense
from flipwise.hashing.gram_loss import GramMatch
from flipwise.hashing.pace import out_of_time, tell_round


class SimilarityHasher(UnsupervisedHasher):
    """Shared by ARE and SADH."""

    updates: int
    alpha: Any

    def _lowered(
        self, loss: GramMatch, B: CodeMatrix, rng: np.random.Generator, original: Callable[[], CodeMatrix]
    ) -> CodeMatrix:
        """The codes after the B-step, which is `original` for the optimiser that has the loss's name."""
        started = time.perf_counter()
        if self.optimizer in ("are", "sadh"):
            B = original()
        else:
            B = solve_gram(loss, B, self.optimizer, rng, updates=self.updates, alpha=self.alpha)
        self.b_step_seconds_ = time.perf_counter() - started
        self.loss_values_ = [loss.value(B.astype(np.float64))]
        return B


class ARE(SimilarityHasher):
    """Codes whose inner products reproduce the cosines of the centred rows.

    Parameters
    ----------
    n_bits
        Bits of a code.
    optimizer
        "dpcd", "are" (bit by bit), or a method of `flipwise.minimize` for any objective, such as "sgm".
    hash_function, hash_options
        As in `SDH`.
    updates
        The most DPCD updates from the start, or sweeps over the bits with "are".
    alpha
        DPCD's alpha.
    start_rounds
        Rounds of iterative quantisation that give the start; the same for every optimiser.
    output, random_state
        As in `SDH`.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from flipwise.hashing import ARE
    >>> X, _ = load_digits(return_X_y=True)
    >>> ARE(n_bits=32, random_state=0).fit(X).score(X) > 0.4
    True
    """

    _optimizers = ("dpcd", "are")

    def __init__(
        self,
        n_bits: int = 64,
        *,
        optimizer: str = "dpcd",
        hash_function: str = "linear",
        hash_options: dict[str, Any] | None = None,
        updates: int = 20,
        alpha: Any = 1.0,
        start_rounds: int = 5,
        output: str = "packed",
        random_state: Any = None,
    ) -> None:
        self.n_bits = n_bits
        self.optimizer = optimizer
        self.hash_function = hash_function
        self.hash_options = hash_options
        self.updates = updates
        self.alpha = alpha
        self.start_rounds = start_rounds
        self.output = output
        self.random_state = random_state

    def _learn(self, X: Any, rng: np.random.Generator) -> CodeMatrix:
        mean, axes, _ = principal_axes(X, self.n_bits)
        Z = dense(X) - mean
        Z /= np.maximum(np.linalg.norm(Z, axis=1, keepdims=True), 1e-12)
        B, _ = quantise(Z @ axes, self.n_bits, "dpcd", self.start_rounds, rng)
        r = self.n_bits
        G = Z.T @ Z
        loss = GramMatch(Z, np.full(Z.shape[1], float(r)), r, constant=r * r * float((G * G).sum()))
        return self._lowered(loss, B, rng, lambda: bit_by_bit(loss, B, self.updates))


def bit_by_bit(loss: GramMatch, B: CodeMatrix, sweeps: int, inner: int = 3) -> CodeMatrix:
    """Cyclic over the bits: b <- sgn(K b - sum over other bits b_k (b_k'b)), kept while the loss falls."""
    codes = B.astype(np.float64)
    for _ in range(sweeps):
        changed = 0
        for j in range(codes.shape[1]):
            others = np.delete(codes, j, axis=1)
            b = codes[:, j].copy()
            best, b_best = np.inf, b
            for _ in range(inner + 1):
                along, project = others.T @ b, loss.Z.T @ b
                value = float(along @ along) - float(loss.s @ (project * project))  # the part of the loss with b in it
                if value >= best:
                    break
                best, b_best = value, b
                b = np.where(loss.Z @ (loss.s * project) - others @ along >= 0.0, 1.0, -1.0)
            changed += int(np.count_nonzero(b_best != codes[:, j]))
            codes[:, j] = b_best
            if out_of_time():
                return codes.astype(np.int8)
        tell_round(lambda: loss.value(codes), changed)
        if not changed:
            break
    return codes.astype(np.int8)


class SADH(SimilarityHasher):
    """Codes that agree along the edges of a neighbourhood graph.

    Parameters
    ----------
    n_bits
        Bits of a code.
    optimizer
        "dpcd", "sadh" (the original's alternation), or a method of `flipwise.minimize` for any objective.
    n_anchors, nearest
        Anchors of the graph, and how many each item is tied to.
    hash_function, hash_options, updates, alpha, output, random_state
        As in `SDH`; `updates` is also the number of rounds of "sadh".

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from flipwise.hashing import SADH
    >>> X, _ = load_digits(return_X_y=True)
    >>> SADH(n_bits=32, random_state=0).fit(X).score(X) > 0.2
    True
    """

    _optimizers = ("dpcd", "sadh")

    def __init__(
        self,
        n_bits: int = 64,
        *,
        optimizer: str = "dpcd",
        n_anchors: int = 300,
        nearest: int = 3,
        hash_function: str = "linear",
        hash_options: dict[str, Any] | None = None,
        updates: int = 20,
        alpha: Any = 1.0,
        output: str = "packed",
        random_state: Any = None,
    ) -> None:
        self.n_bits = n_bits
        self.optimizer = optimizer
        self.n_anchors = n_anchors
        self.nearest = nearest
        self.hash_function = hash_function
        self.hash_options = hash_options
        self.updates = updates
        self.alpha = alpha
        self.output = output
        self.random_state = random_state

    def _learn(self, X: Any, rng: np.random.Generator) -> CodeMatrix:
        rows = dense(X) if sp.issparse(X) else X
        n = len(rows)
        Z = anchor_weights(rows, choose_anchors(rows, self.n_anchors, rng), self.nearest)
        mass = np.maximum(np.asarray(Z.sum(axis=0)).reshape(-1), 1e-12)
        factors = sp.csr_array(sp.hstack([Z, sp.csr_array(np.ones((n, 1)))]))
        weights = np.concatenate([n / mass, [-1.0]])
        loss = GramMatch(factors, weights, self.n_bits)
        B = _spectral_start(Z, mass, self.n_bits, rng)
        return self._lowered(loss, B, rng, lambda: alternate(Z, mass, B, self.updates))


def _spectral_start(Z: Any, mass: Floats, r: int, rng: np.random.Generator) -> CodeMatrix:
    """Signs of rotated eigenvectors of A, by the m x m matrix Lambda^-1/2 Z'Z Lambda^-1/2."""
    root = 1.0 / np.sqrt(mass)
    M = np.asarray((Z.T @ Z).todense()) * root[:, None] * root[None, :]
    values, vectors = np.linalg.eigh((M + M.T) / 2.0)
    k = max(1, min(r, len(values) - 1))
    keep = vectors[:, ::-1][:, 1 : 1 + k] if len(values) > 1 else vectors  # the first is constant on the items
    kept = np.maximum(values[::-1][1 : 1 + k] if len(values) > 1 else values, 1e-12)
    U = np.asarray(Z @ (root[:, None] * keep / np.sqrt(kept)))
    return np.where(U @ random_rotation(U.shape[1], r, rng) >= 0.0, 1, -1).astype(np.int8)


def alternate(Z: Any, mass: Floats, B: CodeMatrix, rounds: int, rho: float = 0.5) -> CodeMatrix:
    """B <- sgn(AB + rho Y), Y = argmax <Y, B> over balanced Y with Y'Y = nI."""
    n = len(B)
    for _ in range(rounds):
        codes = B.astype(np.float64)
        U, _, Vt = np.linalg.svd(codes - codes.mean(axis=0), full_matrices=False)
        Y = np.sqrt(n) * (U @ Vt)
        similar = np.asarray(Z @ ((Z.T @ codes) / mass[:, None]))
        new = np.where(similar + rho * Y >= 0.0, 1, -1).astype(np.int8)
        moved, B = int(np.count_nonzero(new != B)), new
        tell_round(lambda: -float((codes * similar).sum()), moved)  # noqa: B023 - called at once
        if moved == 0 or out_of_time():
            break
    return B


def choose_anchors(X: npt.NDArray[Any], count: int, rng: np.random.Generator, rounds: int = 5) -> Floats:
    """Centres of a short k-means run (Lloyd) on at most 50 rows a centre."""
    n = len(X)
    count = min(count, n)
    sample = np.asarray(X[rng.choice(n, min(n, 50 * count), replace=False)], dtype=np.float64)
    centres = sample[rng.choice(len(sample), count, replace=False)]
    for _ in range(rounds):
        at = np.concatenate([_squared_distances(sample[rows], centres).argmin(axis=1) for rows in chunks(len(sample))])
        E = sp.csr_array((np.ones(len(sample)), (at, np.arange(len(sample)))), shape=(count, len(sample)))
        sizes = np.bincount(at, minlength=count)
        means = np.asarray(E @ sample) / np.maximum(sizes, 1)[:, None]
        centres = np.where(sizes[:, None] > 0, means, centres)
    return centres


def anchor_weights(X: npt.NDArray[Any], anchors: Floats, nearest: int) -> sp.csr_array:
    """Z: Gaussian weights on the nearest anchors, width = mean squared distance to the farthest of them."""
    n, s = len(X), min(nearest, len(anchors))
    require(32 * n * s, f"an anchor graph of {n:,} rows with {s} anchors each")
    columns = np.empty((n, s), dtype=np.int64)
    squared = np.empty((n, s))
    for rows in chunks(n):
        D = _squared_distances(np.asarray(X[rows], dtype=np.float64), anchors)
        columns[rows] = np.argpartition(D, s - 1, axis=1)[:, :s] if s < len(anchors) else np.arange(len(anchors))
        squared[rows] = np.take_along_axis(D, columns[rows], axis=1)
    width = max(float(squared.max(axis=1).mean()), 1e-12)
    weights = np.exp(-(squared - squared.min(axis=1, keepdims=True)) / width)
    weights /= weights.sum(axis=1, keepdims=True)
    return sp.csr_array((weights.reshape(-1), columns.reshape(-1), np.arange(0, n * s + 1, s)), shape=(n, len(anchors)))


def _squared_distances(A: Floats, B: Floats) -> Floats:
    D: Floats = (A * A).sum(axis=1)[:, None] + (B * B).sum(axis=1)[None, :] - 2.0 * (A @ B.T)
    return np.maximum(D, 0.0, out=D)
