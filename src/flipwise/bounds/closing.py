"""The proof of one problem, from what is decided in a blink to what takes all the time there is.

`begin` is called before the search: whatever can be enumerated is, after the presolve, and then nothing is left to
search. `close` is called after it: each part of what is left gets the relaxation that fits it, and branches. All of it
is in exact integers (see `integers`), so what is called optimal is.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np
import numpy.typing as npt

from flipwise.bounds.certifying import enumeration_certificate, parts_certificate
from flipwise.bounds.cycle_tree import CycleTree
from flipwise.bounds.enumeration import Group, enumeration_work, least_point
from flipwise.bounds.gray_code import list_polynomial
from flipwise.bounds.hypermetric_tree import HypermetricTree, descend_often
from flipwise.bounds.integers import IntegerModel, integer_model
from flipwise.bounds.parts import Allowance, Part
from flipwise.bounds.presolve import SCALE, Presolved, presolve
from flipwise.engine.certificate import Certificate
from flipwise.engine.result import Result
from flipwise.engine.run import Run
from flipwise.engine.solve import SEARCH_SHARE
from flipwise.foundation.arrays import Floats, Signs
from flipwise.kernels.compile_time import working_time
from flipwise.model.constraints import Cardinality, Counts, Free, is_built_in
from flipwise.model.objective import Objective
from flipwise.model.polynomial import Polynomial
from flipwise.model.problem import Problem
from flipwise.model.quadratic import Quadratic

POINTS = 2.0**22
"""Values that are enumerated without being asked for: a third of a second."""
POLYNOMIAL_POINTS = 2.0**18
"""The same for polynomials, whose points cost more."""
SPARSE_DEGREE = 7.0
"""Couplings a spin up to which odd cycles prove more than a semidefinite bound."""
CLOSED = 120
"""Variables up to which a dense problem is likely to be closed."""
AT_ONCE, AT_ONCE_WORK, AT_ONCE_SHARE = 60, 1.0, 0.1
"""Parts of so many spins are given so much work (see `Allowance`), or this share of a time limit, before the search."""
USUAL_WORK = 2.0
"""What a proof may take after the search where there is no time limit (see `Allowance`)."""
DENSE = 260
"""Spins of the largest part that gets a semidefinite bound with branching."""
ENTRIES = 100_000
"""Entries of the largest matrix that is looked at in integers: a third of a second."""


def is_closable(problem: Problem) -> bool:
    """Whether there is more to a proof than a relaxation: exact integers, and a constraint whose points are known."""
    objective = problem.objective
    if not is_built_in(problem.constraint):
        return False
    if isinstance(objective, Polynomial):
        return True
    return isinstance(objective, Quadratic) and objective.entries <= ENTRIES and objective.exact_parts is not None


def is_sparse(problem: Problem) -> bool:
    """Whether odd cycles prove more than a semidefinite bound: few couplings a spin, the linear part counted."""
    objective = problem.objective
    if not isinstance(objective, Quadratic) or isinstance(problem.constraint, Counts) or not is_closable(problem):
        return False
    return objective.entries / 2 + int(np.count_nonzero(objective.c)) <= SPARSE_DEGREE / 2 * objective.n


def groups_of(problem: Problem) -> list[Group]:
    """The members of each group of the counts with the number of ones among them; none without counts.

    Of a problem that stands for one with ranges: these ranges, and no dummies.
    """
    if problem.reduction is not None:
        return problem.reduction.ranges
    constraint = problem.constraint
    if not isinstance(constraint, Counts):
        return []
    return [(inside, range(ones, ones + 1)) for ones, _, inside in constraint.by_group(problem.shape)]


def point_of(problem: Problem, found: Signs) -> Floats:
    """A point of the variables that `groups_of` speaks of as one of the problem."""
    spins = found.astype(np.float64)
    return (spins if problem.reduction is None else problem.reduction.completed(spins)).reshape(problem.shape)


@dataclass(eq=False)
class Closing:
    """What is known of a problem while it is proven."""

    problem: Problem
    patient: bool = True
    """Whether more is done before the search than enumeration."""
    work: float = USUAL_WORK
    """What `close` may take where the run has no time limit."""
    parts: list[Part] | None = None
    """What the presolve leaves, by component; None before it was looked at."""
    counted: bool = False
    """Whether all points with exact counts were compared."""

    @cached_property
    def model(self) -> IntegerModel | None:
        assert isinstance(self.problem.objective, Quadratic)
        return integer_model(self.problem.objective)

    @cached_property
    def groups(self) -> list[Group]:
        return groups_of(self.problem)

    @cached_property
    def presolved(self) -> Presolved:
        assert self.model is not None
        return presolve(self.model)

    def begin(self, run: Run) -> None:
        """Before the search: solve what is small, and tell `run` the minimum where that is all."""
        if run.check_time() is not None:
            return
        if isinstance(self.problem.objective, Polynomial):
            self._list_polynomial(run)
        elif self.model is not None and self.groups:
            point = self._minimum_with_counts(run)
            if point is not None:
                self._tell_optimal(run, point)
        elif self.model is not None:
            self._solve_small_parts(run)
            assert self.parts is not None
            if self.patient and all(part.is_closed or part.n <= AT_ONCE for part in self.parts):
                end = working_time() + AT_ONCE_SHARE * run.seconds_left
                allowed = Allowance(lambda: min(end - working_time(), run.seconds_left), AT_ONCE_WORK)
                for part in self.parts:
                    if not part.is_closed:
                        descend_often(part)
                        prove_part(part, allowed)
            if all(part.is_closed for part in self.parts):
                self._tell_optimal(run, self._restored_point())

    @property
    def left(self) -> int:
        """The spins of the largest part that is not solved; all where there is none that is known."""
        if self.parts is None:
            return self.problem.n
        return max((part.n for part in self.parts if not part.is_closed), default=0)

    def search_share(self, time_limit: float | None) -> float:
        """The share of a time limit for the search: little where the proof is likely to need the rest."""
        if self.parts is None:
            return SEARCH_SHARE
        sparse = is_sparse(self.problem)
        if self.left <= CLOSED or (sparse and self.left <= 1000):
            return 0.15 if not time_limit else min(0.15, (1.0 + self.left / 100.0) / time_limit)
        return 0.3 if sparse else SEARCH_SHARE

    def close(self, run: Run) -> None:
        """After the search: raise the bound until it is met, or time is up."""
        if self.parts is None or self.model is None or run.best_x is None:
            return
        spins = np.append(np.where(run.best_x.reshape(-1) > 0, 1, -1), 1).astype(np.int8)
        for part in self.parts:
            part.offer(spins[part.members])
        allowed = Allowance(lambda: run.seconds_left, self.work if run.limits.time_limit is None else math.inf)
        try:
            for part in self.parts:
                if not part.is_closed and not allowed.is_over:
                    prove_part(part, allowed)
        finally:  # what is proven so far holds, also when a signal breaks it off
            self._report_parts(run)

    def _report_parts(self, run: Run) -> None:
        """Offer the best point of all parts, and raise the bound to what is proven of them."""
        assert self.parts is not None and self.model is not None
        point = self._restored_point()
        if all(part.is_closed for part in self.parts):
            self._tell_optimal(run, point)
            return
        x = point.astype(np.float64).reshape(self.problem.shape)
        run.offer(x, run.problem.objective.value(x))
        bounds = [part.bound for part in self.parts]
        proven = [bound for bound in bounds if bound is not None]
        if len(proven) < len(bounds):
            return
        least = self.model.next_value(-((-self.presolved.constant - sum(proven)) // SCALE))
        bound = bound_of(self.problem.objective, self.model, point, least)
        run.raise_bound(min(bound / run.unit, run.best_value))

    def _restored_point(self) -> Signs:
        assert self.parts is not None
        left = {i: s for part in self.parts for i, s in zip(part.members, part.best.tolist(), strict=True)}
        return self.presolved.restored(left)

    def _tell_optimal(self, run: Run, point: Signs) -> None:
        """Offer a minimum, of which it is proven that it is one."""
        x = point.astype(np.float64).reshape(self.problem.shape)
        run.incumbent.prove(x, run.problem.objective.value(x))

    def _list_polynomial(self, run: Run) -> None:
        objective = self.problem.objective
        assert isinstance(objective, Polynomial)
        terms = max(1.0, objective.coefficients.size / max(1, self.problem.n))
        searched = sum(inside.size for inside, _ in self.groups) or self.problem.n
        if 2.0 ** min(searched, 1000) * terms > POLYNOMIAL_POINTS:
            return
        part = run.part(self.problem)
        if list_polynomial(objective, self.problem, part) is None and part.best_x is not None:
            run.offer(part.best_x, part.best_value)
            run.raise_bound(run.best_value)

    def _minimum_with_counts(self, run: Run) -> Signs | None:
        """The minimum with exact counts, where few points have them."""
        assert self.model is not None
        n = sum(inside.size for inside, _ in self.groups)
        if enumeration_work(n, self.groups) > POINTS or n > 1000:
            return None
        J = matrix_of(dict(enumerate(self.model.rows)), [*range(n), self.problem.n])
        found = least_point(J[:n, :n], J[:n, n], self.groups, lambda: run.check_time() is not None)
        self.counted = found is not None
        return None if found is None else point_of(self.problem, found[1]).reshape(-1).astype(np.int8)

    def _solve_small_parts(self, run: Run) -> None:
        """Cut what the presolve leaves into its parts, and enumerate those that are small."""
        assert self.model is not None
        presolved = self.presolved
        self.parts = [Part.of(presolved.rows, members) for members in presolved.components()]
        if len(self.parts) == 1:  # the lattice of the whole is that of its only part
            part, step = self.parts[0], self.model.step
            point = presolved.restored(dict(zip(part.members, part.best.tolist(), strict=True)))
            part.further = SCALE * step, SCALE * self.model.energy(point) - presolved.constant
        work = 0.0
        for part in self.parts:
            work += enumeration_work(part.n - 1, [])
            if work > POINTS:
                return
            J = part.matrix()
            found = least_point(J[:-1, :-1], J[:-1, -1], [], lambda: run.check_time() is not None)
            if found is None:
                return
            part.offer(np.append(found[1], 1).astype(np.int8))
            part.raise_bound(part.energy)

    def report(self) -> dict[str, object]:
        """What the presolve and the proof have done, for `result.info`."""
        if self.parts is None:
            return {}
        return {"presolve": self.presolved.report(), "nodes": sum(part.nodes for part in self.parts)}

    def certificate(self, result: Result) -> Certificate | None:
        """The proof of the bound, where it is one of those made here."""
        objective = self.problem.objective
        if not isinstance(objective, Quadratic) or self.problem.reduction is not None or not self.model:
            return None
        bound = result.bound
        assert bound is not None
        bound += 0.0  # not -0.0
        if isinstance(self.problem.constraint, Cardinality):
            whole = result.optimal and objective.rounded_once and self.counted
            return enumeration_certificate(self.model, int(self.problem.constraint.count), bound) if whole else None
        if self.parts is None or not isinstance(self.problem.constraint, Free):
            return None
        proven = sum(part.lift(-sum(map(abs, part.J))) if part.bound is None else part.bound for part in self.parts)
        least = self.model.next_value(-((-self.presolved.constant - proven) // SCALE))
        if not (objective.rounded_once and least >= self.model.energy(self._restored_point())):
            lower = bound_of(objective, self.model, self._restored_point(), least)
            if lower < bound - 1e-9 * abs(bound):
                return None  # another bound won
            bound = min(lower, bound)
        return parts_certificate(self.model, self.presolved, self.parts, least, bound)


def prove_part(part: Part, allowed: Allowance) -> None:
    """Raise the bound of a part by the relaxation that fits it, and branch."""
    if len(part.J) <= SPARSE_DEGREE / 2 * part.n and part.n > AT_ONCE:
        CycleTree(part, allowed).run()
    elif part.n <= DENSE:
        HypermetricTree(part, allowed).run()


def bound_of(objective: Objective, model: IntegerModel, point: Signs, least: int) -> float:
    """The energy `least` as a value of f, rounded down: below f(point) by the difference of energies."""
    assert isinstance(objective, Quadratic)
    x = point.astype(np.float64).reshape(objective.shape)
    value = objective.value(x)
    difference = Fraction(model.energy(point) - least) * Fraction(2) ** model.exponent
    rounding = 0.0 if objective.rounded_once else 64.0 * float(np.finfo(np.float64).eps) * _size_of_sums(objective)
    exact = Fraction(value) - difference - Fraction(rounding)
    if objective.grain:  # the value is exact
        return float(exact) if Fraction(float(exact)) <= exact else math.nextafter(float(exact), -math.inf)
    # the value was rounded, by at most half of its last digit, and so is this
    return math.nextafter(float(exact) - math.ulp(value), -math.inf)


def _size_of_sums(objective: Quadratic) -> float:
    """More than any partial sum of a value."""
    rows = sum((term.absolute_row_sums() for term in objective.terms), np.abs(objective.c))
    return (float(rows.sum()) + abs(objective.d)) * (1.0 + math.log2(objective.n + 1))


def matrix_of(rows: dict[int, dict[int, int]], members: list[int]) -> npt.NDArray[np.object_]:
    """The couplings among some spins, as a symmetric matrix of Python's integers."""
    J = np.zeros((len(members), len(members)), dtype=object)
    place = {i: p for p, i in enumerate(members)}
    for i in members:
        for j, w in rows[i].items():
            if j in place:
                J[place[i], place[j]] = w
    return J
