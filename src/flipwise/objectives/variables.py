"""Spins (-1/+1) and bits (0/1): the check of the word, and the two directions of the change of variables."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from flipwise.arrays import Floats, Signs
from flipwise.errors import InvalidInput
from flipwise.objectives.protocol import Variables


def check_variables(variables: str) -> Variables:
    """The word, if it is one of the two."""
    if variables == "spin":
        return "spin"
    if variables == "binary":
        return "binary"
    raise InvalidInput(f'`variables` must be "spin" (-1/+1) or "binary" (0/1), got {variables!r}.')


def to_spins(name: str, x: npt.ArrayLike, shape: tuple[int, ...], variables: Variables) -> Floats:
    """A user's binary array as float64 spins, refused when its shape or an entry is wrong."""
    array = np.asarray(x)
    if array.shape != shape and array.size == np.prod(shape, dtype=np.int64) and array.ndim == 1:
        array = array.reshape(shape)
    if array.shape != shape:
        raise InvalidInput(f"`{name}` must have shape {shape}, got {array.shape}.")
    if array.dtype == np.bool_:
        return np.where(array, 1.0, -1.0)
    low = -1 if variables == "spin" else 0
    wrong = (array != low) & (array != 1)
    if wrong.any():
        where = tuple(int(i) for i in np.argwhere(wrong)[0])
        raise InvalidInput(f"`{name}` must hold only {low} and 1, got {array[where]} at position {where}.")
    return np.where(array == 1, 1.0, -1.0)


def from_spins(x: Floats, variables: Variables) -> Signs:
    """Spins as the int8 array a user gets: -1/+1 or 0/1."""
    return np.where(x > 0, 1, -1 if variables == "spin" else 0).astype(np.int8)
