"""ARE: angular reconstructive embeddings, ||BB' - rXX'||^2 with X centred and its rows of unit length.

Hu et al.: Hashing with angular reconstructive embeddings, TIP 2018. No code of the authors was found; "are" is written
from the description: bit by bit with the others fixed, each by signed gradients as long as they improve.
"""

from __future__ import annotations

import time
from typing import Any

import numpy as np

from flipwise.hashing.bstep import CodeMatrix, solve_gram
from flipwise.hashing.estimators.itq import principal_axes, quantise
from flipwise.hashing.estimators.unsupervised import UnsupervisedHasher
from flipwise.hashing.functions.ridge import dense
from flipwise.hashing.gram_loss import GramMatch
from flipwise.hashing.pace import out_of_time, tell_round


class ARE(UnsupervisedHasher):
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
        started = time.perf_counter()
        if self.optimizer == "are":
            B = bit_by_bit(loss, B, self.updates)
        else:
            B = solve_gram(loss, B, self.optimizer, rng, updates=self.updates, alpha=self.alpha)
        self.b_step_seconds_ = time.perf_counter() - started
        self.loss_values_ = [loss.value(B.astype(np.float64))]
        return B


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
