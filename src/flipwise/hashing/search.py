"""Search in codes: plain Hamming, float query against codes, and re-ranking with the original vectors.

Ties are settled by id everywhere: results are ordered by (distance, id) or (-score, id), so that every backend gives
the same answer. faiss promises no order among equal distances. Whether the one at hand keeps the lowest ids is tried
once; where it does not, the ids at the last distance are settled afterwards.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from flipwise.foundation.arrays import Ints
from flipwise.foundation.checks import is_whole
from flipwise.foundation.errors import InvalidInput, MissingDependency
from flipwise.foundation.numbers import as_floats
from flipwise.hashing.codes import BitOrder, Bytes, Codes, check_match
from flipwise.kernels import hamming as kernels
from flipwise.kernels.tables import best_by_tables

Singles = npt.NDArray[np.float32]

_BLOCK = 1 << 24
"""Entries of a block of scores that is held at once."""


@dataclass(frozen=True, eq=False)
class Neighbours:
    """What a search found: `ids` (queries x k) and beside each id, in `values`, its distance or its score.

    Examples
    --------
    >>> from flipwise.hashing import Codes, hamming_search
    >>> codes = Codes.from_signs([[1, 1, 1], [-1, 1, 1], [1, -1, -1]])
    >>> found = hamming_search(codes[:1], codes, 3)
    >>> found.ids.tolist(), found.values.tolist()
    ([[0, 1, 2]], [[0, 1, 2]])
    """

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
    k = checked_k(k, len(database))
    if backend not in ("auto", "faiss", "compiled"):
        raise InvalidInput(f'`backend` must be "auto", "faiss" or "compiled", got {backend!r}.')
    found = None
    if backend != "compiled":
        found = _faiss_search(queries.packed, database.packed, k, required=backend == "faiss")
    if found is None:
        q, db = queries.words(), database.words()
        kernels.compile_for(len(q) * len(db))
        ids = np.empty((len(queries), k), dtype=np.int64)
        distances = np.empty((len(queries), k), dtype=np.int32)
        kernels.nearest(q, db, database.n_bits, ids, distances)
        return Neighbours(ids, distances)
    distances, ids = found
    order = np.lexsort((ids, distances), axis=1)
    ids = np.take_along_axis(ids, order, axis=1)
    if not _faiss_keeps_lowest_ids():
        kernels.compile_for(len(queries) * len(database))
        kernels.settle_ties(queries.words(), database.words(), distances, ids)
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
    one, zero = np.ones(1, dtype=np.float32), np.zeros(1, dtype=np.float32)
    offset = np.zeros(len(values), dtype=np.float32)
    tables = bit_tables(values.astype(np.float32), database.n_bits, database.bit_order)
    return table_search(tables, offset, one, zero, database.packed, k)


def table_search(tables: Singles, offset: Singles, scale: Singles, shift: Singles, codes: Bytes, k: int) -> Neighbours:
    """The k codes with the largest scores for each query, by (-score, id), where a score is a sum over bytes.

    That of code j is `(offset + sum of tables[byte, value]) * scale[j] + shift[j]`, in single precision; arrays of
    one element are for all codes. `tables` has shape (queries, bytes, 256). The codes are read as they are.
    """
    k = checked_k(k, len(codes))
    ids = np.empty((len(tables), k), dtype=np.int64)
    scores = np.empty((len(tables), k), dtype=np.float32)
    best_by_tables(tables, offset, scale, shift, codes, ids, scores)
    return Neighbours(ids, scores)


def bit_tables(values: Singles, n_bits: int, bit_order: BitOrder) -> Singles:
    """What each value of each packed byte adds to q'b; padding bits add nothing."""
    width = (n_bits + 7) // 8
    padded = np.zeros((len(values), 8 * width), dtype=np.float32)
    padded[:, :n_bits] = values
    bits = np.unpackbits(np.arange(256, dtype=np.uint8)[:, None], axis=1, bitorder=bit_order)
    return padded.reshape(len(values), width, 8) @ (2.0 * bits.T - 1.0).astype(np.float32)


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
    k = checked_k(k, ids.shape[1])
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
    k = checked_k(k, len(x))
    ids = np.empty((len(q), k), dtype=np.int64)
    scores = np.empty((len(q), k), dtype=np.result_type(q, x))
    step = max(1, _BLOCK // max(1, len(x)))
    for start in range(0, len(q), step):
        ids[start : start + step], scores[start : start + step] = largest(q[start : start + step] @ x.T, k)
    return Neighbours(ids, scores)


def largest(scores: npt.NDArray[Any], k: int) -> tuple[npt.NDArray[np.int64], npt.NDArray[Any]]:
    """The ids of the k largest entries of each row by (-score, id), and the entries."""
    n = scores.shape[1]
    cut = np.partition(scores, n - k, axis=1)[:, n - k]
    reached = scores >= cut[:, None]
    if np.count_nonzero(reached) == k * len(scores):  # in no row does an entry equal the last that is chosen
        chosen = np.nonzero(reached)[1].reshape(len(scores), k)
        found = np.take_along_axis(scores, chosen, axis=1)
        order = np.argsort(-found, axis=1, kind="stable")
        return np.take_along_axis(chosen, order, axis=1), np.take_along_axis(found, order, axis=1)
    ids = np.empty((len(scores), k), dtype=np.int64)
    for i, row in enumerate(scores):
        above = np.flatnonzero(row > cut[i])
        level = np.flatnonzero(row == cut[i])[: k - above.size]
        chosen = np.concatenate([above, level])
        ids[i] = chosen[np.lexsort((chosen, -row[chosen]))]
    return ids, np.take_along_axis(scores, ids, axis=1)


def _faiss_search(
    queries: Bytes, database: Bytes, k: int, required: bool
) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.int64]] | None:
    """(distances, ids) by faiss, which reads the codes where they are; None where it is not there nor `required`."""
    try:
        import faiss
    except ImportError:
        if required:
            raise MissingDependency("faiss-cpu", "search", 'backend="faiss"') from None
        return None
    distances, ids = faiss.knn_hamming(queries, database, k)
    return distances, ids


@lru_cache
def _faiss_keeps_lowest_ids() -> bool:
    """Whether faiss gives the first ids among equal distances: tried on codes with hardly anything but ties."""
    rng = np.random.default_rng(0)
    for n, width, queries, k in ((70_000, 8, 3, 50), (1_000, 32, 40, 100), (500, 5, 2, 500), (2_000, 16, 40, 1)):
        database = (1 << rng.integers(0, 3, (n, width))).astype(np.uint8)
        asked = database[:queries]
        found = _faiss_search(asked, database, k, required=True)
        assert found is not None
        distance = np.unpackbits(asked[:, None] ^ database[None], axis=2).sum(axis=2, dtype=np.int32)
        first = np.argsort(distance, axis=1, kind="stable")[:, :k]
        order = np.lexsort((found[1], found[0]), axis=1)
        if not np.array_equal(np.take_along_axis(found[1], order, axis=1), first):
            return False
    return True


def checked_k(k: Any, n: int) -> int:
    """k, refused unless there are so many items to choose from."""
    if not is_whole(k) or not 1 <= k <= n:
        raise InvalidInput(f"`k` must be an integer between 1 and the {n} items to choose from, got {k!r}.")
    return int(k)
