"""The thresholds L_1, L_2 that decide which coordinates are principal: Eq. (5) and Eq. (6) of the paper."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from flipwise.foundation.arrays import Floats
from flipwise.foundation.errors import IncompatibleObjective
from flipwise.model.objective import Objective, SupportsLipschitz
from flipwise.solvers.dpcd.options import Options

Thresholds = Callable[[Floats], tuple[float, float]]
"""From a gradient to (L_1, L_2)."""


def mean_thresholds(g: Floats) -> tuple[float, float]:
    """Eq. (6): the averages of the positive entries and of the absolute negative entries; 0 where there is none."""
    n1 = int(np.count_nonzero(g > 0))
    n2 = int(np.count_nonzero(g < 0))
    total, absolute = float(g.sum()), float(np.abs(g).sum())
    L1 = (absolute + total) / (2 * n1) if n1 else 0.0
    L2 = (absolute - total) / (2 * n2) if n2 else 0.0
    return L1, L2


def lipschitz_thresholds(objective: Objective, epsilon: float | None) -> Thresholds:
    """Eq. (5): L_1 = L_2 = L_0 + epsilon, whatever the gradient is."""
    if not isinstance(objective, SupportsLipschitz):
        raise IncompatibleObjective(
            'thresholds="lipschitz" needs an objective with a method `lipschitz()`; '
            f'{type(objective).__name__} has none. Use thresholds="mean" or add the method.'
        )
    L0 = objective.lipschitz().value
    L = L0 + (epsilon if epsilon is not None else max(1e-3 * L0, 1e-12))
    return lambda g: (L, L)


def make_thresholds(objective: Objective, options: Options) -> Thresholds:
    """The rule the options ask for."""
    if options.thresholds == "mean":
        return mean_thresholds
    return lipschitz_thresholds(objective, options.epsilon)
