"""The contract of a method."""

from __future__ import annotations

import math
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from flipwise.engine.limits import Limits, OutOfTime, Status
from flipwise.engine.run import Callback, Run
from flipwise.engine.solver import Solver
from flipwise.foundation.arrays import Floats
from flipwise.minimization import minimize
from flipwise.model.constraints import Constraint, Free
from flipwise.model.problem import Problem, as_problem
from flipwise.model.quadratic import Quadratic

LISTED = 14
"""Up to so many variables the true minimum is found by listing all points."""


def check_solver(
    solver: Any,
    *,
    constraints: Sequence[Constraint] = (Free(),),
    objective: Any = None,
    iterations: int = 50,
    seed: int = 0,
) -> None:
    """Raise an `AssertionError` when a method breaks a rule.

    The rules: all points given to `run.step` and `run.offer` are feasible and have the value that is said; the answer
    is not worse than the start; a status that `run.step` gives (iterations, time, target, callback) ends the method and
    is what it returns; Ctrl-C goes through it; one seed gives one answer, also when the run is stopped and resumed;
    values and gradients are taken from the problem that is given, where they are counted; nothing on the solver
    changes; what a status or a bound claims is true.

    Parameters
    ----------
    solver
        An object with `solve(problem, x, rng, run)`.
    constraints
        The sets it can keep to, for 12 variables unless you give an objective; add `flipwise.Cardinality(4)` for a
        method that can keep a count.
    objective
        What it is tried on; a quadratic of 12 variables by default.
    iterations
        The limit of a run that nothing else ends.
    seed
        Of the problem and of the runs.

    Examples
    --------
    >>> import flipwise
    >>> from flipwise.testing import check_solver
    >>> check_solver(flipwise.DPCD(alpha=2.0), constraints=[flipwise.Free(), flipwise.Cardinality(4)])
    >>> class Stubborn:
    ...     def __repr__(self):
    ...         return "Stubborn()"
    ...     def solve(self, problem, x, rng, run):
    ...         while True:
    ...             if run.step(x, problem.objective.value(x)) is not None:
    ...                 return flipwise.Status.CONVERGED
    >>> check_solver(Stubborn())  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    AssertionError: Stubborn under Free: `run.step` said ITERATION_LIMIT, and `solve` must return that; it returned ...
    """
    name = type(solver).__name__
    if not isinstance(solver, Solver) or isinstance(solver, type):
        raise AssertionError(f"{solver!r} must be an object with solve(problem, x, rng, run).")
    if " at 0x" in repr(solver):
        raise AssertionError(
            f"{name}: its repr is {solver!r}, but checkpoints know a method and its options by it. Make the class a "
            "frozen dataclass."
        )
    if objective is None:
        rng = np.random.default_rng(seed)
        A = rng.standard_normal((12, 12))
        objective = Quadratic((A + A.T) / 2, rng.standard_normal(12))
    for constraint in constraints:
        title = f"{name} under {type(constraint).__name__}"
        contract = _Contract(title, solver, as_problem(objective, None, constraint), iterations, seed)
        contract.check_plain_run()
        contract.check_limits()
        contract.check_interrupt()
        contract.check_resuming()


class _WatchedRun(Run):
    """A run that looks at everything a solver tells it."""

    def __init__(
        self, contract: _Contract, limits: Limits, callback: Callback | None = None, *, interrupted: bool = False
    ) -> None:
        super().__init__(contract.problem.counting(self.count_uncounted), limits, callback=callback)
        self.contract = contract
        self.interrupted = interrupted
        self.uncounted = 0
        self.told: Status | None = None
        """The status that `step` gave last, which must end the solver."""

    def count_uncounted(self) -> None:
        """Somebody has evaluated `run.problem`, not the problem that was given."""
        self.uncounted += 1

    def offer(self, x: Floats, value: float) -> bool:
        """Remember a point, once it is known to be one."""
        self.contract.check_point(x, value, "`run.offer`")
        return super().offer(x, value)

    def step(
        self, x: Floats, value: float, *, flips: int = 0, alpha: float | None = None, state: Any = None
    ) -> Status | None:
        """Record an iteration, once it is known to be one."""
        if self.told is not None:
            raise self.contract.fail(f"`run.step` said {self.told.name}, which must end `solve`, but it went on.")
        self.contract.check_point(x, value, "`run.step`")
        self.told = super().step(x, value, flips=flips, alpha=alpha, state=state)
        if self.interrupted:
            raise KeyboardInterrupt
        return self.told

    def begin_descent(self) -> None:
        """Limits that count iterations of one descent do not end the next."""
        super().begin_descent()
        self.told = self.stopped


@dataclass(frozen=True)
class _Contract:
    """A solver under test on one problem."""

    title: str
    solver: Solver
    problem: Problem
    iterations: int
    seed: int

    def fail(self, rule: str) -> AssertionError:
        """The error that says which rule is broken."""
        return AssertionError(f"{self.title}: {rule}")

    def check_point(self, x: Any, value: Any, source: str) -> None:
        """A feasible point and its value, as the solver tells them."""
        shape = self.problem.shape
        if not isinstance(x, np.ndarray) or x.shape != shape or not (np.abs(x) == 1.0).all():
            raise self.fail(f"{source} must be given an array of -1.0 and 1.0 of shape {shape}, it was given {x!r}.")
        broken = self.problem.constraint.violation(x)
        if broken is not None:
            raise self.fail(f"{source} must be given feasible points only; of one `violation` says: {broken}.")
        true = self.problem.objective.value(x)
        if not math.isclose(value, true, rel_tol=1e-6, abs_tol=1e-6):
            raise self.fail(f"{source} was given the value {value}, but the objective is {true} at that point.")

    def run(self, limits: Limits, callback: Callback | None = None) -> tuple[Status, _WatchedRun]:
        """One run from the start that the seed gives; what holds of every run is checked here."""
        rng = np.random.default_rng(self.seed)
        x = self.problem.constraint.random(self.problem.shape, rng)
        started = self.problem.objective.value(x)
        run = _WatchedRun(self, limits, callback)
        before = _attributes_in_words(self.solver), _global_generators()
        try:
            status: Any = self.solver.solve(self.problem.counting(run.count_evaluation), x, rng, run)
        except OutOfTime:  # as in the engine: time was up within an iteration
            status = run.stopped or Status.TIME_LIMIT
        if _attributes_in_words(self.solver) != before[0]:
            raise self.fail("a run has changed an attribute of the solver; what belongs to a run is a local variable.")
        if _global_generators() != before[1]:
            raise self.fail("randomness must come from `rng` only, but a global generator was used.")
        if not isinstance(status, Status):
            raise self.fail(f"`solve` must return a flipwise.Status, it returned {status!r}.")
        if run.told is not None and status is not run.told:
            raise self.fail(
                f"`run.step` said {run.told.name}, and `solve` must return that; it returned {status.name}."
            )
        if run.uncounted:
            raise self.fail(
                f"it has evaluated `run.problem` {run.uncounted} times, which nobody counts; use the `problem` that is "
                "given to `solve`."
            )
        if run.best_x is None:
            raise self.fail(f"it ended ({status.name}) without a point; give one to `run.step` or `run.offer`.")
        if run.best_value > started + 1e-9 * max(1.0, abs(started)):
            raise self.fail(
                f"the best point it told of has the value {run.best_value}, the start had {started}. Begin with "
                "`run.offer(x, value)`, so that a good start is not lost."
            )
        return status, run

    def check_plain_run(self) -> None:
        """A run without surprises: what it claims is true, and it can be repeated."""
        status, run = self.run(Limits(max_iterations=self.iterations))
        self.check_claims(status, run)
        again = self.run(Limits(max_iterations=self.iterations))[1]
        if not np.array_equal(again.best_x, run.best_x) or again.iterations != run.iterations:  # type: ignore[arg-type]
            raise self.fail("one seed must give one answer, but two runs with the same generator differ.")

    def check_limits(self) -> None:
        """Each limit in turn; that its status ends the run is checked in every run."""
        reached = self.run(Limits(max_iterations=self.iterations))[1].best_value
        self.run(Limits(max_iterations=1))
        self.run(Limits(max_iterations=3, patience=1))
        self.run(Limits(max_iterations=self.iterations, time_limit=0.0))
        self.run(Limits(max_iterations=self.iterations, target=reached))
        self.run(Limits(max_iterations=self.iterations), lambda progress: True)

    def check_interrupt(self) -> None:
        """Ctrl-C in the first iteration goes through."""
        rng = np.random.default_rng(self.seed)
        run = _WatchedRun(self, Limits(max_iterations=self.iterations), interrupted=True)
        x = self.problem.constraint.random(self.problem.shape, rng)
        try:
            self.solver.solve(self.problem, x, rng, run)
        except KeyboardInterrupt:
            return
        if run.iterations:
            raise self.fail("Ctrl-C must go through `solve`, but it caught the KeyboardInterrupt.")

    def check_resuming(self) -> None:
        """In use: stopped after two iterations and resumed from a checkpoint, the answer is the same."""

        def answer(checkpoint: Path | None = None, callback: Callback | None = None) -> Any:
            return minimize(
                self.problem.objective, constraint=self.problem.constraint, method=self.solver, seed=self.seed,
                max_iterations=self.iterations, checkpoint=checkpoint, callback=callback,
            )  # fmt: skip

        whole = answer()
        with TemporaryDirectory() as folder:
            path = Path(folder, "checkpoint")
            answer(path, lambda progress: progress.iteration == 2)
            resumed = answer(path)
        if not np.array_equal(resumed.x, whole.x) or resumed.iterations != whole.iterations:
            raise self.fail(
                f"stopped and resumed it reached {resumed.value} in {resumed.iterations} iterations, in one go "
                f"{whole.value} in {whole.iterations}. The `state` given to `run.step` must hold everything that the "
                "rest of the run depends on, also the generator."
            )

    def check_claims(self, status: Status, run: _WatchedRun) -> None:
        """What the status and the bound say, against all neighbours and all points."""
        assert run.best_x is not None
        value, slack = run.best_value, 1e-6 * max(1.0, abs(run.best_value))
        if status is Status.LOCAL_OPTIMUM:
            lowest = min((self.problem.objective.value(x) for x in self.neighbours(run.best_x)), default=math.inf)
            if lowest < value - slack:
                raise self.fail(f"it claims LOCAL_OPTIMUM at {value}, but a single move leads to {lowest}.")
        if self.minimum is None:
            return
        if status is Status.OPTIMAL and value > self.minimum + slack:
            raise self.fail(f"it claims OPTIMAL at {value}, but the minimum is {self.minimum}.")
        if run.bound is not None and run.bound > self.minimum + slack:
            raise self.fail(f"it claims that nothing is below {run.bound}, but the minimum is {self.minimum}.")

    @cached_property
    def minimum(self) -> float | None:
        """The true minimum, where all points can be listed."""
        if self.problem.n > LISTED:
            return None
        points = (np.array(p).reshape(self.problem.shape) for p in product((-1.0, 1.0), repeat=self.problem.n))
        values = (self.problem.objective.value(x) for x in points if self.problem.constraint.contains(x))
        return min(values, default=None)

    def neighbours(self, x: Floats) -> Iterator[Floats]:
        """The feasible points that one flip, or one swap within a group, leads to."""
        constraint, flat = self.problem.constraint, x.reshape(-1)
        moves: list[list[int]] = [[i] for i in range(flat.size)]
        if constraint.swaps:
            labels = constraint.labels(x.shape)
            ones, zeros = np.flatnonzero(flat > 0).tolist(), np.flatnonzero(flat < 0).tolist()
            moves = [[i, j] for i in ones for j in zeros if labels[i] == labels[j]]
        for move in moves:
            moved = flat.copy()
            moved[move] *= -1.0
            if constraint.contains(moved.reshape(x.shape)):
                yield moved.reshape(x.shape)


def _attributes_in_words(solver: Solver) -> str:
    """Everything that is stored on a solver, written out."""
    with np.printoptions(threshold=2**31, precision=17):
        return repr(sorted(getattr(solver, "__dict__", {}).items()))


def _global_generators() -> tuple[str, str]:
    """The states of the generators that all of a program shares."""
    with np.printoptions(threshold=2**31):
        return repr(np.random.get_state()), repr(random.getstate())  # noqa: NPY002
