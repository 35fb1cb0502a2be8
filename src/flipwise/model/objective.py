"""The interface of an objective: what a user must supply, and what lets the solver be faster.

An objective is a differentiable function of an array `x` of a fixed `shape`, with entries -1 and +1 at the points that
count and anything between them where a relaxation looks. Indices of flips are positions in the flattened `x`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from flipwise.foundation.arrays import Floats, Ints


@runtime_checkable
class Objective(Protocol):
    """A differentiable function on [-1, 1]^shape.

    Examples
    --------
    >>> import flipwise, numpy as np
    >>> class Sum:
    ...     shape = (3,)
    ...     def value(self, x):
    ...         return float(x.sum())
    ...     def gradient(self, x):
    ...         return np.ones(3)
    >>> isinstance(Sum(), flipwise.Objective), flipwise.minimize(Sum(), seed=0).value
    (True, -3.0)
    """

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of `x`."""

    def value(self, x: Floats) -> float:
        """f(x)."""

    def gradient(self, x: Floats) -> Floats:
        """The gradient of f at `x`, an array of `shape` that the caller may overwrite."""


@runtime_checkable
class SupportsFlips(Objective, Protocol):
    """An objective that knows the exact change of a batch of flips and keeps a gradient up to date in place.

    `g` is always the gradient at `x`; both are changed in place by the methods that flip.
    """

    def value_at(self, x: Floats, g: Floats) -> float:
        """f(x), which may be cheaper when the gradient is known."""

    def flip_gradient(self, x: Floats, g: Floats) -> Floats:
        """`g` in the diagonal gauge: `-2 * x_i * result_i` is the change of f when i alone flips."""

    def flip_change(self, x: Floats, g: Floats, batch: Ints) -> float:
        """The exact change of f if every index of `batch` flipped; nothing is changed."""

    def flip(self, x: Floats, g: Floats, batch: Ints) -> float:
        """Flip every index of `batch`, update `g`, return the exact change of f."""

    def flip_improving(self, x: Floats, g: Floats, batch: Ints, *, follow: bool) -> tuple[int, float]:
        """Flip the part of `batch` that improves, in its order; returns (flips, change), change <= 0.

        With `follow`, go on with coordinates that these flips have made improving.
        """

    def swap_improving(self, x: Floats, g: Floats, pairs: Ints) -> tuple[int, float]:
        """Swap the pairs (i at +1, j at -1) of `pairs` that improve, in their order; returns (swaps, change)."""

    def improving_swaps(self, x: Floats, g: Floats, labels: Ints) -> Ints:
        """Pairs (i at +1, j at -1, equal labels) whose exchange lowers f, best first; empty: none of all pairs does."""


@runtime_checkable
class SupportsExchange(SupportsFlips, Protocol):
    """An objective that can descend by exchanges on its own, under one exact count."""

    def exchange(self, x: Floats, g: Floats) -> tuple[int, float]:
        """Exchange best pairs (a +1 with a -1) while they improve; returns (swaps, change)."""


@runtime_checkable
class SupportsCurvature(Objective, Protocol):
    """An objective whose Hessian is constant, which lets a relaxation solve linear systems and step exactly."""

    def hessian_times(self, d: Floats) -> Floats:
        """The Hessian times `d`, both of `shape`; the caller may overwrite the result."""


@dataclass(frozen=True)
class Lipschitz:
    """A Lipschitz constant of the gradient on [-1, 1]^n and what is known about it.

    `is_bound` is True when `value` is a proven upper bound, as Theorem 1 needs, and False for an estimate.
    """

    value: float
    is_bound: bool


@runtime_checkable
class SupportsLipschitz(Protocol):
    """An objective that knows a Lipschitz constant of its gradient."""

    def lipschitz(self) -> Lipschitz:
        """The constant, with its kind."""
