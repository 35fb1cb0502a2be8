"""Seeds: None, an integer, or a generator of NumPy."""

from __future__ import annotations

import numpy as np

from flipwise.errors import InvalidInput


def as_generator(seed: int | np.random.Generator | None) -> np.random.Generator:
    """The generator a user's seed stands for."""
    if isinstance(seed, np.random.Generator):
        return seed
    if seed is None or (isinstance(seed, int | np.integer) and not isinstance(seed, bool) and seed >= 0):
        return np.random.default_rng(seed)
    raise InvalidInput(f"`seed` must be None, an integer of at least 0, or a numpy.random.Generator, got {seed!r}.")


def seed_of(seed: int | np.random.Generator | None) -> int | None:
    """The integer to write into a result, if there is one."""
    return int(seed) if isinstance(seed, int | np.integer) else None
