"""Variables that are proven before the search: they are fixed, the rest is searched, and all are put back."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from flipwise.bounds.persistency import Persistency, persistent_variables, without_fixed
from flipwise.engine.limits import Status
from flipwise.engine.result import Result
from flipwise.engine.solve import Proof
from flipwise.foundation.arrays import Floats, Ints
from flipwise.model.constraints import Free
from flipwise.model.problem import Problem, summary
from flipwise.model.quadratic import Quadratic


@dataclass(frozen=True, eq=False)
class FixedVariables:
    """A problem some of whose variables are proven to have one value in a minimum, and what remains of it."""

    problem: Problem
    persistency: Persistency
    remaining: Problem
    free: Ints

    @classmethod
    def of(cls, problem: Problem) -> FixedVariables | None:
        """The problem without what can be fixed; None when nothing can."""
        objective = problem.objective
        assert isinstance(objective, Quadratic)
        found = persistent_variables(objective)
        if found is None or found.fixed.size == 0:
            return None
        if found.fixed.size == objective.n:
            return cls(problem, found, problem, np.zeros(0, dtype=np.int64))
        if not objective.grain and objective.rounded_once:
            return None  # of so few variables none needs to be fixed at the price of rounded coefficients
        remaining, free = without_fixed(objective, found.spins)
        return cls(problem, found, Problem(remaining, Free()), free)

    def with_own_bound(self, proof: Proof | None) -> Proof | None:
        """The proof, whose bound is never below the one that came with the fixing."""
        if proof is None:
            return None
        own, prove = self.persistency.bound, proof.prove

        def better() -> float | None:
            bounds = [bound for bound in (prove(), own) if bound is not None]
            return max(bounds, default=None)

        return replace(proof, prove=better)

    def reduced_start(self, start: npt.ArrayLike | None) -> npt.NDArray[np.int64] | None:
        """A user's start of the whole problem as spins of what remains."""
        return None if start is None else self.problem.start(start).reshape(-1)[self.free].astype(np.int64)

    def put_back(self, result: Result) -> None:
        """Turn the result of what remains into one of the whole."""
        spins = self.persistency.spins.astype(np.float64)
        spins[self.free] = result.x
        result.certificate = None  # of what remains; that of the fixing is none yet
        self._value_at(spins, result)
        if result.bound is not None and result.value <= result.bound:
            result.bound, result.status = result.value, Status.OPTIMAL
        elif result.status is Status.OPTIMAL:  # the remaining problem was rounded
            result.status = Status.CONVERGED

    def result(self, seed: int | None) -> Result:
        """Every variable is proven: there is nothing to search."""
        spins = self.persistency.spins.astype(np.float64)
        value = self.problem.value(spins)
        empty = Result(np.zeros(0, dtype=np.int8), value, Status.OPTIMAL, "persistency", bound=value, seed=seed)
        self._value_at(spins, empty)
        return empty

    def _value_at(self, spins: Floats, result: Result) -> None:
        """Give a result the point `spins` of the whole problem and its value."""
        result.x = self.problem.to_user(spins)
        result.variables = self.problem.variables
        result.value = self.problem.value(spins)
        result.info["problem"] = summary(self.problem)
        result.info["fixed"] = int(self.persistency.fixed.size)
