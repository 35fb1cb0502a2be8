"""MPEC-ADM: the alternating direction method on the equilibrium formulation of binary points.

Yuan, Ghanem: Binary optimization via mathematical programming with equilibrium constraints, arXiv:1608.04425. As
MPEC-EPM, with the complementarity n - <x, v> in an augmented Lagrangian:
    x   <- argmin f(x) + rho (n - <x, v>) + alpha/2 (n - <x, v>)^2  over the box (and the sums)          (1)
    v   <- argmin of the same over |v|^2 <= n:   sqrt(n) x / |x|  for rho >= 0                          (2)
    rho <- rho + alpha (n - <x, v>)                                                                 (3)
    alpha <- sigma alpha  every T iterations                                                         (4)
n - <x, v> is of the size of n, so alpha starts at `alpha`/n, which makes the first rho comparable with MPEC-EPM's.
rho = 0, T = 10, sigma = sqrt(10) and v = 0 agree with a public program after the authors' own, which starts from
alpha = 0.0001: the default here, 0.01/n, for n = 100. That program keeps rho at 50 and alpha as it is once rho is above
50, a number for its own objective; here neither is limited.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from flipwise.engine.limits import Status
from flipwise.engine.run import Run
from flipwise.foundation.arrays import Floats, inner
from flipwise.foundation.checks import check_flags, check_numbers, check_wholes
from flipwise.model.problem import Problem
from flipwise.solvers.projections import onto_sphere, report_nearest
from flipwise.solvers.relaxed import begin, projected_gradient, stops_in_time


@dataclass(frozen=True)
class MPECADM:
    """The method "mpec-adm", with its options.

    Parameters
    ----------
    alpha, sigma, T
        The first weight of the squared complementarity times n, its factor, and the iterations between two changes.
    tolerance, steps
        Accuracy of (1) relative to its first gradient, and the most gradient steps.
    complementarity
        Ends when n - <x, v> is below this share of n.
    iterations
        The most iterations.
    convex
        Make a nonconvex quadratic convex first.
    """

    name: ClassVar[str] = "mpec-adm"
    alpha: float = 0.01
    sigma: float = math.sqrt(10.0)
    T: int = 10
    tolerance: float = 1e-3
    steps: int = 100
    complementarity: float = 1e-5
    iterations: int = 500
    convex: bool = True

    def __post_init__(self) -> None:
        check_numbers(self, "alpha", "tolerance", "complementarity", above=0.0)
        check_numbers(self, "sigma", least=1.0)
        check_wholes(self, "T", "steps", "iterations")
        check_flags(self, "convex")

    @stops_in_time
    def solve(self, problem: Problem, x: Floats, rng: np.random.Generator, run: Run) -> Status:
        """Iterate from near the centre."""
        run.offer(x, problem.objective.value(x))
        n = problem.n
        base, polytope, y = begin(problem, run, rng, convex=self.convex)
        v = np.zeros(n)
        rho, alpha = 0.0, self.alpha / n
        for iteration in range(1, self.iterations + 1):
            # rho (n - <x,v>) + alpha/2 (n - <x,v>)^2 = const - (rho + alpha n) <x,v> + alpha/2 <x,v>^2
            model = base.plus(linear=-(rho + alpha * n) * v, vector=v, weight=alpha)
            y, _ = projected_gradient(model, polytope, y, tolerance=self.tolerance, max_steps=self.steps)  # (1)
            v = onto_sphere(y, math.sqrt(n))  # (2)
            gap = n - inner(y, v)
            rho += alpha * gap  # (3)
            stop = report_nearest(problem, run, y)
            if stop is not None:
                return stop
            if gap <= self.complementarity * n:
                return Status.CONVERGED
            if iteration % self.T == 0:
                alpha *= self.sigma  # (4)
        return Status.ITERATION_LIMIT
