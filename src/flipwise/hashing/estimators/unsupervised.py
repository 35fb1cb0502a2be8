"""Estimators that learn from the features alone; in chunks, from a uniform sample of the rows seen so far."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, Self

import numpy as np
import scipy.sparse as sp

from flipwise.foundation.errors import InvalidInput
from flipwise.hashing.bstep import CodeMatrix, check_optimizer
from flipwise.hashing.codes import Codes
from flipwise.hashing.estimators.base import BaseHasher
from flipwise.hashing.functions.ridge import Targets, dense
from flipwise.hashing.metrics import neighbour_recall
from flipwise.hashing.search import exact_search, hamming_search

KEPT = 20_000
"""Rows that `partial_fit` keeps."""
SCORED = 1000
"""Rows that `score` uses as queries."""


class Reservoir:
    """At most `size` rows, each row seen so far with the same chance.

    Vitter: Random sampling with a reservoir, TOMS 11, 1985.

    Examples
    --------
    >>> import numpy as np
    >>> from flipwise.hashing.estimators.unsupervised import Reservoir
    >>> kept = Reservoir(4, np.random.default_rng(0))
    >>> for chunk in np.arange(30.0).reshape(3, 10, 1):
    ...     kept.add(chunk)
    >>> kept.rows.shape, kept.seen
    ((4, 1), 30)
    """

    def __init__(self, size: int, rng: np.random.Generator) -> None:
        self.size, self.rng = size, rng
        self.seen = 0
        self.rows: Any = None

    def add(self, X: Any) -> None:
        """See a chunk of rows, dense or sparse."""
        held = 0 if self.rows is None else self.rows.shape[0]
        fill = min(X.shape[0], self.size - held)
        chosen = np.concatenate([np.arange(held), held + np.arange(fill)])
        # Row t of all (counted from 0) takes the place of a kept one with chance size / (t + 1).
        later = np.arange(fill, X.shape[0])
        places = self.rng.integers(0, self.seen + later + 1)
        for row, place in zip(later[places < self.size], places[places < self.size], strict=True):
            chosen[place] = held + row
        both: Any = X
        if held:
            parts: list[Any] = [self.rows, X]
            both = sp.csr_array(sp.vstack(parts)) if sp.issparse(X) else np.concatenate(parts)
        self.rows = both[chosen]
        self.seen += X.shape[0]


class UnsupervisedHasher(BaseHasher):
    """Shared by ARE, SADH and ITQ."""

    @abstractmethod
    def _learn(self, X: Any, rng: np.random.Generator) -> CodeMatrix:
        """Codes of the training rows."""

    def fit(self, X: Any, y: Any = None) -> Self:
        """Learn codes of X and the hash function; y is ignored."""
        del y
        X, rng = self._start(X)
        check_optimizer(self.optimizer, self._optimizers)
        if X.shape[0] < 2:
            raise InvalidInput(f"at least 2 rows are needed to learn codes, got n_samples = {X.shape[0]}.")
        return self._fit_rows(X, rng)

    def partial_fit(self, X: Any, y: Any = None) -> Self:
        """Learn from one more chunk of rows, for data larger than memory; y is ignored.

        A uniform sample of at most 20,000 of the rows seen so far is kept and learned from anew; `codes_` are the codes
        of that sample. Encode the data itself chunk by chunk when all have been seen.
        """
        del y
        first = not hasattr(self, "_reservoir")
        X, rng = self._start(X, reset=first)
        check_optimizer(self.optimizer, self._optimizers)
        if first:
            self._reservoir = Reservoir(KEPT, np.random.default_rng(rng.integers(2**63)))
        self._reservoir.add(X)
        if self._reservoir.seen < 2:
            raise InvalidInput("at least 2 rows are needed to learn codes, got n_samples = 1.")
        return self._fit_rows(self._reservoir.rows, rng)

    def _fit_rows(self, X: Any, rng: np.random.Generator) -> Self:
        B = self._learn(X, rng)
        self._fit_function(X, B, rng)
        self.codes_ = Codes.from_signs(B)
        return self

    def _fit_function(self, X: Any, B: CodeMatrix, rng: np.random.Generator) -> None:
        self.function_ = self._new_function()
        self.function_.fit(X, Targets(B), rng)

    def score(self, X: Any, y: Any = None) -> float:
        """recall@10 within X: how many of the 10 nearest rows by cosine are among the 10 nearest by Hamming distance.

        The first 1,000 rows are the queries; a row is not counted as its own neighbour. y is ignored.
        """
        del y
        codes = self.encode(X)
        vectors = dense(X)
        vectors = vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-300)
        k = min(10, len(codes) - 1)
        if k < 1:
            raise InvalidInput("`score` needs at least 2 rows.")
        queries = np.arange(min(SCORED, len(codes)))
        truth = exact_search(vectors[queries], vectors, k + 1).ids
        found = hamming_search(codes[queries], codes, k + 1).ids
        return neighbour_recall(_without_self(found, queries, k), _without_self(truth, queries, k))


def _without_self(ids: Any, queries: Any, k: int) -> Any:
    """Each row without the query's own id, cut to k."""
    rows = [row[row != q][:k] for row, q in zip(ids, queries, strict=True)]
    return np.array(rows)
