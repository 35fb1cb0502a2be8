"""All optima of a small problem: every feasible point is looked at, and all that are as good as the best are kept.

Quadratics are enumerated in exact integers. Of other objectives every feasible point is evaluated, and values that
differ by no more than rounding count as equal.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from flipwise.bounds.closing import groups_of, matrix_of, point_of
from flipwise.bounds.enumeration import enumeration_work, least_points, number_of_points
from flipwise.bounds.integers import integer_model
from flipwise.bounds.rows import is_listed, least_with_rows
from flipwise.engine.limits import Status
from flipwise.engine.run import Run
from flipwise.engine.solver import Solver
from flipwise.foundation.arrays import Floats
from flipwise.foundation.errors import InvalidInput
from flipwise.model.constraints import is_built_in
from flipwise.model.problem import Problem
from flipwise.model.quadratic import Quadratic
from flipwise.model.rows import LinearConstraints
from flipwise.solvers.exact import feasible_points

WORK = 2.0**24
"""Values of a quadratic that are computed at most: a few seconds."""
EVALUATED = 2.0**16
"""Points of another objective that are evaluated at most."""
ROUNDING = 1e-12
"""Values this close, relative to the largest, are equal where they are not exact."""


@dataclass(frozen=True)
class Optima:
    """Lists all optima into the pool of the run."""

    name: ClassVar[str] = "enumeration"

    @classmethod
    def named(cls, problem: Problem, method: str | Solver, default: str) -> Optima:
        """For a problem that is small enough, of which no other method was asked for; all else is refused."""
        if method != default:
            raise InvalidInput(f'`method` must be left out with pool="optima", which enumerates; got {method!r}.')
        cls().check(problem)
        return cls()

    def check(self, problem: Problem) -> None:
        """Refuse what would take too long."""
        if isinstance(problem.constraint, LinearConstraints):
            if not is_listed(problem, WORK):
                raise InvalidInput(
                    'pool="optima" enumerates all points, which are too many here. Use pool=100, say, for the good '
                    "points that a search finds."
                )
            return
        if not is_built_in(problem.constraint):
            raise InvalidInput('pool="optima" needs a constraint of flipwise\'s own. Use pool=100, say, instead.')
        groups = groups_of(problem)
        n = sum(inside.size for inside, _ in groups) or problem.n
        quadratic = isinstance(problem.objective, Quadratic)
        work, most = number_of_points(n, groups), EVALUATED
        if quadratic:
            work, most = enumeration_work(n, groups), WORK
        if work > most or n > 1000:
            raise InvalidInput(
                f'pool="optima" enumerates all points, at most 2^{math.log2(most):.0f}; this problem has about '
                f"2^{math.log2(max(1.0, work)):.0f}. Use pool=100, say, for the good points that a search finds."
            )

    def solve(self, problem: Problem, x: Floats, rng: np.random.Generator, run: Run) -> Status:
        """Compare all points; the start `x` is only what is returned if time runs out."""
        self.check(problem)
        run.offer(x, problem.objective.value(x))
        objective = problem.objective
        found: Iterable[Any] | None
        if isinstance(problem.constraint, LinearConstraints):
            found = least_with_rows(problem, lambda: run.check_time() is not None, every=True)
        elif isinstance(objective, Quadratic):
            model = integer_model(objective, rounded=True)
            assert model is not None
            groups = groups_of(problem)
            n = sum(inside.size for inside, _ in groups) or problem.n
            J = matrix_of(dict(enumerate(model.rows)), [*range(n), problem.n])
            listed = least_points(J[:n, :n], J[:n, n], groups, lambda: run.check_time() is not None)
            found = None if listed is None else [point_of(problem, s) for s in listed]
        else:
            found = self._all_best(problem, run)
        if found is None:
            return run.stopped or Status.TIME_LIMIT
        optima = [np.asarray(s, dtype=np.float64).reshape(problem.shape) for s in found]
        values = [objective.value(optimum) for optimum in optima]
        best = int(np.argmin(values))
        run.incumbent.prove(optima[best], values[best])
        if run.pool is not None:
            run.pool.replace(optima, values)
        return Status.OPTIMAL

    def _all_best(self, problem: Problem, run: Run) -> list[Floats] | None:
        """The best of all points; None when time runs out."""
        points: list[Floats] = []
        values: list[float] = []
        least, size = math.inf, 0.0
        for flat in feasible_points(problem):
            value = problem.objective.value(flat.reshape(problem.shape))
            size = max(size, abs(value))
            if value <= least + ROUNDING * size:
                points.append(flat)
                values.append(value)
                least = min(least, value)
            if run.check_time() is not None:
                return None
        return [x for x, value in zip(points, values, strict=True) if value <= least + ROUNDING * size]
