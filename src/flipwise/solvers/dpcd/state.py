"""The state of a descent, for checkpoints."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from flipwise.engine.states import check_array
from flipwise.foundation.arrays import Floats
from flipwise.foundation.errors import InvalidFile


@dataclass
class Descent:
    """Everything from which the loop can go on with the same bits.

    The gradient is part of it, not made anew: its roundings are part of the run.
    """

    x: Floats
    k: int
    f: float
    g: Floats
    alpha1: float
    alpha2: float
    searched: bool
    rng: np.random.Generator
    memory: dict[str, Any]

    def check(self, shape: tuple[int, ...]) -> None:
        """Refuse what no descent on arrays of this shape can have left behind."""
        check_array("x", self.x, shape, signs=True)
        check_array("g", self.g, shape)
        for name, value in self.memory.items():
            if isinstance(value, np.ndarray):
                check_array(name, value, shape)
            elif not isinstance(value, int) or value < 0:
                raise InvalidFile(f"the checkpoint's `{name}` must be a number of steps, found {value!r}.")
        if not (math.isfinite(self.f) and 0.0 <= self.alpha1 < math.inf and 0.0 <= self.alpha2 < math.inf):
            raise InvalidFile("the checkpoint's value or alpha is out of range.")
