"""A problem is an objective and a constraint that fit each other."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, replace
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from flipwise.foundation.arrays import Floats
from flipwise.foundation.checks import Variables, from_spins, is_whole, to_spins
from flipwise.foundation.errors import InvalidInput
from flipwise.foundation.tables import html_facts
from flipwise.model.constraints import ColumnCounts, Constraint, Free, GroupCounts
from flipwise.model.counts import Counts, as_cardinality, range_in_words
from flipwise.model.flips import EvaluatedFlips
from flipwise.model.objective import Objective, SupportsFlips
from flipwise.model.polynomial import Polynomial
from flipwise.model.quadratic import Quadratic
from flipwise.model.rows import LinearConstraints, Rows, with_rows
from flipwise.model.smooth import Smooth, checked_gradient, checked_shape, checked_value
from flipwise.model.terms import LowRank

if TYPE_CHECKING:
    from flipwise.model.reduction import Fixed, Reduction


@dataclass(frozen=True)
class Problem:
    """min f(x) over the binary arrays of a constraint: what a solver is given.

    Examples
    --------
    >>> import flipwise, numpy as np
    >>> problem = flipwise.Problem(flipwise.Quadratic(np.eye(4)), flipwise.Cardinality(2))
    >>> problem.n, problem.variables
    (4, 'spin')
    """

    objective: Objective
    constraint: Constraint
    reduction: Reduction | None = None
    """How this problem stands for the user's, where that has ranges of counts or fixed variables."""

    def _repr_html_(self) -> str:
        facts = [("objective", objective_in_words(self)), ("constraint", constraint_in_words(self) or "none")]
        return html_facts("Problem", facts)

    @property
    def given(self) -> Problem:
        """The problem as the user gave it."""
        return self if self.reduction is None else self.reduction.given

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
        return getattr(self.given.objective, "variables", "spin")

    @property
    def is_users_own(self) -> bool:
        """Whether the objective is code from outside the library, which may take any time for an evaluation."""
        return isinstance(self.objective, Smooth) or type(self.objective).__module__.partition(".")[0] != "flipwise"

    def with_flips(self) -> SupportsFlips:
        """The objective itself where it knows the effect of flips, otherwise a stand-in that evaluates them."""
        return self.objective if isinstance(self.objective, SupportsFlips) else EvaluatedFlips(self.objective)

    def on_safe_scale(self) -> tuple[Problem, float]:
        """The same problem in numbers whose squares exist, and the power of two by which its values are smaller."""
        if not isinstance(self.objective, Quadratic):
            return self, 1.0
        scaled, unit = self.objective.on_safe_scale()
        return (self if unit == 1.0 else replace(self, objective=scaled)), unit

    def counting(self, count: Callable[[], None]) -> Problem:
        """The same problem, with `count` called before every value and every gradient."""
        if isinstance(self.objective, Smooth):
            return replace(self, objective=self.objective.counting(count))
        value: Callable[[Floats], float] = self.objective.value
        gradient: Callable[[Floats], Floats] = self.objective.gradient
        if self.is_users_own:
            value, gradient = checked_value(value), checked_gradient(gradient, self.shape)
        counted = {"value": _counting_call(value, count), "gradient": _counting_call(gradient, count)}
        other: Any
        try:
            other = copy(self.objective)
            for name, function in counted.items():
                object.__setattr__(other, name, function)
        except (AttributeError, TypeError):  # an object that cannot be copied or has fixed slots
            names = [n for n in dir(self.objective) if not n.startswith("__") and n not in counted]
            other = SimpleNamespace(**{name: getattr(self.objective, name) for name in names}, **counted)
        return replace(self, objective=other)

    def to_user(self, x: Floats) -> npt.NDArray[Any]:
        """A point as the user gets it."""
        return from_spins(x if self.reduction is None else self.reduction.embedded(x), self.variables)

    def violation(self, x: Floats) -> str | None:
        """What is wrong with a point, by its own constraint or the user's; None when nothing is."""
        wrong = self.constraint.violation(x)
        if wrong is None and self.reduction is not None:
            wrong = self.given.constraint.violation(self.reduction.embedded(x))
        return wrong

    def value(self, x: Floats) -> float:
        """The value of a point as the user gets it, from the given objective."""
        if self.reduction is None or self.is_users_own:
            return self.objective.value(x)
        return self.given.objective.value(self.reduction.embedded(x))

    def start(self, given: npt.ArrayLike) -> Floats:
        """A user's start as spins, refused when it does not fit the problem."""
        if self.reduction is not None:
            whole = self.given.start(given)
            start = self.reduction.reduced(whole)
            if not np.array_equal(self.reduction.embedded(start), whole):
                raise InvalidInput("`start` has other values than `fixed`.")
            return start
        start = to_spins("start", given, self.shape, self.variables)
        wrong = self.constraint.violation(start)
        if wrong is not None:
            raise InvalidInput(
                f"`start` breaks the constraint: {wrong}. Use constraint.project(start) for the nearest point."
            )
        return start


def _counting_call(function: Callable[[Floats], Any], count: Callable[[], None]) -> Callable[[Floats], Any]:
    """The function, with `count` called first."""

    def counted(x: Floats) -> Any:
        count()
        return function(x)

    return counted


def as_problem(
    objective: Any,
    shape: Any,
    constraint: Constraint | None,
    count: Any = None,
    fixed: Fixed | None = None,
    rows: Rows = None,
    labels: Sequence[Any] | None = None,
    include: Iterable[Any] | None = None,
    exclude: Iterable[Any] | None = None,
) -> Problem:
    """Check what the user gave and put it together; `count` is short for a `Cardinality`, or the total beside groups.

    `rows` are linear constraints beside it. These, `fixed`, `include` and `exclude` name variables by their `labels`
    where there are some.
    Ranges of counts and fixed variables are there no more: what comes back is searched, and stands for what was given.
    """
    built = _as_objective(objective, shape)
    if int(np.prod(built.shape)) == 0:
        raise InvalidInput("the problem is empty: there are no variables.")
    if shape is not None and checked_shape("n_or_shape", shape) != tuple(built.shape):
        raise InvalidInput(f"`n_or_shape` is {shape}, but the objective has shape {built.shape}.")
    total = None
    if count is not None and constraint is None:
        constraint = as_cardinality(count)
    elif count is not None:
        total = as_cardinality(count)
        total.check(built.shape)
        if not isinstance(constraint, ColumnCounts | GroupCounts):
            raise InvalidInput(
                "`count` can stand beside `ColumnCounts` and `GroupCounts` only: put the number of ones into "
                "`constraint`, or leave out one of the two."
            )
    chosen: Constraint = Free() if constraint is None else constraint
    if not isinstance(chosen, Constraint):
        raise InvalidInput(
            "`constraint` must be Free(), Cardinality(count), ColumnCounts(...), GroupCounts(...) or your own, "
            f"got {constraint!r}."
        )
    if type(chosen) is LinearConstraints:
        if rows is not None:
            raise InvalidInput("`rows` and linear constraints as `constraint` exclude each other: put them into one.")
        chosen, rows = Free(), chosen
    chosen.check(built.shape)
    if rows is not None or total is not None:
        chosen = with_rows(rows, chosen, tuple(built.shape), getattr(built, "variables", "spin"), labels, total)
        chosen.check(built.shape)
    problem = Problem(built, chosen)
    if fixed is None and include is None and exclude is None:
        return without_ranges(problem)
    from flipwise.model.reduction import by_index, with_members  # it is about problems, too

    members = with_members(fixed, include, exclude, -1 if problem.variables == "spin" else 0)
    return without_ranges(problem, by_index(members, labels))


def without_ranges(problem: Problem, fixed: Fixed | None = None) -> Problem:
    """The problem that is searched in the place of one with ranges of counts or fixed variables."""
    counts = problem.constraint
    if not fixed and (not isinstance(counts, Counts) or counts.is_exact):
        return problem
    from flipwise.model.reduction import reduced  # it is about problems, too

    return reduced(problem, fixed)


def _as_objective(objective: Any, shape: Any) -> Objective:
    """The objective that a user's matrix, dictionary, function or object stands for."""
    if isinstance(objective, Objective):
        own: Any = objective.shape
        if not (isinstance(own, tuple) and own and all(is_whole(size) and size >= 0 for size in own)):
            raise InvalidInput(
                f"the `shape` of {type(objective).__name__} must be a tuple of integers such as (40,), it is {own!r}."
            )
        return objective
    if isinstance(objective, list | tuple) and not objective:
        raise InvalidInput("`objective` must be a matrix or a list of matrices, got an empty list.")
    if sp.issparse(objective) or isinstance(objective, np.ndarray | LowRank | list | tuple):
        return Quadratic(objective)
    if hasattr(objective, "to_numpy"):  # a data frame
        return Quadratic(objective)
    if isinstance(objective, Mapping):
        return Polynomial(objective, shape)
    if callable(objective):
        if shape is None:
            raise InvalidInput("`n_or_shape` is needed with a callable: pass the number of variables.")
        return Smooth(objective, shape)
    raise InvalidInput(
        "`objective` must be an objective such as flipwise.Quadratic, a square matrix, a dictionary of terms, or a "
        f"callable returning (value, gradient), got {type(objective).__name__}."
    )


# --- what a problem is, in words: for the log, and for results that explain themselves --------------------------------


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
