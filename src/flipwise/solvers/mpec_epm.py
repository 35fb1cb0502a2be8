"""MPEC-EPM: the exact penalty method on the equilibrium formulation of binary points.

Yuan, Ghanem: An exact penalty method for binary optimization based on MPEC formulation, AAAI 2017. On the cube
    {-1, +1}^n = {x : |x|_inf <= 1, |v|^2 <= n, <x, v> = n},
so the complementarity n - <x, v> is penalised:
    x   <- argmin f(x) + rho (n - <x, v>)  over the box (and the sums of the counts)                (1)
    v   <- sqrt(n) x / |x|                                                                        (2)
    rho <- min(2L, sigma rho)  every T iterations, L a Lipschitz constant of f                       (3)
until the complementarity is small. (1) is convex for convex f; a nonconvex quadratic first gets the
load * (|x|^2 - n) that makes it so, as in the authors' dense-subgraph experiment. rho = 0.01, T = 10, sigma = sqrt(10)
and the start at the centre with v = 0 agree with two public programs that follow the authors' own, one of them for
dense subgraphs. Those solve (1) by at most 50 projected gradient steps of length 1/L and end after 100 iterations or
when n - <x, v> < 0.01; here the steps are longer (Barzilai-Borwein), and the end comes no later than `complementarity`.
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
from flipwise.model.quadratic import Quadratic
from flipwise.solvers.projections import onto_sphere, report_nearest
from flipwise.solvers.relaxed import begin, projected_gradient, stops_in_time


@dataclass(frozen=True)
class MPECEPM:
    """The method "mpec-epm", with its options.

    Parameters
    ----------
    rho, sigma, T
        The first penalty, its factor, and the iterations between two changes.
    tolerance, steps
        Accuracy of (1) relative to its first gradient, and the most gradient steps.
    complementarity
        Ends when n - <x, v> is below this share of n.
    iterations
        The most iterations.
    convex
        Make a nonconvex quadratic convex first.
    """

    name: ClassVar[str] = "mpec-epm"
    rho: float = 0.01
    sigma: float = math.sqrt(10.0)
    T: int = 10
    tolerance: float = 1e-3
    steps: int = 100
    complementarity: float = 1e-5
    iterations: int = 500
    convex: bool = True

    def __post_init__(self) -> None:
        check_numbers(self, "rho", "tolerance", "complementarity", above=0.0)
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
        rho = self.rho
        largest = 2.0 * _gradient_bound(problem, base.load)
        for iteration in range(1, self.iterations + 1):
            y, _ = projected_gradient(
                base.plus(linear=-rho * v), polytope, y, tolerance=self.tolerance, max_steps=self.steps
            )  # (1)
            v = onto_sphere(y, math.sqrt(n))  # (2)
            stop = report_nearest(problem, run, y)
            if stop is not None:
                return stop
            if n - inner(y, v) <= self.complementarity * n:
                return Status.CONVERGED
            if iteration % self.T == 0:
                rho = min(largest, self.sigma * rho)  # (3)
        return Status.ITERATION_LIMIT


def _gradient_bound(problem: Problem, load: float) -> float:
    """A bound on |grad f| over the box; without a matrix there is none, and (3) is left unbounded."""
    objective = problem.objective
    if not isinstance(objective, Quadratic):
        return math.inf
    # |2(A + load)x + c| <= the norm of its largest possible entries
    rows = sum((2.0 * term.absolute_row_sums() for term in objective.terms), np.abs(objective.c))
    return float(np.linalg.norm(rows + 2.0 * load))
