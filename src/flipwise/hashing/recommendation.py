"""How many bits, and how much oversampling, a target recall needs on the user's own vectors."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from flipwise.engine.limits import Clock, Limits
from flipwise.foundation.arrays import Floats
from flipwise.foundation.errors import InvalidInput
from flipwise.foundation.interrupts import guarded_interrupts
from flipwise.hashing.codes import Codes
from flipwise.hashing.estimators.base import as_rng, validation_fit
from flipwise.hashing.estimators.itq import ITQ
from flipwise.hashing.metrics import neighbour_recall
from flipwise.hashing.search import Neighbours, asymmetric_search, exact_search, hamming_search, rerank


@dataclass(frozen=True)
class Measured:
    """Recall of one setting: `oversampling * k` candidates by codes of `n_bits`, re-ranked by the original vectors.

    Examples
    --------
    >>> from flipwise.hashing import Measured
    >>> Measured(n_bits=64, oversampling=4, scoring="hamming", recall=0.93, bytes_per_item=8).recall
    0.93
    """

    n_bits: int
    oversampling: int
    scoring: str
    recall: float
    bytes_per_item: int


@dataclass(frozen=True)
class Recommendation:
    """The cheapest setting that reached the target (None when none did), and everything that was measured.

    It speaks of a search among `rows` vectors, a sample of those `given` where these are more. Recall falls as a
    collection grows: a larger one needs more bits or more oversampling.

    Examples
    --------
    >>> from flipwise.hashing import Measured, Recommendation
    >>> enough = Measured(n_bits=64, oversampling=4, scoring="hamming", recall=0.93, bytes_per_item=8)
    >>> print(Recommendation(enough, (enough,), k=10, target=0.9, rows=19_500, given=50_000))
    recall@10 among 19,500 rows, target 0.9
     bits  oversampling  scoring     recall  bytes
       64             4  hamming     0.9300      8 <- recommended
    This holds for 19,500 rows, a sample of the 50,000 given; among more rows recall is lower.
    """

    chosen: Measured | None
    measured: tuple[Measured, ...]
    k: int
    target: float
    rows: int
    given: int

    def __str__(self) -> str:
        head = f"recall@{self.k} among {self.rows:,} rows, target {self.target:g}"
        lines = [head, " bits  oversampling  scoring     recall  bytes"]
        for m in self.measured:
            mark = " <- recommended" if m == self.chosen else ""
            lines.append(
                f"{m.n_bits:5d}  {m.oversampling:12d}  {m.scoring:10s}  {m.recall:.4f}  {m.bytes_per_item:5d}{mark}"
            )
        sample = f", a sample of the {self.given:,} given" if self.rows < self.given else ""
        lines.append(f"This holds for {self.rows:,} rows{sample}; among more rows recall is lower.")
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
    time_limit: float | None = None,
) -> Recommendation:
    """Measure recall@k on held-out rows of X for each number of bits and oversampling factor.

    Rows are compared by cosine. The cheapest setting is the one with the fewest bits that reaches the target, and of
    these the one with the least oversampling. Ctrl-C returns what has been measured so far.

    What is measured holds for a search among as many rows as were searched, `rows` of the answer: at most `max_rows`,
    without the queries. Recall falls as a collection grows, so a larger one needs more bits or more oversampling.

    Parameters
    ----------
    X
        Embeddings, a row an item. At most `max_rows` of them, drawn at random, are used.
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
        Held-out rows used as queries, at most a quarter of those used.
    random_state
        Seed.
    time_limit
        Seconds; no more lengths are tried once they are over.

    Examples
    --------
    >>> import numpy as np
    >>> from flipwise.hashing import recommend
    >>> X = np.random.default_rng(0).standard_normal((600, 16))
    >>> found = recommend(X, target=0.8, bits=(16, 32), oversampling=(1, 10), queries=50, random_state=0)
    >>> found.chosen.n_bits in (16, 32)
    True
    """
    Limits(time_limit=time_limit)
    clock = Clock(time_limit)
    vectors = np.asarray(X)
    if vectors.ndim != 2 or len(vectors) < 2 * k + 2:
        raise InvalidInput(f"`X` must be a matrix with at least {2 * k + 2} rows, got shape {vectors.shape}.")
    if not 0 < target <= 1:
        raise InvalidInput(f"`target` must be above 0 and at most 1, got {target!r}.")
    rng = as_rng(random_state)
    given = len(vectors)
    vectors = vectors[rng.permutation(given)[:max_rows]].astype(np.float64)
    if not np.isfinite(vectors).all():
        raise InvalidInput("`X` must be finite.")
    vectors /= np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-300)
    held = min(queries, len(vectors) // 4)
    asked, database = vectors[:held], vectors[held:]
    truth = exact_search(asked, database, k).ids
    measured: list[Measured] = []
    with guarded_interrupts() as interrupts:
        try:
            with interrupts.raised_here():
                for n_bits in sorted(bits):
                    chosen = ITQ() if estimator is None else estimator
                    model = validation_fit(chosen, database, None, clock, n_bits=n_bits)
                    codes, real = model.encode(database), model.decision_function(asked)
                    for factor in sorted(oversampling):
                        wanted = min(factor * k, len(database))
                        near = _candidates(real, codes, wanted, asymmetric)
                        recall = neighbour_recall(rerank(asked, database, near, k).ids, truth)
                        scoring = "asymmetric" if asymmetric else "hamming"
                        measured.append(Measured(n_bits, factor, scoring, recall, codes.packed.shape[1]))
                    if clock.expired:
                        break
        except KeyboardInterrupt:
            if not measured:
                raise
        good = [m for m in measured if m.recall >= target]
        best = min(good, key=lambda m: (m.n_bits, m.oversampling)) if good else None
        return Recommendation(best, tuple(measured), k, target, len(database), given)


def _candidates(values: Floats, codes: Codes, wanted: int, asymmetric: bool) -> Neighbours:
    """The nearest codes of queries with these values, by the values themselves or by their signs."""
    if asymmetric:
        return asymmetric_search(values, codes, wanted)
    return hamming_search(Codes.from_signs(values), codes, wanted)
