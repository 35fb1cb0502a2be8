"""The contract of an objective."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from flipwise.foundation.arrays import Floats
from flipwise.model import check as model_check
from flipwise.model.objective import Objective


def check_objective(objective: Any, *, points: int = 5, tolerance: float = 1e-4, seed: int = 0) -> None:
    """Raise an `AssertionError` when an objective breaks a rule.

    The rules: `shape` is a tuple of positive integers; `value` is a finite number and `gradient` a finite float64 array
    of `shape`, on the whole cube; neither changes `x` nor remembers it; the gradient is the caller's to overwrite; and
    what `flipwise.check_objective` compares: gradients with slopes, flips with recomputation, the Lipschitz bound.

    Examples
    --------
    >>> import flipwise, numpy as np
    >>> from flipwise.testing import check_objective
    >>> check_objective(flipwise.Quadratic(np.ones((3, 3))))
    >>> check_objective(flipwise.Smooth(lambda x: ((x**3).sum(), 2 * x**2), shape=5))  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    AssertionError: Smooth: the gradient disagrees with differences of values by ...
    """
    name = type(objective).__name__
    missing = [member for member in ("shape", "value", "gradient") if not hasattr(objective, member)]
    if missing or not isinstance(objective, Objective):
        raise AssertionError(f"{name}: it has no `{missing[0]}`; an objective has `shape`, `value` and `gradient`.")
    shape: Any = objective.shape
    if not (isinstance(shape, tuple) and shape and all(isinstance(size, int) and size > 0 for size in shape)):
        raise AssertionError(f"{name}: `shape` must be a tuple of positive integers such as (40,), it is {shape!r}.")
    rng = np.random.default_rng(seed)
    for _ in range(points):
        _check_evaluations(name, objective, rng.uniform(-1.0, 1.0, shape), "inside the cube")
        _check_evaluations(name, objective, np.where(rng.random(shape) < 0.5, 1.0, -1.0), "at a corner")
    report = model_check.check_objective(objective, points=points, tolerance=tolerance, seed=seed)
    if not report.ok:
        raise AssertionError(f"{name}: {' Also, '.join(report.problems)}")


def _check_evaluations(name: str, objective: Objective, x: Floats, where: str) -> None:
    """The rules that one point can show."""
    before = x.copy()
    value: Any = objective.value(x)
    gradient: Any = objective.gradient(x)
    if not np.array_equal(x, before):
        raise AssertionError(f"{name}: `value` or `gradient` has changed the `x` it was given; work on a copy.")
    if not isinstance(value, int | float | np.number) or not math.isfinite(value):
        raise AssertionError(f"{name}: `value` must be a finite number, {where} it is {value!r}.")
    if not isinstance(gradient, np.ndarray) or gradient.dtype != np.float64:
        kind = gradient.dtype if isinstance(gradient, np.ndarray) else type(gradient).__name__
        raise AssertionError(f"{name}: `gradient` must be a NumPy array of float64, {where} it is {kind}.")
    if gradient.shape != objective.shape:
        raise AssertionError(f"{name}: `gradient` must have the shape {objective.shape}, it has {gradient.shape}.")
    if not np.isfinite(gradient).all():
        raise AssertionError(
            f"{name}: `gradient` must be finite, {where} it holds {gradient[~np.isfinite(gradient)][0]}."
        )
    kept = gradient.copy()
    try:
        gradient.fill(np.nan)
    except ValueError:
        raise AssertionError(
            f"{name}: `gradient` is read-only, but the caller may overwrite it; give a copy."
        ) from None
    objective.value(-x)
    if not np.array_equal(objective.gradient(x), kept) or float(objective.value(x)) != float(value):
        raise AssertionError(
            f"{name}: asked again at the same point, `value` or `gradient` says something else: either the array that "
            "was given out is used inside (give a copy), or something of an earlier call is remembered."
        )
