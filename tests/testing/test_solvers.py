"""The contract of a method finds each broken rule, and every method of the library keeps it."""

from __future__ import annotations

import random
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

import flipwise
from flipwise import Cardinality, Free, Status
from flipwise.solvers.registry import Method
from flipwise.testing import check_solver


@dataclass(frozen=True)
class Flips:
    """A right one, to be broken: single flips in turn until none improves."""

    def solve(self, problem: Any, x: Any, rng: Any, run: Any) -> Any:
        value = problem.objective.value(x)
        run.offer(x, value)
        improved = True
        while improved:
            improved = False
            for i in rng.permutation(x.size):
                x[i] *= -1
                new = problem.objective.value(x)
                if new < value:
                    value, improved = new, True
                else:
                    x[i] *= -1
            stop = self.step(run, x, value)
            if stop is not None:
                return stop
        return self.end(problem, run)

    def step(self, run: Any, x: Any, value: float) -> Any:
        """To be broken."""
        return run.step(x, value)

    def end(self, problem: Any, run: Any) -> Any:
        """To be broken."""
        return Status.LOCAL_OPTIMUM


class ByAddress:
    def solve(self, problem: Any, x: Any, rng: Any, run: Any) -> Any:
        return Status.CONVERGED


class NothingTold(Flips):
    def solve(self, problem: Any, x: Any, rng: Any, run: Any) -> Any:
        return Status.CONVERGED


class GoesOn(Flips):
    def step(self, run: Any, x: Any, value: float) -> Any:
        run.step(x, value)


class SaysConverged(Flips):
    def step(self, run: Any, x: Any, value: float) -> Any:
        return Status.CONVERGED if run.step(x, value) else None


class WrongValue(Flips):
    def step(self, run: Any, x: Any, value: float) -> Any:
        return run.step(x, value - 1.0)


class HalfPoint(Flips):
    def step(self, run: Any, x: Any, value: float) -> Any:
        return run.step(x / 2, value)


class LosesStart(Flips):
    def solve(self, problem: Any, x: Any, rng: Any, run: Any) -> Any:
        worst = max((np.where(rng.random(x.size) < 0.5, 1.0, -1.0) for _ in range(50)), key=problem.objective.value)
        return run.step(worst, problem.objective.value(worst)) or Status.CONVERGED


class ReturnsNothing(Flips):
    def end(self, problem: Any, run: Any) -> Any:
        return None


class OtherProblem(Flips):
    def end(self, problem: Any, run: Any) -> Any:
        run.problem.objective.value(run.best_x)
        return Status.CONVERGED


class Swallows(Flips):
    def step(self, run: Any, x: Any, value: float) -> Any:
        try:
            return run.step(x, value)
        except KeyboardInterrupt:
            return Status.CONVERGED


class OwnGenerator(Flips):
    def solve(self, problem: Any, x: Any, rng: Any, run: Any) -> Any:
        run.offer(x, problem.objective.value(x))
        other = np.where(np.random.default_rng().random(x.size) < 0.5, 1.0, -1.0)
        return super().solve(problem, other, rng, run)

    def end(self, problem: Any, run: Any) -> Any:
        return Status.CONVERGED


class GlobalGenerator(Flips):
    def end(self, problem: Any, run: Any) -> Any:
        random.random()
        return Status.CONVERGED


class Counts(Flips):
    def end(self, problem: Any, run: Any) -> Any:
        object.__setattr__(self, "runs", getattr(self, "runs", 0) + 1)
        return Status.CONVERGED


class ClaimsLocal(Flips):
    def solve(self, problem: Any, x: Any, rng: Any, run: Any) -> Any:
        return run.step(x, problem.objective.value(x)) or Status.LOCAL_OPTIMUM


class ClaimsOptimal(ClaimsLocal):
    def solve(self, problem: Any, x: Any, rng: Any, run: Any) -> Any:
        return run.step(x, problem.objective.value(x)) or Status.OPTIMAL


class ClaimsBound(Flips):
    def end(self, problem: Any, run: Any) -> Any:
        run.raise_bound(run.best_value + 1.0)
        return Status.CONVERGED


@dataclass
class Half:
    """A state without the generator."""

    x: np.ndarray


class LosesGenerator(Flips):
    """Goes on from a checkpoint at the same point, with random numbers of its own."""

    def solve(self, problem: Any, x: Any, rng: Any, run: Any) -> Any:
        held = run.resume(Half)
        x = x if held is None else held.x
        run.offer(x, problem.objective.value(x))
        for _ in range(30):
            x[rng.integers(x.size)] *= -1.0
            stop = run.step(x, problem.objective.value(x), state=Half(x))
            if stop is not None:
                return stop
        return Status.CONVERGED


BROKEN = [
    (Flips, "must be an object with solve"),
    (ByAddress(), "Make the class a frozen dataclass"),
    (NothingTold(), "it ended .CONVERGED. without a point"),
    (GoesOn(), "`run.step` said ITERATION_LIMIT, which must end `solve`, but it went on"),
    (SaysConverged(), "`run.step` said ITERATION_LIMIT, and `solve` must return that; it returned CONVERGED"),
    (WrongValue(), "`run.step` was given the value .*, but the objective is"),
    (HalfPoint(), "`run.step` must be given an array of -1.0 and 1.0"),
    (LosesStart(), "the start had .* Begin with `run.offer"),
    (ReturnsNothing(), "must return a flipwise.Status, it returned None"),
    (OtherProblem(), "it has evaluated `run.problem` 1 times"),
    (Swallows(), "it caught the KeyboardInterrupt"),
    (OwnGenerator(), "one seed must give one answer"),
    (GlobalGenerator(), "a global generator was used"),
    (Counts(), "has changed an attribute of the solver"),
    (ClaimsLocal(), "it claims LOCAL_OPTIMUM at .*, but a single move leads to"),
    (ClaimsOptimal(), "it claims OPTIMAL at .*, but the minimum is"),
    (ClaimsBound(), "it claims that nothing is below .*, but the minimum is"),
    (LosesGenerator(), "stopped and resumed it reached"),
]


@pytest.mark.parametrize(("solver", "sentence"), BROKEN, ids=lambda part: type(part).__name__)
def test_a_broken_rule_is_named(solver: Any, sentence: str) -> None:
    """The error says which rule is broken."""
    with pytest.raises(AssertionError, match=f"(?s){sentence}"):
        check_solver(solver)


def test_a_constraint_that_is_not_kept_is_named() -> None:
    """A method of single flips claims a count in vain."""
    check_solver(Flips())
    with pytest.raises(AssertionError, match=r"Flips under Cardinality: .*feasible points only; .*exactly 4 ones"):
        check_solver(Flips(), constraints=[Free(), Cardinality(4)])


def _dense_graph() -> flipwise.Quadratic:
    mask = np.triu(np.random.default_rng(0).random((12, 12)) < 0.4, 1)
    return flipwise.Quadratic(-sp.csr_array((mask | mask.T).astype(float)), variables="binary")


@pytest.mark.parametrize("method", flipwise.methods(), ids=lambda method: method.name)
def test_every_method_of_the_library_keeps_the_contract(method: Method) -> None:
    """Under each constraint that the registry says it can keep."""
    constraints: list[Any] = [Free()] * method.free + [Cardinality(4)] * method.counts
    check_solver(
        method.load()(),
        constraints=constraints,
        objective=_dense_graph() if method.needs == "densest" else None,
        iterations=3 if method.name == "portfolio" else 50,
    )


def test_the_literal_algorithm_and_callables_keep_it_too() -> None:
    """DPCD to the letter, and on an objective that is only evaluated."""
    check_solver(flipwise.DPCD(literal=True), constraints=[Free(), Cardinality(4)])
    smooth = flipwise.Smooth(lambda x: (float((x**3).sum() + x[0] * x[1]), 3 * x**2 + np.roll(x, 1) * 0), shape=6)
    check_solver(flipwise.DPCD(), objective=smooth, constraints=[Free(), Cardinality(2)])
