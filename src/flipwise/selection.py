"""The largest entries of a vector in O(n), with ties decided by index."""

from __future__ import annotations

import numpy as np

from flipwise.arrays import Floats, Ints


def largest(scores: Floats, count: int) -> Ints:
    """The indices of the `count` largest entries, ascending; among equals the earlier ones.

    Examples
    --------
    >>> import numpy as np
    >>> from flipwise.selection import largest
    >>> largest(np.array([2.0, 5.0, 2.0, 2.0]), 2)
    array([0, 1])
    """
    if count >= scores.size or count <= 0:
        return np.arange(max(0, min(count, scores.size)))
    level = np.partition(scores, scores.size - count)[scores.size - count]
    chosen = scores > level
    equal = np.flatnonzero(scores == level)
    chosen[equal[: count - int(np.count_nonzero(chosen))]] = True
    return np.flatnonzero(chosen)
