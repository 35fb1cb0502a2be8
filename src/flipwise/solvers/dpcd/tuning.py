"""Choosing alpha_1 and alpha_2 on the paper's grid by what they do to the objective itself."""

from __future__ import annotations

import itertools
import logging
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import numpy as np

from flipwise.foundation.checks import as_generator
from flipwise.foundation.errors import InvalidInput
from flipwise.model.constraints import Constraint
from flipwise.model.problem import as_problem
from flipwise.solvers.dpcd.options import PAPER_ALPHAS

log = logging.getLogger("flipwise.tuning")


@dataclass(frozen=True)
class Tuning:
    """The best pair of alphas, its mean value, and the mean value of every pair tried."""

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
    starts: int = 3,
    seed: int | np.random.Generator | None = None,
    threads: int = 1,
    progress: Callable[[int, int], object] | None = None,
    **options: Any,
) -> Tuning:
    """Try alphas on the same starts and keep the pair with the lowest mean value.

    Parameters
    ----------
    objective, n_or_shape, constraint
        The problem, as in `minimize`.
    alphas
        The values to try; the paper's grid by default.
    tied
        Try alpha_1 = alpha_2 only; with False all pairs of the grid.
    starts
        How many random starts each pair is judged on.
    threads
        How many pairs are tried at a time. The outcome does not depend on it.
    progress
        Called with (pairs done, pairs in all).
    **options
        Further options of DPCD, for example `literal=True` or `max_iterations=20`.

    Examples
    --------
    >>> import numpy as np, flipwise
    >>> A = np.random.default_rng(0).standard_normal((30, 30))
    >>> flipwise.tune_alpha(A + A.T, seed=0, alphas=(0.5, 1, 2), literal=True).alpha
    (2.0, 2.0)
    """
    from flipwise.minimization import minimize

    if not alphas:
        raise InvalidInput("`alphas` must hold at least one value.")
    problem = as_problem(objective, n_or_shape, constraint)
    rng = as_generator(seed)
    points = [problem.constraint.random(problem.shape, rng) for _ in range(starts)]
    if problem.variables == "binary":
        points = [(point + 1) / 2 for point in points]
    seeds = [int(s) for s in rng.integers(2**31, size=starts)]
    grid = [float(alpha) for alpha in alphas]
    pairs = [(a, a) for a in grid] if tied else list(itertools.product(grid, grid))

    def judge(pair: tuple[float, float]) -> float:
        runs = zip(points, seeds, strict=True)
        values = [
            minimize(problem.objective, constraint=problem.constraint, x0=x, seed=s, alpha=pair, **options).value
            for x, s in runs
        ]
        return float(np.mean(values))

    table: dict[tuple[float, float], float] = {}
    with ThreadPoolExecutor(max_workers=threads) as pool:
        for done, (pair, value) in enumerate(zip(pairs, pool.map(judge, pairs), strict=True), start=1):
            table[pair] = value
            log.info("alpha %s: %.9g (%d of %d)", pair, value, done, len(pairs))
            if progress is not None:
                progress(done, len(pairs))
    best = min(table, key=lambda pair: (table[pair], pair))
    return Tuning(best, table[best], table)
