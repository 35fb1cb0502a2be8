"""A problem is an objective and a constraint that fit each other."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from flipwise.foundation.checks import Variables
from flipwise.foundation.errors import InvalidInput
from flipwise.model.constraints import Constraint, Free
from flipwise.model.objective import Objective
from flipwise.model.quadratic import Quadratic
from flipwise.model.smooth import Smooth, checked_shape
from flipwise.model.terms import LowRank


@dataclass(frozen=True)
class Problem:
    """min f(x) over the binary arrays of a constraint."""

    objective: Objective
    constraint: Constraint

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of x."""
        return self.objective.shape

    @property
    def n(self) -> int:
        """The number of binary variables."""
        return int(np.prod(self.shape))

    @property
    def variables(self) -> Variables:
        """The user's variables; an objective that does not say is in spins."""
        return getattr(self.objective, "variables", "spin")


def as_problem(objective: Any, shape: Any, constraint: Constraint | None) -> Problem:
    """Check what the user gave and put it together."""
    built = _as_objective(objective, shape)
    if int(np.prod(built.shape)) == 0:
        raise InvalidInput("the problem is empty: there are no variables.")
    if shape is not None and checked_shape("n_or_shape", shape) != tuple(built.shape):
        raise InvalidInput(f"`n_or_shape` is {shape}, but the objective has shape {built.shape}.")
    chosen: Constraint = Free() if constraint is None else constraint
    if not isinstance(chosen, Constraint):
        raise InvalidInput(
            f"`constraint` must be Free(), Cardinality(r), ColumnCounts(...) or GroupCounts(...), got {constraint!r}."
        )
    chosen.check(built.shape)
    return Problem(built, chosen)


def _as_objective(objective: Any, shape: Any) -> Objective:
    if isinstance(objective, Objective):
        return objective
    if sp.issparse(objective) or isinstance(objective, np.ndarray | LowRank):
        return Quadratic(objective)
    if callable(objective):
        if shape is None:
            raise InvalidInput("`n_or_shape` is needed with a callable: pass the number of variables.")
        return Smooth(objective, shape)
    raise InvalidInput(
        "`objective` must be an objective such as flipwise.Quadratic, a square matrix, or a callable returning "
        f"(value, gradient), got {type(objective).__name__}."
    )
