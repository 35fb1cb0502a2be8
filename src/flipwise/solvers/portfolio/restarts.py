"""Several descents, the best kept: each from its own start, or by DPCD from perturbed copies of the best point."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from flipwise.engine.checkpoint import restored_generator, taking_over
from flipwise.engine.result import Status
from flipwise.engine.run import Run
from flipwise.foundation.arrays import Floats
from flipwise.model.problem import Problem
from flipwise.solvers.dpcd import Options as DescentOptions
from flipwise.solvers.dpcd import solve as descend
from flipwise.solvers.registry import Solve

PERTURBED_SHARES = (0.3, 0.1, 0.03, 0.01)
"""Share of the variables whose order of preference is disturbed, in turn."""


def descend_from_starts(
    problem: Problem,
    start: Floats | None,
    rng: np.random.Generator,
    run: Run,
    solve: Solve,
    options: Any,
    restarts: int,
    resumed: Mapping[str, Any] | None = None,
) -> Status:
    """Run `solve` from `start` (or a random point) and `restarts - 1` further random points.

    Every descent has a generator of its own, so that a descent does not depend on how long earlier ones took.
    `resumed` is the state of a checkpoint from which to go on.
    """
    status, first = Status.CONVERGED, 0
    if resumed is not None:
        with taking_over():
            status, first = Status[resumed["status"]], int(resumed["restart"])
            rng = restored_generator(resumed["parent"])
    for index in range(first, restarts):
        run.at_restart(index, rng, status)
        own = rng.spawn(1)[0]
        if resumed is None or index > first or not run.has_kept:
            run.begin_descent()
        x = start.copy() if index == 0 and start is not None else problem.constraint.random(problem.shape, own)
        before = run.best_value
        ended = solve(problem, x, own, run, options)
        if run.stopped is not None:
            return run.stopped
        if index == 0 or run.best_value < before:
            status = ended
    return status


def descend_from_perturbed(problem: Problem, x: Floats, rng: np.random.Generator, run: Run, rounds: float) -> Status:
    """Repeat: disturb the best point, make it feasible, descend. For objectives that have no matrix to work on."""
    done = run.round or 0
    while done < rounds:
        assert run.best_x is not None
        run.round = done
        if not run.has_kept:  # a descent that a checkpoint holds goes on from there
            share = PERTURBED_SHARES[done % len(PERTURBED_SHARES)]
            disturbed = run.best_x + 4.0 * rng.standard_normal(problem.shape) * (rng.random(problem.shape) < share)
            x = problem.constraint.project(disturbed)
        status = descend(problem, x, rng, run, DescentOptions())
        if run.stopped is not None or status is Status.ITERATION_LIMIT:
            return run.stopped or status
        done += 1
    return Status.ITERATION_LIMIT
