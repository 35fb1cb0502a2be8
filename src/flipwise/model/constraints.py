"""The feasible sets of binary arrays: what a constraint is, no constraint at all, and which moves keep one.

Those that count ones are in `counts`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt

from flipwise.foundation.arrays import Floats, Ints
from flipwise.model.counts import Cardinality as Cardinality
from flipwise.model.counts import ColumnCounts as ColumnCounts
from flipwise.model.counts import Counts as Counts
from flipwise.model.groups import GroupCounts as GroupCounts


@runtime_checkable
class Constraint(Protocol):
    """A set of arrays with entries -1 and +1. Its elementary moves are flips, or swaps of a +1 with a -1.

    Examples
    --------
    >>> import flipwise
    >>> isinstance(flipwise.Cardinality(3), flipwise.Constraint)
    True
    """

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


def is_built_in(constraint: Constraint) -> bool:
    """Whether the constraint is one of the library's with exact counts, or none: its moves are known to keep it."""
    if type(constraint) in (Cardinality, ColumnCounts, GroupCounts):
        return constraint.swaps
    return type(constraint) is Free


def keeps_feasible(constraint: Constraint, x: Floats, moves: Ints) -> bool:
    """Whether the feasible point `x` stays feasible when all of the moves are made."""
    flipped = x.copy()
    flipped.reshape(-1)[moves.reshape(-1)] *= -1.0
    return constraint.violation(flipped) is None


def disjoint_moves(moves: Ints) -> Ints:
    """The moves (indices, or pairs in rows) without those pairs that share an entry with an earlier one."""
    if moves.ndim == 1:
        return moves
    first = np.unique(moves.reshape(-1), return_index=True)[1]
    return np.asarray(moves[np.isin(np.arange(moves.size), first).reshape(moves.shape).all(axis=1)])


def allowed_moves(constraint: Constraint, x: Floats, moves: Ints) -> Ints:
    """Those of the moves, taken in their order, that keep a constraint of somebody else's when made together."""
    if not len(moves) or is_built_in(constraint) or keeps_feasible(constraint, x, moves):
        return moves
    if len(moves) == 1:
        return moves[:0]
    half = len(moves) // 2
    first = allowed_moves(constraint, x, moves[:half])
    after = x.copy()
    after.reshape(-1)[first.reshape(-1)] *= -1.0
    return np.concatenate([first, allowed_moves(constraint, after, moves[half:])])
