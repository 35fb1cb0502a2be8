"""FastHash: ||BB' - rS||^2, S from labels, with decision trees as hash function.

Lin, Shen, Shi, van den Hengel, Suter: Fast supervised hashing with decision trees for high-dimensional data, CVPR 2014.
S is +1 for items that share a label and -1 for others: constant on pairs of label sets, so only that matrix is formed.
The original infers bit after bit with the earlier ones fixed; the items of one label set are a block, and since all of
them pull the same way a block's cut is found by moving it as a whole. It makes two sweeps over the blocks.
"""

from __future__ import annotations

import time
from typing import Any

import numpy as np

from flipwise.foundation.errors import InvalidInput
from flipwise.hashing.alternating import Learned, Rows, Schedule
from flipwise.hashing.bstep import CodeMatrix, solve_gram
from flipwise.hashing.estimators.supervised import SupervisedHasher
from flipwise.hashing.gram_loss import GramMatch
from flipwise.hashing.labels import LabelSets

MOST_SETS = 5000
"""The matrix of similarities of label sets is square in their number."""


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
        As in `SDH`. `distinct=False` gives every item its own row, as the original does.

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

    def __init__(
        self,
        n_bits: int = 64,
        *,
        optimizer: str = "dpcd",
        hash_function: str = "trees",
        hash_options: dict[str, Any] | None = None,
        rounds: int = 5,
        updates: int = 20,
        alpha: Any = 1.0,
        distinct: bool = True,
        output: str = "packed",
        missing_label: Any = -1,
        random_state: Any = None,
    ) -> None:
        self.n_bits = n_bits
        self.optimizer = optimizer
        self.hash_function = hash_function
        self.hash_options = hash_options
        self.rounds = rounds
        self.updates = updates
        self.alpha = alpha
        self.distinct = distinct
        self.output = output
        self.missing_label = missing_label
        self.random_state = random_state

    def _learn(self, sets: LabelSets, X: Any, schedule: Schedule, rng: np.random.Generator) -> Learned:
        del X
        if len(sets.Y) > MOST_SETS:
            raise InvalidInput(
                f"`y` has {len(sets.Y)} distinct label sets; FastHash handles {MOST_SETS}. Use SDH, or fewer labels."
            )
        started = time.perf_counter()
        similar = np.where(sets.Y @ sets.Y.T > 0, 1.0, -1.0)
        values, vectors = np.linalg.eigh(similar)
        r, counts = self.n_bits, sets.counts
        constant = r * r * float(counts @ (similar**2) @ counts)
        rows = Rows.make(sets, schedule.distinct)
        loss = GramMatch(vectors[rows.set_of_row], r * values, r, rows.weights, constant)
        B = (2 * rng.integers(0, 2, size=loss.shape, dtype=np.int8) - 1).astype(np.int8)
        if self.optimizer == "blocks":
            B = infer_by_blocks(loss, B, rows.set_of_row)
        else:
            B = solve_gram(
                loss, B, self.optimizer, rng, updates=schedule.rounds * schedule.updates, alpha=schedule.alpha
            )
        seconds = time.perf_counter() - started
        return Learned(B, rows.of_item, [loss.value(B.astype(np.float64))], seconds)


def infer_by_blocks(loss: GramMatch, B: CodeMatrix, blocks: Any, sweeps: int = 2) -> CodeMatrix:
    """Bit after bit, earlier bits fixed: move each block to the sign that the others ask for, in two sweeps.

    Bit j minimises b'(sum of earlier b_k b_k' - K/r (j + 1)) b: with j + 1 bits, inner products aim at (j + 1) S.
    """
    codes, m = B.astype(np.float64), loss.weights
    r = codes.shape[1]
    groups = [np.flatnonzero(blocks == q) for q in range(int(np.max(blocks)) + 1)]
    for j in range(r):
        b = codes[:, j]
        earlier = codes[:, :j]
        scale = (j + 1) / r
        along, project = earlier.T @ (m * b), loss.Z.T @ (m * b)
        for _ in range(sweeps):
            for rows in groups:
                if not rows.size:
                    continue
                part = m[rows] * b[rows]
                along -= earlier[rows].T @ part
                project -= loss.Z[rows].T @ part
                wanted = loss.Z[rows] @ (scale * loss.s * project) - earlier[rows] @ along
                b[rows] = 1.0 if float(m[rows] @ wanted) >= 0.0 else -1.0
                part = m[rows] * b[rows]
                along += earlier[rows].T @ part
                project += loss.Z[rows].T @ part
    return codes.astype(np.int8)
