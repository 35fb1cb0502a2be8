"""The interface of a feasible set of binary arrays, and the set of all of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt

from flipwise.arrays import Floats, Ints


@runtime_checkable
class Constraint(Protocol):
    """A set of arrays with entries -1 and +1. Its elementary moves are flips, or swaps of a +1 with a -1."""

    @property
    def swaps(self) -> bool:
        """True when single flips would leave the set and moves are swaps within a group."""

    def check(self, shape: tuple[int, ...]) -> None:
        """Raise `InvalidInput` when the set makes no sense for arrays of this shape."""

    def random(self, shape: tuple[int, ...], rng: np.random.Generator) -> Floats:
        """A uniformly drawn feasible array."""

    def violation(self, x: npt.NDArray[np.generic]) -> str | None:
        """What is wrong with `x` (spins or bits), or None when it is feasible."""

    def contains(self, x: npt.NDArray[np.generic]) -> bool:
        """Whether `x` is feasible."""

    def project(self, y: Floats) -> Floats:
        """The feasible array nearest to the real array `y`, ties by index."""

    def gauge(self, g: Floats) -> Floats:
        """`g` minus the level that the constraint leaves undetermined (in each group)."""

    def pair(self, plus: Ints, minus: Ints, g: Floats) -> Ints:
        """The flips of `plus` (at +1) and `minus` (at -1) that keep feasibility: indices, or pairs in rows."""

    def labels(self, shape: tuple[int, ...]) -> Ints:
        """The group of each flattened entry; swaps happen within a group."""


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
        pass

    def random(self, shape: tuple[int, ...], rng: np.random.Generator) -> Floats:
        return np.where(rng.integers(0, 2, size=shape, dtype=np.int8) > 0, 1.0, -1.0)

    def violation(self, x: npt.NDArray[np.generic]) -> str | None:
        return None

    def contains(self, x: npt.NDArray[np.generic]) -> bool:
        return True

    def project(self, y: Floats) -> Floats:
        return np.where(y >= 0.0, 1.0, -1.0)  # sgn(0) = 1, as in the paper

    def gauge(self, g: Floats) -> Floats:
        return g

    def pair(self, plus: Ints, minus: Ints, g: Floats) -> Ints:
        return np.concatenate([plus, minus])

    def labels(self, shape: tuple[int, ...]) -> Ints:
        return np.zeros(int(np.prod(shape)), dtype=np.int64)
