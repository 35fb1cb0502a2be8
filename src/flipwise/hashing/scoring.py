"""How float queries score the codes of an estimator: a table for each byte, whatever the estimator is.

A score is `(offset + sum of tables[byte, value]) * scale + shift`. Bits are scored by q'b. Sums of entries are scored
by the inner product with the query, which a weight kept beside each code turns into a cosine or a distance.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from flipwise.foundation.errors import InvalidInput
from flipwise.hashing.codes import Bytes, Codes
from flipwise.hashing.search import Singles, bit_tables

METRICS = ("cosine", "inner", "euclidean")
ONE, ZERO = np.ones(1, dtype=np.float32), np.zeros(1, dtype=np.float32)


class Asked(NamedTuple):
    """Queries as the search kernels take them; `added` is what every score of a query gets besides."""

    tables: Singles
    offset: Singles
    added: Singles


class Scoring:
    """The codes of a fitted estimator and their scores."""

    def __init__(self, model: Any) -> None:
        from flipwise.hashing.estimators.additive import AdditiveQuantizer
        from flipwise.hashing.estimators.base import BaseHasher

        fitted = hasattr(model, "codebooks_") or hasattr(model, "function_")
        if not isinstance(model, AdditiveQuantizer | BaseHasher) or not fitted:
            raise InvalidInput(
                f"`model` must be a fitted estimator of flipwise.hashing, got {type(model).__name__}"
                f"{'' if fitted else ' that is not fitted: call its fit first'}."
            )
        self.model = model
        self.n_features = int(model.n_features_in_)
        self.n_bits: int | None = None if hasattr(model, "codebooks_") else int(model.n_bits)
        self.metric: str = getattr(model, "metric", "cosine")
        self.width: int = len(model.codebooks_) if self.n_bits is None else (self.n_bits + 7) // 8

    @property
    def weighted(self) -> bool:
        """Whether a number is kept beside each code."""
        return self.n_bits is None and self.metric != "inner"

    def encode(self, rows: Any) -> Bytes:
        """The codes of rows, as bytes."""
        codes = self.model.encode(rows)
        return codes.packed if isinstance(codes, Codes) else codes

    def weights(self, codes: Bytes) -> Singles | None:
        """What is kept beside codes, where anything is."""
        return self.model.weights(codes) if self.weighted else None

    def asked(self, queries: Any) -> Asked:
        """Float queries."""
        if self.n_bits is None:
            return Asked(*self.model.score_tables(queries))
        values = self.model.decision_function(queries).astype(np.float32)
        return _of_bits(values, self.n_bits)

    def asked_signs(self, codes: Codes) -> Asked:
        """Codes as queries: their scores are the number of bits less twice the Hamming distance."""
        return _of_bits(codes.signs().astype(np.float32), codes.n_bits)

    def scale_and_shift(self, weights: Singles | None) -> tuple[Singles, Singles]:
        """What the weights of codes do to their scores."""
        if weights is None:
            return ONE, ZERO
        return (weights, ZERO) if self.metric == "cosine" else (ONE, weights)


def _of_bits(values: npt.NDArray[np.float32], n_bits: int) -> Asked:
    nothing = np.zeros(len(values), dtype=np.float32)
    return Asked(bit_tables(values, n_bits, "big"), nothing, nothing)
