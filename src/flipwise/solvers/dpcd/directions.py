"""What takes the gradient's place in the thresholds: itself, or the paper's future work, discrete descent with memory.

Each variant scores coordinates by past gradients as its continuous model does; which flips are made is still decided
by their exact effect, so every variant of the improved algorithm stays monotone.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from flipwise.foundation.arrays import Floats
from flipwise.solvers.dpcd.options import Options

_TINY = 1e-12


class Direction:
    """From the gradient of this iteration to the direction used in its place, here the gradient itself.

    `memory` holds what a variant remembers of earlier iterations.
    """

    def __init__(self, options: Options) -> None:
        self.decay = options.decay
        self.decay_squares = options.decay_squares
        self.memory: dict[str, Any] = {}

    def __call__(self, g: Floats) -> Floats:
        return g


class _Momentum(Direction):
    """m <- decay * m + (1 - decay) * g."""

    def __call__(self, g: Floats) -> Floats:
        m: Floats | None = self.memory.get("m")
        m = g.copy() if m is None else self.decay * m + (1.0 - self.decay) * g
        self.memory["m"] = m
        return m


class _Adam(Direction):
    """Averages of g and g^2 with bias correction: m / sqrt(v)."""

    def __call__(self, g: Floats) -> Floats:
        zero = np.zeros_like(g)
        m: Floats = self.decay * self.memory.get("m", zero) + (1.0 - self.decay) * g
        v: Floats = self.decay_squares * self.memory.get("v", zero) + (1.0 - self.decay_squares) * g * g
        t = int(self.memory.get("t", 0)) + 1
        self.memory.update(m=m, v=v, t=t)
        unbiased = m / (1.0 - self.decay**t)
        return unbiased / (np.sqrt(v / (1.0 - self.decay_squares**t)) + _TINY)


class _Adagrad(Direction):
    """g divided by the root of the sum of its squares so far: coordinates that were often steep count less."""

    def __call__(self, g: Floats) -> Floats:
        squares: Floats = self.memory.get("squares", 0.0) + g * g
        self.memory["squares"] = squares
        return g / (np.sqrt(squares) + _TINY)


_VARIANTS = {"plain": Direction, "momentum": _Momentum, "adam": _Adam, "adagrad": _Adagrad}


def make_direction(options: Options) -> Direction:
    """A fresh direction rule, without memory of earlier runs."""
    return _VARIANTS[options.variant](options)
