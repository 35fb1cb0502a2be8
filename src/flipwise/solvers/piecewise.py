"""The piecewise separable reformulation: a penalty (x_i^2 - 1)^2 on every variable by itself.

Zhang, Li, Ding, Zhang: Binary matrix factorization with applications, ICDM 2007 (the penalty function algorithm).
Binary points are those with (1 - x_i)(1 + x_i) = 0 for every i; the authors minimise
    f(x) + lambda/4 * sum_i (x_i^2 - 1)^2     over the box (and the sums of the counts)                 (1)
and multiply lambda by `factor` = 10 until the penalty is below a tolerance. lambda starts at `lam`, in units of the
mean size of a gradient entry (the authors scale their data instead).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from flipwise.engine.limits import Status
from flipwise.engine.run import Run
from flipwise.foundation.arrays import Floats
from flipwise.foundation.checks import check_numbers, check_wholes
from flipwise.model.problem import Problem
from flipwise.solvers.projections import report_nearest
from flipwise.solvers.relaxed import begin, projected_gradient, stops_in_time


@dataclass(frozen=True)
class Piecewise:
    """The method "piecewise", with its options.

    Parameters
    ----------
    lam, factor
        The first weight of the penalty, relative to the mean gradient entry, and what it is multiplied by.
    tolerance
        Ends when every |x_i^2 - 1| is below this.
    steps
        The most gradient steps for one weight.
    iterations
        The most weights.
    """

    name: ClassVar[str] = "piecewise"
    lam: float = 0.01
    factor: float = 10.0
    tolerance: float = 1e-2
    steps: int = 100
    iterations: int = 12

    def __post_init__(self) -> None:
        check_numbers(self, "lam", "tolerance", above=0.0)
        check_numbers(self, "factor", above=1.0)
        check_wholes(self, "steps", "iterations")

    @stops_in_time
    def solve(self, problem: Problem, x: Floats, rng: np.random.Generator, run: Run) -> Status:
        """Raise the penalty from near the centre."""
        run.offer(x, problem.objective.value(x))
        base, polytope, y = begin(problem, run, rng)
        slopes = polytope.tangent(base.gradient(x.reshape(-1).copy()))
        weight = self.lam * max(float(np.abs(slopes).mean()), 1e-12)
        for _ in range(self.iterations):
            model = base.plus(quartic=weight)
            y, _ = projected_gradient(model, polytope, y, tolerance=1e-4, max_steps=self.steps)  # (1)
            stop = report_nearest(problem, run, y)
            if stop is not None:
                return stop
            if float(np.abs(y * y - 1.0).max(initial=0.0)) <= self.tolerance:
                return Status.CONVERGED
            weight *= self.factor
        return Status.ITERATION_LIMIT
