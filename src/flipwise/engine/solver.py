"""What a solver is: a frozen dataclass of options with one method. Any object with that method will do."""

from __future__ import annotations

from typing import Protocol, runtime_checkable

import numpy as np

from flipwise.engine.limits import Status
from flipwise.engine.run import Run
from flipwise.foundation.arrays import Floats
from flipwise.model.problem import Problem


@runtime_checkable
class Solver(Protocol):
    """Something that improves a point until it is satisfied or told to stop.

    A class attribute `name` is how results and logs call it; without one it is the name of the class. With
    `begins_itself = True` it finds its own starts: `x` is then the user's start or None.

    Examples
    --------
    >>> import flipwise
    >>> isinstance(flipwise.DPCD(alpha=2.0), flipwise.Solver)
    True
    """

    def solve(self, problem: Problem, x: Floats, rng: np.random.Generator, run: Run) -> Status:
        """Improve the feasible point `x` (spins, its to change); every iterate goes to `run.step`.

        Returns why it ended: the status that `run.step` gave, or one of its own.
        """
