"""A part of an index that never changes: codes with their ids, list after list, ids rising within a list."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from flipwise.foundation.errors import InvalidInput
from flipwise.hashing.codes import Bytes, Codes
from flipwise.hashing.scoring import Asked, Scoring
from flipwise.hashing.search import Singles, hamming_search, table_search
from flipwise.kernels.lists import best_in_lists

Ints = npt.NDArray[np.int64]

NOT_FOUND = np.iinfo(np.int64).max


class Found(NamedTuple):
    """What was found: ids, the rows where they are, and scores, best first; a row of each a query."""

    ids: Ints
    places: Ints
    scores: Singles


class Probing(NamedTuple):
    """In which order each query looks at the lists, and at how many it looks in any case."""

    order: Ints
    probes: int


@dataclass(frozen=True, eq=False)
class Segment:
    """Rows of an index. `starts` are those of the lists, and the end; there is one list where there are none."""

    ids: Ints
    codes: Bytes
    weights: Singles | None
    vectors: Singles | None
    starts: Ints

    @classmethod
    def of_rows(
        cls, ids: Ints, codes: Bytes, weights: Singles | None, vectors: Singles | None, of_list: Ints, lists: int
    ) -> Segment:
        """Rows in any order; `of_list` says in which list each is."""
        order = np.lexsort((ids, of_list))
        if np.array_equal(order, np.arange(len(ids))):  # rows that are in order stay where they are
            order = slice(None)  # type: ignore[assignment]
        starts = np.concatenate([[0], np.cumsum(np.bincount(of_list, minlength=lists))]).astype(np.int64)
        return cls(
            ids[order],
            codes[order],
            None if weights is None else weights[order],
            None if vectors is None else vectors[order],
            starts,
        )

    def __len__(self) -> int:
        return len(self.ids)

    @property
    def nbytes(self) -> int:
        """Bytes of all arrays."""
        return sum(a.nbytes for a in (self.ids, self.codes, self.weights, self.vectors, self.starts) if a is not None)

    @property
    def of_list(self) -> Ints:
        """The list of each row."""
        return np.repeat(np.arange(len(self.starts) - 1), np.diff(self.starts))

    def places_of(self, ids: Ints) -> Ints:
        """The row of each id, -1 where it is not here."""
        order, ranked = self._rows_by_id
        if not len(ranked) or not len(ids) or ids.max() < ranked[0] or ids.min() > ranked[-1]:
            return np.full(len(ids), -1, dtype=np.int64)
        at = np.minimum(np.searchsorted(ranked, ids), len(ranked) - 1)
        places = at if order is None else order[at]
        return np.where(ranked[at] == ids, places, -1)

    @cached_property
    def _rows_by_id(self) -> tuple[Ints | None, Ints]:
        """The rows by id, and the ids in this order; no rows where they are in this order anyway."""
        if len(self.starts) == 2:
            return None, self.ids
        order = np.argsort(self.ids, kind="stable")
        return order, self.ids[order]

    def without(self, places: Ints) -> Segment:
        """The same without some rows."""
        kept = np.ones(len(self), dtype=np.bool_)
        kept[places] = False
        return self._rows_taken(np.flatnonzero(kept))

    def _rows_taken(self, rows: Ints) -> Segment:
        return Segment.of_rows(
            self.ids[rows],
            self.codes[rows],
            None if self.weights is None else self.weights[rows],
            None if self.vectors is None else self.vectors[rows],
            self.of_list[rows],
            len(self.starts) - 1,
        )

    def search(self, asked: Asked, signs: Codes | None, probing: Probing | None, scoring: Scoring, k: int) -> Found:
        """The k best rows for each query, by (-score, id); with `signs`, by Hamming distance where all is searched."""
        k = min(k, len(self))
        if probing is None and signs is not None:
            near = hamming_search(signs, Codes(self.codes, signs.n_bits), k)
            scores = (signs.n_bits - 2 * near.values).astype(np.float32)
            return Found(self.ids[near.ids], near.ids, scores)
        scale, shift = scoring.scale_and_shift(self.weights)
        if probing is None:
            best = table_search(asked.tables, asked.offset, scale, shift, self.codes, k)
            _check_found(best.ids, len(self))
            return Found(self.ids[best.ids], best.ids, best.values)
        ids = np.empty((len(asked.tables), k), dtype=np.int64)
        places, scores = np.empty_like(ids), np.empty(ids.shape, dtype=np.float32)
        given = (asked.tables, asked.offset, scale, shift, self.codes, self.ids, self.starts, *probing)
        best_in_lists(*given, ids, places, scores)
        _check_found(ids, NOT_FOUND)
        return Found(ids, places, scores)


def joined(parts: Sequence[Segment]) -> Segment:
    """One segment of several."""
    if len(parts) == 1:
        return parts[0]

    def together(arrays: list[Any]) -> Any:
        return None if arrays[0] is None else np.concatenate(arrays)

    return Segment.of_rows(
        together([part.ids for part in parts]),
        together([part.codes for part in parts]),
        together([part.weights for part in parts]),
        together([part.vectors for part in parts]),
        together([part.of_list for part in parts]),
        len(parts[0].starts) - 1,
    )


def best_of(found: Sequence[Found], k: int) -> Found:
    """The k best of what was found in several segments, by (-score, id); places count through all of them."""
    if len(found) == 1:
        return found[0]
    ids, places, scores = (np.concatenate(parts, axis=1) for parts in zip(*found))
    order = np.lexsort((ids, -scores), axis=1)[:, :k]
    return Found(*(np.take_along_axis(array, order, axis=1) for array in (ids, places, scores)))


def _check_found(ids: Ints, missing: int) -> None:
    """Raise where items were not found though there are enough: their scores are no numbers."""
    if (ids == missing).any():
        raise InvalidInput("scores are not finite: the queries are too large, or the index is damaged.")
