"""`solve_qubo` and `solve_ising`: a model in, a `Result` with a bound out."""

from __future__ import annotations

import os
import time
import warnings
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from flipwise.bounds.choice import Bound, affordable_bound, proven_bound
from flipwise.bounds.persistency import Persistency, persistent_variables, reduced
from flipwise.engine.checkpoint import outliving_search
from flipwise.engine.log import log_proof
from flipwise.engine.result import Result, Status
from flipwise.engine.run import Callback
from flipwise.foundation.arrays import Ints
from flipwise.foundation.checks import as_floats, seed_of
from flipwise.foundation.errors import FlipwiseWarning, InvalidInput
from flipwise.minimization import minimize
from flipwise.model.constraints import Cardinality, Constraint
from flipwise.model.objective import Variables, from_spins
from flipwise.model.quadratic import Quadratic
from flipwise.qubo.models import QuadraticModel

SEARCH_SHARE = 0.8
"""Share of the time limit that the search gets when a bound is wanted too."""


def solve_qubo(
    Q: Any,
    offset: float = 0.0,
    *,
    count: int | None = None,
    constraint: Constraint | None = None,
    bound: Bound = "auto",
    method: str = "portfolio",
    x0: npt.ArrayLike | None = None,
    seed: int | np.random.Generator | None = None,
    time_limit: float | None = None,
    callback: Callback | None = None,
    threads: int | None = None,
    verbose: bool = False,
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
    method, x0, seed, time_limit, callback, threads, verbose, **options
        As in `flipwise.minimize`, `checkpoint` and `every` among them (the portfolio saves between rounds). Without any
        limit the portfolio makes 30 rounds.

    Examples
    --------
    >>> import numpy as np, flipwise
    >>> result = flipwise.solve_qubo(np.array([[-1.0, 2.0], [0.0, -1.0]]), seed=0)
    >>> result.value, int(result.x.sum())
    (-1.0, 1)
    """
    objective, labels = _qubo_objective(Q, offset)
    search = {"method": method, "seed": seed, "callback": callback, "threads": threads, "verbose": verbose, **options}
    with outliving_search(search) as kept:
        return _solve(objective, labels, count, constraint, bound, x0, time_limit, kept)


def solve_ising(
    h: Any,
    J: Any = None,
    offset: float = 0.0,
    *,
    count: int | None = None,
    constraint: Constraint | None = None,
    bound: Bound = "auto",
    method: str = "portfolio",
    x0: npt.ArrayLike | None = None,
    seed: int | np.random.Generator | None = None,
    time_limit: float | None = None,
    callback: Callback | None = None,
    threads: int | None = None,
    verbose: bool = False,
    **options: Any,
) -> Result:
    """Minimise h's + s'Js + offset over s in {-1, +1}^n; for an upper triangular J that is sum_{i<j} J_ij s_i s_j.

    Parameters
    ----------
    h, J
        Arrays (J dense or scipy.sparse, in any triangle: entries (i, j) and (j, i) are added up) or dicts; or a model
        or the path of a model file as the only argument.
    offset, count, constraint, bound, method, x0, seed, time_limit, callback, threads, verbose, **options
        As in `solve_qubo`; `count` is the number of spins at +1.

    Examples
    --------
    >>> import flipwise
    >>> flipwise.solve_ising({}, {("a", "b"): 1.0, ("b", "c"): 1.0}, seed=0).value
    -2.0
    """
    objective, labels = _ising_objective(h, J, offset)
    search = {"method": method, "seed": seed, "callback": callback, "threads": threads, "verbose": verbose, **options}
    with outliving_search(search) as kept:
        return _solve(objective, labels, count, constraint, bound, x0, time_limit, kept)


def _solve(
    objective: Quadratic,
    labels: tuple[Any, ...] | None,
    count: int | None,
    constraint: Constraint | None,
    bound: Bound,
    x0: npt.ArrayLike | None,
    time_limit: float | None,
    search: dict[str, Any],
) -> Result:
    """Fix what can be fixed, search the rest (`search` has further options of `minimize`), prove a bound."""
    if count is not None:
        if constraint is not None:
            raise InvalidInput("`count` and `constraint` exclude each other: give one of them.")
        constraint = Cardinality(count)
    kind = affordable_bound(objective, bound, time_limit)
    search_time = time_limit if time_limit is None or kind in ("simple", "none") else SEARCH_SHARE * time_limit
    fixing = persistent_variables(objective) if constraint is None and search["callback"] is None else None
    remaining = objective
    free: Ints = np.arange(objective.n)
    if fixing is not None and fixing.fixed.size > 0:
        if fixing.fixed.size == objective.n:
            return _all_fixed(objective, fixing, labels, search["seed"])
        remaining, free = reduced(objective, fixing.spins)
        x0 = None if x0 is None else np.where(np.asarray(x0).reshape(-1)[free] > 0, 1, -1)
    result = minimize(remaining, constraint=constraint, x0=x0, time_limit=search_time, **search)
    if fixing is not None and fixing.fixed.size > 0:
        _put_back(result, objective, fixing, free)
    searched = time.perf_counter()
    proven = proven_bound(remaining, constraint, kind, time_limit)
    if fixing is not None and fixing.bound is not None and kind != "none":
        proven = fixing.bound if proven is None else max(proven, fixing.bound)
    if proven is not None:
        result.bound = proven if result.bound is None else max(result.bound, proven)
        log_proof(result.value, result.bound, time.perf_counter() - searched, search["verbose"])
        if result.value <= result.bound:
            result.status = Status.OPTIMAL
    if labels is not None:
        result.info["labels"] = list(labels)
    return result


def _put_back(result: Result, objective: Quadratic, fixing: Persistency, free: Ints) -> None:
    """Turn the result of the reduced problem into one of the whole."""
    spins = fixing.spins.astype(np.float64)
    spins[free] = result.x
    result.x = from_spins(spins, objective.variables)
    result.variables = objective.variables
    result.value = objective.value(spins)
    result.info["fixed"] = int(fixing.fixed.size)


def _all_fixed(
    objective: Quadratic, fixing: Persistency, labels: tuple[Any, ...] | None, seed: int | np.random.Generator | None
) -> Result:
    """Every variable is proven: there is nothing to search."""
    spins = fixing.spins.astype(np.float64)
    value = objective.value(spins)
    x = from_spins(spins, objective.variables)
    info: dict[str, Any] = {"fixed": objective.n} | ({} if labels is None else {"labels": list(labels)})
    return Result(
        x, value, Status.OPTIMAL, "persistency", objective.variables, bound=value, seed=seed_of(seed), info=info
    )


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
