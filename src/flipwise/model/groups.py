"""Constraints on the number of ones in groups of variables, which have numbers or names."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from flipwise.foundation.arrays import Ints
from flipwise.foundation.checks import check_whole
from flipwise.foundation.errors import InvalidInput
from flipwise.model.counts import MANY, Counts, both_ends, check_range


@dataclass(frozen=True, eq=False, init=False, repr=False)
class GroupCounts(Counts):
    """Exactly `ones[q]` ones among the variables whose group is q, or `at_least[q]` and `at_most[q]`.

    Parameters
    ----------
    groups
        The group 0, 1, 2, ... of each variable, an array of the shape of `x`; -1 for a variable that is in none and may
        have any value. Or the name of its group ("energy", "banks", ...), None for none.
    ones
        The number of ones in each group; one number stands for all groups, {group: number} names them.
    at_least, at_most
        Instead of `ones`: ranges, one of both or both. A group that a dictionary leaves out has no such limit.

    Examples
    --------
    >>> import flipwise, numpy as np
    >>> flipwise.GroupCounts([0, 0, 1, 1], [1, 2]).project(np.array([0.1, 0.2, -1.0, -2.0]))
    array([-1.,  1.,  1.,  1.])
    >>> flipwise.GroupCounts([0, 0, 0, -1], at_most=1).project(np.array([0.1, 0.2, 0.3, 0.4]))
    array([-1., -1.,  1.,  1.])
    >>> flipwise.GroupCounts(["oil", "oil", "banks"], at_most={"oil": 1}).project(np.array([0.1, 0.2, 0.3]))
    array([-1.,  1.,  1.])
    """

    groups: Ints
    ones: Ints | None = None
    at_least: Ints | None = None
    at_most: Ints | None = None
    names: tuple[Any, ...] | None = None

    def __init__(
        self,
        groups: npt.ArrayLike,
        ones: npt.ArrayLike | Mapping[Any, int] | None = None,
        *,
        at_least: npt.ArrayLike | Mapping[Any, int] | None = None,
        at_most: npt.ArrayLike | Mapping[Any, int] | None = None,
    ) -> None:
        labels, names = numbered_groups(groups)
        object.__setattr__(self, "groups", labels)
        object.__setattr__(self, "names", names)
        for name, given in (("ones", ones), ("at_least", at_least), ("at_most", at_most)):
            counts = None if given is None else _group_counts(name, given, int(labels.max()) + 1, names)
            object.__setattr__(self, name, counts)
        sizes = {numbers.size for numbers in (self.ones, self.at_least, self.at_most) if numbers is not None}
        if len(sizes) > 1:
            raise InvalidInput("`at_least` and `at_most` must have one count for each group, both the same number.")
        check_range("ones", self.ones, self.at_least, self.at_most)

    @property
    def is_exact(self) -> bool:
        if self.groups.min() < 0:
            return False
        return self.ones is not None or np.array_equal(*self.limits(self.groups.shape))

    def check(self, shape: tuple[int, ...]) -> None:
        if int(np.prod(shape)) != self.groups.size:
            raise InvalidInput(f"`groups` has {self.groups.size} entries, the variable has shape {shape}.")
        super().check(shape)

    def labels(self, shape: tuple[int, ...]) -> Ints:
        return self.groups

    def group_in_words(self, group: int) -> str:
        return super().group_in_words(group) if self.names is None else f"group {self.names[group]!r}"

    def limits(self, shape: tuple[int, ...]) -> tuple[Ints, Ints]:
        given = next(numbers for numbers in (self.ones, self.at_least, self.at_most) if numbers is not None)
        return both_ends(self.ones, self.at_least, self.at_most, given.size)


def numbered_groups(given: Any) -> tuple[Ints, tuple[Any, ...] | None]:
    """The number of each variable's group, flat, -1 for none; and the names of the groups where they have some."""
    refusal = (
        "`groups` must be a nonempty array with the group of each variable: its number 0, 1, 2, ..., or -1 for no "
        "group; or its name, None for no group."
    )
    try:
        labels = np.asarray(given)
    except ValueError:  # lists of different lengths, such as the members of each group
        raise InvalidInput(refusal) from None
    if labels.size == 0:
        raise InvalidInput(refusal)
    if np.issubdtype(labels.dtype, np.integer):
        if labels.min() < -1:
            raise InvalidInput(refusal)
        return labels.reshape(-1).astype(np.int64), None
    places: dict[Any, int] = {}
    numbers = []
    for label in labels.reshape(-1).tolist():
        if label is None or label != label:  # NaN stands for nothing in tables
            numbers.append(-1)
        elif isinstance(label, str):
            numbers.append(places.setdefault(label, len(places)))
        else:
            raise InvalidInput(refusal)
    return np.array(numbers, dtype=np.int64), tuple(places) or None


def _group_counts(name: str, given: Any, groups: int, names: tuple[Any, ...] | None) -> Ints:
    """One count for each group that `groups` names, at least."""
    if isinstance(given, Mapping):
        return _named_counts(name, given, tuple(range(groups)) if names is None else names)
    counts = np.asarray(given)
    if counts.ndim == 0:
        counts = np.repeat(counts, max(groups, 1))
    elif names is not None:
        raise InvalidInput(f"`{name}` must be one number, or {{group: number}} where groups have names.")
    if counts.ndim != 1 or not np.issubdtype(counts.dtype, np.integer) or (counts < 0).any():
        raise InvalidInput(f"`{name}` must be a list of integers of at least 0, one for each group.")
    if groups > counts.size:
        raise InvalidInput(f"`{name}` has {counts.size} counts, but `groups` names group {groups - 1}.")
    return counts.astype(np.int64)


def _named_counts(name: str, given: Mapping[Any, Any], names: tuple[Any, ...]) -> Ints:
    """The counts of named groups; those that are left out have no limit, which `ones` does not allow."""
    unknown = [group for group in given if group not in names]
    if unknown:
        raise InvalidInput(f"`{name}` names the group {unknown[0]!r}, which is none of those in `groups`.")
    missing = [group for group in names if group not in given]
    if missing and name == "ones":
        raise InvalidInput(f"`ones` must have a number for each group; {missing[0]!r} has none.")
    for value in given.values():
        check_whole(name, value, 0)
    none = MANY if name == "at_most" else 0
    return np.array([given.get(group, none) for group in names], dtype=np.int64)
