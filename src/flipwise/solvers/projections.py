"""From a real point to the nearest of a set: exact Euclidean projections, and the roundings of every relaxation.

`Polytope` is the convex hull of the feasible points of a constraint: the box [-1, 1]^n, and in each group q of a
count the hyperplane 1'x = 2 r_q - n_q. Projecting onto {box, sum = s} means finding the level t with
sum_i clip(y_i - t, -1, 1) = s; the level is found in O(n) by halving the set of breakpoints y_i - 1, y_i + 1 (Kiwiel:
Breakpoint searching algorithms for the continuous quadratic knapsack problem, Math. Program. 112, 2008), for long
vectors after a try with Newton's method (Cominetti, Mascarenhas, Silva, Math. Program. Comput. 6, 2014).
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import pairwise

import numpy as np

from flipwise.engine.limits import Status
from flipwise.engine.run import Run
from flipwise.foundation.arrays import Floats, Ints
from flipwise.kernels import projection as kernels
from flipwise.model.constraints import Constraint
from flipwise.model.problem import Problem
from flipwise.model.quadratic import Quadratic

NEWTON_SIZE = 5000
NEWTON_PASSES = 40
"""Long vectors try this many passes of Newton's method first, which allocate nothing; usually ten suffice."""
SWEEP_LIMIT = 4096
"""Thresholds tried by a sweep; a longer vector is cut at as many evenly spaced ranks."""


def onto_sphere(y: Floats, radius: float) -> Floats:
    """The nearest point with |x| = radius; at 0, an arbitrary one of the nearest."""
    norm = float(np.sqrt(np.einsum("i,i->", y, y)))
    if norm == 0.0:
        return np.full_like(y, radius / max(1.0, np.sqrt(y.size)))
    return y * (radius / norm)


def onto_box_with_sum(y: Floats, total: float) -> Floats:
    """The nearest point of {x in [-1, 1]^n, 1'x = total}, for |total| <= n."""
    return np.clip(y - sum_level(y, total), -1.0, 1.0)


def sum_level(y: Floats, total: float) -> float:
    """The t for which clip(y - t, -1, 1) sums to `total`."""
    n = y.size
    if total >= n:
        return float(y.min(initial=0.0)) - 1.0
    if total <= -n:
        return float(y.max(initial=0.0)) + 1.0
    found = newton_level(y, total) if n >= NEWTON_SIZE else None
    return breakpoint_level(y, total) if found is None else found


def newton_level(y: Floats, total: float) -> float | None:
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


def breakpoint_level(y: Floats, total: float) -> float:
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
            return np.clip(y, -1.0, 1.0)
        if self._whole:
            return onto_box_with_sum(y, self.sums[0])
        x = np.empty_like(y)
        for inside, total in zip(self.members, self.sums, strict=True):
            x[inside] = onto_box_with_sum(y[inside], total)
        return x

    def tangent(self, d: Floats) -> Floats:
        """The part of a direction that keeps every sum."""
        if self._whole:
            return d - float(d.sum()) / d.size
        kept = d.copy()
        for inside in self.members:
            kept[inside] -= float(d[inside].sum()) / inside.size
        return kept

    def centre(self) -> Floats:
        """The mean of all feasible points."""
        x = np.zeros(self.n)
        for inside, total in zip(self.members, self.sums, strict=True):
            x[inside] = total / inside.size
        return x

    def near_centre(self, rng: np.random.Generator) -> Floats:
        """The centre moved a little at random, so that a symmetric objective has somewhere to go."""
        return self.project(self.centre() + 1e-2 * rng.standard_normal(self.n))


def nearest_feasible(problem: Problem, y: Floats) -> Floats:
    """The feasible binary point nearest to `y`."""
    return problem.constraint.project(y.reshape(problem.shape))


def report_nearest(problem: Problem, run: Run, y: Floats) -> Status | None:
    """Round `y`, report the point as an iteration, and say whether to stop."""
    x = nearest_feasible(problem, y)
    before = run.best_x
    flips = 0 if before is None else int(np.count_nonzero(before != x))
    return run.step(x, problem.objective.value(x), flips=flips)


def sweep(problem: Problem, y: Floats) -> Floats:
    """The best of the points {i: y_i above a threshold}, over all thresholds; with counts there is only one."""
    if problem.constraint.swaps:
        return nearest_feasible(problem, y)
    order = np.argsort(-y, kind="stable")
    sizes = np.unique(np.linspace(0, y.size, min(y.size + 1, SWEEP_LIMIT + 1)).astype(np.int64))
    sizes = np.append(sizes, int(np.count_nonzero(y >= 0)))
    best, best_value = nearest_feasible(problem, y), np.inf
    objective = problem.objective
    if isinstance(objective, Quadratic):
        # f is updated along the sweep: raising a batch costs its own rows only.
        x = np.full(problem.shape, -1.0)
        g, value, done = objective.gradient(x), objective.value(x), 0
        found = (value, 0)
        for size in sizes[:-1][1:]:
            value += objective.flip(x, g, order[done:size])
            done = int(size)
            found = min(found, (value, done))
        sizes = np.array([found[1], sizes[-1]])
    for candidate in _first_of_order(problem.shape, order, sizes):
        value = objective.value(candidate)
        if value < best_value:
            best, best_value = candidate, value
    return best


def _first_of_order(shape: tuple[int, ...], order: np.ndarray, sizes: Iterable[int]) -> Iterable[Floats]:
    """The points whose +1 are the first so many of the order."""
    for size in sizes:
        x = np.full(order.size, -1.0)
        x[order[:size]] = 1.0
        yield x.reshape(shape)
