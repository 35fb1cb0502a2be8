"""Spectral relaxation: the sphere in place of the cube, the eigenvector of the smallest eigenvalue, rounding by sweep.

With y = (x, 1) where there are linear terms, f(x) = y'Hy + d and
    min y'Hy  over  |y|^2 = N                                                                     (1)
is N lambda_min(H), at the eigenvector (Shi & Malik, PAMI 2000; Olsson, Eriksson, Kahl, CVPR 2007). The diagonal of H is
removed first: it does not matter on binary points. The eigenvector, turned so that its last entry is positive, is
cut at every threshold and the best cut kept; with counts the r largest entries are taken. With counts a second
relaxation is tried as well, in the plane 1'x = m: x = (m/n) 1 + R w, |w| = 1, w'1 = 0.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from flipwise.bounds.eigenvalues import smallest_eigenpair
from flipwise.bounds.lattice import lifted
from flipwise.bounds.sdp import spectral_bound
from flipwise.engine.limits import Status
from flipwise.engine.run import Run
from flipwise.foundation.arrays import Floats
from flipwise.foundation.checks import check_flags, check_numbers
from flipwise.model.forms import homogeneous
from flipwise.model.problem import Problem
from flipwise.model.quadratic import Quadratic
from flipwise.solvers.projections import Polytope, sweep
from flipwise.solvers.relaxed import in_time, stops_in_time

BOUND_LIMIT = 3000
"""The proof of the bound factors a matrix; larger ones are left out."""


@dataclass(frozen=True)
class Spectral:
    """The method "spectral", with its options.

    Parameters
    ----------
    tolerance
        Relative accuracy of the eigenvalue.
    bound
        Prove the spectral lower bound as well, for up to 3000 variables.
    """

    name: ClassVar[str] = "spectral"
    tolerance: float = 1e-6
    bound: bool = True

    def __post_init__(self) -> None:
        check_numbers(self, "tolerance", above=0.0)
        check_flags(self, "bound")

    @stops_in_time
    def solve(self, problem: Problem, x: Floats, rng: np.random.Generator, run: Run) -> Status:
        """Find the eigenvectors and round them."""
        objective = problem.objective
        assert isinstance(objective, Quadratic)
        run.offer(x, objective.value(x))
        relaxations = [_on_sphere(objective, run, self.tolerance)]
        if problem.constraint.swaps:
            relaxations.append(_in_plane(problem, objective, run, self.tolerance))
        for y in relaxations:
            for candidate in (y, -y):
                rounded = sweep(problem, candidate)
                stop = run.step(rounded, objective.value(rounded))
                if stop is not None:
                    return stop
        if self.bound and time_for_proof(problem.n, run):
            run.raise_bound(lifted(objective, spectral_bound(objective)))
        return Status.CONVERGED


def time_for_proof(n: int, run: Run) -> bool:
    """Whether a factorisation of size n is worth starting: not too large, and sure to end within the time limit."""
    return n <= BOUND_LIMIT and run.seconds_left > 4e-10 * n**3


def _on_sphere(objective: Quadratic, run: Run, tolerance: float) -> Floats:
    """The minimiser of (1), without its last entry."""
    form = homogeneous(objective)
    diagonal = form.diagonal

    def times(v: Floats) -> Floats:
        in_time(run)
        return form.times(v) - (diagonal * v if v.ndim == 1 else diagonal[:, None] * v)

    _, y = smallest_eigenpair(times, form.N, tolerance)
    return y[:-1] * (1.0 if y[-1] >= 0.0 else -1.0) if form.lifted else y


def _in_plane(problem: Problem, objective: Quadratic, run: Run, tolerance: float) -> Floats:
    """The relaxation among the points with the right sums."""
    polytope = Polytope(problem.constraint, problem.shape)
    centre = polytope.centre()
    radius = max(problem.n - float(centre @ centre), 1e-12) ** 0.5
    diagonal = objective.diagonal
    slope = polytope.tangent(2.0 * (objective.times(centre) - diagonal * centre) + objective.c) / 2.0 * radius

    def once(v: Floats) -> Floats:
        in_time(run)
        w = polytope.tangent(v[:-1])
        product = radius**2 * polytope.tangent(objective.times(w) - diagonal * w) + slope * v[-1]
        return np.append(product, slope @ w)

    def times(v: Floats) -> Floats:
        return once(v) if v.ndim == 1 else np.stack([once(column) for column in v.T], axis=1)

    _, y = smallest_eigenpair(times, problem.n + 1, tolerance)
    sign = 1.0 if y[-1] >= 0.0 else -1.0
    found: Floats = centre + radius * sign * y[:-1]
    return found
