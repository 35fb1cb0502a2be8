"""SADH-L: tr(B'LB) with the Laplacian of an anchor graph, bits balanced and decorrelated.

Shen et al.: Unsupervised deep hashing with similarity-adaptive and discrete optimization, TPAMI 2018; SADH-L is its
linear variant. With A = Z Lambda^-1 Z' the graph's similarity (see `anchor_graph`), tr(B'LB) = n r - tr(B'AB). As one
objective, ||BB' - n(A - 11'/n)||^2 = ||B'B||^2 - 2n tr(B'AB) + 2|B'1|^2 + const: the first term decorrelates the bits,
the last balances them. No code of the authors was found; "sadh" alternates as described there.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp

from flipwise.engine.limits import Status
from flipwise.engine.run import Run
from flipwise.foundation.arrays import Floats
from flipwise.foundation.checks import check_wholes
from flipwise.hashing.alternation import FitContext, end_round
from flipwise.hashing.anchor_graph import anchor_weights, choose_anchors
from flipwise.hashing.codes import CodeMatrix
from flipwise.hashing.estimators.base import CodeSearch
from flipwise.hashing.estimators.unsupervised import UnsupervisedHasher
from flipwise.hashing.functions.ridge import dense
from flipwise.hashing.gram_loss import GramMatch
from flipwise.hashing.quantisation import random_rotation
from flipwise.hashing.similarity_descent import CodesSoFar, resume_codes, similarity_solver
from flipwise.model.problem import Problem


@dataclass(eq=False, repr=False, kw_only=True)
class SADH(UnsupervisedHasher):
    """Codes that agree along the edges of a neighbourhood graph.

    Parameters
    ----------
    n_bits
        Bits of a code.
    optimizer
        "dpcd", "sadh" (the original's alternation), or a method of `flipwise.minimize` for any objective.
    n_anchors, nearest
        Anchors of the graph, and how many each item is tied to.
    updates
        The most DPCD updates from the start, or rounds of "sadh".
    hash_function, hash_options, alpha, output, random_state, time_limit, callback, verbose, checkpoint, every
        As in `SDH`.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from flipwise.hashing import SADH
    >>> X, _ = load_digits(return_X_y=True)
    >>> SADH(n_bits=32, random_state=0).fit(X).score(X) > 0.2
    True
    """

    _optimizers = ("dpcd", "sadh")

    n_anchors: int = 300
    nearest: int = 3
    hash_function: str = "linear"
    hash_options: dict[str, Any] | None = None
    updates: int = 20
    alpha: Any = 1.0

    def _search(self, X: Any, context: FitContext) -> CodeSearch:
        """A descent from the signs of rotated eigenvectors."""
        check_wholes(self, "updates")
        rows = dense(X) if sp.issparse(X) else X
        n = len(rows)
        Z = anchor_weights(rows, choose_anchors(rows, self.n_anchors, context.rng), self.nearest)
        mass = np.maximum(np.asarray(Z.sum(axis=0)).reshape(-1), 1e-12)
        factors = sp.csr_array(sp.hstack([Z, sp.csr_array(np.ones((n, 1)))]))
        loss = GramMatch(factors, np.concatenate([n / mass, [-1.0]]), self.n_bits)
        solver = similarity_solver(
            loss, self.optimizer, self.alpha, BalancedSigns(Z, mass, context),
            lambda rng, run: _spectral_codes(Z, mass, self.n_bits, rng), context,
        )  # fmt: skip
        return CodeSearch(loss, solver, max_iterations=self.updates)


def _spectral_codes(Z: Any, mass: Floats, r: int, rng: np.random.Generator) -> CodeMatrix:
    """Signs of rotated eigenvectors of A, by the m x m matrix Lambda^-1/2 Z'Z Lambda^-1/2."""
    root = 1.0 / np.sqrt(mass)
    M = np.asarray((Z.T @ Z).todense()) * root[:, None] * root[None, :]
    values, vectors = np.linalg.eigh((M + M.T) / 2.0)
    k = max(1, min(r, len(values) - 1))
    keep = vectors[:, ::-1][:, 1 : 1 + k] if len(values) > 1 else vectors  # the first is constant on the items
    kept = np.maximum(values[::-1][1 : 1 + k] if len(values) > 1 else values, 1e-12)
    U = np.asarray(Z @ (root[:, None] * keep / np.sqrt(kept)))
    return np.where(U @ random_rotation(U.shape[1], r, rng) >= 0.0, 1, -1).astype(np.int8)


@dataclass(frozen=True)
class BalancedSigns:
    """B <- sgn(AB + rho Y), with Y the real matrix nearest to B whose columns are balanced and decorrelated."""

    name: ClassVar[str] = "sadh"

    Z: Any = field(repr=False)
    mass: Floats = field(repr=False)
    context: FitContext = field(repr=False)
    rho: float = 0.5

    def solve(self, problem: Problem, x: Floats, rng: np.random.Generator, run: Run) -> Status:
        """Alternate until nothing moves, `x` in place."""
        resume_codes(run, x)
        while True:
            with self.context.timed_b_step():
                new = self._next_codes(x)
            moved = int(np.count_nonzero(new != x))
            x[...] = new
            stop = end_round(run, x, problem.objective.value(x), moved, CodesSoFar(x) if moved else None)
            if stop is not None:
                return stop
            if moved == 0:
                return Status.CONVERGED

    def _next_codes(self, codes: Floats) -> Floats:
        """The codes after one round."""
        U, _, Vt = np.linalg.svd(codes - codes.mean(axis=0), full_matrices=False)
        Y = np.sqrt(len(codes)) * (U @ Vt)
        similar = np.asarray(self.Z @ ((self.Z.T @ codes) / self.mass[:, None]))
        return np.where(similar + self.rho * Y >= 0.0, 1.0, -1.0)
