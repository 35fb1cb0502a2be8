"""Retrieval metrics on codes: MAP, precision@N, recall@N, precision within a Hamming radius.

Hamming distances are full of ties. `ties="expected"` gives the expected value over all orders of tied items (McSherry
and Najork, Computing information retrieval performance measures efficiently in the presence of tied scores, ECIR
2008): with n items of which k are relevant at one distance, N items and K relevant ones nearer,

    sum_{j=1..n} k/n * (K + 1 + (j-1)(k-1)/(n-1)) / (N + j)

is what these items add to the sum of precisions. `ties="stable"` ranks by (distance, id), as MATLAB's stable sort does
in the original hashing codes; on a database sorted by class that inflates every figure.

AP is divided by the number of relevant items retrieved (all of them without `top`), as in the originals; queries with
none count as 0. Which codes the database holds, learned ones or hashed ones, is the caller's protocol: state it.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from flipwise.foundation.arrays import Floats, Ints
from flipwise.foundation.checks import is_whole
from flipwise.foundation.errors import InvalidInput
from flipwise.hashing.codes import Codes, check_match
from flipwise.hashing.labels import as_label_sets
from flipwise.kernels import hamming as kernels

Ties = Literal["expected", "stable"]
"""How items at equal distance are ranked."""
_BLOCK = 1 << 24
"""Ranked items that are held at once."""


def mean_average_precision(
    queries: Codes,
    database: Codes,
    query_labels: npt.ArrayLike,
    database_labels: npt.ArrayLike,
    *,
    top: int | None = None,
    ties: Ties = "expected",
) -> float:
    """Mean average precision of Hamming ranking, over the whole database or its first `top` items.

    Parameters
    ----------
    queries, database
        The codes.
    query_labels, database_labels
        Class values of shape (n,), or multi-hot 0/1 of shape (n, classes): relevant when a label is shared.
    top
        Only the first `top` items of the ranking count; None: all.
    ties
        "expected" over all orders of tied items, or "stable": by (distance, id).

    Examples
    --------
    >>> from flipwise.hashing import Codes, mean_average_precision
    >>> database = Codes.from_signs([[1, 1], [1, 1], [-1, -1]])
    >>> mean_average_precision(database[:1], database, [0], [0, 1, 0])
    0.7083333333333333
    >>> mean_average_precision(database[:1], database, [0], [0, 1, 0], ties="stable")
    0.8333333333333333
    """
    top = _checked_top(top, len(database))
    ranking = _as_ranking(queries, database, query_labels, database_labels)
    if _checked_ties(ties) == "stable":
        per_query = []
        for hit in _stable_blocks(ranking, top):
            precision = np.cumsum(hit, axis=1) / np.arange(1, top + 1)
            per_query.append((precision * hit).sum(axis=1) / np.maximum(hit.sum(axis=1), 1))
        return float(np.concatenate(per_query).mean())
    n, k, before, before_hits = _tied_groups(ranking)
    seen = np.clip(top - before, 0, n)  # how many items of each group are inside the first `top`
    harmonic = np.concatenate([[0.0], np.cumsum(1.0 / np.arange(1, len(database) + 1))])
    h = harmonic[before + seen] - harmonic[np.minimum(before, len(database))]
    inside = np.where(n > 1, (k - 1) / np.maximum(n - 1, 1), 0.0)
    gain = k / np.maximum(n, 1) * ((before_hits + 1) * h + inside * (seen - (before + 1) * h))
    found = (k * seen / np.maximum(n, 1)).sum(axis=1)
    return float(np.mean(gain.sum(axis=1) / np.where(found > 0, found, 1.0)))


def precision_at(
    queries: Codes,
    database: Codes,
    query_labels: npt.ArrayLike,
    database_labels: npt.ArrayLike,
    n: int = 500,
    *,
    ties: Ties = "expected",
) -> float:
    """The fraction of relevant items among the first n, averaged over queries; parameters as in MAP.

    Examples
    --------
    >>> from flipwise.hashing import Codes, precision_at
    >>> queries = Codes.from_signs([[1, 1, 1, 1]])
    >>> database = Codes.from_signs([[1, 1, 1, 1], [1, 1, 1, -1], [-1, -1, -1, -1]])
    >>> precision_at(queries, database, [0], [0, 1, 0], 2)
    0.5
    """
    ranking = _as_ranking(queries, database, query_labels, database_labels)
    return float(np.mean(_hits_at(ranking, n, ties)[0] / n))


def recall_at(
    queries: Codes,
    database: Codes,
    query_labels: npt.ArrayLike,
    database_labels: npt.ArrayLike,
    n: int = 500,
    *,
    ties: Ties = "expected",
) -> float:
    """The fraction of all relevant items found among the first n, averaged over queries (0 without relevant items).

    Examples
    --------
    >>> from flipwise.hashing import Codes, recall_at
    >>> queries = Codes.from_signs([[1, 1, 1, 1]])
    >>> database = Codes.from_signs([[1, 1, 1, 1], [1, 1, 1, -1], [-1, -1, -1, -1]])
    >>> recall_at(queries, database, [0], [0, 1, 0], 1)
    0.5
    """
    hits, all_relevant = _hits_at(_as_ranking(queries, database, query_labels, database_labels), n, ties)
    return float(np.mean(hits / np.maximum(all_relevant, 1)))


def precision_within_radius(
    queries: Codes,
    database: Codes,
    query_labels: npt.ArrayLike,
    database_labels: npt.ArrayLike,
    radius: int = 2,
) -> float:
    """The fraction of relevant items within a Hamming radius, averaged over queries; an empty ball counts as 0.

    Examples
    --------
    >>> from flipwise.hashing import Codes, precision_within_radius
    >>> queries = Codes.from_signs([[1, 1, 1, 1]])
    >>> database = Codes.from_signs([[1, 1, 1, 1], [1, 1, 1, -1], [-1, -1, -1, -1]])
    >>> precision_within_radius(queries, database, [0], [0, 1, 0], radius=1)
    0.5
    """
    groups = _tied_groups(_as_ranking(queries, database, query_labels, database_labels))
    inside = groups.items[:, : radius + 1].sum(axis=1)
    return float(np.mean(groups.hits[:, : radius + 1].sum(axis=1) / np.maximum(inside, 1)))


def neighbour_recall(found: Ints, truth: Ints) -> float:
    """The fraction of the true neighbours (rows of ids) that are among those found, averaged over queries.

    Examples
    --------
    >>> import numpy as np
    >>> from flipwise.hashing import neighbour_recall
    >>> neighbour_recall(np.array([[1, 2, 3]]), np.array([[3, 4]]))
    0.5
    """
    found, truth = np.asarray(found), np.asarray(truth)
    if found.ndim != 2 or truth.ndim != 2 or len(found) != len(truth):
        raise InvalidInput(f"`found` and `truth` must have a row for each query, got {found.shape} and {truth.shape}.")
    hits = [(found == neighbour[:, None]).any(axis=1) for neighbour in truth.T]
    return float(np.mean(hits, axis=0).mean())


class _Ranking(NamedTuple):
    """Codes and label sets as the kernels read them."""

    queries: npt.NDArray[np.uint64]
    database: npt.NDArray[np.uint64]
    query_set: Ints
    database_set: Ints
    share: npt.NDArray[np.bool_]
    """share[a, b]: whether items of the label sets a and b are relevant to each other."""
    n_bits: int


class _TiedGroups(NamedTuple):
    """For each query and distance: items, relevant items, and how many of both are nearer."""

    items: Ints
    hits: Ints
    items_before: Ints
    hits_before: Ints


def _as_ranking(
    queries: Codes, database: Codes, query_labels: npt.ArrayLike, database_labels: npt.ArrayLike
) -> _Ranking:
    """Items are relevant to each other when their labels are equal or, with multi-hot labels, when they share one."""
    queries = check_match(queries, database)
    kernels.compile_for(len(queries) * len(database))
    q, db = np.asarray(query_labels), np.asarray(database_labels)
    if q.ndim != db.ndim or (q.ndim == 2 and q.shape[1] != db.shape[1]):
        raise InvalidInput(
            f"query and database labels must be of one kind, got shapes {q.shape} and {db.shape}: "
            "class values of shape (n,), or multi-hot of shape (n, classes)."
        )
    both = as_label_sets(np.concatenate([q, db]))
    query_set, database_set = both.of_item[: len(q)], both.of_item[len(q) :]
    for name, codes, labels in (("query", queries, query_set), ("database", database, database_set)):
        if len(codes) != len(labels) or not len(codes):
            raise InvalidInput(f"there are {len(codes)} {name} codes and {len(labels)} {name} labels.")
    share = both.Y @ both.Y.T > 0
    return _Ranking(queries.words(), database.words(), query_set, database_set, share, database.n_bits)


def _tied_groups(ranking: _Ranking) -> _TiedGroups:
    """The groups of items at one distance."""
    counts = np.zeros((len(ranking.queries), ranking.n_bits + 1), dtype=np.int64)
    hits = np.zeros_like(counts)
    kernels.count_by_distance(*ranking[:5], counts, hits)
    return _TiedGroups(counts, hits, np.cumsum(counts, axis=1) - counts, np.cumsum(hits, axis=1) - hits)


def _stable_blocks(ranking: _Ranking, top: int) -> Iterator[npt.NDArray[np.bool_]]:
    """Relevance of the first `top` items by (distance, id), in blocks of queries."""
    step = max(1, _BLOCK // top)
    for start in range(0, len(ranking.queries), step):
        some = slice(start, start + step)
        hit = np.zeros((len(ranking.queries[some]), top), dtype=np.bool_)
        kernels.ranked_relevance(
            ranking.queries[some], ranking.database, ranking.query_set[some], ranking.database_set, ranking.share,
            ranking.n_bits, hit,
        )  # fmt: skip
        yield hit


def _hits_at(ranking: _Ranking, n: int, ties: Ties) -> tuple[Floats, Floats]:
    """(relevant items among the first n, all relevant items) of each query."""
    top = _checked_top(n, len(ranking.database))
    groups = _tied_groups(ranking)
    total = groups.hits.sum(axis=1).astype(np.float64)
    if _checked_ties(ties) == "stable":
        return np.concatenate([hit.sum(axis=1) for hit in _stable_blocks(ranking, top)]).astype(np.float64), total
    seen = np.clip(top - groups.items_before, 0, groups.items)
    return (groups.hits * seen / np.maximum(groups.items, 1)).sum(axis=1), total


def _checked_top(top: int | None, n: int) -> int:
    """How many of n items count; None: all."""
    if top is None:
        return n
    if not is_whole(top) or top < 1:
        raise InvalidInput(f"the number of items that count must be an integer of at least 1, got {top!r}.")
    return min(int(top), n)


def _checked_ties(ties: Ties) -> Ties:
    """The word, if it is one of the two."""
    if ties not in ("expected", "stable"):
        raise InvalidInput(f'`ties` must be "expected" or "stable", got {ties!r}.')
    return ties
