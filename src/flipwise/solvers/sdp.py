"""Semidefinite relaxation in low-rank form, rounded by random hyperplanes; its dual is a proven bound.

Goemans & Williamson, J. ACM 42, 1995; low-rank form of Burer & Monteiro, Math. Program. 95, 2003 (see `bounds.sdp`):
    min <H, VV'>  over unit rows V_i;      x_i = sgn(<V_i, h>) * sgn(<V_0, h>),  h a random direction,       (1)
where V_0 is the row of the constant 1, if there are linear terms. With counts, the r largest of
<V_i, h> * sgn(<V_0, h>) are set to +1.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from flipwise.bounds.lattice import lifted
from flipwise.bounds.sdp import solve_sdp
from flipwise.engine.limits import Status
from flipwise.engine.run import Run
from flipwise.foundation.arrays import Floats
from flipwise.foundation.checks import check_flags, check_numbers, check_wholes
from flipwise.kernels.compile_time import working_time
from flipwise.model.problem import Problem
from flipwise.model.quadratic import Quadratic
from flipwise.solvers.projections import nearest_feasible
from flipwise.solvers.spectral import time_for_proof


@dataclass(frozen=True)
class SDP:
    """The method "sdp", with its options.

    Parameters
    ----------
    rank
        Columns of V; None for sqrt(2n) + 1, at most 60.
    sweeps, tolerance
        The most sweeps of the mixing method, and the relative decrease of one at which they end.
    hyperplanes
        How many random hyperplanes are tried.
    bound
        Prove the dual bound as well, for up to 3000 variables.
    """

    name: ClassVar[str] = "sdp"
    rank: int | None = None
    sweeps: int = 1000
    tolerance: float = 1e-6
    hyperplanes: int = 100
    bound: bool = True

    def __post_init__(self) -> None:
        if self.rank is not None:
            check_wholes(self, "rank")
        check_wholes(self, "sweeps", "hyperplanes")
        check_numbers(self, "tolerance", above=0.0)
        check_flags(self, "bound")

    def solve(self, problem: Problem, x: Floats, rng: np.random.Generator, run: Run) -> Status:
        """Solve the relaxation, then round."""
        objective = problem.objective
        assert isinstance(objective, Quadratic)
        run.offer(x, objective.value(x))
        relaxation = solve_sdp(
            objective,
            constraint=problem.constraint,
            rank=self.rank,
            max_sweeps=self.sweeps,
            tolerance=self.tolerance,
            rng=rng,
            deadline=working_time() + 0.8 * run.seconds_left,  # the rest is for rounding
        )
        rows = relaxation.directions()
        for _ in range(self.hyperplanes):
            h = rng.standard_normal(rows.shape[1])
            scores = rows @ h
            if relaxation.form.lifted and relaxation.V[-1] @ h < 0.0:
                scores = -scores
            rounded = nearest_feasible(problem, scores)  # (1)
            stop = run.step(rounded, objective.value(rounded))
            if stop is not None:
                return stop
        if self.bound and time_for_proof(problem.n, run):
            run.raise_bound(lifted(objective, relaxation.bound()))
        return Status.CONVERGED
