"""An index that one can keep: codes of a fitted estimator with ids, added to, removed from, searched, saved, opened.

Rows are held in segments that never change. A search takes the tuple of segments as it is and needs no lock; whoever
adds or removes puts another tuple in its place. Segments of similar size are joined, so that there are few.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from flipwise.foundation.checks import check_whole
from flipwise.foundation.errors import InvalidInput
from flipwise.foundation.numbers import as_floats
from flipwise.hashing.additive import Rows, clusters
from flipwise.hashing.codes import Codes
from flipwise.hashing.scoring import METRICS, Scoring
from flipwise.hashing.search import Neighbours, checked_k, rerank
from flipwise.hashing.segment import Found, Ints, Probing, Segment, best_of, joined

ROWS = 1 << 16
"""Rows that are encoded together."""
TABLE_ENTRIES = 1 << 24
"""Entries of the tables of queries that are answered together."""
ROWS_A_LIST = 64
"""Rows for each list from which the centres of lists are learned, at most."""


class Index:
    """Codes of a fitted estimator with an id each: add, remove, search, save, and open without reading it all.

    Searches may run while other threads add and remove: each sees the rows that were there when it began. Removing and
    joining copy what they touch; an opened index reads from its file until then.

    Parameters
    ----------
    model
        A fitted estimator: `AdditiveQuantizer`, `ITQ`, or any other of `flipwise.hashing`.
    lists
        With a number, rows are put into so many lists by the nearest of as many centres, and a search looks at a few of
        them only: about 1,000 for a million rows, 4,000 for ten million. The centres are learned from the first rows
        that are added, so add many rows at once, in no particular order. Without, every code is looked at.
    keep_vectors
        Keep the float vectors (single precision) beside the codes, so that a search can re-rank by them.
    metric
        What lists and re-ranking go by: "cosine", "inner" or "euclidean"; the default is what the model says.
    random_state
        Seed of the centres of lists.

    Examples
    --------
    >>> import numpy as np
    >>> from flipwise.hashing import ITQ, Index
    >>> X = np.random.default_rng(0).standard_normal((200, 16))
    >>> index = Index(ITQ(n_bits=32, random_state=0).fit(X), keep_vectors=True)
    >>> index.add(X).tolist()[:3], len(index)
    ([0, 1, 2], 200)
    >>> index.search(X[:3], k=1, rerank=20).ids.ravel().tolist()
    [0, 1, 2]
    >>> index.remove([1])
    >>> index.search(X[1:2], k=1, rerank=20).ids[0, 0] == 1
    np.False_
    """

    def __init__(
        self,
        model: Any,
        *,
        lists: int | None = None,
        keep_vectors: bool = False,
        metric: Literal["cosine", "inner", "euclidean"] | None = None,
        random_state: Any = None,
    ) -> None:
        self._scoring = Scoring(model)
        check_whole("lists", lists, 2, optional=True)
        self.metric = self._scoring.metric if metric is None else metric
        if self.metric not in METRICS:
            raise InvalidInput(f"`metric` must be one of {', '.join(METRICS)}, got {metric!r}.")
        self.lists = None if lists is None else int(lists)
        self.keep_vectors = bool(keep_vectors)
        self._seed = random_state
        self._centres: Rows | None = None
        self._segments: tuple[Segment, ...] = ()
        self._next = 0
        self._lock = threading.RLock()

    @property
    def model(self) -> Any:
        """The estimator that makes the codes."""
        return self._scoring.model

    @property
    def ids(self) -> Ints:
        """All ids, in order."""
        segments = self._segments
        return np.sort(np.concatenate([s.ids for s in segments])) if segments else np.empty(0, dtype=np.int64)

    @property
    def nbytes(self) -> int:
        """Bytes of codes, ids, weights, vectors and lists, in memory or in the file."""
        centres = 0 if self._centres is None else self._centres.nbytes
        return centres + sum(segment.nbytes for segment in self._segments)

    def __len__(self) -> int:
        return sum(map(len, self._segments))

    def __contains__(self, id: object) -> bool:
        wanted = np.array([id], dtype=np.int64)
        return any(segment.places_of(wanted)[0] >= 0 for segment in self._segments)

    def __repr__(self) -> str:
        lists = "" if self.lists is None else f", lists={self.lists}"
        return f"Index({type(self.model).__name__}, n={len(self):,}{lists}, metric={self.metric!r})"

    def add(self, X: npt.ArrayLike, ids: npt.ArrayLike | None = None) -> Ints:
        """Add rows under these ids, which must be new; without, under the next free ones. Returns the ids.

        X may be memory-mapped: it is read in blocks.
        """
        rows = self._checked_rows("X", X)
        names = None if ids is None else _checked_ids(ids, len(rows))
        if not len(rows):
            return np.empty(0, dtype=np.int64)
        if names is not None:
            self._refuse_known(names)  # before the work, and again where it counts
        centres = self._learned_centres(rows)
        made = [self._encode_rows(rows[start : start + ROWS], centres) for start in range(0, len(rows), ROWS)]
        codes, weights, vectors, of_list = (_joined_blocks(part) for part in zip(*made))
        with self._lock:
            if names is None:
                names = np.arange(self._next, self._next + len(rows))
            else:
                self._refuse_known(names)
            new = Segment.of_rows(names, codes, weights, vectors, of_list, self.lists or 1)
            self._next = max(self._next, int(names.max()) + 1)
            segments = [*self._segments, new]
            while len(segments) > 1 and len(segments[-2]) <= 2 * len(segments[-1]):
                segments[-2:] = [joined(segments[-2:])]
            self._segments = tuple(segments)
        return names

    def remove(self, ids: npt.ArrayLike) -> None:
        """Remove the rows with these ids; nothing is removed when one is not there."""
        names = _checked_ids(ids, None)
        with self._lock:
            found = [segment.places_of(names) for segment in self._segments]
            known = np.any([places >= 0 for places in found], axis=0) if found else np.zeros(len(names), np.bool_)
            if not np.all(known):
                raise InvalidInput(f"`ids` must be in the index, {names[~known][0]} is not. Nothing was removed.")
            left = [
                segment.without(places[places >= 0]) if (places >= 0).any() else segment
                for segment, places in zip(self._segments, found)
            ]
            self._segments = tuple(segment for segment in left if len(segment))

    def search(
        self,
        queries: npt.ArrayLike,
        k: int = 10,
        *,
        scoring: Literal["asymmetric", "hamming"] = "asymmetric",
        rerank: int | None = None,
        probes: int | None = None,
    ) -> Neighbours:
        """The k best rows for each query.

        Parameters
        ----------
        queries
            Float vectors, a row a query.
        k
            Neighbours for each query.
        scoring
            "asymmetric" scores codes against the float queries, as the model's own search does; "hamming" ranks by the
            distance of codes, for models that make bits: through faiss where it is installed and there are no lists.
        rerank
            So many candidates are ranked anew by their vectors, which `keep_vectors` must have kept.
        probes
            Lists that are looked at, the nearest ones: more find more and take longer. The square root of their number
            by default. Where these hold fewer than `k` rows, further lists are.

        Returns
        -------
        Neighbours
            `ids` and `values`: scores, largest first, or Hamming distances; re-ranked, the cosine, the inner product or
            minus the squared distance. Ties go by id.
        """
        segments, centres = self._segments, self._centres
        k = checked_k(k, sum(map(len, segments)))
        if scoring not in ("asymmetric", "hamming") or (scoring == "hamming" and self._scoring.n_bits is None):
            options = '"asymmetric"' if self._scoring.n_bits is None else '"asymmetric" or "hamming"'
            raise InvalidInput(f"`scoring` must be {options} for {type(self.model).__name__}, got {scoring!r}.")
        check_whole("rerank", rerank, k, optional=True)
        check_whole("probes", probes, 1, optional=True)
        if rerank is not None and not self.keep_vectors:
            raise InvalidInput("`rerank` needs the vectors: make the index with keep_vectors=True.")
        Q = self._checked_rows("queries", queries)
        if not len(Q):
            return Neighbours(np.empty((0, k), dtype=np.int64), np.empty((0, k), dtype=np.float32))
        step = max(1, TABLE_ENTRIES // (256 * self._scoring.width))
        blocks = [
            self._search_segments(Q[start : start + step], segments, centres, k, scoring == "hamming", rerank, probes)
            for start in range(0, len(Q), step)
        ]
        return Neighbours(np.concatenate([b.ids for b in blocks]), np.concatenate([b.values for b in blocks]))

    def save(self, path: str | Path) -> None:
        """Write everything, the model included, to a file that appears when it is complete; `Index.open` reads it."""
        from flipwise.hashing.index_file import write_index

        with self._lock:
            if len(self._segments) > 1:
                self._segments = (joined(self._segments),)
            segment = self._segments[0] if self._segments else None
            about = {"metric": self.metric, "lists": self.lists, "keep_vectors": self.keep_vectors, "next": self._next}
            centres = self._centres
        write_index(Path(path), self.model, about, centres, segment)

    @classmethod
    def open(cls, path: str | Path, *, verify: bool = False) -> Index:
        """The index in a file, memory-mapped: what is not searched is not read.

        Sizes and the head of the file are always checked; `verify=True` reads everything and compares checksums.

        Examples
        --------
        >>> import os, tempfile, numpy as np
        >>> from flipwise.hashing import ITQ, Index
        >>> X = np.random.default_rng(0).standard_normal((200, 16))
        >>> index = Index(ITQ(n_bits=32, random_state=0).fit(X))
        >>> path = os.path.join(tempfile.mkdtemp(), "vectors.index")
        >>> _ = index.add(X)
        >>> index.save(path)
        >>> len(Index.open(path))
        200
        """
        from flipwise.hashing.index_file import read_index

        model, about, centres, segment = read_index(Path(path), verify)
        index = cls(model, lists=about["lists"], keep_vectors=about["keep_vectors"], metric=about["metric"])
        index._centres, index._next = centres, about["next"]
        index._segments = () if segment is None else (segment,)
        return index

    # --- parts -------------------------------------------------------------------------------------------------------

    def _search_segments(
        self, Q: Any, segments: Sequence[Segment], centres: Rows | None, k: int, by_signs: bool, rerank: int | None,
        probes: int | None,
    ) -> Neighbours:  # fmt: skip
        """The answers to a block of queries, in these segments."""
        _refuse_sizes("queries", Q)
        probing = None if centres is None else self._lists_to_probe(Q, centres, probes)
        signs = Codes(self._scoring.encode(Q), self._scoring.n_bits or 1) if by_signs else None
        asked = self._scoring.asked(Q) if signs is None else self._scoring.asked_signs(signs)
        wanted = k if rerank is None else min(rerank, sum(map(len, segments)))
        parts, before = [], 0
        for segment in segments:
            found = segment.search(asked, signs, probing, self._scoring, wanted)
            parts.append(found._replace(places=found.places + before))
            before += len(segment)
        best = best_of(parts, wanted)
        if rerank is not None:
            return self._rerank(Q, best, segments, k)
        if signs is not None:
            return Neighbours(best.ids, ((signs.n_bits - best.scores) / 2).astype(np.int32))
        return Neighbours(best.ids, best.scores + asked.added[:, None])

    def _checked_rows(self, name: str, X: npt.ArrayLike) -> Any:
        """Rows of numbers with as many features as the model has, left as they are where they are an array."""
        array = X if isinstance(X, np.ndarray) else as_floats(name, X)
        if array.ndim != 2 or array.shape[1] != self._scoring.n_features or array.dtype.kind not in "fiu":
            raise InvalidInput(
                f"`{name}` must be a matrix of numbers with {self._scoring.n_features} columns, "
                f"got {array.dtype} of shape {array.shape}."
            )
        return array

    def _refuse_known(self, names: Ints) -> None:
        """Raise when one of the ids is there already."""
        for segment in self._segments:
            known = segment.places_of(names) >= 0
            if known.any():
                raise InvalidInput(f"`ids` must be new, {names[known][0]} is in the index. Nothing was added.")

    def _rows_for_lists(self, X: Any) -> Rows:
        """Rows as lists compare them."""
        rows: Rows = np.ascontiguousarray(X, dtype=np.float32)
        return _unit_rows(rows) if self.metric == "cosine" else rows

    def _learned_centres(self, X: Any) -> Rows | None:
        """The centres of the lists, learned from rows where there are none yet."""
        if self.lists is None:
            return None
        with self._lock:
            if self._centres is None:
                if len(X) < 2 * self.lists:
                    raise InvalidInput(
                        f"`X` must have at least {2 * self.lists:,} rows where the first are added to an index of "
                        f"{self.lists:,} lists, got {len(X):,}: add more at once, or make fewer lists."
                    )
                from flipwise.hashing.estimators.base import as_rng

                rng = as_rng(self._seed)
                drawn = np.sort(rng.choice(len(X), min(len(X), ROWS_A_LIST * self.lists), replace=False))
                _refuse_sizes("X", X[drawn])
                sample = self._rows_for_lists(X[drawn])
                self._centres = np.ascontiguousarray(clusters(sample, self.lists, rng), dtype=np.float32)
            return self._centres

    def _encode_rows(self, X: Any, centres: Rows | None) -> tuple[Any, ...]:
        """Codes, weights, vectors and lists of some rows."""
        _refuse_sizes("X", X)
        codes = self._scoring.encode(X)
        vectors = np.array(X, dtype=np.float32) if self.keep_vectors else None
        of_list = np.zeros(len(X), dtype=np.int64)
        if centres is not None:
            nearness = self._nearness_to_centres(self._rows_for_lists(X), centres, for_queries=False)
            of_list = nearness.argmax(axis=1)
        return codes, self._scoring.weights(codes), vectors, of_list

    def _nearness_to_centres(self, rows: Rows, centres: Rows, for_queries: bool) -> Rows:
        """How near each row is to each centre; queries of inner products ask for the largest of these."""
        nearness: Rows = rows @ centres.T
        if not (for_queries and self.metric == "inner"):
            nearness -= 0.5 * np.einsum("ij,ij->i", centres, centres)
        return nearness

    def _lists_to_probe(self, Q: Any, centres: Rows, probes: int | None) -> Probing:
        """The lists in the order in which each query looks at them."""
        count = len(centres)
        nearness = self._nearness_to_centres(self._rows_for_lists(Q), centres, for_queries=True)
        least = round(count**0.5) if probes is None else min(probes, count)
        return Probing(np.argsort(-nearness, axis=1, kind="stable"), least)

    def _rerank(self, Q: Any, best: Found, segments: Sequence[Segment], k: int) -> Neighbours:
        """The k best of these by their vectors."""
        wanted = np.unique(best.ids)  # in the order of ids, by which ties go
        numbers = np.searchsorted(wanted, best.ids)
        places = np.empty(len(wanted), dtype=np.int64)
        places[numbers] = best.places
        vectors = np.empty((len(wanted), self._scoring.n_features), dtype=np.float32)
        before = 0
        for segment in segments:
            here = (places >= before) & (places < before + len(segment))
            assert segment.vectors is not None
            vectors[here] = segment.vectors[places[here] - before]
            before += len(segment)
        asked, candidates = np.asarray(Q, dtype=np.float64), vectors
        if self.metric == "cosine":
            asked, candidates = _unit_rows(asked), _unit_rows(vectors)
        order = rerank(asked, candidates, numbers, k, metric="euclidean" if self.metric == "euclidean" else "inner")
        return Neighbours(wanted[order.ids], order.values)


def _refuse_sizes(name: str, X: Any) -> None:
    """Raise unless the numbers are finite and of a size with which one can reckon, as the estimators say."""
    from flipwise.hashing.estimators.base import LARGEST

    if not max(float(X.max()), -float(X.min())) <= LARGEST:  # NaN is not, either
        raise InvalidInput(f"`{name}` must be finite, and its numbers at most {LARGEST:.0e} in size.")


def _unit_rows(X: Any) -> Any:
    """Rows of unit length."""
    return X / np.maximum(np.linalg.norm(X, axis=1, keepdims=True), X.dtype.type(1e-30))


def _joined_blocks(parts: Sequence[Any]) -> Any:
    """The arrays of all blocks as one, where there are any."""
    return None if parts[0] is None else np.concatenate(parts)


def _checked_ids(ids: npt.ArrayLike, count: int | None) -> Ints:
    """Ids as 64-bit integers of at least 0, no two alike."""
    array = np.asarray(ids)
    if array.ndim != 1 or (array.size and array.dtype.kind not in "iu") or (count is not None and len(array) != count):
        of = "" if count is None else f", one for each of the {count:,} rows"
        raise InvalidInput(f"`ids` must be a list of integers{of}, got {array.dtype} of shape {array.shape}.")
    if array.size and (array.min() < 0 or array.max() >= np.iinfo(np.int64).max):
        raise InvalidInput(f"`ids` must be from 0 to 2^63 - 2, got {array.min()} to {array.max()}.")
    names: Ints = array.astype(np.int64)
    if len(np.unique(names)) < len(names):
        raise InvalidInput("`ids` must not hold an id twice.")
    return names
