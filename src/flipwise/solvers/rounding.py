"""From a real point to feasible binary ones: the same roundings for every relaxation."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from flipwise.arrays import Floats
from flipwise.objectives.quadratic import Quadratic
from flipwise.problem import Problem
from flipwise.result import Status
from flipwise.run import Run

SWEEP_LIMIT = 4096
"""Thresholds tried by a sweep; a longer vector is cut at as many evenly spaced ranks."""


def nearest(problem: Problem, y: Floats) -> Floats:
    """The feasible binary point nearest to `y`."""
    return problem.constraint.project(y.reshape(problem.shape))


def report_nearest(problem: Problem, run: Run, y: Floats) -> Status | None:
    """Round `y`, report the point as an iteration, and say whether to stop."""
    x = nearest(problem, y)
    run.evaluations += 1
    before = run.best_x
    flips = 0 if before is None else int(np.count_nonzero(before != x))
    return run.step(x, problem.objective.value(x), flips=flips)


def sweep(problem: Problem, y: Floats) -> Floats:
    """The best of the points {i: y_i above a threshold}, over all thresholds; with counts there is only one."""
    if problem.constraint.swaps:
        return nearest(problem, y)
    order = np.argsort(-y, kind="stable")
    sizes = np.unique(np.linspace(0, y.size, min(y.size + 1, SWEEP_LIMIT + 1)).astype(np.int64))
    sizes = np.append(sizes, int(np.count_nonzero(y >= 0)))
    best, best_value = nearest(problem, y), np.inf
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
    for candidate in _cuts(problem.shape, order, sizes):
        value = objective.value(candidate)
        if value < best_value:
            best, best_value = candidate, value
    return best


def _cuts(shape: tuple[int, ...], order: np.ndarray, sizes: Iterable[int]) -> Iterable[Floats]:
    for size in sizes:
        x = np.full(order.size, -1.0)
        x[order[:size]] = 1.0
        yield x.reshape(shape)
