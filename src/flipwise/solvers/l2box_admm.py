"""L2box-ADMM: binary points as the intersection of the box and a sphere, split and joined by ADMM.

Wu, Ghanem: lp-Box ADMM: a versatile framework for integer programming, PAMI 2018. In b = (x + 1)/2 the authors solve
    min f(b)  subject to  b = y1 in [0, 1]^n,  b = y2 on the sphere |y2 - 1/2|^2 = n/4
by   y1 <- P_box(b + z1/rho)            (1)      z1 <- z1 + gamma rho (b - y1)      (4)
     y2 <- P_sphere(b + z2/rho)         (2)      z2 <- z2 + gamma rho (b - y2)      (5)
     b  <- argmin of the augmented Lagrangian   (3)
with rho multiplied by `learning_fact` every `rho_change_step` iterations. Here everything is written in spins, where
the same iteration has rho/4. Step (3) is a linear system for quadratics, solved by conjugate gradients on the operator
from the last point. With exact counts, (1) projects onto the box with the right sums, so the counts hold in y1.
Defaults are those of the authors' code, for problems without and with linear constraints; the first rho is lowered in
proportion where gradients are smaller than 1 on average, since a rho far above them freezes the random start (the label
losses of hashing have gradients of 1e-3). A nonconvex quadratic gets the load * (|x|^2 - n) that makes it convex,
without which (3) has no minimiser while rho is small.
"""

from __future__ import annotations

import math
from collections import deque
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from flipwise.engine.limits import Status
from flipwise.engine.run import Run
from flipwise.foundation.arrays import Floats
from flipwise.foundation.checks import check_flags, check_numbers, check_wholes
from flipwise.model.constraints import Free
from flipwise.model.objective import SupportsCurvature
from flipwise.model.problem import Problem
from flipwise.model.quadratic import Quadratic
from flipwise.solvers.projections import Polytope, onto_sphere, report_nearest
from flipwise.solvers.relaxed import Model, begin, conjugate_gradients, projected_gradient, stops_in_time

_AUTHORS = {  # name: (free, with counts)
    "rho": (5.0, 25.0),
    "learning_fact": (1.03, 1.01),
    "gamma": (1.0, 1.6),
    "gamma_factor": (0.99, 0.95),
    "stop_threshold": (1e-3, 1e-4),
    "cg_tolerance": (1e-3, 1e-4),
    "history": (5, 3),
    "iterations": (10_000, 1000),
}


@dataclass(frozen=True)
class L2BoxADMM:
    """Options of `method="l2box-admm"`; None stands for the authors' value, which depends on the constraint.

    Parameters
    ----------
    rho, learning_fact, rho_change_step
        The first penalty, its factor, and the iterations between two changes. By default rho is the authors' value
        times the mean size of a gradient entry at the start or at the centre, if that is below 1.
    gamma, gamma_factor
        The dual step and the factor that it is multiplied with, at least 1.
    stop_threshold
        Ends when both residuals are below this, relative to |b|.
    std_threshold, history
        Ends when the last `history` values vary by less than this, relatively.
    cg_tolerance, cg_steps
        The accuracy and the most steps of conjugate gradients.
    iterations
        The most iterations.
    convex
        Make a nonconvex quadratic convex first.
    """

    name: ClassVar[str] = "l2box-admm"
    rho: float | None = None
    learning_fact: float | None = None
    rho_change_step: int = 5
    gamma: float | None = None
    gamma_factor: float | None = None
    stop_threshold: float | None = None
    std_threshold: float = 1e-6
    history: int | None = None
    cg_tolerance: float | None = None
    cg_steps: int = 1000
    iterations: int | None = None
    convex: bool = True

    def __post_init__(self) -> None:
        given = {name for name in _AUTHORS if getattr(self, name) is not None}
        whole = {"history", "iterations"}
        check_numbers(self, *sorted(given - whole), above=0.0)
        check_numbers(self, "std_threshold", least=0.0)
        check_wholes(self, *sorted(given & whole), "rho_change_step", "cg_steps")
        check_flags(self, "convex")

    def chosen(self, name: str, counts: bool) -> float:
        """The user's value, or the authors'."""
        given = getattr(self, name)
        return float(_AUTHORS[name][counts]) if given is None else float(given)

    @stops_in_time
    def solve(self, problem: Problem, x: Floats, rng: np.random.Generator, run: Run) -> Status:
        """Iterate from near the centre."""
        run.offer(x, problem.objective.value(x))
        counts = problem.constraint.swaps
        rho = self.chosen("rho", counts) / 4.0
        if self.rho is None:
            rho *= min(1.0, _mean_slope(problem, x))
        gamma = self.chosen("gamma", counts)
        close = self.chosen("stop_threshold", counts)
        values: deque[float] = deque(maxlen=int(self.chosen("history", counts)))
        base, polytope, b = begin(problem, run, rng, convex=self.convex)
        radius = math.sqrt(problem.n)
        z1, z2 = np.zeros(problem.n), np.zeros(problem.n)
        for iteration in range(1, int(self.chosen("iterations", counts)) + 1):
            y1 = polytope.project(b + z1 / rho)  # (1)
            y2 = onto_sphere(b + z2 / rho, radius)  # (2)
            b = _minimise_model(base.plus(linear=z1 + z2 - rho * (y1 + y2), square=2.0 * rho), b, self, counts)  # (3)
            z1 += gamma * rho * (b - y1)  # (4)
            z2 += gamma * rho * (b - y2)  # (5)
            stop = report_nearest(problem, run, b)
            if stop is not None:
                return stop
            if iteration % self.rho_change_step == 0:
                rho *= self.chosen("learning_fact", counts)
                gamma = max(gamma * self.chosen("gamma_factor", counts), 1.0)
            size = max(float(np.linalg.norm(b)), 1e-300)
            if max(float(np.linalg.norm(b - y1)), float(np.linalg.norm(b - y2))) <= close * size:
                return Status.CONVERGED
            values.append(problem.objective.value(b.reshape(problem.shape)))
            if len(values) == values.maxlen and np.std(values) <= self.std_threshold * abs(float(np.mean(values))):
                return Status.CONVERGED
        return Status.ITERATION_LIMIT


def _mean_slope(problem: Problem, x: Floats) -> float:
    """The mean size of a gradient entry, at the start or at the centre, whichever is larger."""
    sizes = [float(np.abs(problem.objective.gradient(at)).mean()) for at in (x, np.zeros(problem.shape))]
    return max(*sizes, 1e-300)


def _minimise_model(model: Model, b: Floats, options: L2BoxADMM, counts: bool) -> Floats:
    """The minimum of the augmented function, by conjugate gradients where it is quadratic."""
    tolerance = options.chosen("cg_tolerance", counts)
    if isinstance(model.problem.objective, Quadratic | SupportsCurvature):
        return conjugate_gradients(model, b, tolerance=tolerance, max_steps=options.cg_steps)
    # Not quadratic: within the box, where a user's function is sure to be defined.
    box = Polytope(Free(), model.problem.shape)
    return projected_gradient(model, box, box.project(b), tolerance=tolerance, max_steps=20)[0]
