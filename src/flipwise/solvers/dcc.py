"""Discrete cyclic coordinate descent: every bit in turn is set to its best value given all others.

Shen, Shen, Liu, Shen: Supervised discrete hashing, CVPR 2015. For a quadratic the best value of a bit is
    x_i <- -sgn(grad_i f(x) - 2 A_ii x_i),                                                        (1)
the sign of the gradient without the bit's own part; for other objectives the two values are compared. A sweep goes
through all bits in order; sweeps go on until one changes nothing, at most `sweeps` times (10 in the authors' code).
With exact counts a bit cannot move alone: a sweep then exchanges every +1 in turn with its best partner.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from flipwise.engine.limits import Status
from flipwise.engine.run import Run
from flipwise.foundation.arrays import Floats
from flipwise.foundation.checks import check_wholes
from flipwise.kernels import dense as kernels
from flipwise.model.objective import SupportsFlips
from flipwise.model.problem import Problem
from flipwise.model.quadratic import Quadratic
from flipwise.model.terms import Dense, LowRank, Sparse

_CHUNK = 4096


@dataclass(frozen=True)
class DCC:
    """The method "dcc", with its options.

    Parameters
    ----------
    sweeps
        The most sweeps over all bits.
    """

    name: ClassVar[str] = "dcc"
    sweeps: int = 10

    def __post_init__(self) -> None:
        check_wholes(self, "sweeps")

    def solve(self, problem: Problem, x: Floats, rng: np.random.Generator, run: Run) -> Status:
        """Sweep from `x` until nothing changes or a limit."""
        objective = problem.with_flips()
        value = objective.value(x)
        g = objective.gradient(x)
        run.offer(x, value)
        for _ in range(self.sweeps):
            if problem.constraint.swaps:
                flips, change = _swap_sweep(objective, problem, x, g)
            else:
                flips, change = _flip_sweep(objective, x, g, run)
            value += change
            stop = run.step(x, value, flips=flips)
            if stop is not None:
                return stop
            if flips == 0:
                return Status.LOCAL_OPTIMUM
        return Status.ITERATION_LIMIT


def _flip_sweep(objective: SupportsFlips, x: Floats, g: Floats, run: Run) -> tuple[int, float]:
    """One pass over all bits, (1); in pieces, so that a time limit is noticed."""
    flips, change = 0, 0.0
    only = objective.terms[0] if isinstance(objective, Quadratic) and len(objective.terms) == 1 else None
    for start in range(0, x.size, _CHUNK):
        batch = np.arange(start, min(start + _CHUNK, x.size))
        if isinstance(only, Dense | Sparse):
            more, difference = objective.flip_improving(x, g, batch, follow=False)
        elif isinstance(only, LowRank):
            assert isinstance(objective, Quadratic)
            inner = only.U.T @ x.reshape(-1)
            more, difference = kernels.lowrank_sweep(
                only.U, only.s, objective.c, objective.slack, start, batch.size, inner, x.reshape(-1)
            )
            g[...] = objective.gradient(x)
        else:
            more, difference = _flip_one_by_one(objective, x, g, batch, run)
        flips, change = flips + int(more), change + float(difference)
        if run.check_time() is not None:
            break
    return flips, change


def _flip_one_by_one(objective: SupportsFlips, x: Floats, g: Floats, batch: np.ndarray, run: Run) -> tuple[int, float]:
    """Make the flips of the batch one after another, as far as each improves; returns (flips, change of f)."""
    flips, change = 0, 0.0
    for i in batch:
        one = np.array([i])
        slack = float(objective.slack[i]) if isinstance(objective, Quadratic) else 1e-12 * abs(objective.value(x))
        if objective.flip_change(x, g, one) < -slack:
            change += objective.flip(x, g, one)
            flips += 1
        if run.check_time() is not None:
            break
    return flips, change


def _swap_sweep(objective: SupportsFlips, problem: Problem, x: Floats, g: Floats) -> tuple[int, float]:
    pairs = objective.improving_swaps(x, g, problem.constraint.labels(problem.shape))
    if not pairs.size:
        return 0, 0.0
    swaps, change = objective.swap_improving(x, g, pairs[np.argsort(pairs[:, 0], kind="stable")])
    return 2 * swaps, change
