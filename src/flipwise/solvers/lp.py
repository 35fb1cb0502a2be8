"""Linear-programming relaxation: the box (with the sums of the counts) in place of binary points, then rounding.

The baseline "LP" of the paper (Hsieh, Natarajan, Dhillon: PU learning for matrix completion, ICML 2015):
    min f(x)  over  x in [-1, 1]^n,  1'x = 2r - n in each group,                                    (1)
by projected gradients from near the centre, nonconvex as f may be; binary points are the nearest feasible ones.
`convex=True` first adds the load * (|x|^2 - n) that makes a quadratic convex (as Yuan & Ghanem do for their baseline).
`linearised=True` solves a real linear program instead, the standard linearisation of a quadratic in b = (x + 1)/2:
    min sum q_ij z_ij + l'b   with   z <= b_i, z <= b_j (q < 0)   or   z >= 0, z >= b_i + b_j - 1 (q > 0),   (2)
by HiGHS, whose dual solution is turned into a proven bound.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from flipwise.bounds.lattice import lifted
from flipwise.bounds.linearised import solve_linearised
from flipwise.engine.limits import Status
from flipwise.engine.run import Run
from flipwise.foundation.arrays import Floats
from flipwise.foundation.checks import check_flags, check_numbers, check_wholes
from flipwise.foundation.errors import IncompatibleObjective
from flipwise.model.problem import Problem
from flipwise.model.quadratic import Quadratic
from flipwise.solvers.projections import report_nearest
from flipwise.solvers.relaxed import begin, projected_gradient, stops_in_time


@dataclass(frozen=True)
class LP:
    """The method "lp", with its options.

    Parameters
    ----------
    convex
        Make a quadratic convex by its smallest eigenvalue first.
    linearised
        Solve the linear program (2) by HiGHS; for sparse quadratics.
    tolerance, steps
        When the projected gradient method ends: the size of the projected gradient relative to the first, the steps.
    """

    name: ClassVar[str] = "lp"
    convex: bool = False
    linearised: bool = False
    tolerance: float = 1e-5
    steps: int = 1000

    def __post_init__(self) -> None:
        check_flags(self, "convex", "linearised")
        check_numbers(self, "tolerance", above=0.0)
        check_wholes(self, "steps")

    @stops_in_time
    def solve(self, problem: Problem, x: Floats, rng: np.random.Generator, run: Run) -> Status:
        """Solve the relaxation and round it."""
        run.offer(x, problem.objective.value(x))
        if self.linearised:
            if not isinstance(problem.objective, Quadratic):
                raise IncompatibleObjective(
                    f"`linearised=True` needs a flipwise.Quadratic, got {type(problem.objective).__name__}."
                )
            relaxed, bound = solve_linearised(problem.objective, problem.constraint, run.seconds_left)
            if bound is not None:
                run.raise_bound(lifted(problem.objective, bound))
            if relaxed is None:
                return run.check_time() or Status.TIME_LIMIT
            return report_nearest(problem, run, relaxed) or Status.CONVERGED
        model, polytope, y = begin(problem, run, rng, convex=self.convex)
        done = 0
        while done < self.steps:  # in pieces, so that progress is seen
            piece = min(50, self.steps - done)
            y, size = projected_gradient(model, polytope, y, tolerance=self.tolerance, max_steps=piece)  # (1)
            done += piece
            stop = report_nearest(problem, run, y)
            if stop is not None:
                return stop
            if size == 0.0 or (np.abs(y) == 1.0).all():
                break
            if size <= self.tolerance * float(np.abs(polytope.tangent(model.gradient(y))).max(initial=0.0)):
                break
        return Status.CONVERGED
