"""Penalty decomposition of the l0 reformulation of binary points.

Lu, Zhang: Sparse approximation via penalty decomposition methods, SIAM J. Optim. 23, 2013, applied to
    {-1, +1}^n = {x : |x + 1|_0 + |x - 1|_0 <= n}    (Yuan, Ghanem: Sparsity constrained minimization via MPEC, 2016).
x is split from a copy y in that set, q_rho(x, y) = f(x) + rho/2 |x - y|^2, and minimised block by block:
    x <- argmin q_rho(., y) over the box (and sums)    (1)      y <- the feasible binary point nearest to x    (2)
until the relative change is small; then rho <- sigma rho, until |x - y|_inf <= tolerance. If the minimum over x exceeds
Upsilon, the value at a known feasible point, y restarts from that point (3). rho = 0.1 and sigma = sqrt(10) are those
of the authors' program for sparse regression, which starts at random; here the first y is the relaxation, rounded. A
nonconvex quadratic first gets the load * (|x|^2 - n) that makes it convex.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from flipwise.engine.limits import Status
from flipwise.engine.run import Run
from flipwise.foundation.arrays import Floats
from flipwise.foundation.checks import check_flags, check_numbers, check_wholes
from flipwise.model.problem import Problem
from flipwise.solvers.projections import nearest_feasible, report_nearest
from flipwise.solvers.relaxed import begin, projected_gradient, stops_in_time


@dataclass(frozen=True)
class PenaltyDecomposition:
    """The method "penalty-decomposition", with its options.

    Parameters
    ----------
    rho, sigma
        The first penalty and its factor.
    tolerance
        Ends when max |x_i - y_i| is below this.
    inner_tolerance, inner_iterations
        When the block coordinate descent for one rho ends: relative change of q, most iterations.
    steps
        The most gradient steps of (1).
    iterations
        The most values of rho.
    convex
        Make a nonconvex quadratic convex first.
    """

    name: ClassVar[str] = "penalty-decomposition"
    rho: float = 0.1
    sigma: float = math.sqrt(10.0)
    tolerance: float = 1e-3
    inner_tolerance: float = 1e-4
    inner_iterations: int = 50
    steps: int = 100
    iterations: int = 60
    convex: bool = True

    def __post_init__(self) -> None:
        check_numbers(self, "rho", "tolerance", "inner_tolerance", above=0.0)
        check_numbers(self, "sigma", above=1.0)
        check_wholes(self, "inner_iterations", "steps", "iterations")
        check_flags(self, "convex")

    @stops_in_time
    def solve(self, problem: Problem, x: Floats, rng: np.random.Generator, run: Run) -> Status:
        """Decompose, starting from the feasible point `x`."""
        upsilon = problem.objective.value(x)
        run.offer(x, upsilon)
        feasible = x.reshape(-1).copy()
        base, polytope, point = begin(problem, run, rng, convex=self.convex)
        # the first y: the relaxation rounded, without any penalty
        point, _ = projected_gradient(base, polytope, point, tolerance=1e-3, max_steps=self.steps)
        y = nearest_feasible(problem, point).reshape(-1)
        rho = self.rho
        for _ in range(self.iterations):
            before = math.inf
            for _ in range(self.inner_iterations):
                model = base.plus(linear=-rho * y, square=rho)
                point, _ = projected_gradient(model, polytope, point, tolerance=1e-3, max_steps=self.steps)  # (1)
                y = nearest_feasible(problem, point).reshape(-1)  # (2)
                stop = report_nearest(problem, run, point)
                if stop is not None:
                    return stop
                value = base.value(point) + 0.5 * rho * float(((point - y) ** 2).sum())
                if abs(before - value) <= self.inner_tolerance * max(abs(value), 1.0):
                    break
                before = value
            if float(np.abs(point - y).max(initial=0.0)) <= self.tolerance:
                return Status.CONVERGED
            rho *= self.sigma
            if run.best_value < upsilon and run.best_x is not None:
                upsilon, feasible = run.best_value, run.best_x.reshape(-1).copy()
            if value > max(upsilon, base.value(feasible)):
                y = feasible.copy()  # (3)
        return Status.ITERATION_LIMIT
