"""What is refused before any work: numbers, flags, seeds, arrays that break a rule, and what memory cannot hold."""

from __future__ import annotations

import math
from typing import Any, Literal, TypeGuard

import numpy as np
import numpy.typing as npt

from flipwise.foundation.arrays import Floats, Signs
from flipwise.foundation.errors import InvalidInput, NotEnoughMemory
from flipwise.foundation.memory import available_bytes, shown
from flipwise.foundation.numbers import as_real

Variables = Literal["spin", "binary"]
"""What the user's variables are: -1/+1 ("spin") or 0/1 ("binary")."""

SMALL = 1 << 26
"""Less memory than this is asked for without a look at what is available."""


def is_number(value: Any) -> TypeGuard[float]:
    """Whether it is a finite real number, of Python or NumPy; True and False are none."""
    if not isinstance(value, int | float | np.integer | np.floating) or isinstance(value, bool):
        return False
    return bool(-math.inf < value < math.inf)  # an integer of any length is finite


def is_whole(value: Any) -> TypeGuard[int]:
    """Whether it is an integer, of Python or NumPy; True and False are none."""
    return isinstance(value, int | np.integer) and not isinstance(value, bool)


def check_whole(name: str, value: Any, least: int, *, optional: bool = False) -> None:
    """An integer of at least `least`; None is as good where it is `optional`."""
    if (value is None and optional) or (is_whole(value) and value >= least):
        return
    kind = "None or an integer" if optional else "an integer"
    raise InvalidInput(f"`{name}` must be {kind} of at least {least}, got {value!r}.")


def check_wholes(options: Any, *names: str, least: int = 1) -> None:
    """The options of these names are integers of at least `least`."""
    for name in names:
        check_whole(name, getattr(options, name), least)


def check_numbers(
    options: Any, *names: str, above: float | None = None, least: float | None = None, most: float | None = None
) -> None:
    """The options of these names are finite numbers above / of at least / of at most what is said."""
    rules = {f"above {above}": above, f"of at least {least}": least, f"of at most {most}": most}
    rule = " and ".join(words for words, limit in rules.items() if limit is not None)
    for name in names:
        value = getattr(options, name)
        inside = is_number(value) and (above is None or value > above) and (least is None or value >= least)
        if not inside or (most is not None and value > most):
            raise InvalidInput(f"`{name}` must be a number {rule}, got {value!r}.")


def check_flags(options: Any, *names: str) -> None:
    """The options of these names are True or False."""
    for name in names:
        value = getattr(options, name)
        if not isinstance(value, bool | np.bool_):
            raise InvalidInput(f"`{name}` must be True or False, got {value!r}.")


def as_generator(seed: int | np.random.Generator | None) -> np.random.Generator:
    """The generator a user's seed stands for."""
    if isinstance(seed, np.random.Generator):
        return seed
    if seed is None or (is_whole(seed) and seed >= 0):
        return np.random.default_rng(seed)
    raise InvalidInput(f"`seed` must be None, an integer of at least 0, or a numpy.random.Generator, got {seed!r}.")


def seed_of(seed: int | np.random.Generator | None) -> int | None:
    """The integer to write into a result, if there is one."""
    return int(seed) if isinstance(seed, int | np.integer) else None


def check_variables(variables: str) -> Variables:
    """The word, if it is one of the two."""
    if variables == "spin":
        return "spin"
    if variables == "binary":
        return "binary"
    raise InvalidInput(f'`variables` must be "spin" (-1/+1) or "binary" (0/1), got {variables!r}.')


def to_spins(name: str, x: npt.ArrayLike, shape: tuple[int, ...], variables: Variables) -> Floats:
    """A user's binary array as float64 spins, refused when its shape or an entry is wrong."""
    array = as_real(name, x)
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
    ones = (x > 0).view(np.int8)
    return 2 * ones - 1 if variables == "spin" else ones  # a choice entry by entry would take ten times as long


def check_memory(size: int, what: str) -> None:
    """Raise `NotEnoughMemory` when `size` bytes for `what` cannot be had, before anything is allocated."""
    if size < SMALL:
        return
    free = available_bytes()
    if free is not None and size > free:
        raise NotEnoughMemory(f"{what} needs {shown(size)} of memory; {shown(free)} are available.")
