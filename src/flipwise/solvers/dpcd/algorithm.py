"""Algorithm 1 of Xiong et al., *Fast Large-Scale Discrete Optimization Based on Principal Coordinate Descent*.

Notation, as in the paper
    x            the point, entries -1 and +1        g            the gradient of f at x
    f            the value at x                      L1, L2       the thresholds, Eq. (5) or Eq. (6)
    S_plus       x_i = +1 and g_i >  alpha1 * L1     alpha1/2     how far above the threshold a coordinate must be
    S_minus      x_i = -1 and g_i < -alpha2 * L2     m, T         size of a neighbourhood search, updates between two

`literal=True` follows the paper to the letter. The default differs in the five places marked (*), for the reasons
given in `docs/algorithm.md`: without them the algorithm stops early, or does not move at all under an exact count.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np

from flipwise.engine.limits import Status
from flipwise.engine.run import Run
from flipwise.foundation.arrays import Floats
from flipwise.model.problem import Problem
from flipwise.solvers.dpcd.state import Descent
from flipwise.solvers.dpcd.steps import check_options, make_direction, make_search, make_thresholds, make_update

LARGE = 1_000_000
"""Entries of a quadratic from which not even one iteration follows the first value when time is up: it costs as much.
"""
LITERAL_ITERATIONS = 100
"""The paper's maximum number of principal coordinate updates, for the literal mode without a limit of its own."""


@dataclass(frozen=True)
class DPCD:
    """Discrete principal coordinate descent, the method "dpcd", with its options.

    Parameters
    ----------
    literal
        Run Algorithm 1 to the letter. By default the improved algorithm runs: gauge fixed, gradient kept up to date,
        alpha lowered when no coordinate passes, only improving flips made, ended where no flip or swap improves.
    alpha
        alpha_1 and alpha_2, one number for both or a pair. The improved algorithm starts from them.
    thresholds
        "mean": Eq. (6), the averages of the positive and of the negative gradient entries. "lipschitz": Eq. (5).
    epsilon
        The epsilon of Eq. (5); by default a thousandth of L_0.
    neighbourhood, neighbourhood_every, neighbourhood_samples
        m, T and the number of neighbours looked at in one m-neighbourhood search; m = 0 turns it off. By default the
        literal mode has m = 5; the improved algorithm searches at its local optima only, on quadratics by walks that
        rise before they fall (`solvers.dpcd.walks`), else with m = 5.
    variant
        Which direction takes the place of the gradient: "plain", "momentum", "adam" or "adagrad".
    decay, decay_squares
        The decay rates of the averages of gradients and of squared gradients in the variants.

    Examples
    --------
    >>> import flipwise, numpy as np
    >>> flipwise.minimize(1.0 - np.eye(4), method=flipwise.DPCD(alpha=2.0), seed=0).value
    -4.0
    """

    name: ClassVar[str] = "dpcd"
    literal: bool = False
    alpha: float | tuple[float, float] = 1.0
    thresholds: Literal["mean", "lipschitz"] = "mean"
    epsilon: float | None = None
    neighbourhood: int | None = None
    neighbourhood_every: int = 10
    neighbourhood_samples: int = 100
    variant: Literal["plain", "momentum", "adam", "adagrad"] = "plain"
    decay: float = 0.5
    decay_squares: float = 0.9

    def __post_init__(self) -> None:
        check_options(self)

    @property
    def alphas(self) -> tuple[float, float]:
        """(alpha_1, alpha_2)."""
        pair = self.alpha if isinstance(self.alpha, tuple | list) else (self.alpha, self.alpha)
        return float(pair[0]), float(pair[1])

    def solve(self, problem: Problem, x: Floats, rng: np.random.Generator, run: Run) -> Status:
        """Descend from the feasible point `x`, which is changed in place; every iterate is reported to `run`."""
        constraint, objective = problem.constraint, problem.with_flips()
        update = make_update(objective, constraint, self.literal)
        thresholds = make_thresholds(problem.objective, self)
        direction = make_direction(self)
        search, searched = make_search(self, objective, constraint), False
        alpha1, alpha2 = self.alphas
        most = LITERAL_ITERATIONS if self.literal and run.limits.max_iterations is None else None

        before = run.resume(Descent)
        if before is None:
            k, g = 0, objective.gradient(x)
            f = objective.value_at(x, g)
            run.offer(x, f)
            stop = run.check_time() if getattr(objective, "entries", 0.0) > LARGE else None
            if stop is not None:
                return stop
        else:
            before.check(x.shape)
            x[...], k, f, g = before.x, before.k, before.f, before.g
            rng.bit_generator.state = before.rng.bit_generator.state
            alpha1, alpha2, direction.memory, searched = before.alpha1, before.alpha2, before.memory, before.searched
        while most is None or k < most:
            k += 1
            d = direction(update.gauge(x, g))  # (*) the diagonal gauge, where -2 * x_i * d_i is the change of a flip
            if not self.literal:
                d = constraint.gauge(d)  # (*) on Omega_r the gradient is known up to a constant only
            L1, L2 = thresholds(d)
            S_plus = np.flatnonzero((d > alpha1 * L1) & (x > 0))
            S_minus = np.flatnonzero((d < -alpha2 * L2) & (x < 0))
            # Eq. (8): flip S_plus and S_minus, on Omega_r the strongest min(#S_plus, #S_minus) of each, paired
            moves = constraint.pair(S_plus, S_minus, d)
            follow = max(alpha1, alpha2) == 0.0
            flips, change = update.make(x, g, moves, follow=follow)  # (*) only what improves f exactly
            f += change

            if search.is_due(k):
                more, change = search(x, g, rng, run)
                flips, f = flips + more, f + change

            used = alpha1, alpha2
            alpha1, alpha2 = update.lower(used, flips)  # (*) alpha follows the gradient down
            if flips == 0:
                if (alpha1, alpha2) != used:
                    continue
                flips, change = update.finish(x, g)
                if flips == 0 and not searched:
                    flips, change = search(x, g, rng, run)  # (*) on quadratics along moves that raise f at first
                    searched = search.exhaustive
                f += change
            now = Descent(x, k, f, g, alpha1, alpha2, searched, rng, direction.memory) if flips else None
            stop = run.step(x, f, flips=flips, alpha=max(used), state=now)
            if stop is not None:
                return stop
            if flips == 0:
                if self.literal:
                    return Status.CONVERGED
                return Status.LOCAL_OPTIMUM if update.looked_at_all else Status.PARTIAL_OPTIMUM
        return Status.ITERATION_LIMIT
