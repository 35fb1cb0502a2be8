"""The feasible sets of binary arrays: all of them, or those with an exact number of ones in the whole array (Omega_r),
in each column, or in each group."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt

from flipwise.foundation.arrays import Floats, Ints, largest
from flipwise.foundation.checks import check_whole
from flipwise.foundation.errors import InvalidInput


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


class _Counts(ABC):
    """Everything that follows from the group of each entry and the number of ones in each group."""

    @property
    def swaps(self) -> bool:
        return True

    @abstractmethod
    def labels(self, shape: tuple[int, ...]) -> Ints:
        """The group of each flattened entry."""

    @abstractmethod
    def counts(self, shape: tuple[int, ...]) -> Ints:
        """The number of ones in each group."""

    def members(self, shape: tuple[int, ...]) -> list[Ints]:
        """The flattened indices of each group, ascending."""
        labels = self.labels(shape)
        order = np.argsort(labels, kind="stable")
        ends = np.searchsorted(labels[order], np.arange(self.counts(shape).size + 1))
        return [order[a:b] for a, b in pairwise(ends)]

    def _groups(self, shape: tuple[int, ...]) -> Iterator[tuple[int, Ints]]:
        """The number of ones and the members of each group."""
        return zip(self.counts(shape).tolist(), self.members(shape), strict=True)

    def _place(self, shape: tuple[int, ...], group: int) -> str:
        """Where a count is wrong, for messages; nothing where there is only one."""
        return "" if self.counts(shape).size == 1 else f" in group {group}"

    def check(self, shape: tuple[int, ...]) -> None:
        for group, (r, inside) in enumerate(self._groups(shape)):
            if not 0 <= r <= inside.size:
                raise InvalidInput(
                    f"the number of ones{self._place(shape, group)} must be between 0 and the {inside.size} variables "
                    f"there, got {r}."
                )

    def random(self, shape: tuple[int, ...], rng: np.random.Generator) -> Floats:
        x = np.full(int(np.prod(shape)), -1.0)
        for r, inside in self._groups(shape):
            x[rng.permutation(inside)[:r]] = 1.0
        return x.reshape(shape)

    def violation(self, x: npt.NDArray[np.generic]) -> str | None:
        up = np.asarray(x).reshape(-1) > 0
        for group, (r, inside) in enumerate(self._groups(x.shape)):
            found = int(np.count_nonzero(up if inside.size == up.size else up[inside]))
            if found != r:
                return f"it must have exactly {r} ones{self._place(x.shape, group)}, it has {found}"
        return None

    def contains(self, x: npt.NDArray[np.generic]) -> bool:
        return self.violation(x) is None

    def project(self, y: Floats) -> Floats:
        flat = np.asarray(y, dtype=np.float64).reshape(-1)
        x = np.full(flat.size, -1.0)
        for r, inside in self._groups(y.shape):
            x[inside[largest(flat[inside], r)]] = 1.0
        return x.reshape(y.shape)

    def gauge(self, g: Floats) -> Floats:
        # f + lambda * (sum(x) - (2r - n)) is the same function on Omega_r, so g is known up to a constant. Choose
        # the level between the r smallest entries (which the linear surrogate sets to +1) and the others.
        result = g.copy()
        flat = result.reshape(-1)
        for r, inside in self._groups(g.shape):
            if 0 < r < inside.size:
                whole = inside.size == flat.size
                values = flat if whole else flat[inside]
                split = np.partition(values, [r - 1, r])
                level = split[r - 1] + (split[r] - split[r - 1]) / 2.0
                flat[inside if not whole else slice(None)] -= level
        return result

    def pair(self, plus: Ints, minus: Ints, g: Floats) -> Ints:
        flat = g.reshape(-1)
        labels = self.labels(g.shape)
        pairs = []
        for group in range(self.counts(g.shape).size):
            out = plus[labels[plus] == group]
            into = minus[labels[minus] == group]
            m = min(out.size, into.size)
            out = out[np.argsort(-flat[out], kind="stable")[:m]]
            into = into[np.argsort(flat[into], kind="stable")[:m]]
            pairs.append(np.stack([out, into], axis=1))
        return np.concatenate(pairs)


@dataclass(frozen=True)
class Cardinality(_Counts):
    """Exactly `count` of the variables are 1 (Omega_r in the paper).

    Examples
    --------
    >>> import flipwise, numpy as np
    >>> flipwise.Cardinality(1).project(np.array([0.2, 0.9, 0.4]))
    array([-1.,  1., -1.])
    """

    count: int

    def __post_init__(self) -> None:
        check_whole("count", self.count, 0)

    def labels(self, shape: tuple[int, ...]) -> Ints:
        return np.zeros(int(np.prod(shape)), dtype=np.int64)

    def counts(self, shape: tuple[int, ...]) -> Ints:
        return np.array([self.count], dtype=np.int64)

    def members(self, shape: tuple[int, ...]) -> list[Ints]:
        return [np.arange(int(np.prod(shape)))]


@dataclass(frozen=True)
class ColumnCounts(_Counts):
    """Exactly `ones[j]` ones in column j of a matrix variable; one number stands for all columns.

    `ColumnCounts(n // 2)` makes every bit of n codes balanced.

    Examples
    --------
    >>> import flipwise, numpy as np
    >>> flipwise.ColumnCounts(1).project(np.array([[0.2, 0.9], [0.4, 0.1]]))
    array([[-1.,  1.],
           [ 1., -1.]])
    """

    ones: int | tuple[int, ...]

    def __init__(self, ones: int | npt.ArrayLike) -> None:
        values = np.asarray(ones, dtype=object)  # as given: NumPy would make a 1 of True beside another 1
        for value in values.reshape(-1):
            check_whole("ones", value, 0)
        counts = tuple(int(value) for value in values.reshape(-1))
        object.__setattr__(self, "ones", counts[0] if values.ndim == 0 else counts)

    def check(self, shape: tuple[int, ...]) -> None:
        if len(shape) != 2:
            raise InvalidInput(f"`ColumnCounts` needs a matrix variable of shape (n, r), got shape {shape}.")
        if not isinstance(self.ones, int) and len(self.ones) != shape[1]:
            raise InvalidInput(f"`ones` must have one count for each of the {shape[1]} columns, got {len(self.ones)}.")
        super().check(shape)

    def labels(self, shape: tuple[int, ...]) -> Ints:
        return np.tile(np.arange(shape[1], dtype=np.int64), shape[0])

    def counts(self, shape: tuple[int, ...]) -> Ints:
        return np.broadcast_to(np.asarray(self.ones, dtype=np.int64), (shape[1],))

    def members(self, shape: tuple[int, ...]) -> list[Ints]:
        rows = np.arange(shape[0]) * shape[1]
        return [rows + column for column in range(shape[1])]


@dataclass(frozen=True, eq=False)
class GroupCounts(_Counts):
    """Exactly `ones[q]` ones among the variables whose group is q.

    Parameters
    ----------
    groups
        The group 0, 1, 2, ... of each variable, an array of the shape of `x`.
    ones
        The number of ones in each group.

    Examples
    --------
    >>> import flipwise, numpy as np
    >>> flipwise.GroupCounts([0, 0, 1, 1], [1, 2]).project(np.array([0.1, 0.2, -1.0, -2.0]))
    array([-1.,  1.,  1.,  1.])
    """

    groups: Ints
    ones: Ints

    def __init__(self, groups: npt.ArrayLike, ones: npt.ArrayLike) -> None:
        labels = np.asarray(groups)
        counts = np.asarray(ones)
        if labels.size == 0 or not np.issubdtype(labels.dtype, np.integer) or labels.min() < 0:
            raise InvalidInput("`groups` must be a nonempty array of group numbers 0, 1, 2, ...")
        if counts.ndim != 1 or not np.issubdtype(counts.dtype, np.integer) or (counts < 0).any():
            raise InvalidInput("`ones` must be a list of integers of at least 0, one for each group.")
        if int(labels.max()) >= counts.size:
            raise InvalidInput(f"`ones` has {counts.size} counts, but `groups` names group {int(labels.max())}.")
        object.__setattr__(self, "groups", labels.reshape(-1).astype(np.int64))
        object.__setattr__(self, "ones", counts.astype(np.int64))

    def check(self, shape: tuple[int, ...]) -> None:
        if int(np.prod(shape)) != self.groups.size:
            raise InvalidInput(f"`groups` has {self.groups.size} entries, the variable has shape {shape}.")
        super().check(shape)

    def labels(self, shape: tuple[int, ...]) -> Ints:
        return self.groups

    def counts(self, shape: tuple[int, ...]) -> Ints:
        return self.ones


def is_built_in(constraint: Constraint) -> bool:
    """Whether the constraint is one of this file, whose moves are known to keep it."""
    return type(constraint) in (Free, Cardinality, ColumnCounts, GroupCounts)


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
