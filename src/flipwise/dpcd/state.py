"""The state of a descent, for checkpoints: everything from which the loop can go on with the same bits."""

from __future__ import annotations

from typing import Any

import numpy as np

from flipwise.arrays import Floats
from flipwise.checkpoint import generator_state
from flipwise.container import State
from flipwise.dpcd.directions import Direction


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
    x[...] = kept["x"]
    rng.bit_generator.state = kept["rng"]["state"]
    direction.memory.update(
        {name.removeprefix("memory."): value for name, value in kept.items() if name.startswith("memory.")}
    )
    alpha1, alpha2 = kept["alpha"]
    return int(kept["k"]), float(kept["f"]), kept["g"], float(alpha1), float(alpha2)
