"""FSDH: fast supervised discrete hashing, ||B - YW||^2 + delta ||W||^2.

Gui, Liu, Sun, Tao, Tan: Fast supervised discrete hashing, TPAMI 2018. The loss is linear in B on -1/+1: DPCD with the
Lipschitz rule (L_0 = 0) ends in one update (Lemma 1 of the paper) and equals the authors' closed form.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from flipwise.hashing.alternating import Learned, Schedule, learn_fsdh
from flipwise.hashing.estimators.supervised import SupervisedHasher
from flipwise.hashing.labels import LabelSets


class FSDH(SupervisedHasher):
    """Codes that the labels predict; parameters as in `SDH`, with optimizer "fsdh" as the original.

    With one label an item the code words are as random as the start: expect the retrieval of random code words.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from flipwise.hashing import FSDH
    >>> X, y = load_digits(return_X_y=True)
    >>> FSDH(n_bits=32, hash_function="rbf", random_state=0).fit(X[:1000], y[:1000]).score(X[1000:], y[1000:]) > 0.9
    True
    """

    _optimizers = ("dpcd", "fsdh")

    def __init__(
        self,
        n_bits: int = 64,
        *,
        optimizer: str = "dpcd",
        hash_function: str = "linear",
        hash_options: dict[str, Any] | None = None,
        delta: float = 1.0,
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
        self.delta = delta
        self.rounds = rounds
        self.updates = updates
        self.alpha = alpha
        self.distinct = distinct
        self.output = output
        self.missing_label = missing_label
        self.random_state = random_state

    def _learn(self, sets: LabelSets, X: Any, schedule: Schedule, rng: np.random.Generator) -> Learned:
        del X
        return learn_fsdh(sets, self.n_bits, float(self.delta), schedule, rng)
