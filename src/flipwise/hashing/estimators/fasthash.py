"""FastHash: ||BB' - rS||^2, S from labels, with decision trees as hash function.

Lin, Shen, Shi, van den Hengel, Suter: Fast supervised hashing with decision trees for high-dimensional data, CVPR 2014.
S is +1 for items that share a label and -1 for others: constant on pairs of label sets, so only that matrix is formed.
The original infers bit after bit with the earlier ones fixed; the items of one label set are a block, and since all of
them pull the same way a block's cut is found by moving it as a whole. It makes two sweeps over the blocks.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from flipwise.engine.limits import Status
from flipwise.engine.run import Run
from flipwise.foundation.arrays import Floats, Ints
from flipwise.foundation.errors import InvalidInput
from flipwise.hashing.alternation import FitContext, Schedule, end_round
from flipwise.hashing.codes import random_codes
from flipwise.hashing.estimators.base import CodeSearch
from flipwise.hashing.estimators.supervised import SupervisedHasher
from flipwise.hashing.gram_loss import GramMatch
from flipwise.hashing.label_losses import CodeRows
from flipwise.hashing.labels import LabelSets
from flipwise.hashing.similarity_descent import similarity_solver
from flipwise.model.problem import Problem

MOST_SETS = 5000
"""The matrix of similarities of label sets is square in their number."""


@dataclass(eq=False, repr=False, kw_only=True)
class FastHash(SupervisedHasher):
    """Codes whose inner products tell whether two items share a label.

    Parameters
    ----------
    n_bits
        Bits of a code.
    optimizer
        "dpcd", "blocks" (the original's inference), or a method of `flipwise.minimize` for any objective.
    hash_function
        "trees" (boosted), "linear" or "rbf".
    rounds, updates, alpha, hash_options, distinct, output, missing_label, random_state
        As in `SDH`; there are `rounds * updates` updates in all. `distinct=False` gives every item its own row, as the
        original does.
    time_limit, callback, verbose, checkpoint, every
        As in `SDH`.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from flipwise.hashing import FastHash
    >>> X, y = load_digits(return_X_y=True)
    >>> FastHash(n_bits=32, random_state=0).fit(X[:1000], y[:1000]).score(X[1000:], y[1000:]) > 0.8
    True
    """

    _optimizers = ("dpcd", "blocks")
    delta = 0.0

    hash_function: str = "trees"

    def _search(self, sets: LabelSets, X: Any, schedule: Schedule, context: FitContext) -> CodeSearch:
        """A descent from random codes."""
        del X
        if len(sets.Y) > MOST_SETS:
            raise InvalidInput(
                f"`y` has {len(sets.Y)} distinct label sets; FastHash handles {MOST_SETS}. Use SDH, or fewer labels."
            )
        similar = np.where(sets.Y @ sets.Y.T > 0, 1.0, -1.0)
        values, vectors = np.linalg.eigh(similar)
        r, counts = self.n_bits, sets.counts
        constant = r * r * float(counts @ (similar**2) @ counts)
        rows = CodeRows.make(sets, schedule.distinct)
        loss = GramMatch(vectors[rows.set_of_row], r * values, r, rows.weights, constant)
        solver = similarity_solver(
            loss, self.optimizer, schedule.alpha, BlockInference(loss, rows.set_of_row, context),
            lambda rng, run: random_codes(loss.shape, rng), context,
        )  # fmt: skip
        return CodeSearch(loss, solver, rows.of_item, schedule.rounds * schedule.updates)


@dataclass(frozen=True)
class BlockInference:
    """Bit after bit, earlier bits fixed: move each block to the sign that the others ask for, in some sweeps.

    Bit j minimises b'(sum of earlier b_k b_k' - K/r (j + 1)) b: with j + 1 bits, inner products aim at (j + 1) S.
    """

    name: ClassVar[str] = "blocks"

    loss: GramMatch = field(repr=False)
    blocks: Ints = field(repr=False)
    context: FitContext = field(repr=False)
    sweeps: int = 2

    def solve(self, problem: Problem, x: Floats, rng: np.random.Generator, run: Run) -> Status:
        """Infer the bits, `x` in place."""
        before = x.copy()
        with self.context.timed_b_step():
            groups = [np.flatnonzero(self.blocks == q) for q in range(int(np.max(self.blocks)) + 1)]
            for j in range(x.shape[1]):
                self._infer_bit(x, j, [rows for rows in groups if rows.size])
        flips = int(np.count_nonzero(x != before))
        return end_round(run, x, problem.objective.value(x), flips) or Status.CONVERGED

    def _infer_bit(self, codes: Floats, j: int, groups: list[Ints]) -> None:
        """Bit j of all items, in place."""
        loss, m = self.loss, self.loss.weights
        b, earlier = codes[:, j], codes[:, :j]
        scale = (j + 1) / codes.shape[1]
        along, project = earlier.T @ (m * b), loss.Z.T @ (m * b)
        for _ in range(self.sweeps):
            for rows in groups:
                part = m[rows] * b[rows]
                along -= earlier[rows].T @ part
                project -= loss.Z[rows].T @ part
                wanted = loss.Z[rows] @ (scale * loss.s * project) - earlier[rows] @ along
                b[rows] = 1.0 if float(m[rows] @ wanted) >= 0.0 else -1.0
                part = m[rows] * b[rows]
                along += earlier[rows].T @ part
                project += loss.Z[rows].T @ part
