"""Omega_{-1}: every binary array is feasible."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from flipwise.arrays import Floats, Ints


@dataclass(frozen=True)
class Free:
    """No constraint beyond the variables being binary (Omega_-1 in the paper).

    Examples
    --------
    >>> import flipwise, numpy as np
    >>> flipwise.Free().project(np.array([0.2, -3.0]))
    array([ 1., -1.])
    """

    @property
    def swaps(self) -> bool:
        return False

    def check(self, shape: tuple[int, ...]) -> None:
        del shape

    def random(self, shape: tuple[int, ...], rng: np.random.Generator) -> Floats:
        return np.where(rng.integers(0, 2, size=shape, dtype=np.int8) > 0, 1.0, -1.0)

    def violation(self, x: npt.NDArray[np.generic]) -> str | None:
        del x
        return None

    def contains(self, x: npt.NDArray[np.generic]) -> bool:
        return self.violation(x) is None

    def project(self, y: Floats) -> Floats:
        return np.where(y >= 0.0, 1.0, -1.0)  # sgn(0) = 1, as in the paper

    def gauge(self, g: Floats) -> Floats:
        return g

    def pair(self, plus: Ints, minus: Ints, g: Floats) -> Ints:
        return np.concatenate([plus, minus])

    def labels(self, shape: tuple[int, ...]) -> Ints:
        return np.zeros(int(np.prod(shape)), dtype=np.int64)
