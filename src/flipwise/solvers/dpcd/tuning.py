"""Choosing alpha_1 and alpha_2 on the paper's grid by what they do to the objective itself."""

from __future__ import annotations

import itertools
import logging
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from flipwise.engine.limits import Clock, Limits
from flipwise.engine.solve import solve
from flipwise.foundation.checks import as_generator
from flipwise.foundation.errors import InvalidInput
from flipwise.foundation.interrupts import guarded_interrupts
from flipwise.kernels.compile_time import Moment
from flipwise.model.constraints import Constraint
from flipwise.model.problem import as_problem
from flipwise.solvers.dpcd.algorithm import DPCD

PAPER_ALPHAS: tuple[float, ...] = (*(round(0.1 * i, 1) for i in range(1, 10)), *(float(i) for i in range(1, 11)))
"""The grid {0.1, ..., 0.9, 1, ..., 10} from which the paper tunes alpha_1 and alpha_2."""
log = logging.getLogger("flipwise.tuning")


@dataclass(frozen=True)
class Tuning:
    """The best pair of alphas, its mean value, and the mean value of every pair tried.

    Examples
    --------
    >>> import flipwise, numpy as np
    >>> flipwise.tune_alpha(np.eye(4) - 1.0, alphas=(1, 2), seed=0).alpha
    (1.0, 1.0)
    """

    alpha: tuple[float, float]
    value: float
    table: dict[tuple[float, float], float]


def tune_alpha(
    objective: Any,
    n_or_shape: int | tuple[int, ...] | None = None,
    *,
    constraint: Constraint | None = None,
    alphas: Sequence[float] = PAPER_ALPHAS,
    tied: bool = True,
    restarts: int = 3,
    seed: int | np.random.Generator | None = None,
    threads: int = 1,
    callback: Callable[[int, int], object] | None = None,
    max_iterations: int | None = None,
    time_limit: float | None = None,
    **options: Any,
) -> Tuning:
    """Try alphas on the same starts and keep the pair with the lowest mean value.

    Ctrl-C returns the best of the pairs that have been judged.

    Parameters
    ----------
    objective, n_or_shape, constraint
        The problem, as in `minimize`.
    alphas
        The values to try; the paper's grid by default.
    tied
        Try alpha_1 = alpha_2 only; with False all pairs of the grid.
    restarts
        How many random starts each pair is judged on.
    threads
        How many pairs are tried at a time. The outcome does not depend on it.
    callback
        Called with (pairs done, pairs in all).
    max_iterations, time_limit
        Of one descent, as in `minimize`.
    **options
        Further options of DPCD, for example `literal=True`.

    Examples
    --------
    >>> import numpy as np, flipwise
    >>> A = np.random.default_rng(0).standard_normal((30, 30))
    >>> flipwise.tune_alpha(A + A.T, seed=0, alphas=(0.5, 1, 2), literal=True).alpha
    (2.0, 2.0)
    """
    if not alphas:
        raise InvalidInput("`alphas` must hold at least one value.")
    problem = as_problem(objective, n_or_shape, constraint)
    solver_options = DPCD(**options)
    limits = Limits(time_limit=time_limit, max_iterations=max_iterations)
    rng = as_generator(seed)
    points = [problem.to_user(problem.constraint.random(problem.shape, rng)) for _ in range(restarts)]
    seeds = [int(s) for s in rng.integers(2**31, size=restarts)]
    grid = [float(alpha) for alpha in alphas]
    pairs = [(a, a) for a in grid] if tied else list(itertools.product(grid, grid))

    over = Clock()

    def judge(pair: tuple[float, float]) -> float | None:
        values = []
        for x, own in zip(points, seeds, strict=True):
            if over.expired:
                return None
            solver = replace(solver_options, alpha=pair)
            of_one = replace(limits, began=Moment())
            found = solve(problem, solver, limits=of_one, start=x, seed=own, callback=lambda now: over.expired)
            values.append(found.value)
        return None if over.expired else float(np.mean(values))

    table: dict[tuple[float, float], float] = {}
    with guarded_interrupts() as interrupts, interrupts.held(over.stop):
        with ThreadPoolExecutor(max_workers=threads) as pool:
            for done, (pair, value) in enumerate(zip(pairs, pool.map(judge, pairs), strict=True), start=1):
                if value is None:
                    break
                table[pair] = value
                log.info("alpha %s: %.9g (%d of %d)", pair, value, done, len(pairs))
                if callback is not None:
                    callback(done, len(pairs))
        if not table:
            raise KeyboardInterrupt
        best = min(table, key=lambda pair: (table[pair], pair))
        return Tuning(best, table[best], table)
