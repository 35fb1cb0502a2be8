"""Exact Euclidean projections onto the convex sets that stand in for binary points.

`Polytope` is the convex hull of the feasible points of a constraint: the box [-1, 1]^n, and in each group q of a
count the hyperplane 1'x = 2 r_q - n_q. Projecting onto {box, sum = s} means finding the level t with
sum_i clip(y_i - t, -1, 1) = s; the level is found in O(n) by halving the set of breakpoints y_i - 1, y_i + 1 (Kiwiel:
Breakpoint searching algorithms for the continuous quadratic knapsack problem, Math. Program. 112, 2008), for long
vectors after a try with Newton's method (Cominetti, Mascarenhas, Silva, Math. Program. Comput. 6, 2014).
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from flipwise.arrays import Floats, Ints
from flipwise.constraints import Constraint
from flipwise.kernels import solvers as kernels

NEWTON_SIZE = 5000
NEWTON_PASSES = 40
"""Long vectors try this many passes of Newton's method first, which allocate nothing; usually ten suffice."""


def onto_box(y: Floats, low: float = -1.0, high: float = 1.0) -> Floats:
    """The nearest point of [low, high]^n."""
    return np.clip(y, low, high)


def onto_sphere(y: Floats, radius: float, centre: float = 0.0) -> Floats:
    """The nearest point with |x - centre| = radius; at the centre itself, an arbitrary one of the nearest."""
    away = y - centre
    norm = float(np.sqrt(np.einsum("i,i->", away, away)))
    if norm == 0.0:
        return np.full_like(y, centre + radius / max(1.0, np.sqrt(y.size)))
    return centre + away * (radius / norm)


def onto_box_with_sum(y: Floats, total: float) -> Floats:
    """The nearest point of {x in [-1, 1]^n, 1'x = total}, for |total| <= n."""
    return np.clip(y - sum_level(y, total), -1.0, 1.0)


def onto_capped_simplex(y: Floats, k: float) -> Floats:
    """The nearest point of {x in [0, 1]^n, 1'x = k}: the same set in 0/1 variables."""
    return (onto_box_with_sum(2.0 * y - 1.0, 2.0 * k - y.size) + 1.0) / 2.0


def sum_level(y: Floats, total: float) -> float:
    """The t for which clip(y - t, -1, 1) sums to `total`."""
    n = y.size
    if total >= n:
        return float(y.min(initial=0.0)) - 1.0
    if total <= -n:
        return float(y.max(initial=0.0)) + 1.0
    found = _newton_level(y, total) if n >= NEWTON_SIZE else None
    return _breakpoint_level(y, total) if found is None else found


def _newton_level(y: Floats, total: float) -> float | None:
    """Newton's method on the piecewise linear sum, within a bracket; None where it has not ended after a few passes."""
    left, right = -np.inf, np.inf
    t = (float(y.sum()) - total) / y.size
    for _ in range(NEWTON_PASSES):
        bound, between, inside = kernels.clipped_counts(y, t)
        excess = bound + inside - between * t - total
        if abs(excess) <= 1e-13 * y.size:
            return float(t)
        if excess > 0.0:
            left = t
        else:
            right = t
        step = (bound + inside - total) / between if between else np.nan
        if left < step < right:
            t = step
        elif np.isfinite(left) and np.isfinite(right):
            t = (left + right) / 2.0
        else:
            return None
    return None


def _breakpoint_level(y: Floats, total: float) -> float:
    """The level by halving the breakpoints: O(n) whatever y is."""
    left, right = -np.inf, np.inf  # the level lies in [left, right]
    fixed, moving, moving_sum = 0.0, 0, 0.0  # entries at a bound for sure; entries in between for sure
    rest = y
    while rest.size:
        breaks = np.concatenate([rest - 1.0, rest + 1.0])
        breaks = breaks[(breaks > left) & (breaks < right)]
        if breaks.size == 0:
            break
        t = float(np.partition(breaks, breaks.size // 2)[breaks.size // 2])
        at = fixed + moving_sum - moving * t + float(np.clip(rest - t, -1.0, 1.0).sum())
        if at >= total:
            left = t
        else:
            right = t
        upper, lower = rest - 1.0 >= right, rest + 1.0 <= left
        between = (rest - 1.0 <= left) & (rest + 1.0 >= right) & ~upper & ~lower
        fixed += float(np.count_nonzero(upper) - np.count_nonzero(lower))
        moving += int(np.count_nonzero(between))
        moving_sum += float(rest[between].sum())
        rest = rest[~(upper | lower | between)]
    if rest.size:  # no breakpoint is left between the limits: these entries move too
        moving += rest.size
        moving_sum += float(rest.sum())
    if moving == 0:
        return left if np.isfinite(left) else right
    return min(max((fixed + moving_sum - total) / moving, left), right)


class Polytope:
    """The convex hull of a constraint's points, on flat vectors."""

    def __init__(self, constraint: Constraint, shape: tuple[int, ...]) -> None:
        self.constraint = constraint
        self.shape = shape
        self.n = int(np.prod(shape))
        self.members: list[Ints] = []
        self.sums: list[float] = []
        if constraint.swaps:
            labels = constraint.labels(shape)
            anywhere = constraint.project(np.zeros(shape)).reshape(-1)
            order = np.argsort(labels, kind="stable")
            ends = np.searchsorted(labels[order], np.arange(int(labels.max(initial=-1)) + 2))
            self.members = [order[a:b] for a, b in pairwise(ends) if b > a]
            self.sums = [float(anywhere[inside].sum()) for inside in self.members]
        self._whole = len(self.members) == 1

    def project(self, y: Floats) -> Floats:
        """The nearest point of the polytope."""
        if not self.members:
            return onto_box(y)
        if self._whole:
            return onto_box_with_sum(y, self.sums[0])
        x = np.empty_like(y)
        for inside, total in zip(self.members, self.sums, strict=True):
            x[inside] = onto_box_with_sum(y[inside], total)
        return x

    def onto_sums(self, y: Floats) -> Floats:
        """The nearest point with the right sum in every group, without the box."""
        return self._shifted(y, self.sums)

    def tangent(self, d: Floats) -> Floats:
        """The part of a direction that keeps every sum."""
        return self._shifted(d, [0.0] * len(self.sums))

    def _shifted(self, y: Floats, sums: list[float]) -> Floats:
        if self._whole:
            return y + (sums[0] - float(y.sum())) / y.size
        x = y.copy()
        for inside, total in zip(self.members, sums, strict=True):
            x[inside] += (total - float(y[inside].sum())) / inside.size
        return x

    def vertex(self, g: Floats) -> Floats:
        """A feasible binary point that minimises g'x: the linear program over the polytope, solved exactly."""
        return self.constraint.project(-g.reshape(self.shape)).reshape(-1)

    def centre(self) -> Floats:
        """The mean of all feasible points."""
        x = np.zeros(self.n)
        for inside, total in zip(self.members, self.sums, strict=True):
            x[inside] = total / inside.size
        return x

    def near_centre(self, rng: np.random.Generator, noise: float = 1e-2) -> Floats:
        """The centre moved a little at random, so that a symmetric objective has somewhere to go."""
        return self.project(self.centre() + noise * rng.standard_normal(self.n))
