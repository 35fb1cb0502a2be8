"""Descents by DPCD from perturbed copies of the best point, for objectives that have no matrix to work on."""

from __future__ import annotations

import numpy as np

from flipwise.arrays import Floats
from flipwise.dpcd import Options as DescentOptions
from flipwise.dpcd import solve as descend
from flipwise.problem import Problem
from flipwise.result import Status
from flipwise.run import Run

SHARES = (0.3, 0.1, 0.03, 0.01)
"""Share of the variables whose order of preference is disturbed, in turn."""


def solve(problem: Problem, x: Floats, rng: np.random.Generator, run: Run, rounds: float) -> Status:
    """Repeat: disturb the best point, make it feasible, descend."""
    done = run.round or 0
    while done < rounds:
        assert run.best_x is not None
        run.round = done
        if not run.has_kept:  # a descent that a checkpoint holds goes on from there
            share = SHARES[done % len(SHARES)]
            disturbed = run.best_x + 4.0 * rng.standard_normal(problem.shape) * (rng.random(problem.shape) < share)
            x = problem.constraint.project(disturbed)
        status = descend(problem, x, rng, run, DescentOptions())
        if run.stopped is not None or status is Status.ITERATION_LIMIT:
            return run.stopped or status
        done += 1
    return Status.ITERATION_LIMIT
