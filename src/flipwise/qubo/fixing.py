"""Variables that are proven before the search: they are fixed, the rest is searched, and all are put back."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from flipwise.bounds.persistency import Persistency, persistent_variables, reduced
from flipwise.engine.limits import Status
from flipwise.engine.result import Result
from flipwise.engine.solve import Proof
from flipwise.foundation.arrays import Floats, Ints
from flipwise.foundation.checks import from_spins
from flipwise.model.constraints import Free
from flipwise.model.problem import Problem
from flipwise.model.quadratic import Quadratic


def labelled(result: Result, *, info: dict[str, Any]) -> Result:
    """The result with the labels of its variables in `info`."""
    result.info.update(info)
    return result


@dataclass(frozen=True, eq=False)
class FixedVariables:
    """A problem some of whose variables are proven to have one value in a minimum, and what remains of it."""

    problem: Problem
    persistency: Persistency
    remaining: Problem
    free: Ints
    info: dict[str, Any]

    @classmethod
    def of(cls, problem: Problem, info: dict[str, Any]) -> FixedVariables | None:
        """The problem without what can be fixed; None when nothing can. `info` is for the results."""
        objective = problem.objective
        assert isinstance(objective, Quadratic)
        found = persistent_variables(objective)
        if found is None or found.fixed.size == 0:
            return None
        if found.fixed.size == objective.n:
            return cls(problem, found, problem, np.zeros(0, dtype=np.int64), info)
        remaining, free = reduced(objective, found.spins)
        return cls(problem, found, Problem(remaining, Free()), free, info)

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
        return None if start is None else np.where(np.asarray(start).reshape(-1)[self.free] > 0, 1, -1)

    def put_back(self, result: Result) -> Result:
        """The result of what remains as one of the whole."""
        spins = self.persistency.spins.astype(np.float64)
        spins[self.free] = result.x
        whole = self._valued(result, spins)
        if whole.bound is not None and whole.value <= whole.bound:
            whole.bound, whole.status = whole.value, Status.OPTIMAL
        return whole

    def result(self, seed: int | None) -> Result:
        """Every variable is proven: there is nothing to search."""
        spins = self.persistency.spins.astype(np.float64)
        value = self.problem.objective.value(spins)
        empty = Result(np.zeros(0, dtype=np.int8), value, Status.OPTIMAL, "persistency", bound=value, seed=seed)
        return self._valued(empty, spins)

    def _valued(self, result: Result, spins: Floats) -> Result:
        result.x = from_spins(spins, self.problem.variables)
        result.variables = self.problem.variables
        result.value = self.problem.objective.value(spins)
        result.info.update(self.info, fixed=int(self.persistency.fixed.size))
        return result
