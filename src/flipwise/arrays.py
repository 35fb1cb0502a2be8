"""Array aliases used in signatures, and the one place where inputs become float64 arrays."""

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
