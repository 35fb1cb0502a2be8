"""AdditiveQuantizer: bytes for vectors, scored against float queries by tables (see `hashing.additive`)."""

from __future__ import annotations

from typing import Any, Literal, Self

import numpy as np
import numpy.typing as npt

from flipwise.engine.limits import Clock, Limits
from flipwise.foundation.checks import check_whole, is_number
from flipwise.foundation.errors import InvalidInput, MissingDependency
from flipwise.hashing import additive
from flipwise.hashing.additive import Rows
from flipwise.hashing.codes import Bytes
from flipwise.hashing.estimators.base import checked_features
from flipwise.hashing.reservoir import Reservoir
from flipwise.hashing.search import Neighbours, table_search

try:
    from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
    from sklearn.utils.validation import check_is_fitted
except ImportError:
    raise MissingDependency("scikit-learn", "hashing", "a hashing estimator") from None

METRICS = ("cosine", "inner", "euclidean")
ENCODE_ROWS = 1 << 14
"""Rows that are read and encoded together."""
DECODED = 1 << 22
"""Numbers that are decoded at once where only their norms are wanted."""


class AdditiveQuantizer(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """The most recall for the bytes: a vector is the mean and a sum of entries, one byte a chosen entry.

    Entries and codes are fitted jointly, from a residual start. A search compares float queries with the sums by a
    table for each byte: it costs what product quantisation costs. The codes mean nothing to an engine that only knows
    Hamming distances: there, take `ITQ`.

    Parameters
    ----------
    n_bytes
        Bytes of a code.
    metric
        What neighbours are by: "cosine" (rows are scaled to unit length, and so are the sums when they are scored),
        "inner" or "euclidean".
    effort
        How many alternations of codes and entries: 1 is the default amount; the residual start is all there is with 0.
    n_components
        Principal axes that are kept before anything is learned; the default, 512 at most, is to save time.
    max_rows
        Rows that are learned from, drawn at random where more are given.
    random_state
        Seed.
    time_limit
        Seconds after which no further alternation begins.

    Attributes
    ----------
    codebooks_ : array of shape (n_bytes, 256, components)
        The entries, along the axes.
    mean_, axes_
        The mean of the rows, and the axes, one a column.

    Examples
    --------
    >>> import numpy as np
    >>> from flipwise.hashing import AdditiveQuantizer
    >>> X = np.random.default_rng(0).standard_normal((500, 8)).astype(np.float32)
    >>> model = AdditiveQuantizer(n_bytes=4, random_state=0).fit(X)
    >>> codes = model.encode(X)
    >>> codes.shape, codes.dtype
    ((500, 4), dtype('uint8'))
    >>> found = model.search(X[:3], codes, k=1)
    >>> found.ids.ravel().tolist()
    [0, 1, 2]
    """

    codebooks_: Rows
    mean_: Rows
    axes_: Rows

    def __init__(
        self,
        n_bytes: int = 16,
        *,
        metric: Literal["cosine", "inner", "euclidean"] = "cosine",
        effort: float = 1.0,
        n_components: int | None = None,
        max_rows: int = 50_000,
        random_state: Any = None,
        time_limit: float | None = None,
    ) -> None:
        self.n_bytes = n_bytes
        self.metric = metric
        self.effort = effort
        self.n_components = n_components
        self.max_rows = max_rows
        self.random_state = random_state
        self.time_limit = time_limit

    def fit(self, X: Any, y: Any = None) -> Self:
        """Learn the entries from the rows of X; y is ignored."""
        del y
        clock, rng = self._begin()
        X = checked_features(self, X, dtype=[np.float32, np.float64])
        if len(X) > self.max_rows:
            X = X[np.sort(rng.choice(len(X), self.max_rows, replace=False))]
        return self._fit_rows(X, rng, clock)

    def partial_fit(self, X: Any, y: Any = None) -> Self:
        """Learn from one more chunk of rows; y is ignored.

        A uniform sample of at most `max_rows` of the rows seen so far is kept and learned from anew.
        """
        del y
        clock, rng = self._begin()
        first = not hasattr(self, "_reservoir")
        X = checked_features(self, X, reset=first, dtype=[np.float32, np.float64])
        if first:
            self._reservoir = Reservoir(self.max_rows, np.random.default_rng(rng.integers(2**63)))
        self._reservoir.add(X)
        return self._fit_rows(self._reservoir.rows, rng, clock)

    def encode(self, X: Any) -> Bytes:
        """The codes of the rows of X: bytes of shape (n, n_bytes), found on several threads.

        X may be memory-mapped: it is read in blocks. No code depends on the rows beside it or the number of threads.
        """
        check_is_fitted(self, "codebooks_")
        if not isinstance(X, np.ndarray) or X.ndim != 2 or not len(X):
            X = checked_features(self, X, reset=False, dtype=[np.float32, np.float64])
        encoder = additive.Encoder(list(self.codebooks_), np.random.default_rng(0))
        codes = np.empty((len(X), len(self.codebooks_)), dtype=np.uint8)
        for start in range(0, len(X), ENCODE_ROWS):
            block = slice(start, start + ENCODE_ROWS)
            rows = checked_features(self, X[block], reset=False, dtype=[np.float32, np.float64])
            codes[block] = encoder.codes(self._along_axes(rows))
        return codes

    def transform(self, X: Any) -> Bytes:
        """The codes of the rows of X, as `encode`."""
        return self.encode(X)

    def decode(self, codes: npt.ArrayLike) -> Rows:
        """The vectors that codes stand for; with metric "cosine", of about unit length."""
        checked = self._checked_codes(codes)
        total: Rows = additive.decode(checked, list(self.codebooks_)) @ self.axes_.T + self.mean_
        return total

    def inverse_transform(self, X: npt.ArrayLike) -> Rows:
        """The vectors that codes stand for, as `decode`."""
        return self.decode(X)

    def norms(self, codes: npt.ArrayLike) -> Rows:
        """The lengths of the vectors that codes stand for, which scores need unless the metric is "inner".

        A search computes them unless it is given them: keep them beside codes that are searched again and again.
        """
        checked = self._checked_codes(codes)
        norms = np.empty(len(checked), dtype=np.float32)
        along, length = 2.0 * (self.mean_ @ self.axes_), float(self.mean_ @ self.mean_)
        groups = list(self.codebooks_)
        step = max(1, DECODED // self.codebooks_.shape[2])
        for start in range(0, len(checked), step):
            rows = additive.decode(checked[start : start + step], groups)
            squares = np.einsum("ij,ij->i", rows, rows) + rows @ along + length
            norms[start : start + step] = np.sqrt(np.maximum(squares, 0.0))
        return norms

    def tables(self, queries: Any) -> tuple[Rows, Rows]:
        """For each query, what each value of each byte adds to the inner product, and what the mean adds."""
        check_is_fitted(self, "codebooks_")
        q = checked_features(self, queries, reset=False, dtype=[np.float32, np.float64]).astype(np.float32)
        along = q @ self.axes_
        width, size, components = self.codebooks_.shape
        tables = along @ self.codebooks_.reshape(width * size, components).T
        return tables.reshape(len(q), width, size), q @ self.mean_

    def search(self, queries: Any, codes: npt.ArrayLike, k: int, *, norms: npt.ArrayLike | None = None) -> Neighbours:
        """The k codes that score best for each float query, ordered by (-score, id).

        A score is the cosine, up to the length of the query; the inner product; or minus the squared distance.
        """
        checked = self._checked_codes(codes)
        tables, offset, added = self.score_tables(queries)
        one, zero = np.ones(1, dtype=np.float32), np.zeros(1, dtype=np.float32)
        if self.metric == "inner":
            return table_search(tables, offset, one, zero, checked, k)
        lengths = self.norms(checked) if norms is None else np.asarray(norms, dtype=np.float32)
        if lengths.shape != (len(checked),):
            raise InvalidInput(f"`norms` must have shape ({len(checked)},), got {lengths.shape}.")
        weights = self._weights_for_lengths(lengths)
        scale, shift = (weights, zero) if self.metric == "cosine" else (one, weights)
        found = table_search(tables, offset, scale, shift, checked, k)
        return Neighbours(found.ids, found.values + added[:, None])

    def score_tables(self, queries: Any) -> tuple[Rows, Rows, Rows]:
        """Tables and offsets whose sums, times or plus the weights of codes, are scores; and what is added then."""
        tables, offset = self.tables(queries)
        if self.metric != "euclidean":
            return tables, offset, np.zeros_like(offset)
        q = np.asarray(queries, dtype=np.float32)
        return 2 * tables, 2 * offset, -np.einsum("ij,ij->i", q, q)

    def weights(self, codes: npt.ArrayLike) -> Rows:
        """What scores of codes are multiplied by (cosine: 1 / length) or what is added (euclidean: -length^2)."""
        return self._weights_for_lengths(self.norms(codes))

    def _weights_for_lengths(self, lengths: Rows) -> Rows:
        """The weights of codes that decode to vectors of these lengths."""
        if self.metric == "cosine":
            return (1.0 / np.maximum(lengths, 1e-30)).astype(np.float32)
        return -(lengths * lengths)

    def _begin(self) -> tuple[Clock, np.random.Generator]:
        """The clock and the generator of a fit; parameters are checked here."""
        from flipwise.hashing.estimators.base import as_rng

        check_whole("n_bytes", self.n_bytes, 1)
        check_whole("max_rows", self.max_rows, 2)
        check_whole("n_components", self.n_components, 1, optional=True)
        if self.metric not in METRICS:
            raise InvalidInput(f"`metric` must be one of {', '.join(METRICS)}, got {self.metric!r}.")
        if not is_number(self.effort) or self.effort < 0:
            raise InvalidInput(f"`effort` must be a finite number of at least 0, got {self.effort!r}.")
        Limits(time_limit=self.time_limit)
        return Clock(self.time_limit), as_rng(self.random_state)

    def _fit_rows(self, X: Any, rng: np.random.Generator, clock: Clock) -> Self:
        """Learn from these rows."""
        if len(X) < 2:
            raise InvalidInput(f"at least 2 rows are needed to learn codes, got n_samples = {len(X)}.")
        rows = self._scaled_for_metric(X)
        self.mean_ = rows.mean(axis=0)
        centred: Rows = rows - self.mean_
        width = min(512 if self.n_components is None else int(self.n_components), rows.shape[1])
        _, axes = np.linalg.eigh(centred.T @ centred)
        self.axes_ = np.ascontiguousarray(axes[:, ::-1][:, :width], dtype=np.float32)
        rounds = round(additive.ROUNDS * self.effort)
        along: Rows = centred @ self.axes_
        groups = additive.train(along, [256] * int(self.n_bytes), rng, rounds, clock)
        self.codebooks_ = np.stack(groups)
        self._n_features_out = int(self.n_bytes)
        return self

    def _scaled_for_metric(self, X: Any) -> Rows:
        """The rows, of unit length where the metric is the cosine."""
        rows = np.asarray(X, dtype=np.float32)
        if self.metric == "cosine":
            rows = rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), np.float32(1e-30))
        return rows

    def _along_axes(self, X: Any) -> Rows:
        """The centred rows, along the axes."""
        centred: Rows = self._scaled_for_metric(X) - self.mean_
        along: Rows = centred @ self.axes_
        return along

    def _checked_codes(self, codes: npt.ArrayLike) -> Bytes:
        """Codes that this estimator can have made."""
        check_is_fitted(self, "codebooks_")
        array = np.asarray(codes)
        if array.dtype != np.uint8 or array.ndim != 2 or array.shape[1] != len(self.codebooks_):
            raise InvalidInput(
                f"`codes` must be uint8 of shape (n, {len(self.codebooks_)}), got {array.dtype} of shape {array.shape}."
            )
        return np.ascontiguousarray(array)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = []
        return tags
