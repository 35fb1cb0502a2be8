"""What a problem is, in words: for the log, and for results that explain themselves."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from flipwise.model.constraints import Free
from flipwise.model.counts import Counts, range_in_words
from flipwise.model.polynomial import Polynomial
from flipwise.model.quadratic import Quadratic
from flipwise.model.rows import LinearConstraints

if TYPE_CHECKING:
    from flipwise.model.problem import Problem


def objective_in_words(problem: Problem) -> str:
    """What is minimised, as the user gave it."""
    given = problem.given
    objective: Any = given.objective
    size = " x ".join(f"{length:,}" for length in given.shape)
    variables = f"{size} {'0/1' if given.variables == 'binary' else '-1/+1'} variable{'s' if given.n != 1 else ''}"
    if isinstance(objective, Quadratic):
        return f"a quadratic of {variables}, {objective.entries:,.0f} entr{'y' if objective.entries == 1 else 'ies'}"
    if isinstance(objective, Polynomial):
        return f"a polynomial of {variables}, {objective.coefficients.size:,} terms of degree {objective.degree}"
    return f"a function of {variables}"


def constraint_in_words(problem: Problem) -> str:
    """The constraint as the user gave it, and how many variables are fixed; empty where there is neither."""
    given = problem.given
    words = []
    if isinstance(given.constraint, Counts):
        low, high = given.constraint.limits(given.shape)
        one = low.size == 1
        words.append(f"{range_in_words(int(low[0]), int(high[0]))} at 1" if one else f"{low.size:,} groups with counts")
    elif isinstance(given.constraint, LinearConstraints):
        rows = given.constraint.A.shape[0]
        words.append(f"{rows:,} linear row{'s' if rows != 1 else ''}")
    elif not isinstance(given.constraint, Free):
        words.append(f"constraint {type(given.constraint).__name__}")
    fixed = 0 if problem.reduction is None else int(np.count_nonzero(problem.reduction.selection.spins))
    held = getattr(given.constraint, "held", None)  # of partitions
    fixed += 0 if held is None else int(np.count_nonzero(held >= 0))
    return ", ".join([*words, f"{fixed:,} fixed"] if fixed else words)


def summary(problem: Problem) -> dict[str, str]:
    """What a result keeps of its problem: `result.info["problem"]`."""
    return {
        "objective": type(problem.given.objective).__name__,
        "words": objective_in_words(problem),
        "constraint": constraint_in_words(problem),
    }
