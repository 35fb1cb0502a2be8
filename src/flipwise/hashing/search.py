"""Search in codes: plain Hamming, float query against codes, and re-ranking with the original vectors.

Ties are settled by id everywhere: results are ordered by (distance, id) or (-score, id), so that every backend gives
the same answer. faiss promises no order among equal distances; its ids at the last distance are settled afterwards.

`recommend` measures how many bits, and how much oversampling, a target recall needs on the user's own vectors.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from flipwise.foundation.arrays import Ints
from flipwise.foundation.checks import as_floats, is_whole
from flipwise.foundation.errors import InvalidInput, MissingDependency
from flipwise.hashing.codes import Codes, check_match
from flipwise.hashing.metrics import neighbour_recall
from flipwise.hashing.pace import out_of_time
from flipwise.kernels import hamming as kernels

_BLOCK = 1 << 24
"""Entries of a block of scores that is held at once."""


@dataclass(frozen=True, eq=False)
class Neighbours:
    """What a search found: `ids` (queries x k), and beside each id its `distances` or, for inner products, `scores`."""

    ids: npt.NDArray[np.int64]
    values: npt.NDArray[Any]


def hamming_search(
    queries: Codes, database: Codes, k: int, *, backend: Literal["auto", "faiss", "compiled"] = "auto"
) -> Neighbours:
    """The k nearest codes of each query, ordered by (Hamming distance, id).

    Parameters
    ----------
    queries, database
        Codes of the same number of bits.
    k
        Neighbours for each query.
    backend
        "faiss" (`IndexBinaryFlat`), "compiled" (popcount kernel), or "auto": faiss when it is installed.

    Examples
    --------
    >>> from flipwise.hashing import Codes, hamming_search
    >>> database = Codes.from_signs([[1, 1, 1], [-1, 1, 1], [1, -1, 1]])
    >>> hamming_search(database[:1], database, 2).ids.tolist()
    [[0, 1]]
    """
    queries = check_match(queries, database)
    k = _checked_k(k, len(database))
    if backend not in ("auto", "faiss", "compiled"):
        raise InvalidInput(f'`backend` must be "auto", "faiss" or "compiled", got {backend!r}.')
    q, db = queries.words(), database.words()
    kernels.compile_for(len(q) * len(db))
    found = None if backend == "compiled" else _faiss_search(queries, database, k, required=backend == "faiss")
    if found is None:
        ids = np.empty((len(queries), k), dtype=np.int64)
        distances = np.empty((len(queries), k), dtype=np.int32)
        kernels.nearest(q, db, database.n_bits, ids, distances)
        return Neighbours(ids, distances)
    distances, ids = found
    order = np.lexsort((ids, distances), axis=1)
    ids = np.take_along_axis(ids, order, axis=1)
    kernels.settle_ties(q, db, distances, ids)
    return Neighbours(ids, distances)


def asymmetric_search(queries: npt.ArrayLike, database: Codes, k: int) -> Neighbours:
    """The k codes b with the largest inner product q'b, for real-valued queries of shape (n, n_bits).

    Queries are what an estimator's `decision_function` returns: they keep how far each bit is from its threshold,
    which the packed code throws away. Ordered by (-score, id).

    Examples
    --------
    >>> from flipwise.hashing import Codes, asymmetric_search
    >>> asymmetric_search([[0.9, -0.1]], Codes.from_signs([[-1, 1], [1, 1]]), 1).ids.tolist()
    [[1]]
    """
    values = as_floats("queries", queries)
    if values.ndim != 2 or values.shape[1] != database.n_bits:
        raise InvalidInput(f"`queries` must have shape (n, {database.n_bits}), got {values.shape}.")
    return exact_search(values.astype(np.float32), database.signs().astype(np.float32), k)


def rerank(
    queries: npt.ArrayLike,
    vectors: npt.ArrayLike,
    candidates: Neighbours | Ints,
    k: int,
    *,
    metric: Literal["inner", "euclidean"] = "inner",
) -> Neighbours:
    """The k best of the candidates by the original vectors, ordered by (-score, id); a euclidean score is -distance^2.

    Examples
    --------
    >>> import numpy as np
    >>> from flipwise.hashing import rerank
    >>> vectors = np.eye(3)
    >>> rerank([[0.1, 0.9, 0.0]], vectors, np.array([[2, 1, 0]]), 2).ids.tolist()
    [[1, 0]]
    """
    q = np.asarray(queries, dtype=np.float64)
    x = np.asarray(vectors)
    ids = np.asarray(candidates.ids if isinstance(candidates, Neighbours) else candidates, dtype=np.int64)
    if metric not in ("inner", "euclidean"):
        raise InvalidInput(f'`metric` must be "inner" or "euclidean", got {metric!r}.')
    if q.ndim != 2 or x.ndim != 2 or q.shape[1] != x.shape[1] or ids.ndim != 2 or len(ids) != len(q):
        raise InvalidInput(f"shapes do not fit: queries {q.shape}, vectors {x.shape}, candidates {ids.shape}.")
    k = _checked_k(k, ids.shape[1])
    ids = np.sort(ids, axis=1)  # ties in the score are then settled by id
    scores = np.empty(ids.shape)
    for i, row in enumerate(ids):
        near = x[row].astype(np.float64)
        scores[i] = near @ q[i] if metric == "inner" else -((near - q[i]) ** 2).sum(axis=1)
    order = np.argsort(-scores, axis=1, kind="stable")[:, :k]
    return Neighbours(np.take_along_axis(ids, order, axis=1), np.take_along_axis(scores, order, axis=1))


def exact_search(queries: npt.ArrayLike, vectors: npt.ArrayLike, k: int) -> Neighbours:
    """The k vectors with the largest inner product, ordered by (-score, id): the truth that codes are measured by."""
    q, x = np.asarray(queries), np.asarray(vectors)
    k = _checked_k(k, len(x))
    ids = np.empty((len(q), k), dtype=np.int64)
    scores = np.empty((len(q), k), dtype=np.result_type(q, x))
    step = max(1, _BLOCK // max(1, len(x)))
    for start in range(0, len(q), step):
        ids[start : start + step], scores[start : start + step] = largest(q[start : start + step] @ x.T, k)
    return Neighbours(ids, scores)


@dataclass(frozen=True)
class Measured:
    """Recall of one setting: `oversampling * k` candidates by codes of `n_bits`, re-ranked by the original vectors."""

    n_bits: int
    oversampling: int
    scoring: str
    recall: float
    bytes_per_item: int


@dataclass(frozen=True)
class Recommendation:
    """The cheapest setting that reached the target (None when none did), and everything that was measured."""

    chosen: Measured | None
    measured: tuple[Measured, ...]
    k: int
    target: float

    def __str__(self) -> str:
        lines = [f"recall@{self.k}, target {self.target:g}", " bits  oversampling  scoring     recall  bytes"]
        for m in self.measured:
            mark = " <- recommended" if m == self.chosen else ""
            lines.append(
                f"{m.n_bits:5d}  {m.oversampling:12d}  {m.scoring:10s}  {m.recall:.4f}  {m.bytes_per_item:5d}{mark}"
            )
        return "\n".join(lines)


def recommend(
    X: npt.ArrayLike,
    *,
    target: float = 0.95,
    k: int = 10,
    bits: Sequence[int] = (64, 128, 256, 512),
    oversampling: Sequence[int] = (1, 2, 4, 10, 20, 50),
    asymmetric: bool = False,
    estimator: Any = None,
    max_rows: int = 20_000,
    queries: int = 500,
    random_state: Any = None,
) -> Recommendation:
    """Measure recall@k on held-out rows of X for each number of bits and oversampling factor.

    Rows are compared by cosine. The cheapest setting is the one with the fewest bits that reaches the target, and of
    these the one with the least oversampling. Inside `fitting(time_limit=...)` no more lengths are tried once the time
    is over.

    Parameters
    ----------
    X
        Embeddings, a row an item. At most `max_rows` are used.
    target
        The recall to reach after re-ranking.
    k
        Neighbours that count.
    bits, oversampling
        What is tried.
    asymmetric
        Score codes against real-valued queries instead of Hamming distances.
    estimator
        An unsupervised estimator; `ITQ()` by default.
    queries
        Held-out rows used as queries.
    random_state
        Seed.

    Examples
    --------
    >>> import numpy as np
    >>> from flipwise.hashing import recommend
    >>> X = np.random.default_rng(0).standard_normal((600, 16))
    >>> found = recommend(X, target=0.8, bits=(16, 32), oversampling=(1, 10), queries=50, random_state=0)
    >>> found.chosen.n_bits in (16, 32)
    True
    """
    from sklearn.base import clone

    from flipwise.hashing.estimators.base import as_rng
    from flipwise.hashing.estimators.itq import ITQ

    vectors = np.asarray(X)
    if vectors.ndim != 2 or len(vectors) < 2 * k + 2:
        raise InvalidInput(f"`X` must be a matrix with at least {2 * k + 2} rows, got shape {vectors.shape}.")
    if not 0 < target <= 1:
        raise InvalidInput(f"`target` must be above 0 and at most 1, got {target!r}.")
    rng = as_rng(random_state)
    rows = rng.permutation(len(vectors))[:max_rows]
    vectors = vectors[rows].astype(np.float64)
    if not np.isfinite(vectors).all():
        raise InvalidInput("`X` must be finite.")
    vectors /= np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-300)
    held = min(queries, len(vectors) // 4)
    asked, database = vectors[:held], vectors[held:]
    truth = exact_search(asked, database, k).ids
    measured = []
    for n_bits in sorted(bits):
        model = clone(ITQ() if estimator is None else estimator).set_params(n_bits=n_bits, random_state=0).fit(database)
        real, codes = model.decision_function(asked), model.encode(database)
        for factor in sorted(oversampling):
            wanted = min(factor * k, len(database))
            if asymmetric:
                near = asymmetric_search(real, codes, wanted)
            else:
                near = hamming_search(Codes.from_signs(real), codes, wanted)
            recall = neighbour_recall(rerank(asked, database, near, k).ids, truth)
            scoring = "asymmetric" if asymmetric else "hamming"
            measured.append(Measured(n_bits, factor, scoring, recall, codes.packed.shape[1]))
        if out_of_time():
            break
    good = [m for m in measured if m.recall >= target]
    best = min(good, key=lambda m: (m.n_bits, m.oversampling)) if good else None
    return Recommendation(best, tuple(measured), k, target)


def largest(scores: npt.NDArray[Any], k: int) -> tuple[npt.NDArray[np.int64], npt.NDArray[Any]]:
    """The ids of the k largest entries of each row by (-score, id), and the entries."""
    n = scores.shape[1]
    cut = np.partition(scores, n - k, axis=1)[:, n - k]
    ids = np.empty((len(scores), k), dtype=np.int64)
    for i, row in enumerate(scores):
        above = np.flatnonzero(row > cut[i])
        level = np.flatnonzero(row == cut[i])[: k - above.size]
        chosen = np.concatenate([above, level])
        ids[i] = chosen[np.lexsort((chosen, -row[chosen]))]
    return ids, np.take_along_axis(scores, ids, axis=1)


def _faiss_search(
    queries: Codes, database: Codes, k: int, required: bool
) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.int64]] | None:
    try:
        import faiss
    except ImportError:
        if required:
            raise MissingDependency("faiss-cpu", "search", 'backend="faiss"') from None
        return None
    index = faiss.IndexBinaryFlat(8 * database.packed.shape[1])
    index.add(database.packed)
    distances, ids = index.search(queries.packed, k)
    return distances, ids


def _checked_k(k: Any, n: int) -> int:
    if not is_whole(k) or not 1 <= k <= n:
        raise InvalidInput(f"`k` must be an integer between 1 and the {n} items to choose from, got {k!r}.")
    return int(k)
