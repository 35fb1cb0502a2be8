"""Recall for a number of rows that was not measured, from searches among fewer.

Where misses are few they grow by a power of the number of rows; where they are many, recall falls by another, smaller
one. `recall = (1 + z)^(-1/6)` with z a power of the number of rows has both, and log z is a line over its logarithm.
The line is fitted to several sizes, larger ones counting more, and drawn through the largest. Its error has three
parts: queries are a sample (seen by drawing them again), the line may bend (seen by what the two largest sizes, or the
longest step, would say alone), and collections differ in how they go on (a slope a little steeper or flatter). Sizes of
which the candidates are a large part lie below the line and are left out.

For more rows than were searched there is better than that line. The 2 nearest of n rows are about as near as the 10
nearest of 5n: what misses gain where they and their candidates are a fifth as many, from n/5 to n rows, is what they
will gain from n to 5n. Such steps (`Thinned`) tell the slope where there are any.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from flipwise.foundation.arrays import Floats, Ints

DRAWS = 200
"""How often queries are drawn again."""
BEND = 6.0
"""How much more steeply misses grow while they are few: the exponent above."""
LEAST_ROWS = 10
"""Rows for each candidate; smaller sizes are left out, but for the two largest."""
SLOPE = 0.15
"""By how much the slope may differ from the one that was seen."""
COVERED = 0.95
"""The part of these draws that lies in the band."""


class Thinned(NamedTuple):
    """Each query's recall of fewer neighbours by fewer candidates: among all rows, and among as much fewer rows.

    Examples
    --------
    >>> import numpy as np
    >>> Thinned(5.0, whole=np.array([0.5, 1.0]), part=np.array([0.5, 1.0])).times
    5.0
    """

    times: float
    whole: Floats
    part: Floats


def recall_among(
    rows: int, sizes: Ints, recalls: Floats, k: int, candidates: int = 1, thinned: Sequence[Thinned] = ()
) -> tuple[float, float, float]:
    """Recall@k among so many rows, and the ends of its band.

    `recalls` has a row for each size, in rising order, and a column for each query. Sizes below the largest may have
    been measured on several parts, whose mean stands there. So may the parts of what is `thinned`.
    """
    enough = int(np.count_nonzero(sizes >= LEAST_ROWS * candidates))
    sizes, recalls = sizes[-max(2, enough) :], recalls[-max(2, enough) :]
    queries = recalls.shape[1]
    rng = np.random.default_rng(0)
    drawn = rng.multinomial(queries, np.full(queries, 1.0 / queries), size=DRAWS).astype(np.float64)
    least = 0.5 / (k * queries)

    def heights_of(each: Floats) -> Floats:
        """The heights of recalls, a row for the queries as they are and for each draw of them."""
        means = np.concatenate([each.mean(axis=1)[None], drawn @ each.T / queries])
        heights: Floats = np.log(np.expm1(-BEND * np.log(np.clip(means, least, 1.0 - least))))
        return heights

    heights = heights_of(recalls)
    away = np.log(rows / sizes[-1])
    slopes = np.zeros((DRAWS + 1, 2))
    if away > 0.0 and thinned:
        steps = np.log([step.times for step in thinned])
        rises = heights_of(np.array([step.whole for step in thinned]))
        rises -= heights_of(np.array([step.part for step in thinned]))
        longest = steps.argmax()
        slopes = np.stack([rises @ steps / (steps @ steps), rises[:, longest] / steps[longest]], axis=1)
    elif len(sizes) > 1:
        slopes = np.stack([_slopes_of_rows(sizes, heights), _slopes_of_rows(sizes[-2:], heights[:, -2:])], axis=1)
    found, other = (heights[:, -1:] + slopes * away).T
    bent = float(abs(_recall_at(found[:1]) - _recall_at(other[:1]))[0])
    lowest, highest = np.quantile(found, [(1.0 + COVERED) / 2, (1.0 - COVERED) / 2])
    spread = SLOPE * abs(away)
    middle, low, high = _recall_at(np.array([found[0], lowest + spread, highest - spread])).tolist()
    return middle, max(0.0, min(low, middle) - bent), min(1.0, max(high, middle) + bent)


def _slopes_of_rows(sizes: Ints, heights: Floats) -> Floats:
    """The slope of each row of heights over the logarithms of the sizes; larger sizes count more."""
    weight = np.sqrt(sizes / sizes.sum())
    weight /= weight.sum()
    x = np.log(sizes)
    x = x - weight @ x
    slope: Floats = (heights - (heights @ weight)[:, None]) @ (weight * x) / float(weight @ (x * x))
    return slope


def _recall_at(heights: Floats) -> Floats:
    """The recall at points of the line."""
    recall: Floats = np.exp(-np.logaddexp(0.0, heights) / BEND)
    return recall
