"""Signed gradient method: x <- -sgn(grad f(x)), all coordinates at once.

Liu, Mu, Kumar, Chang: Discrete graph hashing, NIPS 2014. It minimises the linear surrogate of f at x exactly and
converges for concave f; for others it may alternate between two points for ever (Lemma 1 of Xiong et al.), which is
noticed here by a period of two.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from flipwise.engine.limits import Status
from flipwise.engine.run import Run
from flipwise.foundation.arrays import Floats
from flipwise.model.problem import Problem


@dataclass(frozen=True)
class SGM:
    """The method "sgm"; it has no parameters."""

    name: ClassVar[str] = "sgm"

    def solve(self, problem: Problem, x: Floats, rng: np.random.Generator, run: Run) -> Status:
        """Iterate from `x` until a fixed point, a cycle of two, or a limit."""
        objective = problem.objective
        run.offer(x, objective.value(x))
        before_last = x.copy()
        while True:
            g = objective.gradient(x)
            new = np.where(g >= 0, -1.0, 1.0)  # x^{k+1} = -sgn(grad f(x^k)), sgn(0) = 1
            flips = int(np.count_nonzero(new != x))
            cycle = flips > 0 and np.array_equal(new, before_last)
            before_last = x.copy()
            x[...] = new
            stop = run.step(x, objective.value(x), flips=flips)
            if stop is not None:
                return stop
            if flips == 0:
                return Status.CONVERGED
            if cycle:
                return Status.CYCLE
