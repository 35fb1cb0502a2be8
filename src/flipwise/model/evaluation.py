"""Value and gradient from one call, on all data or on a batch drawn anew: what a scheme asks of any objective."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt

from flipwise.foundation.arrays import Floats
from flipwise.model.objective import Objective, SupportsFlips

Slopes = npt.NDArray[np.floating[Any]]
"""A gradient in the precision in which it was computed."""


@runtime_checkable
class SupportsBoth(Objective, Protocol):
    """An objective that has value and gradient from one evaluation."""

    def value_and_gradient(self, x: Floats) -> tuple[float, Slopes]:
        """f(x) and the gradient there, an array that holds until the next call and is not the caller's to overwrite."""


@runtime_checkable
class SupportsSamples(Objective, Protocol):
    """An objective that is a mean of many terms, some of which can be drawn for a cheaper estimate."""

    @property
    def is_sampled(self) -> bool:
        """Whether there is more than one part to draw."""

    def sampled_gradient(self, x: Floats) -> Slopes:
        """The gradient of terms that are drawn anew with every call."""


def evaluator(objective: Objective) -> Callable[[Floats], tuple[float, Slopes]]:
    """What gives f(x) and the gradient at x, by as few evaluations as the objective allows.

    Made once for many points: to ask an object what it supports takes as long as a small evaluation.
    """
    if isinstance(objective, SupportsBoth):
        return objective.value_and_gradient
    known = objective.value_at if isinstance(objective, SupportsFlips) else None

    def one_after_the_other(x: Floats) -> tuple[float, Slopes]:
        g = objective.gradient(x)
        return (objective.value(x) if known is None else known(x, g)), g

    return one_after_the_other


def draws_samples(objective: Objective) -> bool:
    """Whether gradients of single batches can be asked for."""
    return isinstance(objective, SupportsSamples) and objective.is_sampled
