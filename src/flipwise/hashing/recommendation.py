"""How many bits, and how much oversampling, a target recall needs on the user's own vectors."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from flipwise.engine.limits import Clock, Limits
from flipwise.foundation.arrays import Floats, Ints
from flipwise.foundation.checks import check_whole
from flipwise.foundation.errors import InvalidInput
from flipwise.foundation.interrupts import guarded_interrupts
from flipwise.hashing.codes import Bytes, Codes
from flipwise.hashing.estimators.additive import AdditiveQuantizer
from flipwise.hashing.estimators.base import as_rng, validation_fit
from flipwise.hashing.estimators.itq import ITQ
from flipwise.hashing.extrapolation import Thinned, recall_among
from flipwise.hashing.scoring import Scoring
from flipwise.hashing.search import exact_search, hamming_search, table_search

HALVINGS = 3
"""How often the rows that are searched are halved."""
SMALLEST = 500
"""Rows that the smallest part has at least, if there are so many."""
ALSO_ASKED = 3
"""For each query so many of the rows that are learned from are queries, too: only what is searched must be unseen."""
THINNED = (2, 5, 10)
"""How many times fewer neighbours stand for those among as many times more rows."""
FEWEST = 25
"""Queries that are asked however short the time is."""
PRODUCT, LOOKUP = 3e-11, 4e-9
"""About the seconds that a search takes for each row, and each number of it or each byte of its code."""


@dataclass(frozen=True)
class Measured:
    """Recall of one setting: `oversampling * k` candidates by codes of `n_bits`, re-ranked by the original vectors.

    `recall` is for the rows that the recommendation speaks of; `low` and `high` are what other queries, and a line that
    goes on a little differently, would give. `searched` has pairs of rows and recall that were measured.

    Examples
    --------
    >>> from flipwise.hashing import Measured
    >>> Measured(64, 4, "hamming", recall=0.93, low=0.91, high=0.95, bytes_per_item=8, searched=((500, 0.94),)).recall
    0.93
    """

    n_bits: int
    oversampling: int
    scoring: str
    recall: float
    low: float
    high: float
    bytes_per_item: int
    searched: tuple[tuple[int, float], ...]


@dataclass(frozen=True)
class Recommendation:
    """The cheapest setting that reaches the target (None when none does), and everything that was measured.

    It speaks of a search among `rows` vectors; the estimator learned from `learned` of the `given` ones and was
    measured on others.

    Examples
    --------
    >>> from flipwise.hashing import Measured, Recommendation
    >>> searched = ((5000, 0.96), (10000, 0.95))
    >>> enough = Measured(64, 4, "asymmetric", 0.93, low=0.91, high=0.95, bytes_per_item=8, searched=searched)
    >>> print(Recommendation(enough, (enough,), k=10, target=0.9, rows=50_000, learned=10_000, given=50_000))
    recall@10 among 50,000 rows, target 0.9
     bits  oversampling  scoring     recall            band  bytes
       64             4  asymmetric  0.9300  0.9100-0.9500      8 <- recommended
    Extrapolated from searches among 5,000 and 10,000 rows; the estimator had learned from 10,000 others.
    """

    chosen: Measured | None
    measured: tuple[Measured, ...]
    k: int
    target: float
    rows: int
    learned: int
    given: int

    def __str__(self) -> str:
        head = f"recall@{self.k} among {self.rows:,} rows, target {self.target:g}"
        lines = [head, " bits  oversampling  scoring     recall            band  bytes"]
        for m in self.measured:
            mark = " <- recommended" if m == self.chosen else ""
            lines.append(
                f"{m.n_bits:5d}  {m.oversampling:12d}  {m.scoring:10s}  {m.recall:.4f}  {m.low:.4f}-{m.high:.4f}"
                f"  {m.bytes_per_item:5d}{mark}"
            )
        sizes = [f"{n:,}" for n, _ in self.measured[0].searched]
        among = sizes[0] if len(sizes) == 1 else f"{', '.join(sizes[:-1])} and {sizes[-1]}"
        lines.append(
            f"Extrapolated from searches among {among} rows; the estimator had learned from {self.learned:,} others."
        )
        return "\n".join(lines)


def recommend(
    X: npt.ArrayLike,
    *,
    target: float = 0.95,
    k: int = 10,
    rows: int | None = None,
    bits: Sequence[int] = (64, 128, 256, 512),
    oversampling: Sequence[int] = (1, 2, 4, 10, 20, 50),
    scoring: Literal["asymmetric", "hamming"] = "asymmetric",
    estimator: Any = None,
    max_rows: int = 20_000,
    queries: int = 1000,
    random_state: Any = None,
    time_limit: float | None = None,
) -> Recommendation:
    """Estimate recall@k among so many rows for each number of bits and oversampling factor, and say what is enough.

    Rows are compared by cosine. Some rows of X are queries, some are learned from, and others are searched: all,
    halves, quarters and eighths of them, and for fewer than k neighbours parts in which these are as dense as k are in
    all rows. Recall falls as a collection grows, so what these searches show is extrapolated to `rows`, with a band.
    The cheapest setting is the one with the fewest bits that reaches the target, and of these the one with the least
    oversampling. Ctrl-C returns what has been measured so far.

    Parameters
    ----------
    X
        Embeddings, a row an item; at least some thousands. May be memory-mapped: only what is drawn is read.
    target
        The recall to reach after re-ranking.
    k
        Neighbours that count.
    rows
        The rows of the collection that will be searched; by default those of X.
    bits, oversampling
        What is tried. An `AdditiveQuantizer` takes bits by the eight.
    scoring
        "asymmetric" scores codes against float queries, "hamming" by the distance of codes.
    estimator
        What makes the codes: an unsupervised estimator, or an `AdditiveQuantizer`; `ITQ(whitening="auto")` by default.
    max_rows
        Rows that are learned from, and as many that are searched, at most.
    queries
        Rows used as queries, at most a quarter of X; three times as many of those learned from are queries, too. Fewer
        where `time_limit` is too short for so many.
    random_state
        Seed.
    time_limit
        Seconds; no more lengths are tried once they are over, or would be.

    Examples
    --------
    >>> import numpy as np
    >>> from flipwise.hashing import ITQ, recommend
    >>> X = np.random.default_rng(0).standard_normal((600, 16))
    >>> found = recommend(X, target=0.8, bits=(16, 32), oversampling=(1, 20), estimator=ITQ(), random_state=0)
    >>> found.chosen.n_bits in (16, 32)
    True
    """
    Limits(time_limit=time_limit)
    clock = Clock(time_limit)
    vectors = X if isinstance(X, np.ndarray) else np.asarray(X)
    estimator = ITQ(whitening="auto") if estimator is None else estimator
    _check_arguments(vectors, target, k, rows, bits, scoring, estimator)
    check_whole("max_rows", max_rows, 2)
    check_whole("queries", queries, 1)
    given = len(vectors)
    rows_each = min(max_rows, given // 2)
    most = (1 + ALSO_ASKED) * queries
    most = _affordable_queries(most, time_limit, rows_each, vectors.shape[1], min(bits, default=8))
    held = min(queries, most, given // 4)
    each = min(max_rows, (given - held) // 2)
    drawn = as_rng(random_state).permutation(given)[: held + 2 * each]
    asked, learned, database = np.split(_unit_rows(vectors, drawn), [held, held + each])
    rows = given if rows is None else int(rows)
    asked = np.concatenate([asked, learned[: min(ALSO_ASKED * held, most - held)]])
    parts = _RowParts(asked, database, k, rows > len(database))
    measured: list[Measured] = []
    lengths = sorted(bits)
    with guarded_interrupts() as interrupts:
        try:
            with interrupts.raised_here():
                for n_bits, after in zip(lengths, [*lengths[1:], math.inf], strict=True):
                    began = clock.seconds
                    size = {"n_bytes": n_bits // 8} if isinstance(estimator, AdditiveQuantizer) else {"n_bits": n_bits}
                    model = validation_fit(estimator, learned, None, clock, **size)
                    search = Searches(Scoring(model), asked, database, scoring)
                    for factor, recalls, thinned in parts.recalls(search, sorted(oversampling)):
                        middle, low, high = recall_among(rows, parts.sizes, recalls, k, factor * k, thinned)
                        pairs = tuple(zip(parts.sizes.tolist(), recalls.mean(axis=1).tolist()))
                        measured.append(Measured(n_bits, factor, scoring, middle, low, high, search.bytes, pairs))
                    if (clock.seconds - began) * after / n_bits > clock.seconds_left:
                        break
        except KeyboardInterrupt:
            if not measured:
                raise
        good = [m for m in measured if m.recall >= target]
        best = min(good, key=lambda m: (m.n_bits, m.oversampling)) if good else None
        return Recommendation(best, tuple(measured), k, target, rows, each, given)


def _affordable_queries(queries: int, time_limit: float | None, rows: int, dimension: int, n_bits: int) -> int:
    """As many queries as the shortest codes can be searched for in a third of the time, and a few in any case."""
    if time_limit is None:
        return queries
    each = (HALVINGS + 1 + len(THINNED)) * rows * (PRODUCT * dimension + LOOKUP * n_bits / 8)
    return min(queries, max(FEWEST, int(time_limit / 3.0 / each)))


def _check_arguments(
    vectors: Any, target: Any, k: Any, rows: Any, bits: Sequence[int], scoring: Any, estimator: Any
) -> None:  # fmt: skip
    """Refuse what cannot be measured."""
    check_whole("k", k, 1)
    check_whole("rows", rows, k, optional=True)
    if vectors.ndim != 2 or len(vectors) < 4 * k + 4:
        raise InvalidInput(f"`X` must be a matrix with at least {4 * k + 4} rows, got shape {vectors.shape}.")
    if not 0 < target <= 1:
        raise InvalidInput(f"`target` must be above 0 and at most 1, got {target!r}.")
    additive = isinstance(estimator, AdditiveQuantizer)
    if scoring not in ("asymmetric", "hamming") or (scoring == "hamming" and additive):
        options = '"asymmetric" for an AdditiveQuantizer' if additive else '"asymmetric" or "hamming"'
        raise InvalidInput(f"`scoring` must be {options}, got {scoring!r}.")
    wrong = [n for n in bits if additive and n % 8]
    if wrong:
        raise InvalidInput(f"`bits` must be multiples of 8 for an AdditiveQuantizer, got {wrong[0]}.")


def _unit_rows(vectors: Any, drawn: Ints) -> npt.NDArray[np.float32]:
    """These rows, of unit length; a file is read in its own order."""
    order = np.argsort(drawn)
    rows = np.empty((len(drawn), vectors.shape[1]), dtype=np.float32)
    rows[order] = vectors[drawn[order]]
    if not np.isfinite(rows).all():
        raise InvalidInput("`X` must be finite.")
    rows /= np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), np.float32(1e-30))
    return rows


class Searches:
    """Searches by codes among parts of the rows."""

    def __init__(self, scored: Scoring, asked: Any, database: Any, scoring: str) -> None:
        self.scored = scored
        self.codes: Bytes = scored.encode(database)
        self.weights = scored.weights(self.codes)
        self.asked = scored.asked(asked)
        self.signs = Codes(scored.encode(asked), scored.n_bits or 1) if scoring == "hamming" else None
        self.bytes = scored.width + (4 if scored.weighted else 0)

    def nearest(self, part: slice, most: int) -> Ints:
        """The nearest codes of each query among these rows, nearest first, `most` where there are so many."""
        codes = self.codes[part]
        if self.signs is not None:
            return hamming_search(self.signs, Codes(codes, self.signs.n_bits), min(most, len(codes))).ids
        scale, shift = self.scored.scale_and_shift(None if self.weights is None else self.weights[part])
        return table_search(self.asked.tables, self.asked.offset, scale, shift, codes, min(most, len(codes))).ids


class _RowParts:
    """Parts of the rows, with their true neighbours: all, halves, quarters and eighths, smallest first.

    Where recall is wanted `beyond` them there are `thin` ones too: in parts of a k-th of the rows one neighbour is as
    dense as k are in all rows, and so on.
    """

    def __init__(self, asked: Any, database: Any, k: int, beyond: bool) -> None:
        n = len(database)
        counts = [2**h for h in range(HALVINGS, -1, -1) if h == 0 or n // 2**h >= SMALLEST]
        self.k = k
        self.sizes = np.array([n // count for count in counts])
        self.halves = [[slice(at * (n // c), (at + 1) * (n // c)) for at in range(c)] for c in counts]
        self.fewer = sorted({max(1, round(k / times)) for times in THINNED} - {k}) if beyond else []
        self.thin = [
            [slice(at * n * few // k, (at + 1) * n * few // k) for at in range(k // few)] for few in self.fewer
        ]

        def truths(parts: Sequence[slice], near: int) -> list[Ints]:
            return [exact_search(asked, database[part], near).ids for part in parts]

        self.truths = [truths(halves, k) for halves in self.halves]
        self.thin_truths = [truths(thin, few) for few, thin in zip(self.fewer, self.thin, strict=True)]

    def recalls(self, search: Searches, factors: Sequence[int]) -> Iterator[tuple[int, Floats, list[Thinned]]]:
        """For each factor of oversampling each query's recall for each size, and what the thin parts tell."""

        def places(parts: Sequence[slice], truths: Sequence[Ints], near: int) -> list[Ints]:
            found = [search.nearest(part, near * max(factors)) for part in parts]
            return [places_of_neighbours(*pair) for pair in zip(truths, found, strict=True)]

        of_halves = [places(*pair, self.k) for pair in zip(self.halves, self.truths, strict=True)]
        of_thin = [places(*each) for each in zip(self.thin, self.thin_truths, self.fewer, strict=True)]
        for factor in factors:
            thinned = []
            for few, of_parts in zip(self.fewer, of_thin, strict=True):
                whole = recalls_of_queries([[of_halves[-1][0][:, :few]]], factor * few)[0]
                thinned.append(Thinned(self.k / few, whole, recalls_of_queries([of_parts], factor * few)[0]))
            yield factor, recalls_of_queries(of_halves, factor * self.k), thinned


def places_of_neighbours(truth: Ints, ids: Ints) -> Ints:
    """For each query where each of its true neighbours stands among its candidates; their number where it does not."""
    places = np.full(truth.shape, ids.shape[1], dtype=np.int64)
    for column, neighbours in enumerate(truth.T):
        query, at = np.nonzero(ids == neighbours[:, None])
        places[query, column] = at
    return places


def recalls_of_queries(places: Sequence[Sequence[Ints]], wanted: int) -> Floats:
    """The share of each query's true neighbours among its first candidates: re-ranking keeps all that are there.

    A row for each size, a column a query: the mean over the parts of that size.
    """
    return np.array([np.mean([(each < wanted).mean(axis=1) for each in parts], axis=0) for parts in places])
