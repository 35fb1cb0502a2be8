"""Exact solution of small problems: every feasible point, or branch and bound; the oracle for all other methods.

Small quadratics are enumerated in exact integers (`bounds.enumeration`), polynomials of other degrees walked through in
the order of the Gray code (`bounds.gray_code`). Few feasible points (a small count, or any other objective) are listed
one by one. Larger sparse quadratics go to the branch and bound of HiGHS on the linearisation in `bounds.linearised`,
whose gap is closed completely. Anything larger is refused.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product
from typing import Any, ClassVar

import numpy as np
import scipy.optimize

from flipwise.bounds.closing import groups_of, matrix_of, point_of
from flipwise.bounds.enumeration import Group, choices, least_point, number_of_points
from flipwise.bounds.gray_code import list_polynomial
from flipwise.bounds.integers import integer_model
from flipwise.bounds.lattice import value_lattice
from flipwise.bounds.linearised import linearise
from flipwise.bounds.rows import RowsClosing, is_listed, least_with_rows, minimize_by_highs, tell_least
from flipwise.engine.limits import Status
from flipwise.engine.run import Run
from flipwise.foundation.arrays import Floats
from flipwise.foundation.checks import check_wholes
from flipwise.foundation.errors import InvalidInput
from flipwise.model.constraints import is_built_in
from flipwise.model.forms import homogeneous
from flipwise.model.polynomial import Polynomial
from flipwise.model.problem import Problem
from flipwise.model.quadratic import Quadratic
from flipwise.model.rows import LinearConstraints
from flipwise.solvers.projections import Polytope

_GAP = 1e-6
"""How far HiGHS closes the gap, of the sum of all coefficients: its points are integral up to that."""


@dataclass(frozen=True)
class Exact:
    """The method "exact", with its options.

    Parameters
    ----------
    enumerate_up_to
        The most variables of a quadratic or a polynomial that is enumerated.
    points
        The most feasible points that are listed one by one.
    products
        The most products x_i x_j given to branch and bound.
    """

    name: ClassVar[str] = "exact"
    enumerate_up_to: int = 22
    points: int = 100_000
    products: int = 20_000

    def __post_init__(self) -> None:
        check_wholes(self, "enumerate_up_to", "points", "products", least=0)
        if self.enumerate_up_to > 30:
            raise InvalidInput(f"`enumerate_up_to` must be at most 30, got {self.enumerate_up_to}.")

    def solve(self, problem: Problem, x: Floats, rng: np.random.Generator, run: Run) -> Status:
        """Find a global minimum; the start `x` is only what is returned if time runs out."""
        objective = problem.objective
        if isinstance(problem.constraint, LinearConstraints):
            return self._solve_with_rows(problem, x, run)
        groups = _counted_groups(problem)
        n = sum(inside.size for inside, _ in groups) or problem.n
        count = number_of_points(n, groups)
        products = _number_of_products(objective) if isinstance(objective, Quadratic) else math.inf
        enumerated = isinstance(objective, Polynomial) and is_built_in(problem.constraint)
        small = (isinstance(objective, Quadratic) or enumerated) and n <= self.enumerate_up_to
        if not small and count > self.points and products > self.products:
            raise InvalidInput(
                f'method="exact" is for small problems: this one has {n} variables, {count:.3g} points and '
                f"{products:.3g} products. Up to {self.enumerate_up_to} variables of a polynomial, {self.points} "
                f"points, or {self.products} products can be solved; use another method, or raise an option."
            )
        run.offer(x, objective.value(x))
        if count <= min(self.points, 2_000 if small else math.inf):
            return _list_points(problem, run)
        if isinstance(objective, Polynomial):
            return list_polynomial(objective, problem, run) or _note_proof(problem, run)
        assert isinstance(objective, Quadratic)
        return _enumerate_integers(objective, problem, run) if small else _branch_and_bound(objective, problem, run)

    def _solve_with_rows(self, problem: Problem, x: Floats, run: Run) -> Status:
        """All points where they are few, else branch and bound with the rows."""
        closing = RowsClosing(problem)
        if not is_listed(problem, 2.0**self.enumerate_up_to) and closing.products > self.products:
            raise InvalidInput(
                f'method="exact" is for small problems: this one has {problem.n} variables, rows, and '
                f"{closing.products:.3g} products. Up to {self.enumerate_up_to} variables, or {self.products} products "
                "can be solved; use another method, or raise an option."
            )
        run.offer(x, problem.objective.value(x))
        if is_listed(problem, 2.0**self.enumerate_up_to):
            found = least_with_rows(problem, lambda: run.check_time() is not None)
            if not found:  # the start keeps the rows: only time can have run out
                return run.stopped or Status.TIME_LIMIT
            run.info["rows"] = "enumeration"
            best = found[0].astype(np.float64).reshape(problem.shape)
            stop = run.step(best, problem.objective.value(best))
            tell_least(run, problem, found[0])
        else:
            run.info["rows"] = "branch and bound"
            minimize_by_highs(run, problem, None)
            assert run.best_x is not None
            stop = run.step(run.best_x, run.best_value)
        return Status.OPTIMAL if run.is_proven else stop or run.check_time() or Status.CONVERGED


def _counted_groups(problem: Problem) -> list[Group]:
    """The members of each group of the counts with the number of ones among them; none without counts."""
    if problem.reduction is not None:
        return groups_of(problem)
    polytope = Polytope(problem.constraint, problem.shape)
    groups = zip(polytope.members, polytope.sums, strict=True)
    counts = [(inside, round((signed + inside.size) / 2)) for inside, signed in groups]
    return [(inside, range(ones, ones + 1)) for inside, ones in counts]


def _number_of_products(quadratic: Quadratic) -> float:
    form = homogeneous(quadratic, lift=False)
    return form.N * (form.N - 1) / 2 if form.s.size or not form.is_sparse else form.part.nnz / 2


def feasible_points(problem: Problem) -> Iterator[Floats]:
    """Every feasible point, as flat spins."""
    groups = _counted_groups(problem)
    if not groups:
        for bits in product((-1.0, 1.0), repeat=problem.n):
            yield np.array(bits)
        return
    n = sum(inside.size for inside, _ in groups)
    for chosen in product(*(choices(inside, allowed) for inside, allowed in groups)):
        x = np.full(n, -1, dtype=np.int8)
        x[[i for part in chosen for i in part]] = 1
        yield point_of(problem, x)


def _list_points(problem: Problem, run: Run) -> Status:
    """Look at every feasible point."""
    best = math.inf
    for index, flat in enumerate(feasible_points(problem)):
        x = flat.reshape(problem.shape)
        value = problem.objective.value(x)
        if value < best:
            best = value
            stop = run.step(x, value)
            if stop is not None:
                return stop
        elif index % 256 == 0 and run.check_time() is not None:
            return Status.TIME_LIMIT
    return _note_proof(problem, run)


def _note_proof(problem: Problem, run: Run, tolerance: float = 0.0) -> Status:
    """Nothing is better than the best point by more than `tolerance`, which the proof leaves open."""
    assert run.best_x is not None
    value = problem.objective.value(run.best_x)
    run.raise_bound(value - tolerance if tolerance else value)
    return Status.CONVERGED if tolerance else Status.OPTIMAL


def _enumerate_integers(objective: Quadratic, problem: Problem, run: Run) -> Status:
    """All points in exact integers."""
    model = integer_model(objective, rounded=True)
    assert model is not None  # a low-rank term of so few variables is written out
    groups = _counted_groups(problem)
    n = sum(inside.size for inside, _ in groups) or problem.n
    J = matrix_of(dict(enumerate(model.rows)), [*range(n), problem.n])
    found = least_point(J[:-1, :-1], J[:-1, -1], groups, lambda: run.check_time() is not None)
    if found is None:
        return Status.TIME_LIMIT
    x = point_of(problem, found[1])
    stop = run.step(x, objective.value(x))
    return stop or _note_proof(problem, run, 0.0 if objective.exact_parts is not None else 2.0 * objective.rounding)


def _branch_and_bound(objective: Quadratic, problem: Problem, run: Run) -> Status:
    """Let a mixed-integer solver find and prove the best point of the linearised problem."""
    program = linearise(objective, problem.constraint)
    constraints = []
    if program.matrix.shape[0]:
        constraints.append(scipy.optimize.LinearConstraint(program.matrix, ub=program.right))
    if program.equal is not None:
        constraints.append(scipy.optimize.LinearConstraint(program.equal, program.sums, program.sums))
    options: dict[str, Any] = {"mip_rel_gap": 0.0}
    if math.isfinite(run.seconds_left):
        options["time_limit"] = max(run.seconds_left, 1e-3)
    size = float(np.abs(program.cost).sum())
    answer: Any = scipy.optimize.milp(
        np.ldexp(program.cost, 20 - math.frexp(size)[1]),  # its tolerances are absolute numbers
        integrality=(np.arange(program.cost.size) < problem.n).astype(np.int64),
        bounds=scipy.optimize.Bounds(0.0, 1.0),
        constraints=constraints,
        options=options,  # type: ignore[arg-type]
    )
    if answer.x is not None:
        x = problem.constraint.project((2.0 * answer.x[: problem.n] - 1.0).reshape(problem.shape))
        stop = run.step(x, objective.value(x))
        if answer.status == 0:
            lattice = value_lattice(objective)  # two values differ by a step, or not at all
            closed = lattice is not None and float(lattice.step) > 4.0 * _GAP * size
            return _note_proof(problem, run, 0.0 if closed else 2.0 * _GAP * size + objective.rounding)
        if stop is not None:
            return stop
    return run.check_time() or Status.TIME_LIMIT
