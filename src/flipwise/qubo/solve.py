"""`solve_qubo` and `solve_ising`: a model in, a `Result` with a bound out."""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from flipwise.bounds.choice import Bound, proof_of
from flipwise.engine.limits import Limits
from flipwise.engine.pool import wanted_answers
from flipwise.engine.result import Result
from flipwise.engine.run import Callback
from flipwise.engine.solve import solve
from flipwise.engine.solver import Solver
from flipwise.foundation.checks import Variables, seed_of
from flipwise.foundation.errors import FlipwiseWarning, InvalidInput
from flipwise.foundation.interrupts import guarded_interrupts
from flipwise.foundation.numbers import as_number, as_square, labelled_matrix
from flipwise.minimization import solver_of
from flipwise.model.constraints import Constraint, Free
from flipwise.model.counts import Count
from flipwise.model.polynomial import Polynomial
from flipwise.model.problem import Problem, as_problem
from flipwise.model.quadratic import Quadratic
from flipwise.model.reduction import Fixed
from flipwise.model.rows import Rows
from flipwise.qubo.dictionaries import has_long_terms, labelled_polynomial, split_terms
from flipwise.qubo.fixing import FixedVariables
from flipwise.qubo.models import QuadraticModel, fields_of, is_dictionary


def solve_qubo(
    Q: Any,
    offset: float = 0.0,
    *,
    count: Count = None,
    constraint: Constraint | None = None,
    rows: Rows = None,
    fixed: Fixed | None = None,
    include: Iterable[Any] | None = None,
    exclude: Iterable[Any] | None = None,
    method: str | Solver = "portfolio",
    bound: Bound = "auto",
    pool: int | Literal["optima"] | None = None,
    distance: int = 1,
    effort: float = 1.0,
    start: npt.ArrayLike | None = None,
    restarts: int = 1,
    seed: int | np.random.Generator | None = None,
    time_limit: float | None = None,
    max_iterations: int | None = None,
    target: float | None = None,
    patience: int | None = None,
    gap: float | None = None,
    max_evaluations: int | None = None,
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
        A square matrix, dense, scipy.sparse or a table of pandas, in any triangle (entries (i, j) and (j, i) are added
        up, the diagonal is the linear part); a dict {(u, v): coefficient}, also with linear terms (u,) and products of
        more variables (u, v, w), which are not made quadratic; a `QuadraticModel` or `ConstrainedModel`; or the path of
        a model file, also of an LP, MPS or QPLIB file of bits.
    offset
        A constant added to every value.
    count
        Exactly so many variables are 1, without any penalty; short for `constraint=flipwise.Cardinality(count)`. A pair
        (5, 10) is a range, as is `flipwise.at_most(10)` or `at_least(5)`.
    rows
        Linear inequalities and equalities: `flipwise.LinearConstraints(A, lower, upper)`, that tuple, or a list of
        ({variable: coefficient}, "<=", number), by label where there are labels.
    fixed
        Variables with one value in every point, by label where there are labels, else by index: {3: 1, 7: 0}.
    include, exclude
        Lists of variables that are 1, and that are 0, in every point; short for `fixed`.
    bound
        "auto": small problems exactly, then what closes the gap in the time there is (odd cycles where the matrix is
        sparse, triangles in a semidefinite bound where it is dense, with branch and bound; without a time limit as long
        as the search took, or a second), else a relaxation. "best": until the gap is closed. "quick": no more than a
        relaxation beside what is solved at once. Or one relaxation by its name, "sdp", "spectral", "simple"; or "none".
    effort
        How long the portfolio searches without any other limit; 1 is at most 30 rounds.
    pool, distance
        Several answers in `result.pool`, or all optima, as in `flipwise.minimize`.
    method, start, restarts, seed, time_limit, max_iterations, target, patience, gap, max_evaluations, callback
        As in `flipwise.minimize`.
    threads, verbose, trace_file, checkpoint, every, **options
        As in `flipwise.minimize`; the portfolio saves between rounds.

    Examples
    --------
    >>> import numpy as np, flipwise
    >>> result = flipwise.solve_qubo(np.array([[-1.0, 2.0], [0.0, -1.0]]), seed=0)
    >>> result.value, int(result.x.sum())
    (-1.0, 1)
    """
    limits = Limits(time_limit, max_iterations, target, patience, gap, max_evaluations)
    Q, rows = _with_its_rows(Q, rows)
    objective, labels = qubo_objective(Q, offset)
    run = {
        "start": start, "restarts": restarts, "seed": seed, "callback": callback, "threads": threads,
        "verbose": verbose, "trace_file": trace_file, "checkpoint": checkpoint, "every": every,
        "pool": wanted_answers(pool, distance),
    }  # fmt: skip
    problem = as_problem(objective, None, constraint, count, fixed, rows, labels, include, exclude)
    return _name_certificate(
        _fix_and_solve(problem, labels, method, effort, options, bound, limits, run), "qubo", offset
    )


def solve_ising(
    h: Any,
    J: Any = None,
    offset: float = 0.0,
    *,
    count: Count = None,
    constraint: Constraint | None = None,
    rows: Rows = None,
    fixed: Fixed | None = None,
    include: Iterable[Any] | None = None,
    exclude: Iterable[Any] | None = None,
    method: str | Solver = "portfolio",
    bound: Bound = "auto",
    pool: int | Literal["optima"] | None = None,
    distance: int = 1,
    effort: float = 1.0,
    start: npt.ArrayLike | None = None,
    restarts: int = 1,
    seed: int | np.random.Generator | None = None,
    time_limit: float | None = None,
    max_iterations: int | None = None,
    target: float | None = None,
    patience: int | None = None,
    gap: float | None = None,
    max_evaluations: int | None = None,
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
        Arrays (J dense or scipy.sparse, in any triangle: entries (i, j) and (j, i) are added up) or dicts, {v: h} and
        {(u, v): J}, in which J may have products of any length; or a model or the path of a model file alone.
    offset, count, constraint, rows, fixed, include, exclude, method, bound, effort, start, restarts, seed, time_limit
        As in `solve_qubo`; `count` is the number of spins at +1, and `exclude` means -1.
    max_iterations, target, gap, patience, max_evaluations, pool, distance, callback, threads, verbose, trace_file
        As in `solve_qubo`.
    checkpoint, every
        As in `solve_qubo`.
    **options
        As in `solve_qubo`.

    Examples
    --------
    >>> import flipwise
    >>> flipwise.solve_ising({}, {("a", "b"): 1.0, ("b", "c"): 1.0}, seed=0).value
    -2.0
    """
    limits = Limits(time_limit, max_iterations, target, patience, gap, max_evaluations)
    objective, labels = ising_objective(h, J, offset)
    run = {
        "start": start, "restarts": restarts, "seed": seed, "callback": callback, "threads": threads,
        "verbose": verbose, "trace_file": trace_file, "checkpoint": checkpoint, "every": every,
        "pool": wanted_answers(pool, distance),
    }  # fmt: skip
    problem = as_problem(objective, None, constraint, count, fixed, rows, labels, include, exclude)
    return _name_certificate(
        _fix_and_solve(problem, labels, method, effort, options, bound, limits, run), "ising", offset
    )


def _name_certificate(result: Result, function: str, offset: float) -> Result:
    """Let the certificate say which function it is of."""
    known = result.certificate
    if known is not None:
        result.certificate = replace(known, function=function, problem={**known.problem, "offset": float(offset)})
    return result


def _fix_and_solve(
    problem: Problem,
    labels: tuple[Any, ...] | None,
    method: str | Solver,
    effort: float,
    options: dict[str, Any],
    bound: Bound,
    limits: Limits,
    run: dict[str, Any],
) -> Result:
    """Fix what can be fixed, then let the engine search the rest and prove a bound; `run` has its other arguments."""
    labels_info = {} if labels is None else {"labels": list(labels)}
    fixed = None
    if (
        isinstance(problem.objective, Quadratic)
        and isinstance(problem.constraint, Free)
        and not (run["callback"] or run["pool"])
    ):
        fixed = FixedVariables.of(problem)
    if fixed is not None and fixed.free.size == 0:
        result = fixed.result(seed_of(run["seed"]))
        result.info.update(labels_info)
        return result
    searched = problem if fixed is None else fixed.remaining
    proof = proof_of(searched, limits.bound_to_prove(bound), limits.time_limit)
    if fixed is not None:
        run["start"] = fixed.reduced_start(run["start"])
        proof = fixed.with_own_bound(proof)
    solver = solver_of(method, effort, searched, options, run["pool"])
    with guarded_interrupts():
        result = solve(searched, solver, limits=limits, bound=proof, **run)
        if fixed is not None:
            fixed.put_back(result)
        result.info.update(labels_info)
        return result


def _with_its_rows(given: Any, rows: Rows) -> tuple[Any, Rows]:
    """A constrained model, or the one in the file of this path, as its objective and its rows."""
    from flipwise.qubo.formats.programs import ConstrainedModel, is_program, read_constrained

    if isinstance(given, str | os.PathLike) and is_program(given):
        given = read_constrained(given)
    if not isinstance(given, ConstrainedModel):
        return given, rows
    if rows is not None and given.rows is not None:
        raise InvalidInput("`rows` and the rows of the model exclude each other: put them into one LinearConstraints.")
    return given.model, given.rows if rows is None else rows


def qubo_objective(Q: Any, offset: float) -> tuple[Quadratic | Polynomial, tuple[Any, ...] | None]:
    """x'Qx + offset in all its forms, and the labels of its variables."""
    if is_dictionary(Q):
        if has_long_terms(Q):
            return labelled_polynomial("Q", Q, offset, "binary")
        constant = split_terms("Q", Q)[2]
        Q, offset = {key: value for key, value in Q.items() if key != ()}, as_number("offset", offset) + constant
        Q, offset = QuadraticModel.from_qubo(Q, offset), 0.0
    model = _as_model(Q, offset)
    if model is None:
        Q, labels = labelled_matrix("Q", Q)
        return _quadratic_of("Q", Q, None, offset, "binary"), labels
    if model.variables != "binary":
        raise InvalidInput("`Q` is a model in -1/+1: use flipwise.solve_ising, or `model.to_binary()`.")
    return model.objective(), model.labels


def ising_objective(h: Any, J: Any, offset: float) -> tuple[Quadratic | Polynomial, tuple[Any, ...] | None]:
    """h's + s'Js + offset in all its forms, and the labels of its spins."""
    if is_dictionary(J):
        if has_long_terms(J):
            fields = fields_of(h)
            return labelled_polynomial("J", J, offset, "spin", fields)
        J, linear, constant = split_terms("J", J)
        if linear or constant:
            fields = {label: as_number(f"h[{label!r}]", value) for label, value in fields_of(h).items()}
            h = {label: fields.get(label, 0.0) + linear.get(label, 0.0) for label in {**fields, **linear}}
            offset = as_number("offset", offset) + constant
        h, J, offset = QuadraticModel.from_ising(h, J, offset), None, 0.0
    if J is not None:
        J, labels = labelled_matrix("J", J)
        if labels is not None and hasattr(h, "reindex") and set(h.index) == set(labels):
            h = h.reindex(list(labels))
        return _quadratic_of("J", J, h, offset, "spin"), labels
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
    added = as_number("offset", offset)
    return given if added == 0.0 else replace(given, offset=given.offset + added)


def _quadratic_of(name: str, matrix: Any, c: npt.ArrayLike | None, offset: float, variables: Variables) -> Quadratic:
    """x'Mx + c'x + offset for M in any triangle; a symmetric scipy.sparse M goes in as it is."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FlipwiseWarning)  # a triangle is a usual way to write a QUBO, not a mistake
        return Quadratic(as_square(name, matrix), c, as_number("offset", offset), variables=variables)
