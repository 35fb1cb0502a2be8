"""Algorithm 1 of Xiong et al., *Fast Large-Scale Discrete Optimization Based on Principal Coordinate Descent*.

Notation, as in the paper
    x            the point, entries -1 and +1        g            the gradient of f at x
    f            the value at x                      L1, L2       the thresholds, Eq. (5) or Eq. (6)
    S_plus       x_i = +1 and g_i >  alpha1 * L1     alpha1/2     how far above the threshold a coordinate must be
    S_minus      x_i = -1 and g_i < -alpha2 * L2     m, T         size of a neighbourhood search, updates between two

`literal=True` follows the paper to the letter. The default differs in the four places marked (*), for the reasons
given in `dpcd.updates`: without them the algorithm stops early, or does not move at all under an exact count.
"""

from __future__ import annotations

from functools import partial

import numpy as np

from flipwise.engine.result import Status
from flipwise.engine.run import Run
from flipwise.foundation.arrays import Floats
from flipwise.model.flips import with_flips
from flipwise.model.problem import Problem
from flipwise.solvers.dpcd import neighbourhood
from flipwise.solvers.dpcd.directions import make_direction
from flipwise.solvers.dpcd.options import Options
from flipwise.solvers.dpcd.state import resume, state
from flipwise.solvers.dpcd.thresholds import make_thresholds
from flipwise.solvers.dpcd.updates import ImprovingUpdate, LiteralUpdate

LITERAL_ITERATIONS = 100
"""The paper's maximum number of principal coordinate updates, for the literal mode without a limit of its own."""


def solve(problem: Problem, x: Floats, rng: np.random.Generator, run: Run, options: Options) -> Status:
    """Descend from the feasible point `x`, which is changed in place; every iterate is reported to `run`."""
    constraint = problem.constraint
    objective = with_flips(problem.objective)
    update = LiteralUpdate(problem.objective) if options.literal else ImprovingUpdate(objective, constraint)
    thresholds = make_thresholds(problem.objective, options)
    direction = make_direction(options)
    alpha1, alpha2 = options.alphas
    most = LITERAL_ITERATIONS if options.literal and run.limits.max_iterations is None else None

    kept = run.take_kept()
    if kept is None:
        k, g = 0, objective.gradient(x)
        f = objective.value_at(x, g)
        run.evaluations += 1
        run.offer(x, f)
    else:
        k, f, g, alpha1, alpha2 = resume(kept, x, rng, direction)
    m, T = options.neighbourhood, options.neighbourhood_every
    search = partial(neighbourhood.search, objective, constraint, x, g, m, options.neighbourhood_samples, rng)
    while most is None or k < most:
        k += 1
        d = direction(update.gauge(x, g))  # (*) the diagonal gauge, where -2 * x_i * d_i is the change of a flip
        if not options.literal:
            d = constraint.gauge(d)  # (*) on Omega_r the gradient is known up to a constant only
        L1, L2 = thresholds(d)
        S_plus = np.flatnonzero((d > alpha1 * L1) & (x > 0))
        S_minus = np.flatnonzero((d < -alpha2 * L2) & (x < 0))
        # Eq. (8): flip S_plus and S_minus, on Omega_r the strongest min(#S_plus, #S_minus) of each, paired
        moves = constraint.pair(S_plus, S_minus, d)
        flips, change = update.make(x, g, moves, follow=max(alpha1, alpha2) == 0.0)  # (*) only what improves f exactly
        f += change

        if m and k % T == 0:
            more, change = search()
            flips, f = flips + more, f + change

        used = alpha1, alpha2
        alpha1, alpha2 = update.lower(used, flips)  # (*) alpha follows the gradient down
        if flips == 0:
            if (alpha1, alpha2) != used:
                continue
            flips, change = update.finish(x, g)
            if flips == 0 and m:
                flips, change = search()
            f += change
        now = partial(state, x, k, f, g, alpha1, alpha2, rng, direction)
        stop = run.step(x, f, flips=flips, alpha=max(used), keep=now if flips else None)
        if stop is not None:
            return stop
        if flips == 0:
            return Status.CONVERGED if options.literal else Status.LOCAL_OPTIMUM
    return Status.ITERATION_LIMIT
