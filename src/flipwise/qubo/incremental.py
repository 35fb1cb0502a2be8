"""A quadratic whose numbers change, solved again and again, each time from what the last time has found."""

from __future__ import annotations

import math
import os
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from flipwise.bounds.choice import Bound, proof_of
from flipwise.engine.limits import Limits
from flipwise.engine.pool import Wanted, wanted_answers
from flipwise.engine.result import Result
from flipwise.engine.run import Callback
from flipwise.engine.solve import Proof, solve
from flipwise.foundation.arrays import Floats, Ints, Signs
from flipwise.foundation.checks import is_whole
from flipwise.foundation.errors import InvalidInput
from flipwise.foundation.interrupts import guarded_interrupts
from flipwise.foundation.numbers import as_floats
from flipwise.model.counts import Count
from flipwise.model.problem import Problem, as_problem
from flipwise.model.quadratic import Quadratic
from flipwise.model.reduction import Fixed, by_index
from flipwise.qubo.models import QuadraticModel
from flipwise.solvers.portfolio.warm import WarmPortfolio

AGAIN = 0.1
"""What a further solve may take, of the first one's effort or time, where nothing is said."""
KEPT, SPINS_KEPT = 8, 100_000
"""Points that the next solve begins with, at most, and of large problems as many as have so many spins together."""
APART = 0.01
"""Share of the variables in which they differ at least."""


class Incremental:
    """A QUBO or Ising model that changes: the next `solve` begins with the best points of the last one.

    Parameters
    ----------
    model
        A `QuadraticModel` (`QuadraticModel.from_ising(h, J)` for spins), the path of a model file, or a QUBO as
        `flipwise.solve_qubo` takes it: a matrix, dense or sparse, or a dictionary {(u, v): coefficient}.
    count
        Exactly so many variables are 1, or a range, as in `flipwise.solve_qubo`.
    fixed
        Variables with one value in every point, by label where there are labels, else by index: {3: 1, 7: 0}.

    Attributes
    ----------
    model
        The model as it is now.
    bound
        What no point can be below, proven for the model as it is now: of what was proven before, what changes since
        leave of it. None while nothing is known.

    Examples
    --------
    >>> import numpy as np, flipwise
    >>> live = flipwise.Incremental(np.array([[-1.0, 2.0], [0.0, -2.0]]))
    >>> live.solve(seed=0).value
    -2.0
    >>> live.update(0, 1, -3.0)  # the coefficient of x_0 x_1
    >>> live.solve(seed=0).value
    -6.0
    """

    def __init__(self, model: Any, *, count: Count = None, fixed: Fixed | None = None) -> None:
        if isinstance(model, str | os.PathLike):
            from flipwise.qubo.formats import read_model

            model = read_model(model)
        self.model = model if isinstance(model, QuadraticModel) else QuadraticModel.from_qubo(model)
        if self.model.n == 0:
            raise InvalidInput("`model` is empty: there are no variables.")
        self.model = replace(self.model, linear=self.model.linear.copy(), b=self.model.b.copy())
        self.bound: float | None = None
        self.count: Count = None
        self.fixed: dict[Any, Any] = {}
        self._places = None if self.model.labels is None else {label: k for k, label in enumerate(self.model.labels)}
        self._keys = self.model.i * self.model.n + self.model.j
        self._points: list[Signs] = []
        self._first: Limits | None = None
        self._effort = 1.0
        if not (np.diff(self._keys) > 0).all():  # a model of the user's own, whose couplings come in any order
            own = self.model
            self.model = QuadraticModel.from_terms(own.n, own.i, own.j, own.b, own.offset, own.variables, own.labels)
            self.model = replace(self.model, linear=own.linear)
            self._keys = self.model.i * self.model.n + self.model.j
        self._check_constraint(count, fixed or {})
        self.count, self.fixed = count, dict(fixed or {})

    # --- what changes ------------------------------------------------------------------------------------------------

    def update(self, u: Any, v: Any, coefficient: npt.ArrayLike) -> None:
        """Set the coefficient of x_u x_v, or of many products: `u`, `v` and `coefficient` are then of one length.

        The variables are given by their labels where the model has labels, else by their numbers. A product that the
        model does not have yet becomes one of it.
        """
        i, j = self._numbers_of_named("u", u), self._numbers_of_named("v", v)
        values = as_floats("coefficient", np.atleast_1d(coefficient)).reshape(-1)
        if not i.size == j.size == values.size:
            raise InvalidInput(
                f"`u`, `v` and `coefficient` must be of one length, got {i.size}, {j.size} and {values.size}."
            )
        if (i == j).any():
            raise InvalidInput("`u` and `v` must differ: use `update_linear` for the linear part.")
        keys = np.minimum(i, j) * self.model.n + np.maximum(i, j)
        last = keys.size - 1 - np.unique(keys[::-1], return_index=True)[1]  # of one product given twice
        keys, values = keys[last], values[last]
        place = np.searchsorted(self._keys, keys)
        known = place < self._keys.size
        known[known] = self._keys[place[known]] == keys[known]
        changes = values.copy()
        changes[known] -= self.model.b[place[known]]
        b = self.model.b
        b[place[known]] = values[known]
        if not known.all():
            self._keys = np.insert(self._keys, place[~known], keys[~known])
            n, b = self.model.n, np.insert(b, place[~known], values[~known])
            self.model = replace(self.model, i=self._keys // n, j=self._keys % n, b=b)
        self._lower_bound(changes)

    def update_linear(self, u: Any, coefficient: npt.ArrayLike) -> None:
        """Set the coefficient of x_u in the linear part, or of many variables."""
        i, values = self._numbers_of_named("u", u), as_floats("coefficient", np.atleast_1d(coefficient)).reshape(-1)
        if i.size != values.size:
            raise InvalidInput(f"`u` and `coefficient` must be of one length, got {i.size} and {values.size}.")
        before = self.model.linear[i]
        self.model.linear[i] = values
        self._lower_bound(self.model.linear[i] - before)

    def set_count(self, count: Count) -> None:
        """Exactly `count` variables are 1 from now on, or so many as a range says; None: any number."""
        self._check_constraint(count, self.fixed)
        if count != self.count and self.count is not None:
            self.bound = None  # with a count there are fewer points than before, but not with another one
        self.count = count

    def set_fixed(self, fixed: Fixed | None) -> None:
        """These variables have one value from now on, and no others; None: all are free again."""
        given = dict(fixed or {})
        self._check_constraint(self.count, given)
        if any(label not in given or given[label] != value for label, value in self.fixed.items()):
            self.bound = None  # with more fixed ones there are fewer points than before, but not without one of these
        self.fixed = given

    def _check_constraint(self, count: Count, fixed: Fixed) -> None:
        """Refuse what cannot be kept: the constraint, with a model of no terms."""
        nothing = Quadratic(sp.csr_array((self.model.n, self.model.n)), variables=self.model.variables)
        as_problem(nothing, None, None, count, by_index(fixed, self.model.labels))

    # --- solving -----------------------------------------------------------------------------------------------------

    def solve(
        self,
        *,
        effort: float | None = None,
        time_limit: float | None = None,
        target: float | None = None,
        max_iterations: int | None = None,
        patience: int | None = None,
        gap: float | None = None,
        max_evaluations: int | None = None,
        bound: Bound = "none",
        pool: int | None = None,
        distance: int = 1,
        seed: int | np.random.Generator | None = None,
        callback: Callback | None = None,
        threads: int | None = None,
        verbose: bool = False,
    ) -> Result:
        """Minimise the model as it is now.

        Parameters
        ----------
        effort, time_limit
            As in `flipwise.solve_qubo`. Without them a further solve gets a tenth of what the first one was given.
        bound
            What to prove; "none" by default. What was proven before and still holds comes with the result.
        target, max_iterations, patience, gap, max_evaluations, pool, distance, seed, callback, threads, verbose
            As in `flipwise.solve_qubo`; an iteration is a round.
        """
        if self._first is not None and effort is None and time_limit is None:
            first = self._first.time_limit
            effort, time_limit = AGAIN * self._effort, None if first is None else AGAIN * first
        effort = 1.0 if effort is None else effort
        limits = Limits(time_limit, max_iterations, target, patience, gap, max_evaluations)
        bound = limits.bound_to_prove(None if gap is not None and bound == "none" else bound)
        wanted = wanted_answers(pool, distance)
        fixed = by_index(self.fixed, self.model.labels)
        problem = as_problem(self.model.objective(), None, None, self.count, fixed)
        kept = int(np.clip(SPINS_KEPT // problem.n, 1, KEPT))
        own = Wanted(kept, max(1, int(APART * problem.n)), nearby=False)
        with guarded_interrupts():
            result = solve(
                problem,
                WarmPortfolio(effort, tuple(self._mended_points(problem))),
                limits=limits,
                seed=seed,
                callback=callback,
                threads=threads,
                verbose=verbose,
                bound=self._proof_wanted(problem, bound, limits),
                pool=wanted or own,
            )
            if self._first is None:
                self._first, self._effort = limits, effort
            assert result.pool is not None
            self._points = [np.where(x > 0, 1, -1).astype(np.int8) for x, _ in result.pool[:kept]]
            self.bound = result.bound
            if wanted is None:
                result.pool = None
            if self.model.labels is not None:
                result.info["labels"] = list(self.model.labels)
            return result

    def _mended_points(self, problem: Problem) -> list[Signs]:
        """The points of the last solve, mended where they break a new count."""
        starts = []
        for point in self._points:
            x = point.astype(np.float64)
            if problem.reduction is not None:  # ranges and fixed variables: what is left of the point is mended
                x = problem.reduction.completed_nearby(x)
            if problem.constraint.violation(x) is not None:
                slopes = np.asarray(problem.objective.gradient(x))
                x = problem.constraint.project(x - slopes / max(1e-300, float(np.abs(slopes).max(initial=0.0))))
            starts.append(x.astype(np.int8))
        return starts

    def _proof_wanted(self, problem: Problem, bound: Bound, limits: Limits) -> Proof | None:
        """The proof that is asked for, and what is known without it."""
        known, proof = self.bound, proof_of(problem, bound, limits.time_limit)
        if known is None:
            return proof
        if proof is None:
            return Proof(lambda: known)
        prove = proof.prove
        return replace(proof, prove=lambda: max((b for b in (known, prove()) if b is not None), default=None))

    def _lower_bound(self, changes: Floats) -> None:
        """Keep of the bound what changes of coefficients leave: each term changes by so much at most, at any point."""
        if self.bound is None:
            return
        loss = math.fsum(np.abs(changes) if self.model.variables == "spin" else np.maximum(0.0, -changes))
        size = math.fsum(np.abs(self.model.b)) + math.fsum(np.abs(self.model.linear)) + abs(self.bound)
        self.bound = math.nextafter(self.bound - loss * (1.0 + 1e-12) - 1e-13 * size, -math.inf)

    def _numbers_of_named(self, name: str, variables: Any) -> Ints:
        """The numbers of variables given by label, or as they are."""
        if self._places is not None:
            single = not isinstance(variables, list | np.ndarray)
            given = [variables] if single else list(variables)
            unknown = [label for label in given if label not in self._places]
            if unknown:
                raise InvalidInput(f"`{name}` must hold labels of the model; {unknown[0]!r} is none.")
            return np.array([self._places[label] for label in given], dtype=np.int64)
        numbers = np.atleast_1d(np.asarray(variables))
        whole = is_whole(variables) or (numbers.ndim == 1 and numbers.dtype.kind in "iu")
        if not whole or (numbers.size and (numbers.min() < 0 or numbers.max() >= self.model.n)):
            raise InvalidInput(
                f"`{name}` must be a variable or an array of variables from 0 to {self.model.n - 1}, got {variables!r}."
            )
        return numbers.astype(np.int64)

    def __repr__(self) -> str:
        counted = "" if self.count is None else f", {self.count} at 1"
        return f"Incremental({self.model!r}{counted}{f', {len(self.fixed)} fixed' if self.fixed else ''})"
