"""What takes the gradient's place in the thresholds: itself, or the paper's future work, discrete descent with memory.

Each variant scores coordinates by past gradients as its continuous model does; which flips are made is still decided
by their exact effect, so every variant of the improved algorithm stays monotone.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from flipwise.arrays import Floats
from flipwise.dpcd.options import Options

Direction = Callable[[Floats], Floats]
"""From the gradient of this iteration to the direction used in its place."""

_TINY = 1e-12


def make_direction(options: Options) -> Direction:
    """A fresh direction rule, without memory of earlier runs."""
    if options.variant == "momentum":
        return _Momentum(options.decay)
    if options.variant == "adam":
        return _Adam(options.decay, options.decay_squares)
    if options.variant == "adagrad":
        return _Adagrad()
    return lambda g: g


class _Momentum:
    """m <- decay * m + (1 - decay) * g."""

    def __init__(self, decay: float) -> None:
        self.decay = decay
        self.m: Floats | None = None

    def __call__(self, g: Floats) -> Floats:
        self.m = g.copy() if self.m is None else self.decay * self.m + (1.0 - self.decay) * g
        return self.m


class _Adam:
    """Averages of g and g^2 with bias correction: m / sqrt(v)."""

    def __init__(self, decay: float, decay_squares: float) -> None:
        self.decay = decay
        self.decay_squares = decay_squares
        self.m: Floats | None = None
        self.v: Floats | None = None
        self.t = 0

    def __call__(self, g: Floats) -> Floats:
        if self.m is None or self.v is None:
            self.m, self.v = np.zeros_like(g), np.zeros_like(g)
        self.t += 1
        self.m = self.decay * self.m + (1.0 - self.decay) * g
        self.v = self.decay_squares * self.v + (1.0 - self.decay_squares) * g * g
        m = self.m / (1.0 - self.decay**self.t)
        v = self.v / (1.0 - self.decay_squares**self.t)
        return m / (np.sqrt(v) + _TINY)


class _Adagrad:
    """g divided by the root of the sum of its squares so far: coordinates that were often steep count less."""

    def __init__(self) -> None:
        self.squares: Floats | None = None

    def __call__(self, g: Floats) -> Floats:
        self.squares = g * g if self.squares is None else self.squares + g * g
        return g / (np.sqrt(self.squares) + _TINY)
