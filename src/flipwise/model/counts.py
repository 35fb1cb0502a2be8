"""Constraints on the number of ones: in the whole array (Omega_r) or in each column; those in groups are in `groups`.

Each number is exact, or a range `at_least` to `at_most`. Exact counts are kept by swaps, which all kernels know; ranges
become exact counts of a problem with a few more variables (see `reduction`) before any search.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass, fields
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from flipwise.foundation.arrays import Floats, Ints, largest
from flipwise.foundation.checks import check_whole, is_whole
from flipwise.foundation.errors import InvalidInput

MANY = np.iinfo(np.int64).max
"""The largest count where there is none: as many as there are variables."""


class Counts(ABC):
    """Everything that follows from the group of each entry and the number of ones in each group."""

    @property
    @abstractmethod
    def is_exact(self) -> bool:
        """Whether every variable is in a group and the number of ones in each is one number."""

    @property
    def swaps(self) -> bool:
        return self.is_exact

    @abstractmethod
    def labels(self, shape: tuple[int, ...]) -> Ints:
        """The group of each flattened entry; -1 where it is in none."""

    @abstractmethod
    def limits(self, shape: tuple[int, ...]) -> tuple[Ints, Ints]:
        """The least and the largest number of ones in each group, as they were given."""

    def counts(self, shape: tuple[int, ...]) -> Ints:
        """The number of ones in each group, where it is exact."""
        return self.limits(shape)[1]

    def members(self, shape: tuple[int, ...]) -> list[Ints]:
        """The flattened indices of each group, ascending."""
        labels = self.labels(shape)
        order = np.argsort(labels, kind="stable")
        ends = np.searchsorted(labels[order], np.arange(self.limits(shape)[0].size + 1))
        return [order[a:b] for a, b in pairwise(ends)]

    def by_group(self, shape: tuple[int, ...]) -> Iterator[tuple[int, int, Ints]]:
        """The least and the largest number of ones and the members of each group."""
        low, high = self.limits(shape)
        return zip(low.tolist(), high.tolist(), self.members(shape), strict=True)

    def group_in_words(self, group: int) -> str:
        """What a group is called in messages."""
        return f"group {group}"

    def _in_group(self, shape: tuple[int, ...], group: int) -> str:
        """Where a count is wrong, for messages; nothing where there is only one."""
        return "" if self.limits(shape)[0].size == 1 else f" in {self.group_in_words(group)}"

    def check(self, shape: tuple[int, ...]) -> None:
        for group, (low, high, inside) in enumerate(self.by_group(shape)):
            # an exact count must be possible; "at most 10" of 8 variables asks for nothing
            wrong = high if low == high else low
            if not 0 <= wrong <= inside.size:
                raise InvalidInput(
                    f"the number of ones{self._in_group(shape, group)} must be between 0 and the {inside.size} "
                    f"variables there, got {wrong}."
                )

    def random(self, shape: tuple[int, ...], rng: np.random.Generator) -> Floats:
        x = np.full(int(np.prod(shape)), -1.0)
        if not self.is_exact:  # those that are in no group may be anything
            x = np.where(rng.integers(0, 2, size=x.size, dtype=np.int8) > 0, 1.0, -1.0)
        for low, high, inside in self.by_group(shape):
            r = low if low == high else int(rng.integers(low, min(high, inside.size) + 1))
            x[inside] = -1.0
            x[rng.permutation(inside)[:r]] = 1.0
        return x.reshape(shape)

    def violation(self, x: npt.NDArray[np.generic]) -> str | None:
        up = np.asarray(x).reshape(-1) > 0
        for group, (low, high, inside) in enumerate(self.by_group(x.shape)):
            found = int(np.count_nonzero(up if inside.size == up.size else up[inside]))
            if not low <= found <= high:
                return f"it must have {range_in_words(low, high)} ones{self._in_group(x.shape, group)}, it has {found}"
        return None

    def contains(self, x: npt.NDArray[np.generic]) -> bool:
        return self.violation(x) is None

    def project(self, y: Floats) -> Floats:
        flat = np.asarray(y, dtype=np.float64).reshape(-1)
        x = np.full(flat.size, -1.0) if self.is_exact else np.where(flat >= 0.0, 1.0, -1.0)
        for low, high, inside in self.by_group(y.shape):
            r = low if low == high else min(max(int(np.count_nonzero(flat[inside] >= 0.0)), low), high)
            x[inside] = -1.0
            x[inside[largest(flat[inside], r)]] = 1.0
        return x.reshape(y.shape)

    def gauge(self, g: Floats) -> Floats:
        # f + lambda * (sum(x) - (2r - n)) is the same function on Omega_r, so g is known up to a constant. Choose
        # the level between the r smallest entries (which the linear surrogate sets to +1) and the others.
        if not self.is_exact:
            return g
        result = g.copy()
        flat = result.reshape(-1)
        for r, _, inside in self.by_group(g.shape):
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
        for group in range(self.limits(g.shape)[0].size):
            out = plus[labels[plus] == group]
            into = minus[labels[minus] == group]
            m = min(out.size, into.size)
            out = out[np.argsort(-flat[out], kind="stable")[:m]]
            into = into[np.argsort(flat[into], kind="stable")[:m]]
            pairs.append(np.stack([out, into], axis=1))
        swaps = np.concatenate(pairs)
        if self.is_exact:
            return swaps
        return np.concatenate([swaps.reshape(-1), plus[labels[plus] < 0], minus[labels[minus] < 0]])

    def __repr__(self) -> str:
        given = [(field.name, getattr(self, field.name)) for field in fields(self)]  # type: ignore[arg-type]
        return f"{type(self).__name__}({', '.join(f'{name}={value!r}' for name, value in given if value is not None)})"


def range_in_words(low: int, high: int) -> str:
    """A range in words."""
    if low == high:
        return f"exactly {low}"
    if high == MANY:
        return f"at least {low}"
    return f"at most {high}" if low == 0 else f"{low} to {high}"


@dataclass(frozen=True, repr=False)
class Cardinality(Counts):
    """Exactly `count` of the variables are 1 (Omega_r in the paper), or `at_least` and `at_most` so many.

    Examples
    --------
    >>> import flipwise, numpy as np
    >>> flipwise.Cardinality(1).project(np.array([0.2, 0.9, 0.4]))
    array([-1.,  1., -1.])
    >>> flipwise.Cardinality(at_most=2).project(np.array([0.2, 0.9, 0.4]))
    array([-1.,  1.,  1.])
    """

    count: int = None  # type: ignore[assignment]  # None of a range of several only, which no method ever sees
    at_least: int | None = None
    at_most: int | None = None

    def __post_init__(self) -> None:
        given: Any = self.count
        if isinstance(given, tuple | list):
            raise InvalidInput(
                f"`count` must be one integer, got {given!r}. For a range write Cardinality(at_least=..., "
                "at_most=...), or count=(least, most) in the function that is called."
            )
        for name in ("count", "at_least", "at_most"):
            if getattr(self, name) is not None:
                check_whole(name, getattr(self, name), 0)
        check_range("count", self.count, self.at_least, self.at_most)
        if self.at_least is not None and self.at_least == self.at_most:  # a range of one number is that number
            for name, value in (("count", int(self.at_least)), ("at_least", None), ("at_most", None)):
                object.__setattr__(self, name, value)

    @property
    def is_exact(self) -> bool:
        return self.count is not None

    def labels(self, shape: tuple[int, ...]) -> Ints:
        return np.zeros(int(np.prod(shape)), dtype=np.int64)

    def limits(self, shape: tuple[int, ...]) -> tuple[Ints, Ints]:
        return both_ends(self.count, self.at_least, self.at_most, 1)

    def members(self, shape: tuple[int, ...]) -> list[Ints]:
        return [np.arange(int(np.prod(shape)))]


@dataclass(frozen=True, init=False, repr=False)
class ColumnCounts(Counts):
    """Exactly `ones[j]` ones in column j of a matrix variable, or `at_least[j]` and `at_most[j]`.

    One number stands for all columns: `ColumnCounts(n // 2)` makes every bit of n codes balanced.

    Examples
    --------
    >>> import flipwise, numpy as np
    >>> flipwise.ColumnCounts(1).project(np.array([[0.2, 0.9], [0.4, 0.1]]))
    array([[-1.,  1.],
           [ 1., -1.]])
    """

    ones: int | tuple[int, ...] | None = None
    at_least: int | tuple[int, ...] | None = None
    at_most: int | tuple[int, ...] | None = None

    def __init__(
        self,
        ones: int | npt.ArrayLike | None = None,
        *,
        at_least: int | npt.ArrayLike | None = None,
        at_most: int | npt.ArrayLike | None = None,
    ) -> None:
        for name, given in (("ones", ones), ("at_least", at_least), ("at_most", at_most)):
            object.__setattr__(self, name, None if given is None else _whole_numbers(name, given))
        check_range("ones", self.ones, self.at_least, self.at_most)

    @property
    def is_exact(self) -> bool:
        return self.ones is not None or self.at_least == self.at_most

    def check(self, shape: tuple[int, ...]) -> None:
        if len(shape) != 2:
            raise InvalidInput(f"`ColumnCounts` needs a matrix variable of shape (n, r), got shape {shape}.")
        for name in ("ones", "at_least", "at_most"):
            given = getattr(self, name)
            if isinstance(given, tuple) and len(given) != shape[1]:
                raise InvalidInput(
                    f"`{name}` must have one count for each of the {shape[1]} columns, got {len(given)}."
                )
        super().check(shape)

    def labels(self, shape: tuple[int, ...]) -> Ints:
        return np.tile(np.arange(shape[1], dtype=np.int64), shape[0])

    def limits(self, shape: tuple[int, ...]) -> tuple[Ints, Ints]:
        return both_ends(self.ones, self.at_least, self.at_most, shape[1])

    def members(self, shape: tuple[int, ...]) -> list[Ints]:
        rows = np.arange(shape[0]) * shape[1]
        return [rows + column for column in range(shape[1])]


Count = int | tuple[int, int] | Cardinality | None
"""What `count=` takes."""


def at_most(count: int) -> Cardinality:
    """At most `count` of the variables are 1: `count=flipwise.at_most(10)`.

    Examples
    --------
    >>> import flipwise, numpy as np
    >>> int(flipwise.solve_qubo(-np.eye(5), count=flipwise.at_most(2), seed=0).x.sum())
    2
    """
    return Cardinality(at_most=count)


def at_least(count: int) -> Cardinality:
    """At least `count` of the variables are 1: `count=flipwise.at_least(3)`.

    Examples
    --------
    >>> import flipwise, numpy as np
    >>> int(flipwise.solve_qubo(np.eye(5), count=flipwise.at_least(3), seed=0).x.sum())
    3
    """
    return Cardinality(at_least=count)


def as_cardinality(count: Any) -> Cardinality:
    """What `count=` stands for: a number, a pair (least, most), or a `Cardinality`."""
    if isinstance(count, Cardinality):
        return count
    if isinstance(count, tuple | list) and len(count) == 2:
        return Cardinality(at_least=count[0], at_most=count[1])
    if is_whole(count) and count >= 0:
        return Cardinality(int(count))
    raise InvalidInput(
        "`count` must be an integer of at least 0, a pair (least, most), or flipwise.at_most(...) or at_least(...), "
        f"got {count!r}."
    )


def check_range(name: str, exact: Any, least: Any, most: Any) -> None:
    """Either an exact count or a range, of integers in order."""
    if exact is None and least is None and most is None:
        raise InvalidInput(
            f"`{name}` must be an integer of at least 0, got None. For a range give `at_least`, `at_most` or both."
        )
    if exact is not None and (least is not None or most is not None):
        raise InvalidInput(f"`{name}` is an exact number: leave out `at_least` and `at_most`, or `{name}`.")
    for label, given in ((name, exact), ("at_least", least), ("at_most", most)):
        if given is not None and not isinstance(given, tuple | np.ndarray):
            check_whole(label, given, 0)
    if least is not None and most is not None and bool((np.asarray(least) > np.asarray(most)).any()):
        raise InvalidInput(f"`at_least` must not be above `at_most`, got {_plain_list(least)} and {_plain_list(most)}.")


def _plain_list(numbers: Any) -> Any:
    """An array as a list, anything else as it is."""
    return numbers.tolist() if isinstance(numbers, np.ndarray) else numbers


def both_ends(exact: Any, least: Any, most: Any, groups: int) -> tuple[Ints, Ints]:
    """The least and the largest number of ones, one for each group."""
    low = exact if exact is not None else 0 if least is None else least
    high = exact if exact is not None else MANY if most is None else most
    wide = [np.broadcast_to(np.asarray(end, dtype=np.int64), (groups,)) for end in (low, high)]
    return wide[0], wide[1]


def _whole_numbers(name: str, given: Any) -> int | tuple[int, ...]:
    """One count, or one for each column."""
    values = np.asarray(given, dtype=object)  # as given: NumPy would make a 1 of True beside another 1
    for value in values.reshape(-1):
        check_whole(name, value, 0)
    counts = tuple(int(value) for value in values.reshape(-1))
    return counts[0] if values.ndim == 0 else counts
