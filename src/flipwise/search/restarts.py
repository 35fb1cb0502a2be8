"""Several descents, each from its own start, the best kept."""

from __future__ import annotations

from typing import Any

import numpy as np

from flipwise.arrays import Floats
from flipwise.problem import Problem
from flipwise.result import Status
from flipwise.run import Run
from flipwise.solvers.registry import Solve


def descend_from_starts(
    problem: Problem,
    start: Floats | None,
    rng: np.random.Generator,
    run: Run,
    solve: Solve,
    options: Any,
    restarts: int,
) -> Status:
    """Run `solve` from `start` (or a random point) and `restarts - 1` further random points.

    Every descent has a generator of its own, so that a descent does not depend on how long earlier ones took.
    """
    status = Status.CONVERGED
    for index in range(restarts):
        own = rng.spawn(1)[0]
        x = start.copy() if index == 0 and start is not None else problem.constraint.random(problem.shape, own)
        run.begin_descent()
        before = run.best_value
        ended = solve(problem, x, own, run, options)
        if run.stopped is not None:
            return run.stopped
        if index == 0 or run.best_value < before:
            status = ended
    return status
