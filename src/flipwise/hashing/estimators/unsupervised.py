"""Estimators that learn from the features alone; in chunks, from a uniform sample of the rows seen so far."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from flipwise.engine.solve import solve
from flipwise.foundation.arrays import Ints
from flipwise.foundation.errors import InvalidInput
from flipwise.foundation.interrupts import guarded_interrupts
from flipwise.hashing.alternation import FitContext
from flipwise.hashing.estimators.base import BaseHasher, CodeSearch, check_optimizer
from flipwise.hashing.functions.ridge import dense
from flipwise.hashing.metrics import neighbour_recall
from flipwise.hashing.reservoir import Reservoir
from flipwise.hashing.search import exact_search, hamming_search

SAMPLE_ROWS = 20_000
"""Rows that `partial_fit` keeps."""
QUERY_ROWS = 1000
"""Rows that `score` uses as queries."""


@dataclass(eq=False, repr=False, kw_only=True)
class UnsupervisedHasher(BaseHasher):
    """Shared by ARE, SADH and ITQ."""

    @abstractmethod
    def _search(self, X: Any, context: FitContext) -> CodeSearch:
        """The search for codes of the rows."""

    def fit(self, X: Any, y: Any = None) -> Self:
        """Learn codes of X and the hash function; y is ignored."""
        del y
        X, context = self._begin(X)
        check_optimizer(self.optimizer, self._optimizers)
        if X.shape[0] < 2:
            raise InvalidInput(f"at least 2 rows are needed to learn codes, got n_samples = {X.shape[0]}.")
        return self._fit_rows(X, context)

    def partial_fit(self, X: Any, y: Any = None) -> Self:
        """Learn from one more chunk of rows, for data larger than memory; y is ignored.

        A uniform sample of at most 20,000 of the rows seen so far is kept and learned from anew; `codes_` are the codes
        of that sample. Encode the data itself chunk by chunk when all have been seen.
        """
        del y
        first = not hasattr(self, "_reservoir")
        X, context = self._begin(X, reset=first)
        check_optimizer(self.optimizer, self._optimizers)
        if first:
            self._reservoir = Reservoir(SAMPLE_ROWS, np.random.default_rng(context.rng.integers(2**63)))
        self._reservoir.add(X)
        if self._reservoir.seen < 2:
            raise InvalidInput("at least 2 rows are needed to learn codes, got n_samples = 1.")
        return self._fit_rows(self._reservoir.rows, context)

    def _fit_rows(self, X: Any, context: FitContext) -> Self:
        """Search for codes of these rows, and fit the hash function to them."""
        search = self._search(X, context)
        with guarded_interrupts():  # Ctrl-C does not lose the codes that were found
            result = solve(search.problem, search.solver, **self._run_options(search, context))
            self._finish(result, search, X, context, None)
        return self

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
        queries = np.arange(min(QUERY_ROWS, len(codes)))
        truth = exact_search(vectors[queries], vectors, k + 1).ids
        found = hamming_search(codes[queries], codes, k + 1).ids
        return neighbour_recall(_without_self(found, queries, k), _without_self(truth, queries, k))


def _without_self(ids: Ints, queries: Ints, k: int) -> npt.NDArray[np.int64]:
    """Each row without the query's own id, cut to k."""
    rows = [row[row != q][:k] for row, q in zip(ids, queries, strict=True)]
    return np.array(rows)
