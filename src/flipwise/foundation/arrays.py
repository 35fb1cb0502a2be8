"""Aliases for the arrays in signatures, and what NumPy has no word for: the largest entries, an inner product."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
"""Values, gradients, spins during a solve."""
Ints = npt.NDArray[np.integer[Any]]
"""Indices and counts."""
Bools = npt.NDArray[np.bool_]
"""Masks."""
Signs = npt.NDArray[np.int8]
"""Binary vectors as they are handed to the user: +-1 or 0/1."""


def largest(scores: Floats, count: int) -> Ints:
    """The indices of the `count` largest entries, ascending; among equals the earlier ones.

    Examples
    --------
    >>> import numpy as np
    >>> from flipwise.foundation.arrays import largest
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


def entries_of(*values: Any) -> int:
    """How many entries the arrays among these values have together."""
    return sum(value.size for value in values if isinstance(value, np.ndarray))


def inner(a: Floats, b: Floats) -> float:
    """a'b on one thread: the same bits wherever it runs, and no threads to wait for."""
    return float(np.einsum("i,i->", a, b))
