"""`solve_qubo` and `solve_ising`: a model in, a `Result` with a bound out."""

from __future__ import annotations

import os
import warnings
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from flipwise.bounds.choice import Bound, proof_of
from flipwise.bounds.persistency import Persistency, persistent_variables, reduced
from flipwise.engine.limits import Limits, Status
from flipwise.engine.result import Result
from flipwise.engine.run import Callback
from flipwise.engine.solve import Proof, solve
from flipwise.engine.solver import Solver
from flipwise.foundation.arrays import Floats, Ints
from flipwise.foundation.checks import Variables, as_floats, from_spins, seed_of
from flipwise.foundation.errors import FlipwiseWarning, InvalidInput
from flipwise.minimization import METHODS
from flipwise.model.constraints import Constraint, Free
from flipwise.model.problem import Problem, as_problem
from flipwise.model.quadratic import Quadratic
from flipwise.qubo.models import QuadraticModel
from flipwise.solvers.portfolio.algorithm import with_effort
from flipwise.solvers.registry import as_solver


def solve_qubo(
    Q: Any,
    offset: float = 0.0,
    *,
    count: int | None = None,
    constraint: Constraint | None = None,
    method: str | Solver = "portfolio",
    bound: Bound = "auto",
    effort: float = 1.0,
    start: npt.ArrayLike | None = None,
    restarts: int = 1,
    seed: int | np.random.Generator | None = None,
    time_limit: float | None = None,
    max_iterations: int | None = None,
    target: float | None = None,
    patience: int | None = None,
    callback: Callback | None = None,
    threads: int | None = None,
    verbose: bool = False,
    trace_file: str | Path | None = None,
    checkpoint: str | Path | None = None,
    every: float = 60.0,
    **options: Any,
) -> Result:
    """Minimise x'Qx + offset over x in {0, 1}^n.

    Parameters
    ----------
    Q
        A square matrix, dense or scipy.sparse, in any triangle (entries (i, j) and (j, i) are added up, the diagonal
        is the linear part); a dict {(u, v): coefficient}; a `QuadraticModel`; or the path of a model file.
    offset
        A constant added to every value.
    count
        Exactly so many variables are 1, without any penalty; short for `constraint=flipwise.Cardinality(count)`.
    bound
        "auto" (the semidefinite bound where it is cheap for the time limit, else a simple one), "sdp", "spectral",
        "simple" or "none".
    effort
        How long the portfolio searches without any other limit; 1 is 30 rounds.
    method, start, restarts, seed, time_limit, max_iterations, target, patience, callback, threads, verbose
        As in `flipwise.minimize`.
    trace_file, checkpoint, every, **options
        As in `flipwise.minimize`; the portfolio saves between rounds.

    Examples
    --------
    >>> import numpy as np, flipwise
    >>> result = flipwise.solve_qubo(np.array([[-1.0, 2.0], [0.0, -1.0]]), seed=0)
    >>> result.value, int(result.x.sum())
    (-1.0, 1)
    """
    objective, labels = _qubo_objective(Q, offset)
    limits = Limits(time_limit, max_iterations, target, patience)
    run = {
        "start": start, "restarts": restarts, "seed": seed, "callback": callback, "threads": threads, "verbose": verbose,
        "trace_file": trace_file, "checkpoint": checkpoint, "every": every,
    }  # fmt: skip
    problem = as_problem(objective, None, constraint, count)
    return _solved(problem, labels, method, with_effort(method, effort, options), bound, limits, run)


def solve_ising(
    h: Any,
    J: Any = None,
    offset: float = 0.0,
    *,
    count: int | None = None,
    constraint: Constraint | None = None,
    method: str | Solver = "portfolio",
    bound: Bound = "auto",
    effort: float = 1.0,
    start: npt.ArrayLike | None = None,
    restarts: int = 1,
    seed: int | np.random.Generator | None = None,
    time_limit: float | None = None,
    max_iterations: int | None = None,
    target: float | None = None,
    patience: int | None = None,
    callback: Callback | None = None,
    threads: int | None = None,
    verbose: bool = False,
    trace_file: str | Path | None = None,
    checkpoint: str | Path | None = None,
    every: float = 60.0,
    **options: Any,
) -> Result:
    """Minimise h's + s'Js + offset over s in {-1, +1}^n; for an upper triangular J that is sum_{i<j} J_ij s_i s_j.

    Parameters
    ----------
    h, J
        Arrays (J dense or scipy.sparse, in any triangle: entries (i, j) and (j, i) are added up) or dicts; or a model
        or the path of a model file as the only argument.
    offset, count, constraint, method, bound, effort, start, restarts, seed, time_limit, max_iterations, target
        As in `solve_qubo`; `count` is the number of spins at +1.
    patience, callback, threads, verbose, trace_file, checkpoint, every, **options
        As in `solve_qubo`.

    Examples
    --------
    >>> import flipwise
    >>> flipwise.solve_ising({}, {("a", "b"): 1.0, ("b", "c"): 1.0}, seed=0).value
    -2.0
    """
    objective, labels = _ising_objective(h, J, offset)
    limits = Limits(time_limit, max_iterations, target, patience)
    run = {
        "start": start, "restarts": restarts, "seed": seed, "callback": callback, "threads": threads, "verbose": verbose,
        "trace_file": trace_file, "checkpoint": checkpoint, "every": every,
    }  # fmt: skip
    problem = as_problem(objective, None, constraint, count)
    return _solved(problem, labels, method, with_effort(method, effort, options), bound, limits, run)


def _solved(
    problem: Problem,
    labels: tuple[Any, ...] | None,
    method: str | Solver,
    options: dict[str, Any],
    bound: Bound,
    limits: Limits,
    run: dict[str, Any],
) -> Result:
    """Fix what can be fixed, then let the engine search the rest and prove a bound; `run` has its other arguments."""
    info = {} if labels is None else {"labels": list(labels)}
    fixed = None
    if isinstance(problem.constraint, Free) and run["callback"] is None:
        fixed = _Fixed.of(problem)
        if fixed is not None:
            if fixed.free.size == 0:
                return fixed.result(seed_of(run["seed"]), info)
            problem = fixed.remaining
            run["start"] = None if run["start"] is None else np.asarray(run["start"]).reshape(-1)[fixed.free]
            if run["start"] is not None:
                run["start"] = np.where(run["start"] > 0, 1, -1)
    solver = as_solver(method, problem, options, METHODS)
    proof = proof_of(problem, bound, limits.time_limit)

    def described(result: Result) -> Result:
        result.info.update(info)
        return result if fixed is None else fixed.put_back(result)

    if fixed is not None and proof is not None:
        proof = fixed.with_own_bound(proof)
    return solve(problem, solver, describe=described, limits=limits, bound=proof, **run)


@dataclass(frozen=True, eq=False)
class _Fixed:
    """A problem some of whose variables are proven to have one value in a minimum, and what remains of it."""

    problem: Problem
    persistency: Persistency
    remaining: Problem
    free: Ints

    @classmethod
    def of(cls, problem: Problem) -> _Fixed | None:
        """The problem without what can be fixed; None when nothing can."""
        objective = problem.objective
        assert isinstance(objective, Quadratic)
        found = persistent_variables(objective)
        if found is None or found.fixed.size == 0:
            return None
        if found.fixed.size == objective.n:
            return cls(problem, found, problem, np.zeros(0, dtype=np.int64))
        remaining, free = reduced(objective, found.spins)
        return cls(problem, found, Problem(remaining, Free()), free)

    def with_own_bound(self, proof: Proof) -> Proof:
        """The proof, whose bound is never below the one that came with the fixing."""
        own, prove = self.persistency.bound, proof.prove

        def better() -> float | None:
            bounds = [bound for bound in (prove(), own) if bound is not None]
            return max(bounds, default=None)

        return replace(proof, prove=better)

    def put_back(self, result: Result) -> Result:
        """The result of what remains as one of the whole."""
        spins = self.persistency.spins.astype(np.float64)
        spins[self.free] = result.x
        whole = self._valued(result, spins)
        if whole.bound is not None and whole.value <= whole.bound:
            whole.bound, whole.status = whole.value, Status.OPTIMAL
        return whole

    def result(self, seed: int | None, info: dict[str, Any]) -> Result:
        """Every variable is proven: there is nothing to search."""
        spins = self.persistency.spins.astype(np.float64)
        value = self.problem.objective.value(spins)
        empty = Result(
            np.zeros(0, dtype=np.int8), value, Status.OPTIMAL, "persistency", bound=value, seed=seed, info=info
        )
        return self._valued(empty, spins)

    def _valued(self, result: Result, spins: Floats) -> Result:
        result.x = from_spins(spins, self.problem.variables)
        result.variables = self.problem.variables
        result.value = self.problem.objective.value(spins)
        result.info["fixed"] = int(self.persistency.fixed.size)
        return result


def _qubo_objective(Q: Any, offset: float) -> tuple[Quadratic, tuple[Any, ...] | None]:
    if isinstance(Q, dict):
        Q, offset = QuadraticModel.from_qubo(Q, offset), 0.0
    model = _as_model(Q, offset)
    if model is None:
        return _square("Q", Q, None, offset, "binary"), None
    if model.variables != "binary":
        raise InvalidInput("`Q` is a model in -1/+1: use flipwise.solve_ising, or `model.to_binary()`.")
    return model.objective(), model.labels


def _ising_objective(h: Any, J: Any, offset: float) -> tuple[Quadratic, tuple[Any, ...] | None]:
    if isinstance(J, dict):
        h, J, offset = QuadraticModel.from_ising(h, J, offset), None, 0.0
    if J is not None:
        return _square("J", J, h, offset, "spin"), None
    model = _as_model(h, offset)
    if model is None:
        raise InvalidInput("`J` is missing: pass h and J, a QuadraticModel, or the path of a model file.")
    if model.variables != "spin":
        raise InvalidInput("`h` is a model in 0/1: use flipwise.solve_qubo, or `model.to_spin()`.")
    return model.objective(), model.labels


def _as_model(given: Any, offset: float) -> QuadraticModel | None:
    """A model, or that in the file of this path, with the offset added; None for anything else."""
    if isinstance(given, str | os.PathLike):
        from flipwise.qubo.formats import read_model

        given = read_model(given)
    if not isinstance(given, QuadraticModel):
        return None
    return given if offset == 0.0 else replace(given, offset=given.offset + float(offset))


def _square(name: str, matrix: Any, c: npt.ArrayLike | None, offset: float, variables: Variables) -> Quadratic:
    """x'Mx + c'x + offset for M in any triangle; a symmetric scipy.sparse M goes in as it is."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FlipwiseWarning)  # a triangle is a usual way to write a QUBO, not a mistake
        return Quadratic(matrix if sp.issparse(matrix) else as_floats(name, matrix), c, offset, variables=variables)
