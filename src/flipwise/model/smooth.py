"""A user's own differentiable function in NumPy: a value and a gradient, on a vector or a matrix of variables."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from copy import copy
from typing import Any

import numpy as np

from flipwise.foundation.arrays import Floats
from flipwise.foundation.checks import Variables, check_variables, is_whole
from flipwise.foundation.errors import InvalidInput
from flipwise.foundation.numbers import as_real
from flipwise.model.evaluation import Slopes
from flipwise.model.objective import Lipschitz

_FLOATS = (np.dtype(np.float64), np.dtype(np.float32))


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
    batches
        Parts of the data, to be gone through again and again: a list or a data loader. The function is then called as
        `function(x, batch)` and returns the mean over the batch; f is the mean of these, weighted by the lengths of the
        batches. Methods that are not monotone step on one batch after another; values are always those on all of them.

    Examples
    --------
    >>> import numpy as np, flipwise
    >>> f = flipwise.Smooth(lambda x: (((x - 0.3) ** 2).sum(), 2 * (x - 0.3)), shape=4)
    >>> flipwise.minimize(f, seed=0).x
    array([1, 1, 1, 1], dtype=int8)
    """

    def __init__(
        self,
        function: Callable[..., Any],
        shape: int | tuple[int, ...],
        *,
        gradient: Callable[[Floats], Any] | None = None,
        variables: Variables = "spin",
        lipschitz: float | None = None,
        batches: Iterable[Any] | None = None,
    ) -> None:
        if not callable(function):
            raise InvalidInput(f"`function` must be callable, got {type(function).__name__}.")
        if gradient is not None and not callable(gradient):
            raise InvalidInput(f"`gradient` must be callable, got {type(gradient).__name__}.")
        if lipschitz is not None and not (math.isfinite(lipschitz) and lipschitz >= 0):
            raise InvalidInput(f"`lipschitz` must be a finite number of at least 0, got {lipschitz}.")
        if batches is not None and gradient is not None:
            raise InvalidInput("`batches` needs a function that returns (value, gradient): leave `gradient` out.")
        if batches is not None and iter(batches) is batches:
            raise InvalidInput(
                "`batches` must be something to go through again and again, such as a list: not a generator."
            )
        self.shape = checked_shape("shape", shape)
        self.variables = check_variables(variables)
        self._function = function
        self._gradient = gradient
        self._lipschitz = lipschitz
        self._batches = batches
        self._drawn: Iterator[Any] = iter(())
        self._last: tuple[bytes, float, Slopes] | None = None

    def __repr__(self) -> str:
        size = " x ".join(f"{length:,}" for length in self.shape)
        name = getattr(self._function, "__qualname__", type(self._function).__name__).rpartition("<locals>.")[2]
        return f"Smooth({name}, {size} {self.variables} variables)"

    def value(self, x: Floats) -> float:
        if self._gradient is None:
            return self._value_and_gradient(x)[0]
        return as_value(self._function(self._in_own_variables(x)))

    def gradient(self, x: Floats) -> Floats:
        if self._gradient is None:
            return self._value_and_gradient(x)[1].astype(np.float64)
        return self._checked_gradient(self._gradient(self._in_own_variables(x))).astype(np.float64)

    def value_and_gradient(self, x: Floats) -> tuple[float, Slopes]:
        """f(x) and the gradient, in the function's own precision, from one call; the array is the user's own."""
        if self._gradient is None:
            return self._evaluate_all(x)
        return self.value(x), self._checked_gradient(self._gradient(self._in_own_variables(x)))

    @property
    def is_sampled(self) -> bool:
        """Whether the function can be asked for single batches."""
        return self._batches is not None

    def sampled_gradient(self, x: Floats) -> Slopes:
        """The gradient of the next batch."""
        assert self._batches is not None
        batch = next(self._drawn, None)
        if batch is None:
            self._drawn = iter(self._batches)
            batch = next(self._drawn)
        return self._one_call(x, batch)[1]

    def lipschitz(self) -> Lipschitz:
        """The user's constant, or an estimate from gradients at random points (labelled as such)."""
        if self._lipschitz is not None:
            return Lipschitz(self._lipschitz / (4.0 if self.variables == "binary" else 1.0), True)
        return Lipschitz(estimate_lipschitz(self), False)

    def counting(self, count: Callable[[], None]) -> Smooth:
        """The same objective, with `count` called before every call of the user's functions; nothing is remembered."""

        def counted(function: Callable[..., Any]) -> Callable[..., Any]:
            def calling(*arguments: Any) -> Any:
                count()
                return function(*arguments)

            return calling

        other = copy(self)
        other._function = counted(self._function)
        other._gradient = None if self._gradient is None else counted(self._gradient)
        other._last = None
        return other

    def _in_own_variables(self, x: Floats) -> Floats:
        """`x` in the user's variables, as a copy the user may do anything with."""
        return (x + 1.0) / 2.0 if self.variables == "binary" else np.array(x)

    def _value_and_gradient(self, x: Floats) -> tuple[float, Slopes]:
        """Value and gradient, remembered for the next question at the same point."""
        key = x.tobytes()
        if self._last is None or self._last[0] != key:
            value, gradient = self._evaluate_all(x)
            self._last = (key, value, gradient.copy())  # the user's own array may be written into again
        return self._last[1], self._last[2]

    def _evaluate_all(self, x: Floats) -> tuple[float, Slopes]:
        """Value and gradient on all data."""
        if self._batches is None:
            return self._one_call(x)
        total, weight, slopes = 0.0, 0.0, np.zeros(self.shape)
        for batch in self._batches:
            value, gradient = self._one_call(x, batch)
            size = float(_batch_length(batch))
            total, weight = total + size * value, weight + size
            slopes += size * gradient
        if weight == 0.0:
            raise InvalidInput("`batches` are empty: there are no data.")
        return total / weight, slopes / weight

    def _one_call(self, x: Floats, *batch: Any) -> tuple[float, Slopes]:
        """Value and gradient from a function that returns both, checked."""
        answer = self._function(self._in_own_variables(x), *batch)
        if not isinstance(answer, tuple) or len(answer) != 2:
            raise InvalidInput(
                "`function` must return the pair (value, gradient) when `gradient` is not given, got "
                f"{type(answer).__name__}. Return both, pass gradient=..., or use flipwise.from_torch / from_jax."
            )
        return as_value(answer[0]), self._checked_gradient(answer[1])

    def _checked_gradient(self, gradient: Any) -> Slopes:
        """The gradient in spins, in the precision it came in where that is a float's."""
        array = as_slopes(gradient, self.shape)
        return array / array.dtype.type(2.0) if self.variables == "binary" else array


def _batch_length(batch: Any) -> int:
    """How many items a batch holds: its length, or that of its first part."""
    first = batch[0] if isinstance(batch, tuple | list) else batch
    return len(first) if hasattr(first, "__len__") else 1


def checked_value(value: Callable[[Floats], Any]) -> Callable[[Floats], float]:
    """A function of somebody else's that must return one finite number."""

    def checked(x: Floats) -> float:
        return as_value(value(x))

    return checked


def checked_gradient(gradient: Callable[[Floats], Any], shape: tuple[int, ...]) -> Callable[[Floats], Floats]:
    """A function of somebody else's that must return finite numbers in the shape of x; an array that can be changed."""

    def checked(x: Floats) -> Floats:
        array = as_slopes(gradient(x), shape).astype(np.float64, copy=False)
        return array if array.flags.writeable and array.flags.c_contiguous else array.copy()

    return checked


def as_value(value: Any) -> float:
    """What an objective returned, as one finite number."""
    try:
        number = float(value)
    except (TypeError, ValueError):
        raise InvalidInput(f"the objective must return one number, got {type(value).__name__}.") from None
    if not math.isfinite(number):
        raise InvalidInput(f"the objective returned {number}; it must be finite on every binary point.")
    return number


def as_slopes(gradient: Any, shape: tuple[int, ...]) -> Slopes:
    """What a gradient returned, as finite numbers in the shape of x, in their own precision where that is a float's."""
    if type(gradient) is np.ndarray and gradient.dtype in _FLOATS:
        with np.errstate(over="ignore", invalid="ignore"):
            total = gradient.sum()  # one pass; it may overflow and prove nothing
        if gradient.shape == shape and math.isfinite(total):
            return gradient
        array: Slopes = gradient
    else:
        array = as_real("gradient", gradient)
    if array.dtype not in _FLOATS:
        array = array.astype(np.float64)
    if array.shape != shape:
        raise InvalidInput(f"the gradient must have the shape of x, {shape}, got {array.shape}.")
    if not np.isfinite(array).all():
        raise InvalidInput("the gradient holds NaN or inf; it must be finite on every binary point.")
    return array


def checked_shape(name: str, shape: Any) -> tuple[int, ...]:
    """A number of variables or a shape, as a tuple of positive integers."""
    full = tuple(shape) if isinstance(shape, tuple | list) else (shape,)
    if not full or not all(is_whole(s) and s >= 1 for s in full):
        hint = " A point to begin with goes into `start`." if isinstance(shape, np.ndarray) else ""
        raise InvalidInput(f"`{name}` must be a positive integer or a tuple of them, got {shape!r}.{hint}")
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
