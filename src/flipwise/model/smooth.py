"""A user's own differentiable function in NumPy: a value and a gradient, on a vector or a matrix of variables."""

from __future__ import annotations

import math
from collections.abc import Callable
from copy import copy
from typing import Any

import numpy as np

from flipwise.foundation.arrays import Floats
from flipwise.foundation.checks import Variables, check_variables, is_whole
from flipwise.foundation.errors import InvalidInput
from flipwise.model.objective import Lipschitz


class Smooth:
    """An objective from a user's callable.

    Parameters
    ----------
    function
        `function(x)` returns f(x), or the pair `(f(x), gradient)` when `gradient` is left out.
    shape
        Number of variables, or the shape of `x`.
    gradient
        `gradient(x)` returns an array of the shape of `x`.
    variables
        "spin" when the function expects -1/+1, "binary" when it expects 0/1.
    lipschitz
        A Lipschitz constant of the gradient in the function's own variables, if one is known to be an upper bound.

    Examples
    --------
    >>> import numpy as np, flipwise
    >>> f = flipwise.Smooth(lambda x: (((x - 0.3) ** 2).sum(), 2 * (x - 0.3)), shape=4)
    >>> flipwise.minimize(f, seed=0).x
    array([1, 1, 1, 1], dtype=int8)
    """

    def __init__(
        self,
        function: Callable[[Floats], Any],
        shape: int | tuple[int, ...],
        *,
        gradient: Callable[[Floats], Any] | None = None,
        variables: Variables = "spin",
        lipschitz: float | None = None,
    ) -> None:
        if not callable(function):
            raise InvalidInput(f"`function` must be callable, got {type(function).__name__}.")
        if gradient is not None and not callable(gradient):
            raise InvalidInput(f"`gradient` must be callable, got {type(gradient).__name__}.")
        if lipschitz is not None and not (math.isfinite(lipschitz) and lipschitz >= 0):
            raise InvalidInput(f"`lipschitz` must be a finite number of at least 0, got {lipschitz}.")
        self.shape = checked_shape("shape", shape)
        self.variables = check_variables(variables)
        self._function = function
        self._gradient = gradient
        self._lipschitz = lipschitz
        self._last: tuple[bytes, float, Floats] | None = None

    def value(self, x: Floats) -> float:
        if self._gradient is None:
            return self._both(x)[0]
        return self._checked_value(self._function(self._own(x)))

    def gradient(self, x: Floats) -> Floats:
        if self._gradient is None:
            return self._both(x)[1].copy()
        return self._checked_gradient(self._gradient(self._own(x)))

    def lipschitz(self) -> Lipschitz:
        """The user's constant, or an estimate from gradients at random points (labelled as such)."""
        if self._lipschitz is not None:
            return Lipschitz(self._lipschitz / (4.0 if self.variables == "binary" else 1.0), True)
        return Lipschitz(estimate_lipschitz(self), False)

    def counting(self, count: Callable[[], None]) -> Smooth:
        """The same objective, with `count` called before every call of the user's functions; nothing is remembered."""

        def counted(function: Callable[[Floats], Any]) -> Callable[[Floats], Any]:
            def calling(x: Floats) -> Any:
                count()
                return function(x)

            return calling

        other = copy(self)
        other._function = counted(self._function)
        other._gradient = None if self._gradient is None else counted(self._gradient)
        other._last = None
        return other

    def _own(self, x: Floats) -> Floats:
        """`x` in the user's variables, as a copy the user may do anything with."""
        return (x + 1.0) / 2.0 if self.variables == "binary" else np.array(x)

    def _both(self, x: Floats) -> tuple[float, Floats]:
        key = x.tobytes()
        if self._last is None or self._last[0] != key:
            answer = self._function(self._own(x))
            if not isinstance(answer, tuple) or len(answer) != 2:
                raise InvalidInput(
                    "`function` must return the pair (value, gradient) when `gradient` is not given, got "
                    f"{type(answer).__name__}. Return both, pass gradient=..., or use flipwise.from_torch / from_jax."
                )
            self._last = (key, self._checked_value(answer[0]), self._checked_gradient(answer[1]))
        return self._last[1], self._last[2]

    def _checked_value(self, value: Any) -> float:
        try:
            number = float(value)
        except (TypeError, ValueError):
            raise InvalidInput(f"the objective must return one number, got {type(value).__name__}.") from None
        if not math.isfinite(number):
            raise InvalidInput(f"the objective returned {number}; it must be finite on every binary point.")
        return number

    def _checked_gradient(self, gradient: Any) -> Floats:
        array = np.asarray(gradient, dtype=np.float64)
        if array.shape != self.shape:
            raise InvalidInput(f"the gradient must have the shape of x, {self.shape}, got {array.shape}.")
        if not np.isfinite(array).all():
            raise InvalidInput("the gradient holds NaN or inf; it must be finite on every binary point.")
        return array / 2.0 if self.variables == "binary" else array.copy()


def checked_shape(name: str, shape: Any) -> tuple[int, ...]:
    """A number of variables or a shape, as a tuple of positive integers."""
    full = tuple(shape) if isinstance(shape, tuple | list) else (shape,)
    if not full or not all(is_whole(s) and s >= 1 for s in full):
        raise InvalidInput(f"`{name}` must be a positive integer or a tuple of them, got {shape!r}.")
    return tuple(int(s) for s in full)


def estimate_lipschitz(objective: Smooth, pairs: int = 16, seed: int = 0) -> float:
    """The largest slope of the gradient seen between random points, long and short distances: a lower estimate."""
    rng = np.random.default_rng(seed)
    largest = 0.0
    for index in range(pairs):
        y = rng.uniform(-1.0, 1.0, objective.shape)
        direction = rng.standard_normal(objective.shape)
        for _ in range(3):  # power iteration towards the steepest direction
            length = np.linalg.norm(direction)
            if length == 0.0:
                break
            z = np.clip(y + direction * ((1e-4 if index % 2 else 0.3) / length), -1.0, 1.0)
            difference = objective.gradient(z) - objective.gradient(y)
            distance = float(np.linalg.norm(z - y))
            if distance == 0.0:
                break
            largest = max(largest, float(np.linalg.norm(difference)) / distance)
            direction = difference
    return largest
