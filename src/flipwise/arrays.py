"""Arrays: aliases for signatures, the one place where inputs become float64, and the largest entries of a vector."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from flipwise.errors import InvalidInput

Floats = npt.NDArray[np.float64]
"""Values, gradients, spins during a solve."""
Ints = npt.NDArray[np.integer[Any]]
"""Indices and counts."""
Bools = npt.NDArray[np.bool_]
"""Masks."""
Signs = npt.NDArray[np.int8]
"""Binary vectors as they are handed to the user: +-1 or 0/1."""


def as_floats(name: str, values: npt.ArrayLike) -> Floats:
    """`values` as a C-contiguous float64 array, refused when it is not numeric or not finite."""
    try:
        array = np.ascontiguousarray(values, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InvalidInput(f"`{name}` must be an array of numbers, got {type(values).__name__}: {error}") from None
    check_finite(name, array)
    return array


def check_finite(name: str, array: npt.NDArray[Any]) -> None:
    """Raise when `array` holds NaN or inf, naming the first offending position."""
    finite = np.isfinite(array)
    if not finite.all():
        where = tuple(int(i) for i in np.argwhere(~finite)[0])
        raise InvalidInput(
            f"`{name}` must be finite, got {array[where]} at position {where}. Remove or replace NaN and inf."
        )


def largest(scores: Floats, count: int) -> Ints:
    """The indices of the `count` largest entries, ascending; among equals the earlier ones.

    Examples
    --------
    >>> import numpy as np
    >>> from flipwise.arrays import largest
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
