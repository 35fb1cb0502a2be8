"""ARE, angular reconstructive embeddings: ||BB' - rXX'||^2 with X centred and its rows of unit length.

Hu et al.: Hashing with angular reconstructive embeddings, TIP 2018. The similarities are never formed. No code of the
authors was found; "are" is written from the description: bit by bit with the others fixed, each by signed gradients as
long as they improve.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from flipwise.engine.limits import Status
from flipwise.engine.run import Run
from flipwise.foundation.arrays import Floats
from flipwise.foundation.checks import check_wholes
from flipwise.hashing.alternation import FitContext, end_round
from flipwise.hashing.estimators.base import CodeSearch
from flipwise.hashing.estimators.unsupervised import UnsupervisedHasher
from flipwise.hashing.functions.ridge import dense
from flipwise.hashing.gram_loss import GramMatch
from flipwise.hashing.quantisation import principal_axes, quantised_codes
from flipwise.hashing.similarity_descent import CodesSoFar, resume_codes, similarity_solver
from flipwise.model.problem import Problem


@dataclass(eq=False, repr=False, kw_only=True)
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
    output, random_state, time_limit, callback, verbose, checkpoint, every
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

    hash_function: str = "linear"
    hash_options: dict[str, Any] | None = None
    updates: int = 20
    alpha: Any = 1.0
    start_rounds: int = 5

    def _search(self, X: Any, context: FitContext) -> CodeSearch:
        """A descent from the codes of iterative quantisation."""
        check_wholes(self, "updates")
        mean, axes, _ = principal_axes(X, self.n_bits)
        Z = dense(X) - mean
        Z /= np.maximum(np.linalg.norm(Z, axis=1, keepdims=True), 1e-12)
        r, G = self.n_bits, Z.T @ Z
        loss = GramMatch(Z, np.full(Z.shape[1], float(r)), r, constant=r * r * float((G * G).sum()))
        solver = similarity_solver(
            loss, self.optimizer, self.alpha, BitByBit(loss, context),
            lambda rng, run: quantised_codes(Z @ axes, r, self.start_rounds, rng, run), context,
        )  # fmt: skip
        return CodeSearch(loss, solver, max_iterations=self.updates)


@dataclass(frozen=True)
class BitByBit:
    """Cyclic over the bits: b <- sgn(K b - sum over other bits b_k (b_k'b)), kept while the loss falls."""

    name: ClassVar[str] = "are"

    loss: GramMatch = field(repr=False)
    context: FitContext = field(repr=False)
    steps: int = 3

    def solve(self, problem: Problem, x: Floats, rng: np.random.Generator, run: Run) -> Status:
        """Sweep over the bits of `x`, in place, until none moves."""
        resume_codes(run, x)
        while True:
            changed = 0
            for j in range(x.shape[1]):
                with self.context.timed_b_step():
                    best = self._best_bit(x, j)
                    changed += int(np.count_nonzero(best != x[:, j]))
                    x[:, j] = best
                if run.check_time() is not None:
                    break
            stop = end_round(run, x, problem.objective.value(x), changed, CodesSoFar(x) if changed else None)
            if stop is not None:
                return stop
            if not changed:
                return Status.CONVERGED

    def _best_bit(self, codes: Floats, j: int) -> Floats:
        """Bit j of all items after signed gradient steps with the other bits fixed."""
        loss, others = self.loss, np.delete(codes, j, axis=1)
        b = best_b = codes[:, j].copy()
        best = np.inf
        for _ in range(self.steps + 1):
            along, project = others.T @ b, loss.Z.T @ b
            value = float(along @ along) - float(loss.s @ (project * project))  # the part of the loss with b in it
            if value >= best:
                break
            best, best_b = value, b
            b = np.where(loss.Z @ (loss.s * project) - others @ along >= 0.0, 1.0, -1.0)
        return best_b
