"""Annealed relaxation: the mean field of the points, cooled until it is a point.

Each coordinate has a mean mu_i = tanh(y_i - level), in the open cube; under exact counts the level of each group makes
its means add up to what its points do. The self-consistent fields y = -g(mu) / T are followed with damping,

    y <- y + rate * (-g(mu) / T - y)                                                                            (1)

while T falls linearly (mean-field annealing, Peterson & Anderson 1987; with the entropy's gradient in the place of
damping it is what Shen et al., 2025, call a free-energy machine). The fields are rounded now and then, and at the end.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from flipwise.engine.limits import Status
from flipwise.engine.run import Run
from flipwise.engine.states import check_array
from flipwise.foundation.arrays import Floats, Ints
from flipwise.foundation.errors import InvalidFile
from flipwise.model.constraints import Constraint
from flipwise.model.evaluation import Slopes, SupportsSamples, draws_samples, evaluator
from flipwise.model.problem import Problem
from flipwise.solvers.dpcd.budget import Budget, Meter

COLD = 1.0 / 75.0
"""The last temperature, in units of the first."""
LOOKS = 10
"""How often the fields are rounded on the way."""
NEWTON_STEPS = 3
"""Steps of Newton's method for the levels, which begin where they were the last time."""


@dataclass
class Fields:
    """Where a relaxation stands, for checkpoints."""

    y: Floats
    level: Floats
    scale: float
    best_x: Floats
    best_value: float
    spent: float

    def check(self, shape: tuple[int, ...], groups: int) -> None:
        """Refuse what no relaxation on arrays of this shape can have left behind."""
        check_array("y", self.y, shape)
        check_array("level", self.level, (groups,))
        check_array("best_x", self.best_x, shape, signs=True)
        if not (math.isfinite(self.scale) and self.scale >= 0.0 and self.spent >= 0.0):
            raise InvalidFile("the checkpoint's temperature or the share that is spent is out of range.")


class Means:
    """From fields to means that keep the counts."""

    def __init__(self, constraint: Constraint, shape: tuple[int, ...]) -> None:
        self.shape = shape
        self.labels: Ints | None = None
        self.groups = 0
        if constraint.swaps:
            self.labels = constraint.labels(shape)
            self.groups = int(self.labels.max(initial=-1)) + 1
            anywhere = constraint.project(np.zeros(shape)).reshape(-1)
            self.sums = np.bincount(self.labels, anywhere, minlength=self.groups)
            sizes = np.bincount(self.labels, minlength=self.groups)
            self.fixed = np.abs(self.sums) == sizes
            """Groups of ones only, or without any."""
        self.level = np.zeros(self.groups)

    def __call__(self, y: Floats) -> Floats:
        """mu at the fields `y`; the levels are brought up to date."""
        if self.labels is None:
            return np.tanh(y)
        flat = y.reshape(-1)
        for _ in range(NEWTON_STEPS):
            mu = np.tanh(flat - self.level[self.labels])
            excess = np.bincount(self.labels, mu, minlength=self.groups) - self.sums
            slope = np.bincount(self.labels, 1.0 - mu * mu, minlength=self.groups)
            self.level += np.clip(excess / np.maximum(slope, 1e-3), -2.0, 2.0)
        mu = np.tanh(flat - self.level[self.labels])
        if self.fixed.any():
            ends = np.sign(self.sums)[self.labels]
            mu = np.where(self.fixed[self.labels], ends, mu)
        return mu.reshape(self.shape)


def relax(
    problem: Problem, x: Floats, rng: np.random.Generator, run: Run, budget: Budget, *, hot: float, rate: float
) -> tuple[Floats, float, Status | None]:
    """Follow the fields from the centre, a little towards `x`; returns the best rounding, its value, why to stop."""
    means = Means(problem.constraint, problem.shape)
    gradient = _gradient_function(problem)
    before = run.resume(Fields)
    if before is None:
        y = 0.1 * x + 0.1 * rng.standard_normal(problem.shape)
        best_x, best_value, scale = x.copy(), math.inf, -1.0
        meter = Meter(budget, run)
    else:
        before.check(problem.shape, means.groups)
        y, best_x, best_value, scale = before.y, before.best_x, before.best_value, before.scale
        means.level = before.level
        meter = Meter(budget, run, before.spent)
    looks = int(meter.spent * LOOKS) + 1
    while True:
        spent = meter.spent
        if spent * LOOKS >= looks or spent >= 1.0:
            looks += 1
            point = problem.constraint.project(y)
            f = problem.objective.value(point)
            if f < best_value:
                best_x, best_value = point, f
            now = Fields(y, means.level, scale, best_x, best_value, meter.spent) if run.resumption else None
            stop = run.step(point, f, state=now)
            if stop is not None or spent >= 1.0:
                return best_x, best_value, stop
        if scale < 0.0:
            scale = float(np.sqrt(np.mean(np.square(gradient(x), dtype=np.float64))))
        g = gradient(means(y))
        meter.step()
        T = scale * hot * (1.0 + (COLD - 1.0) * min(spent, 1.0))
        if T == 0.0:
            T = 1.0  # no slope anywhere: nothing to follow
        y += rate * (-g / T - y)  # (1)


def _gradient_function(problem: Problem) -> Callable[[Floats], Slopes]:
    """What gives the gradient, of a batch of terms where they can be drawn."""
    objective = problem.objective
    if draws_samples(objective):
        assert isinstance(objective, SupportsSamples)
        return objective.sampled_gradient
    evaluate = evaluator(objective)
    return lambda mu: evaluate(mu)[1]
