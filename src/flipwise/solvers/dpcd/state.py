"""The state of a descent, for checkpoints: everything from which the loop can go on with the same bits."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from flipwise.engine.checkpoint import generator_state, kept_array, kept_signs, taking_over
from flipwise.foundation.arrays import Floats
from flipwise.foundation.container import State
from flipwise.foundation.errors import InvalidFile
from flipwise.solvers.dpcd.directions import Direction


def state(
    x: Floats,
    k: int,
    f: float,
    g: Floats,
    alpha1: float,
    alpha2: float,
    rng: np.random.Generator,
    direction: Direction,
) -> State:
    """The state as a checkpoint takes it. The gradient is kept, not made anew: its roundings are part of the run."""
    memory = {f"memory.{name}": value for name, value in direction.memory.items()}
    return {"x": x, "k": k, "f": f, "g": g, "alpha": [alpha1, alpha2], "rng": generator_state(rng), **memory}


def resume(
    kept: dict[str, Any], x: Floats, rng: np.random.Generator, direction: Direction
) -> tuple[int, float, Floats, float, float]:
    """Put `x`, the generator and the direction back to a kept state; returns (k, f, g, alpha1, alpha2)."""
    with taking_over():
        x[...] = kept_signs(kept, "x", x.shape, "f")
        g = kept_array(kept, "g", x.shape, "f")
        rng.bit_generator.state = kept["rng"]["state"]
        for name in [name for name in kept if name.startswith("memory.")]:
            arrays = isinstance(kept[name], np.ndarray)
            own = kept_array(kept, name, x.shape, "f") if arrays else max(0, int(kept[name]))
            direction.memory[name.removeprefix("memory.")] = own
        alpha1, alpha2, f = float(kept["alpha"][0]), float(kept["alpha"][1]), float(kept["f"])
        if not (math.isfinite(f) and 0.0 <= alpha1 < math.inf and 0.0 <= alpha2 < math.inf):
            raise InvalidFile("the checkpoint's value or alpha is out of range.")
        return int(kept["k"]), f, g, alpha1, alpha2
