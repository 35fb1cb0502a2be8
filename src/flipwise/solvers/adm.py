"""Adaptive discrete minimisation: signed-gradient updates of a random part of the coordinates.

Liu, Shao, Shen, Yu: Discretely coding semantic rank orders for supervised image hashing, CVPR 2017. An iteration draws
psi * n coordinates at random and sets
    x_i <- -sgn(grad_i f(x))                                                                      (1)
on them. psi adapts: it is halved when (1) raises f (the point is then kept) and doubled, up to 1, when (1) lowers it.
The publication does not give the factors; halving and doubling are ours. The method ends when `misses` draws of few
coordinates in a row do not lower f.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from flipwise.engine.limits import Status
from flipwise.engine.run import Run
from flipwise.foundation.arrays import Floats
from flipwise.foundation.checks import check_numbers, check_wholes
from flipwise.model.problem import Problem


@dataclass(frozen=True)
class ADM:
    """The method "adm", with its options.

    Parameters
    ----------
    psi
        The share of coordinates drawn in the first iteration.
    misses
        Fruitless draws in a row, at the smallest share, after which the method ends.
    """

    name: ClassVar[str] = "adm"
    psi: float = 1.0
    misses: int = 50

    def __post_init__(self) -> None:
        check_numbers(self, "psi", above=0.0, most=1.0)
        check_wholes(self, "misses")

    def solve(self, problem: Problem, x: Floats, rng: np.random.Generator, run: Run) -> Status:
        """Iterate from `x`."""
        objective = problem.with_flips()
        value = objective.value(x)
        g = objective.gradient(x)
        run.offer(x, value)
        psi, misses = self.psi, 0
        while misses < self.misses:
            size = max(1, int(psi * problem.n))
            drawn = rng.permutation(problem.n) if size == problem.n else rng.choice(problem.n, size, replace=False)
            wanted = np.where(g.reshape(-1)[drawn] >= 0.0, -1.0, 1.0)  # (1), sgn(0) = 1
            batch = drawn[wanted != x.reshape(-1)[drawn]]
            lower = batch.size > 0 and objective.flip_change(x, g, batch) < 0.0
            if lower:
                value += objective.flip(x, g, batch)
                psi, misses = min(1.0, 2.0 * psi), 0
            else:
                misses += size <= max(1, problem.n // 64)
                psi = max(psi / 2.0, 1.0 / problem.n)
            stop = run.step(x, value, flips=batch.size if lower else 0)
            if stop is not None:
                return stop
        return Status.CONVERGED
