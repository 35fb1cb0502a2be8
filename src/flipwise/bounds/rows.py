"""What is proven of a problem with linear rows.

    few variables   all points, in exact integers
    a quadratic     the bound without the rows, which holds with them; then HiGHS's branch and bound on the standard
                    linearisation with the rows (`linearised`), where it is small enough

What HiGHS says is in floating point: its bound is lowered by what its tolerances allow, and then raised to the next
value that the objective can have. So an optimum is only claimed where values lie further apart than that.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.optimize
import scipy.sparse as sp

from flipwise.bounds.closing import matrix_of
from flipwise.bounds.enumeration import least_point, least_points
from flipwise.bounds.integers import integer_model
from flipwise.bounds.lattice import lifted
from flipwise.bounds.linearised import linearise
from flipwise.engine.run import Run
from flipwise.engine.solve import SEARCH_SHARE, Proof
from flipwise.foundation.arrays import Signs
from flipwise.model.constraints import Free
from flipwise.model.feasibility import infeasible, short_indices
from flipwise.model.forms import homogeneous
from flipwise.model.polynomial import Polynomial
from flipwise.model.problem import Problem
from flipwise.model.quadratic import Quadratic
from flipwise.model.rows import LinearConstraints

POINTS = 2.0**21
"""Values that are enumerated without being asked for."""
OTHER_POINTS = 2.0**13
"""The same for objectives that are no quadratics."""
PRODUCTS, PRODUCTS_UNLIMITED = 20_000, 400
"""Products that are given to HiGHS where there is a time limit, and where there is none."""
NODES = 2000
"""Nodes of its tree where there is no time limit: work that is counted, not timed."""
GAP = 1e-6
"""How far HiGHS closes the gap, of the sum of all coefficients: its points are integral up to that."""
LINEAR_SHARE = 0.5
"""Share of the time for the search where the objective is linear, for which HiGHS is made."""


def rows_proof(problem: Problem, wanted: str, relaxed: Callable[[], float | None], time_limit: float | None) -> Proof:
    """How a bound is proven under linear rows; `relaxed` is the bound without them."""
    closing = RowsClosing(problem, wanted)
    share = LINEAR_SHARE if closing.products == 0 else SEARCH_SHARE
    close = closing.close if closing.is_for_highs(time_limit) else None
    return Proof(
        relaxed, costly=True, begin=closing.begin, close=close, report=closing.report, search_share=lambda: share
    )


def is_listed(problem: Problem, points: float = POINTS) -> bool:
    """Whether all points are few enough to be looked at."""
    rows = problem.constraint
    assert isinstance(rows, LinearConstraints)
    most = points if isinstance(problem.objective, Quadratic) else min(points, OTHER_POINTS)
    return 2.0 ** min(problem.n, 1000) * max(1.0, rows.m / 8.0) <= most


def least_with_rows(problem: Problem, stop: Callable[[], bool], *, every: bool = False) -> list[Signs] | None:
    """A minimum, or `every` one, among all points; empty where there is no point, None when stopped."""
    rows, objective = problem.constraint, problem.objective
    assert isinstance(rows, LinearConstraints)
    limited = rows.A.toarray(), *rows.limits
    if not isinstance(objective, Quadratic):
        return _least_by_value(problem, stop, every=every)
    model = integer_model(objective, rounded=True)
    assert model is not None  # a low-rank term of so few variables is written out
    J = matrix_of(dict(enumerate(model.rows)), [*range(problem.n), problem.n])
    if every:
        return least_points(J[:-1, :-1], J[:-1, -1], [], stop, limited)
    found = least_point(J[:-1, :-1], J[:-1, -1], [], stop, limited)
    if found is None:
        return None if stop() else []
    return [found[1]]


def _least_by_value(problem: Problem, stop: Callable[[], bool], *, every: bool) -> list[Signs] | None:
    best, points = math.inf, []
    for number in range(2**problem.n):
        if number % 256 == 0 and stop():
            return None
        s = np.where((number >> np.arange(problem.n)) & 1, 1, -1).astype(np.int8)
        if not problem.constraint.contains(s):
            continue
        value = problem.objective.value(s.astype(np.float64).reshape(problem.shape))
        if value < best:
            best, points = value, [s]
        elif value == best and every:
            points.append(s)
    return points


@dataclass(eq=False)
class RowsClosing:
    """The parts of a proof under linear rows that know the rows."""

    problem: Problem
    wanted: str = "auto"
    nodes: int | None = None

    @property
    def products(self) -> float:
        """Products of two variables in the objective."""
        if not isinstance(self.problem.objective, Quadratic):
            return math.inf
        form = homogeneous(self.problem.objective, lift=False)
        if form.s.size or not form.is_sparse:
            return float(np.count_nonzero(np.triu(form.to_dense(), 1))) if form.N <= 1000 else math.inf
        return float(form.part.nnz - np.count_nonzero(form.part.diagonal())) / 2

    def is_for_highs(self, time_limit: float | None) -> bool:
        """Whether HiGHS may close the gap."""
        limited = time_limit is not None or self.wanted == "best"
        most = 0 if self.wanted not in ("auto", "best") else PRODUCTS if limited else PRODUCTS_UNLIMITED
        return self.products <= most

    def begin(self, run: Run) -> None:
        """Before the search: all points where they are few."""
        if self.wanted not in ("auto", "best", "quick") or not is_listed(self.problem) or self.problem.is_users_own:
            return
        found = least_with_rows(self.problem, lambda: run.check_time() is not None)
        if found is None:
            return
        if not found:
            assert isinstance(self.problem.constraint, LinearConstraints)
            raise infeasible(self.problem.constraint)
        run.info["rows"] = "enumeration"
        tell_least(run, self.problem, found[0])

    def close(self, run: Run) -> None:
        """After the search: HiGHS on the linearised problem."""
        objective = self.problem.objective
        if run.is_proven or not isinstance(objective, Quadratic):
            return
        self.nodes = minimize_by_highs(
            run, self.problem, None if math.isfinite(run.seconds_left) or self.wanted == "best" else NODES
        )

    def report(self) -> dict[str, Any]:
        """What was done, for `result.info`."""
        return {} if self.nodes is None else {"nodes": self.nodes}


def tell_least(run: Run, problem: Problem, s: Signs) -> None:
    """Offer a least point of all, and what that proves: a value that was rounded leaves as much open."""
    objective = problem.objective
    x = s.astype(np.float64).reshape(problem.shape)
    exact = not isinstance(objective, Quadratic) or objective.exact_parts is not None
    if isinstance(objective, Polynomial) and not objective.exact:
        exact = False
    value = run.problem.objective.value(x)
    if exact:
        run.incumbent.prove(x, value)
        return
    run.offer(x, value)
    left = 2.0 * objective.rounding / run.unit if isinstance(objective, Quadratic) else 1e-12 * abs(value)
    run.raise_bound(min(value, run.best_value) - left)


def minimize_by_highs(run: Run, problem: Problem, most_nodes: int | None) -> int:
    """HiGHS on the linearised problem: its point is offered, its bound told to the run. Returns its nodes."""
    objective, rows = problem.objective, problem.constraint
    assert isinstance(objective, Quadratic) and isinstance(rows, LinearConstraints)
    program = linearise(objective, Free())
    size = float(np.abs(program.cost).sum())
    if size == 0.0:
        run.raise_bound(run.best_value)
        return 0
    columns = program.cost.size
    wide = sp.csr_array((rows.A.data, rows.A.indices, rows.A.indptr), shape=(rows.m, columns))
    constraints: list[Any] = [scipy.optimize.LinearConstraint(short_indices(wide), *rows.limits)]
    if program.matrix.shape[0]:
        constraints.append(scipy.optimize.LinearConstraint(short_indices(program.matrix), ub=program.right))
    options: dict[str, Any] = {"mip_rel_gap": 0.0}
    if math.isfinite(run.seconds_left):
        options["time_limit"] = max(run.seconds_left, 1e-3)
    if most_nodes is not None:
        options["node_limit"] = most_nodes
    exponent = 20 - math.frexp(size)[1]  # HiGHS's tolerances are absolute numbers
    answer: Any = scipy.optimize.milp(
        np.ldexp(program.cost, exponent),
        integrality=(np.arange(columns) < problem.n).astype(np.int64),
        bounds=scipy.optimize.Bounds(0.0, 1.0),
        constraints=constraints,
        options=options,  # type: ignore[arg-type]
    )
    if answer.x is not None:
        x = np.where(answer.x[: problem.n] > 0.5, 1.0, -1.0).reshape(problem.shape)
        if rows.contains(x):
            run.offer(x, run.problem.objective.value(x))
    proven = answer.mip_dual_bound
    if proven is not None and math.isfinite(proven):
        least = math.ldexp(float(proven), -exponent) + program.constant - 2.0 * GAP * size - program.rounding
        bound = lifted(objective, least)
        run.raise_bound(min(bound / run.unit, run.best_value))
    return int(answer.mip_node_count or 0)
