"""The l2 box non-separable reformulation, by global smoothing: a barrier that vanishes and a penalty that grows.

Murray, Ng: An algorithm for nonlinear optimization problems with binary variables, Comput. Optim. Appl. 47, 2010.
Binary points are {x in [-1, 1]^n : |x|^2 = n}. A trajectory of minimisers of
    F(x; mu, gamma) = f(x) - mu sum_i log(1 - x_i^2) + gamma (n - |x|^2),    1'x as the counts say,          (1)
is followed from the analytic centre while mu <- theta_mu mu and gamma <- gamma / theta_gamma. Each subproblem is
solved by Newton's method in the null space of the counts, the Newton equations by conjugate gradients, which also
supply directions of negative curvature. mu and gamma are in units of the mean size of a gradient entry at the start, so
that the path does not depend on the scale of f; their first values and factors are ours, within what the publication
asks for (F convex at first, changing slowly).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from flipwise.engine.limits import Status
from flipwise.engine.run import Run
from flipwise.foundation.arrays import Floats, inner
from flipwise.foundation.checks import check_numbers, check_wholes
from flipwise.model.problem import Problem
from flipwise.solvers.projections import Polytope, report_nearest
from flipwise.solvers.relaxed import Model, stops_in_time


@dataclass(frozen=True)
class L2BoxNonseparable:
    """The method "l2box-nonseparable", with its options.

    Parameters
    ----------
    mu, theta_mu
        The first weight of the barrier and its factor, below 1.
    gamma, theta_gamma
        The first weight of the penalty; it is divided by the factor, below 1.
    newton, cg_steps
        The most Newton steps for one mu, and the most steps of conjugate gradients in each.
    tolerance
        Ends when every 1 - |x_i| is below this.
    iterations
        The most values of mu.
    """

    name: ClassVar[str] = "l2box-nonseparable"
    mu: float = 10.0
    theta_mu: float = 0.5
    gamma: float = 0.01
    theta_gamma: float = 0.5
    newton: int = 5
    cg_steps: int = 50
    tolerance: float = 1e-2
    iterations: int = 40

    def __post_init__(self) -> None:
        check_numbers(self, "mu", "gamma", "tolerance", above=0.0)
        check_numbers(self, "theta_mu", "theta_gamma", above=0.0, most=0.999)
        check_wholes(self, "newton", "cg_steps", "iterations")

    @stops_in_time
    def solve(self, problem: Problem, x: Floats, rng: np.random.Generator, run: Run) -> Status:
        """Follow the trajectory from near the centre."""
        run.offer(x, problem.objective.value(x))
        polytope = Polytope(problem.constraint, problem.shape)
        if any(abs(total) >= inside.size for total, inside in zip(polytope.sums, polytope.members, strict=True)):
            # A group that is all ones or all zeros has no interior: only its one point is left.
            return report_nearest(problem, run, polytope.centre()) or Status.CONVERGED
        model = Model(problem, run)
        slopes = polytope.tangent(model.gradient(x.reshape(-1).copy()))
        unit = max(float(np.abs(slopes).mean()), 1e-12)
        centre = polytope.centre()
        room = 1.0 - float(np.abs(centre).max(initial=0.0))
        y = centre + polytope.tangent(np.clip(1e-2 * rng.standard_normal(problem.n), -0.4, 0.4) * room)
        mu, gamma = self.mu * unit, self.gamma * unit
        for _ in range(self.iterations):
            smoothed = _Smoothed(model, mu, gamma)
            for _ in range(self.newton):
                y, moved = _newton_step(smoothed, polytope, y, self.cg_steps)
                if moved <= 1e-3:
                    break
            stop = report_nearest(problem, run, y)
            if stop is not None:
                return stop
            if 1.0 - float(np.abs(y).min(initial=1.0)) <= self.tolerance:
                return Status.CONVERGED
            mu *= self.theta_mu
            gamma /= self.theta_gamma
        return Status.ITERATION_LIMIT


@dataclass(frozen=True, eq=False)
class _Smoothed:
    """F of (1), its gradient and Hessian products."""

    model: Model
    mu: float
    gamma: float

    def value(self, x: Floats) -> float:
        inside = 1.0 - x * x
        return self.model.value(x) - self.mu * float(np.log(inside).sum()) + self.gamma * float(inside.sum())

    def gradient(self, x: Floats) -> Floats:
        return self.model.gradient(x) + 2.0 * self.mu * x / (1.0 - x * x) - 2.0 * self.gamma * x

    def hessian_times(self, x: Floats, d: Floats) -> Floats:
        product = self.model.hessian_times(d)
        if product is None:  # a difference of gradients of f
            eps = 1e-6 / max(float(np.abs(d).max(initial=0.0)), 1e-300)
            product = (self.model.gradient(x + eps * d) - self.model.gradient(x - eps * d)) / (2.0 * eps)
        inside = 1.0 - x * x
        return product + (2.0 * self.mu * (1.0 + x * x) / (inside * inside) - 2.0 * self.gamma) * d


def _newton_step(smoothed: _Smoothed, polytope: Polytope, y: Floats, cg_steps: int) -> tuple[Floats, float]:
    """One damped step that stays strictly inside the box; returns the point and how far it moved."""
    g = smoothed.gradient(y)
    d = _newton_direction(smoothed, polytope, y, g, cg_steps)
    slope = inner(g, d)
    if slope >= 0.0:
        return y, 0.0
    with np.errstate(divide="ignore"):
        reach = np.where(d > 0.0, (1.0 - y) / np.abs(d), np.where(d < 0.0, (1.0 + y) / np.abs(d), np.inf))
    t = min(1.0, 0.9 * float(reach.min(initial=np.inf)))
    value = smoothed.value(y)
    while t > 1e-8 and not smoothed.value(_kept_inside(y + t * d)) <= value + 1e-4 * t * slope:
        t /= 2.0
    if t <= 1e-8:
        return y, 0.0
    return _kept_inside(y + t * d), t * float(np.abs(d).max(initial=0.0))


def _kept_inside(y: Floats) -> Floats:
    """y, kept from being rounded onto the boundary, where the barrier is infinite."""
    return np.clip(y, -1.0 + 1e-12, 1.0 - 1e-12)


def _newton_direction(smoothed: _Smoothed, polytope: Polytope, y: Floats, g: Floats, cg_steps: int) -> Floats:
    """Conjugate gradients on the Newton equations; along negative curvature, as far as the box allows."""
    d = np.zeros_like(y)
    r = -polytope.tangent(g)
    # The diagonal of the barrier is a preconditioner: near the box it is most of the Hessian.
    inside = 1.0 - y * y
    scale = 1.0 / (1.0 + smoothed.mu * 2.0 * (1.0 + y * y) / (inside * inside))
    z = polytope.tangent(scale * r)
    p, energy = z.copy(), inner(r, z)
    first = energy
    for _ in range(cg_steps):
        if energy <= 1e-4 * first or energy <= 0.0:
            break
        Hp = polytope.tangent(smoothed.hessian_times(y, p))
        curvature = inner(p, Hp)
        if curvature <= 1e-14 * inner(p, p):
            if not d.any():
                d = p * (0.5 / max(float(np.abs(p).max(initial=0.0)), 1e-300))
            break
        t = energy / curvature
        d = d + t * p
        r = r - t * Hp
        z = polytope.tangent(scale * r)
        new = inner(r, z)
        p = z + (new / energy) * p
        energy = new
    return d
