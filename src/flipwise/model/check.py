"""`flipwise.check_objective`: is the gradient right, are the flips exact, is the Lipschitz constant one?"""

from __future__ import annotations

import time
from dataclasses import dataclass

import numpy as np

from flipwise.foundation.arrays import Floats
from flipwise.foundation.checks import as_generator
from flipwise.foundation.errors import InvalidInput
from flipwise.model.evaluation import draws_samples, evaluator
from flipwise.model.objective import Objective, SupportsFlips, SupportsLipschitz

ROUNDINGS = 8.0
"""How many roundings of its own size a value may be off."""


@dataclass(frozen=True)
class ObjectiveReport:
    """What a check found; `ok` is the verdict, `problems` the reasons against it.

    `gradient_error` is the largest difference between a slope of f and the gradient, relative to the larger of them and
    less what rounding can do to values in the function's precision; `flip_error` the same for changes by flips (None
    where the objective leaves flips to the library). `seconds` is what one value with its gradient takes, `scheme` says
    how `minimize` will go about it.

    Examples
    --------
    >>> import flipwise, numpy as np
    >>> flipwise.check_objective(flipwise.Quadratic(np.eye(3))).ok
    True
    """

    gradient_error: float
    flip_error: float | None
    problems: tuple[str, ...]
    seconds: float = 0.0
    scheme: str = ""

    @property
    def ok(self) -> bool:
        """Whether nothing is wrong."""
        return not self.problems

    def __str__(self) -> str:
        lines = ["objective: " + ("right" if self.ok else "WRONG")]
        lines.append(f"gradient   largest relative error {self.gradient_error:.2g}")
        if self.flip_error is not None:
            lines.append(f"flips      largest relative error {self.flip_error:.2g}")
        lines.append(f"evaluation {1000.0 * self.seconds:.3g} ms for a value and its gradient")
        lines.append(f"minimize   {self.scheme}")
        return "\n".join([*lines, *(f"- {problem}" for problem in self.problems)])


def check_objective(
    objective: Objective, *, points: int = 5, tolerance: float = 1e-4, seed: int | np.random.Generator | None = 0
) -> ObjectiveReport:
    """Compare the gradient with differences of values, and flips with recomputation, at random points.

    Examples
    --------
    >>> import flipwise
    >>> wrong = flipwise.Smooth(lambda x: ((x**3).sum(), 2 * x**2), shape=5)
    >>> flipwise.check_objective(wrong).ok
    False
    """
    if not isinstance(objective, Objective):
        raise InvalidInput(
            "`objective` must have `shape`, `value(x)` and `gradient(x)`. Put a function into "
            "flipwise.Smooth(function, n), flipwise.from_torch(function, n) or flipwise.from_jax(function, n)."
        )
    rng = as_generator(seed)
    problems = []
    gradient_error = max(_gradient_error(objective, rng) for _ in range(points))
    if gradient_error > tolerance:
        problems.append(
            f"the gradient disagrees with differences of values by {gradient_error:.2g} (relative); "
            "check its formula, its sign and its scale."
        )
    flip_error = None
    if isinstance(objective, SupportsFlips):
        flip_error = max(_flip_error(objective, rng) for _ in range(points))
        if flip_error > 1e-8:
            problems.append(f"the change of a batch of flips is off by {flip_error:.2g} (relative).")
    if isinstance(objective, SupportsLipschitz):
        constant = objective.lipschitz()
        steepest = max(_gradient_slope(objective, rng) for _ in range(points))
        if constant.is_bound and steepest > constant.value * (1 + 1e-6):
            problems.append(f"the gradient has slope {steepest:.4g}, above the Lipschitz bound {constant.value:.4g}.")
    seconds = _evaluation_seconds(objective, points, rng)
    return ObjectiveReport(gradient_error, flip_error, tuple(problems), seconds, _scheme_in_words(objective, seconds))


def _evaluation_seconds(objective: Objective, points: int, rng: np.random.Generator) -> float:
    """The median time of a value with its gradient at new points."""
    evaluate, taken = evaluator(objective), []
    for _ in range(points):
        x = np.where(rng.random(objective.shape) < 0.5, 1.0, -1.0)
        began = time.perf_counter()
        evaluate(x)
        taken.append(time.perf_counter() - began)
    return float(np.median(taken))


def _scheme_in_words(objective: Objective, seconds: float) -> str:
    """How `minimize` goes about such an objective, in words."""
    if isinstance(objective, SupportsFlips):
        return "DPCD with exact flips, then the portfolio"
    if draws_samples(objective):
        return "schemes that are not monotone, one batch a step; values on all data"
    return f"first-order schemes that share the time, about {1.0 / max(seconds, 1e-6):,.0f} evaluations a second"


def _gradient_error(objective: Objective, rng: np.random.Generator) -> float:
    """Central differences inside the box, with the best of some step lengths, less what rounding can do to them.

    The direction is half random and half the gradient's own, along which values change most. In single precision steps
    must be long, so what the third derivative adds is taken away by a second step of half the length (Richardson).
    """
    x = rng.uniform(-0.9, 0.9, objective.shape)
    _, slopes = evaluator(objective)(x)
    single = slopes.dtype == np.float32
    eps = float(np.finfo(slopes.dtype if single else np.float64).eps)
    g = slopes.astype(np.float64)
    direction = _unit_direction(_unit_direction(rng.standard_normal(objective.shape)) + _unit_direction(g))
    slope = float((g * direction).sum())

    def difference(h: float) -> tuple[float, float]:
        after, before = objective.value(x + h * direction), objective.value(x - h * direction)
        return (after - before) / (2 * h), ROUNDINGS * eps * (abs(after) + abs(before)) / (2 * h)

    errors = []
    for h in (1e-1, 3e-2) if single else (1e-2, 1e-4, 1e-6):
        found, rounding = difference(h)
        if single:
            nearer, more = difference(h / 2)
            found, rounding = (4.0 * nearer - found) / 3.0, (4.0 * more + rounding) / 3.0
        errors.append(max(abs(found - slope) - rounding, 0.0) / max(abs(found), abs(slope), 1e-8))
    return min(errors)


def _unit_direction(direction: Floats) -> Floats:
    """The same direction at length 1; zero where there is none."""
    length = float(np.linalg.norm(direction))
    return direction / length if length > 0.0 else direction


def _flip_error(objective: SupportsFlips, rng: np.random.Generator) -> float:
    """How far the changes by flips, and the gradient after them, are from those computed anew."""
    x: Floats = np.where(rng.random(objective.shape) < 0.5, 1.0, -1.0)
    g = objective.gradient(x)
    batch = rng.permutation(x.size)[: max(1, x.size // 3)]
    before = objective.value(x)
    promised = objective.flip_change(x, g, batch)
    made = objective.flip(x, g, batch)
    after = objective.value(x)
    scale = max(abs(before), abs(after), 1.0)
    fresh = objective.gradient(x)
    drift = float(np.abs(g - fresh).max()) / max(1.0, float(np.abs(fresh).max()))
    return max(abs(promised - (after - before)) / scale, abs(made - (after - before)) / scale, drift)


def _gradient_slope(objective: Objective, rng: np.random.Generator) -> float:
    """How much the gradient changes between two random points, over their distance."""
    y, z = rng.uniform(-1, 1, objective.shape), rng.uniform(-1, 1, objective.shape)
    return float(np.linalg.norm(objective.gradient(z) - objective.gradient(y)) / np.linalg.norm(z - y))
