"""Every point of a small integer model, exactly.

With s = (a, b), E(a, b) = E_1(a) + E_2(b) + a'J_12 b, so all values for a block of b are one matrix product. Couplings
are cut into limbs of so few bits that every product is an exact sum in float64. Where there is more than one limb, the
points whose highest limb comes near the least one are compared with all of them.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from itertools import combinations, islice, product

import numpy as np
import numpy.typing as npt

from flipwise.bounds.integers import as_limbs
from flipwise.foundation.arrays import Floats, Ints, Signs

LOW_BITS = 12
BATCH = 256
"""Points of the first half, as a power of two, and of the second half in one block."""
LISTED = 4096
"""Points in one block where those of small counts are listed."""

Group = tuple[Ints, range]
"""Spins and how many of them may be +1: one number, or several in a row."""
Limited = tuple[Floats, Floats, Floats]
"""Linear rows: the coefficients of bits, one row each, and the least and the largest sums."""


def number_of_points(n: int, groups: list[Group]) -> float:
    """How many points there are with these counts; 2^n without."""
    if not groups:
        return 2.0 ** min(n, 1000)
    total = 1.0
    for inside, allowed in groups:
        ways = 0.0
        for ones in allowed:
            ways += _ways_to_choose(inside.size, ones)
            if ways >= 1e300:
                break
        total = min(total * ways, 1e300)
    return total


def _ways_to_choose(size: int, ones: int) -> float:
    """In how many ways so many of `size` spins can be +1; 1e300 where it is more."""
    logarithm = math.lgamma(size + 1) - math.lgamma(ones + 1) - math.lgamma(size - ones + 1)
    return float(math.comb(size, ones)) if logarithm < 600.0 else 1e300


def choices(inside: Ints, allowed: range) -> list[tuple[int, ...]]:
    """Every choice of the spins of a group that are +1."""
    return [chosen for ones in allowed for chosen in combinations(inside.tolist(), ones)]


def enumeration_work(n: int, groups: list[Group]) -> float:
    """About how many values `least_point` computes."""
    return min(2.0 ** min(n, 1000), 4.0 * number_of_points(n, groups) if groups else math.inf)


def least_point(
    J: npt.NDArray[np.object_],
    h: npt.NDArray[np.object_],
    groups: list[Group],
    stop: Callable[[], bool] = lambda: False,
    rows: Limited | None = None,
) -> tuple[int, Signs] | None:
    """The least value of sum_{i<j} J_ij s_i s_j + h's, J symmetric without diagonal, and where; None when stopped.

    With `rows`, which stand for all groups, also where no point keeps them.
    """
    best: tuple[int, Signs] | None = None
    for least, found, point in _least_of_blocks(J, h, groups, rows):
        if found.size and (best is None or least < best[0]):
            best = least, point(int(found[0]))
        if stop():
            return None
    return best


def least_points(
    J: npt.NDArray[np.object_],
    h: npt.NDArray[np.object_],
    groups: list[Group],
    stop: Callable[[], bool] = lambda: False,
    rows: Limited | None = None,
) -> list[Signs] | None:
    """All points where the value that `least_point` finds is taken; None when stopped."""
    best: int | None = None
    points: list[Signs] = []
    for least, found, point in _least_of_blocks(J, h, groups, rows):
        if found.size and (best is None or least < best):
            best, points = least, []
        if least == best:
            points.extend(point(int(number)) for number in found)
        if stop():
            return None
    return points


def _least_of_blocks(
    J: npt.NDArray[np.object_], h: npt.NDArray[np.object_], groups: list[Group], rows: Limited | None
) -> Iterator[tuple[int, Ints, Callable[[int], Signs]]]:
    """The least value in each block that has a point, the numbers of the points that take it, and its points."""
    n = h.size
    bits = 50 - 2 * n.bit_length()
    upper = np.array([[J[i, j] if i < j else 0 for j in range(n)] for i in range(n)], dtype=object).reshape(n, n)
    limbs = as_limbs(np.concatenate([upper, h.reshape(1, n)]), bits)
    base = 1 << bits
    for values, points in _blocks_of_points(n, limbs, groups, rows):
        least = float(values[-1].min(initial=math.inf))
        if least == math.inf:
            yield 0, np.zeros(0, dtype=np.int64), points
            continue
        # lower limbs are between -2^50 and 2^50: all together less than 2^(51 - bits) of the highest
        near = np.flatnonzero(values[-1] <= least + (2.0 ** (52 - bits) if len(values) > 1 else 0.0))
        totals = values[-1][near].astype(np.int64).astype(object)
        for lower in reversed(values[:-1]):
            totals = totals * base + lower[near].astype(np.int64).astype(object)
        lowest = min(totals)
        yield int(lowest), near[totals == lowest], points


Block = tuple[list[Floats], Callable[[int], Signs]]
"""The values of the points of a block in each limb (inf where a count is broken), and its points by number."""


def _blocks_of_points(n: int, limbs: list[Floats], groups: list[Group], rows: Limited | None) -> Iterator[Block]:
    if rows is not None:
        return _points_by_halves(n, limbs, rows)
    if groups and 4.0 * number_of_points(n, groups) <= 2.0 ** min(n, 1000):
        return _points_one_by_one(n, limbs, groups)
    members = np.zeros((len(groups), n))
    for row, (inside, _) in zip(members, groups, strict=True):
        row[inside] = 1.0
    ends = np.array([(allowed[0], allowed[-1]) for _, allowed in groups], dtype=np.float64).reshape(-1, 2)
    return _points_by_halves(n, limbs, (members, ends[:, 0], ends[:, 1]))


def _points_one_by_one(n: int, limbs: list[Floats], groups: list[Group]) -> Iterator[Block]:
    """The points of counts one by one."""
    chosen = product(*(choices(inside, allowed) for inside, allowed in groups))
    while block := list(islice(chosen, LISTED)):
        S = np.full((len(block), n), -1, dtype=np.int8)
        for row, parts in zip(S, block, strict=True):
            row[[i for part in parts for i in part]] = 1
        x = S.astype(np.float64)
        yield [((x @ part[:n]) * x).sum(axis=1) + x @ part[n] for part in limbs], S.__getitem__


def _points_by_halves(n: int, limbs: list[Floats], rows: Limited) -> Iterator[Block]:
    low = min(LOW_BITS, n)
    first, second = _all_spin_vectors(low), _all_spin_vectors(n - low)

    def half(part: Floats, points: Floats, inside: slice) -> Floats:
        return np.asarray(((points @ part[:n][inside, inside]) * points).sum(axis=1) + points @ part[n][inside])

    halves = [(half(part, first, slice(0, low)), half(part, second, slice(low, n))) for part in limbs]
    members, least_sums, most_sums = rows
    sums = (first > 0) @ members[:, :low].T, (second > 0) @ members[:, low:].T
    for start in range(0, second.shape[0], BATCH):
        block = slice(start, start + BATCH)
        values = [
            (f1[:, None] + first @ (part[:low, low:n] @ second[block].T) + f2[None, block]).reshape(-1)
            for part, (f1, f2) in zip(limbs, halves, strict=True)
        ]
        for row, (least, most) in enumerate(zip(least_sums, most_sums, strict=True)):
            found = sums[0][:, row][:, None] + sums[1][block, row][None, :]
            values[-1][((found < least) | (found > most)).reshape(-1)] = math.inf
        width = second[block].shape[0]

        def point(number: int, start: int = start, width: int = width) -> Signs:
            one, other = divmod(number, width)
            return np.concatenate([first[one], second[start + other]]).astype(np.int8)

        yield values, point


def _all_spin_vectors(bits: int) -> Floats:
    """All 2^bits spin vectors of that length, as rows."""
    ones = (np.arange(2**bits)[:, None] >> np.arange(bits)) & 1
    return np.where(ones == 1, 1.0, -1.0)
