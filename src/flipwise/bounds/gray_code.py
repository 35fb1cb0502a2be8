"""Every point of a small polynomial problem, in the order of the Gray code: each is one flip from the one before.

The costs of flips are made anew for every `CHUNK` points. Where they are rounded, every point that comes within what
rounding can have done of the best one is evaluated by itself, so that none that is better is passed over.
"""

from __future__ import annotations

import numpy as np

from flipwise.engine.limits import Status
from flipwise.engine.run import Run
from flipwise.foundation.arrays import Floats, Ints, Signs
from flipwise.kernels import polynomial_search as kernels
from flipwise.model.polynomial import Polynomial
from flipwise.model.problem import Problem

CHUNK = 1024
"""Points between two looks at the clock."""


def list_polynomial(objective: Polynomial, problem: Problem, run: Run) -> Status | None:
    """Offer the best of all feasible points to `run`; None when all were looked at, otherwise why not."""
    f, n, reduction = objective, problem.n, problem.reduction
    labels = np.zeros(n, dtype=np.int64)
    wanted = width = np.zeros(0, dtype=np.int64)
    if problem.constraint.swaps:
        labels = np.asarray(problem.constraint.labels(problem.shape), dtype=np.int64)
        feasible = problem.constraint.project(np.zeros(problem.shape)).reshape(-1)
        wanted = np.bincount(labels, weights=feasible > 0).astype(np.int64)
        width = np.zeros_like(wanted)
        if reduction is not None:  # dummies are not listed: their number is how many ones may be missing
            n = sum(inside.size for inside, _ in reduction.ranges)
            labels, width = labels[:n], reduction.most - reduction.least
    slack = _largest_rounding(f)
    held, zeros, d = np.empty(f.coefficients.size, np.int32), np.zeros(f.coefficients.size, np.int64), np.empty(n)
    numbers = np.empty(CHUNK, dtype=np.int64)
    kernels.list_terms.expect(2.0**n)
    for first in range(0, 2**n, CHUNK):
        s = _gray_point(first, n)
        excess = wanted
        if wanted.size:
            excess = np.bincount(labels, weights=s > 0, minlength=wanted.size).astype(np.int64) - wanted
        kernels.flip_costs(f.offsets, f.members, f.coefficients, f.binary, s, held, zeros, d)
        value = f.value(_point_of_problem(problem, s))
        best = run.best_value
        last = min(2**n, first + CHUNK)
        found = kernels.list_terms(
            *f.arrays, first, last, value, best, slack, labels, excess, width, s, held, zeros, d, numbers
        )
        for number in numbers[:found].tolist():
            x = _point_of_problem(problem, _gray_point(number, n))
            value = f.value(x)
            if value < run.best_value:
                stop = run.step(x.reshape(problem.shape), value)
                if stop is not None:
                    return stop
        if run.check_time() is not None:
            return Status.TIME_LIMIT
    return None


def _gray_point(number: int, n: int) -> Signs:
    """The point of this number: bit i of its Gray code says whether variable i is +1."""
    code = number ^ (number >> 1)
    ones: Ints = (code >> np.arange(n)) & 1
    return (2 * ones - 1).astype(np.int8)


def _point_of_problem(problem: Problem, s: Signs) -> Floats:
    """A listed point as one of the problem, with its dummies."""
    return s.astype(np.float64) if problem.reduction is None else problem.reduction.completed(s)


def _largest_rounding(f: Polynomial) -> float:
    """More than rounding can do to a value in one chunk: each cost gets an addition for each term and flip."""
    if f.exact and f.constant == 0.0:
        return 0.0
    eps = float(np.finfo(np.float64).eps)
    terms = int(np.diff(f.incidence[0]).max(initial=0)) + 1
    size = abs(f.constant) + float(np.abs(f.coefficients).sum())
    return 4.0 * CHUNK * CHUNK * terms * eps * size
