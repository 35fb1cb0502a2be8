"""The continuous subproblem that the relaxations share, and its solver.

    model(x) = f(x) + load * (|x|^2 - n) + linear'x + square/2 * |x|^2 + weight/2 * (vector'x)^2
               + quartic/4 * sum_i (x_i^2 - 1)^2

over a polytope. On binary points |x|^2 = n, so `load` changes the relaxation and not the problem; the least load that
makes a quadratic convex is minus the smallest eigenvalue of A. The solver is the projected gradient method with
Barzilai-Borwein steps (Birgin, Martinez & Raydan, SIAM J. Optim. 10, 2000). For quadratics its line search is exact and
the gradient is updated, so an iteration costs one product with the matrix.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import wraps
from typing import Any

import numpy as np

from flipwise.bounds.eigenvalues import smallest_eigenpair
from flipwise.engine.limits import OutOfTime, Status
from flipwise.engine.run import Run
from flipwise.foundation.arrays import Floats, inner
from flipwise.model.objective import SupportsCurvature
from flipwise.model.problem import Problem
from flipwise.model.quadratic import Quadratic
from flipwise.solvers.projections import Polytope, report_nearest


def in_time(run: Run) -> None:
    """Raise `OutOfTime` when the run must end."""
    if run.check_time() is not None:
        raise OutOfTime


def stops_in_time(solve: Callable[..., Status]) -> Callable[..., Status]:
    """Let a solver's `solve` end with a status when a model raises `OutOfTime`; the point it had come to is rounded."""

    @wraps(solve)
    def wrapped(self: Any, problem: Problem, x: Floats, rng: np.random.Generator, run: Run) -> Status:
        try:
            return solve(self, problem, x, rng, run)
        except OutOfTime as stop:
            if stop.x is not None:
                report_nearest(problem, run, stop.x)
            return Status.TIME_LIMIT

    return wrapped


@dataclass(frozen=True, eq=False)
class Model:
    """The function above, on flat vectors."""

    problem: Problem
    run: Run
    load: float = 0.0
    linear: Floats | None = None
    square: float = 0.0
    vector: Floats | None = None
    weight: float = 0.0
    quartic: float = 0.0

    def plus(
        self,
        *,
        linear: Floats | None = None,
        square: float = 0.0,
        vector: Floats | None = None,
        weight: float = 0.0,
        quartic: float = 0.0,
    ) -> Model:
        """The same objective with these extra terms in place of the present ones."""
        return replace(self, linear=linear, square=square, vector=vector, weight=weight, quartic=quartic)

    def gradient(self, x: Floats) -> Floats:
        """The gradient at x."""
        g = self._objective_gradient(x) + (2.0 * self.load + self.square) * x
        if self.linear is not None:
            g += self.linear
        if self.vector is not None:
            g += (self.weight * inner(self.vector, x)) * self.vector
        if self.quartic:
            g += self.quartic * x * (x * x - 1.0)
        return g

    def value(self, x: Floats) -> float:
        """The value at x."""
        squared = inner(x, x)
        value = self.problem.objective.value(x.reshape(self.problem.shape))
        value += self.load * (squared - x.size) + 0.5 * self.square * squared
        if self.linear is not None:
            value += inner(self.linear, x)
        if self.vector is not None:
            value += 0.5 * self.weight * inner(self.vector, x) ** 2
        if self.quartic:
            value += 0.25 * self.quartic * float(((x * x - 1.0) ** 2).sum())
        return value

    def hessian_times(self, d: Floats) -> Floats | None:
        """The Hessian times d where it is constant, else None."""
        objective = self.problem.objective
        if self.quartic:
            return None
        if isinstance(objective, Quadratic):
            product = self._objective_gradient(d) - objective.c
        elif isinstance(objective, SupportsCurvature):
            product = objective.hessian_times(d.reshape(self.problem.shape)).reshape(-1)
        else:
            return None
        product = product + (2.0 * self.load + self.square) * d
        if self.vector is not None:
            product += (self.weight * inner(self.vector, d)) * self.vector
        return product

    def _objective_gradient(self, x: Floats) -> Floats:
        in_time(self.run)
        return self.problem.objective.gradient(x.reshape(self.problem.shape)).reshape(-1)


def convex_load(problem: Problem, run: Run) -> float:
    """The load that makes a quadratic convex (0 for one that is, and for objectives without a matrix)."""
    objective = problem.objective
    if not isinstance(objective, Quadratic):
        return 0.0
    model = Model(problem, run)

    def times(v: Floats) -> Floats:
        if v.ndim == 2:
            return objective.times(v)
        product = model.hessian_times(v)
        assert product is not None
        return product / 2.0

    least, _ = smallest_eigenpair(times, problem.n, tolerance=1e-3)
    return max(0.0, -least) * (1.0 + 1e-3)


def begin(
    problem: Problem, run: Run, rng: np.random.Generator, *, convex: bool = False
) -> tuple[Model, Polytope, Floats]:
    """What a relaxation begins with: the objective (made convex), the polytope, and a point near its centre."""
    polytope = Polytope(problem.constraint, problem.shape)
    model = Model(problem, run, load=convex_load(problem, run) if convex else 0.0)
    return model, polytope, polytope.near_centre(rng)


def projected_gradient(
    model: Model, polytope: Polytope, x: Floats, *, tolerance: float, max_steps: int
) -> tuple[Floats, float]:
    """A stationary point of the model near x; returns it with the size of the last projected gradient step.

    Ends when the projected gradient |P(x - s g) - x|_inf / s is below `tolerance` of the gradient at the start.
    """
    try:
        g = model.gradient(x)
        step = 1.0 / max(float(np.abs(g).max(initial=0.0)), 1e-300)
        scale = float(np.abs(polytope.tangent(g)).max(initial=0.0))
        size = np.inf
        for _ in range(max_steps):
            d = polytope.project(x - step * g) - x
            size = float(np.abs(d).max(initial=0.0)) / step
            slope = inner(g, d)
            if size <= tolerance * scale or slope >= 0.0:
                break
            Hd = model.hessian_times(d)
            if Hd is None:
                t, g_new = _backtracking_step(model, x, d, slope)
                Hd = (g_new - g) / t
            else:
                curvature = inner(d, Hd)
                t = 1.0 if curvature <= -slope else -slope / curvature
                g_new = g + t * Hd
            x = x + t * d
            g = g_new
            curvature, length = inner(d, Hd), inner(d, d)
            step = min(max(length / curvature, 1e-10), 1e10) if curvature > 1e-14 * length else min(10.0 * step, 1e10)
    except OutOfTime:
        raise OutOfTime(x) from None
    return x, size


def _backtracking_step(model: Model, x: Floats, d: Floats, slope: float) -> tuple[float, Floats]:
    """Halve the step until the value falls enough; returns it, and the gradient there."""
    value = model.value(x)
    t = 1.0
    while t > 1e-8 and model.value(x + t * d) > value + 1e-4 * t * slope:
        t /= 2.0
    return t, model.gradient(x + t * d)


def conjugate_gradients(model: Model, x: Floats, *, tolerance: float, max_steps: int) -> Floats:
    """The minimiser of a quadratic model over all x, from x.

    Where the model curves downwards the step ends, at the best point so far.
    """
    try:
        r = -model.gradient(x)
        p, square = r.copy(), inner(r, r)
        target = tolerance**2 * max(square, inner(x, x) * 1e-30)
        for _ in range(max_steps):
            if square <= target or square == 0.0:
                break
            Hp = model.hessian_times(p)
            assert Hp is not None
            curvature = inner(p, Hp)
            if curvature <= 0.0:
                break
            t = square / curvature
            x = x + t * p
            r -= t * Hp
            new = inner(r, r)
            p = r + (new / square) * p
            square = new
    except OutOfTime:
        raise OutOfTime(x) from None
    return x
