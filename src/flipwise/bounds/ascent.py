"""The maximum of a smooth concave function with lower limits on its variables: quasi-Newton steps of limited memory.

Variables at their limits whose slope points outside are left alone; the others move along the direction of the last
steps and slopes (Nocedal & Wright, Numerical Optimization, algorithm 7.4), are cut off at their limits, and the step is
halved until the function has grown.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable

import numpy as np

from flipwise.foundation.arrays import Floats

MEMORY = 12
"""Steps that a direction is made of."""
GROWS = 1e-4
"""The share of the growth that the slope promises which a step must have."""
HALVINGS = 20

Function = Callable[[Floats], tuple[float, Floats]]
"""The value and the slope at a point."""


def ascend(function: Function, point: Floats, lower: Floats, scale: float, evaluations: int) -> Floats:
    """The best point after so many evaluations, or fewer where no step helps.

    The first step is `scale` times the slope.
    """
    steps: deque[tuple[Floats, Floats, float]] = deque(maxlen=MEMORY)
    value, slope = function(point)
    taken = 1
    while taken < evaluations:
        free = (point > lower) | (slope > 0.0)
        direction = _quasi_newton_direction(np.where(free, slope, 0.0), steps)
        direction[~free] = 0.0
        if float(direction @ slope) <= 0.0:
            steps.clear()
            direction = np.where(free, slope, 0.0)
        length = 1.0 if steps else scale
        for _ in range(HALVINGS):
            moved = np.maximum(point + length * direction, lower)
            promised = float((moved - point) @ slope)
            value_there, slope_there = function(moved)
            taken += 1
            if value_there >= value + GROWS * promised or taken >= evaluations:
                break
            length *= 0.5
        if not value_there > value:
            if not steps or taken >= evaluations:
                break
            steps.clear()
            continue
        step, change = moved - point, slope - slope_there
        curvature = float(step @ change)
        if curvature > 1e-12 * float(change @ change) ** 0.5 * float(step @ step) ** 0.5:
            steps.append((step, change, curvature))
        else:  # no curvature was seen
            scale *= 4.0
        point, value, slope = moved, value_there, slope_there
    return point


def _quasi_newton_direction(slope: Floats, steps: deque[tuple[Floats, Floats, float]]) -> Floats:
    """The slope times the inverse curvature that the last steps have seen."""
    if not steps:
        return slope
    direction = slope.copy()
    shares = []
    for step, change, curvature in reversed(steps):
        share = float(step @ direction) / curvature
        shares.append(share)
        direction -= share * change
    _, change, curvature = steps[-1]
    direction *= curvature / float(change @ change)
    for (step, change, curvature), share in zip(steps, reversed(shares), strict=True):
        direction += (share - float(change @ direction) / curvature) * step
    return direction
