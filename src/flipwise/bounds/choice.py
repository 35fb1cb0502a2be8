"""Which lower bound of a quadratic to compute, for the time there is."""

from __future__ import annotations

import math
from functools import partial
from typing import Any, Literal, get_args

import numpy as np

from flipwise.bounds.closing import CLOSED, USUAL_WORK, Closing, is_closable, is_sparse
from flipwise.bounds.eigenvalues import FACTOR
from flipwise.bounds.lattice import lifted
from flipwise.bounds.polynomial import polynomial_bound
from flipwise.bounds.rows import RowsClosing, is_listed, rows_proof
from flipwise.bounds.sdp import sdp_bound, spectral_bound
from flipwise.engine.solve import SEARCH_SHARE, Proof
from flipwise.foundation.errors import IncompatibleObjective, InvalidInput
from flipwise.kernels.compile_time import working_time
from flipwise.model.constraints import Constraint, Free
from flipwise.model.polynomial import Polynomial
from flipwise.model.problem import Problem
from flipwise.model.quadratic import Quadratic, accurate_sum
from flipwise.model.rows import LinearConstraints

Bound = Literal["auto", "best", "quick", "sdp", "spectral", "simple", "none"]
"""Which bound to prove. "auto" closes the gap where that can be done in the time there is (without a limit: with a
fixed amount of work, about two seconds); "best" takes as long as it takes; "quick" only what is proven at once, and a
relaxation."""
WHOLE = ("auto", "best", "quick")
"""The bounds that begin with a presolve and the exact solution of small problems."""

LARGEST_AUTO = 2500
"""Variables up to which "auto" proves an eigenvalue (its factorisation is cubic)."""
SHARE = 0.2
"""Share of the time limit for the bound."""


def proof_of(
    problem: Problem,
    wanted: str,
    time_limit: float | None,
    *,
    least: float | None = None,
) -> Proof | None:
    """How the wanted bound of a quadratic is proven after a search; None for "none". It is at least `least`."""
    objective = problem.objective
    if wanted == "none":
        return None
    rows = problem.constraint if isinstance(problem.constraint, LinearConstraints) else None
    closing = None
    more: dict[str, Any] = {}
    if wanted in WHOLE and is_closable(problem):
        closing = Closing(problem, work=math.inf if wanted == "best" else USUAL_WORK)
        more = {"begin": closing.begin, "report": closing.report, "certify": closing.certificate}
        if wanted != "quick":
            more["close"] = closing.close
    if isinstance(objective, Polynomial):
        if wanted not in (*WHOLE, "simple"):
            raise IncompatibleObjective(
                f'`bound` must be "auto", "best", "quick", "simple" or "none" for a Polynomial, got {wanted!r}.'
            )
        relaxed = partial(polynomial_bound, objective)
        return Proof(relaxed, **more) if rows is None else rows_proof(problem, wanted, relaxed, time_limit)
    if not isinstance(objective, Quadratic):
        raise IncompatibleObjective(
            f'`bound` must be "none" for a {type(objective).__name__}: bounds are known for flipwise.Quadratic only.'
        )
    kind = affordable_bound(objective, wanted, time_limit)
    deadline = math.inf if time_limit is None else working_time() + time_limit
    constraint = None if isinstance(problem.constraint, Free) else problem.constraint
    if rows is not None:
        prove = partial(proven_bound, objective, None, kind, time_limit, least=least, deadline=deadline)
        return rows_proof(problem, wanted, prove, time_limit)
    if closing is None or wanted == "quick":
        prove = partial(proven_bound, objective, constraint, kind, time_limit, least=least, deadline=deadline)
        share = partial(_search_share, objective.n, time_limit)
        return Proof(prove, costly=kind in ("sdp", "spectral"), search_share=share, **more)

    def prove_cheaply() -> float | None:
        # odd cycles, or hypermetric inequalities, prove more in as little time where they are tried
        closes = closing.parts is not None and (closing.left <= CLOSED or is_sparse(problem))
        cheap = "simple" if closes else kind
        return proven_bound(objective, constraint, cheap, time_limit, least=least, deadline=deadline)

    return Proof(prove_cheaply, costly=True, search_share=lambda: closing.search_share(time_limit), **more)


def proof_of_small(problem: Problem) -> Proof | None:
    """The proof for those who did not ask for one: what is enumerated in a blink is, and nothing else is proven."""
    if isinstance(problem.constraint, LinearConstraints):
        if problem.is_users_own or not is_listed(problem):
            return None
        return Proof(lambda: None, begin=RowsClosing(problem).begin)
    if not is_closable(problem):
        return None
    closing = Closing(problem, patient=False)
    return Proof(lambda: None, begin=closing.begin, report=closing.report, certify=closing.certificate)


def affordable_bound(objective: Quadratic, wanted: str, time_limit: float | None) -> Bound:
    """The bound that "auto" stands for; any other choice is the user's own."""
    if wanted not in get_args(Bound):
        raise InvalidInput(f"`bound` must be one of {', '.join(get_args(Bound))}, got {wanted!r}.")
    if wanted not in WHOLE:
        return wanted  # type: ignore[return-value]
    proof_seconds = 3e-10 * objective.n**3 + 0.05
    allowed = SHARE * (30.0 if time_limit is None else time_limit)
    return "sdp" if objective.n <= LARGEST_AUTO and 2.0 * proof_seconds <= allowed else "simple"


def _search_share(n: int, time_limit: float | None) -> float:
    """What the search gets beside a relaxation, whose factorisation takes its time in one piece."""
    factorisation = 0.0 if time_limit is None else FACTOR * float(n) ** 3 / max(time_limit, 1e-9)
    return min(SEARCH_SHARE, max(0.5, 1.0 - SHARE / 2.0 - 2.0 * factorisation))


def proven_bound(
    objective: Quadratic,
    constraint: Constraint | None,
    kind: Bound,
    time_limit: float | None,
    *,
    least: float | None = None,
    deadline: float = math.inf,
) -> float | None:
    """The bound of the given kind, at least the simple one and `least`, raised to the next value that f can have.

    What would not be over at a `working_time` makes way for something weaker.
    """
    if kind == "none":
        return None
    bound = simple_bound(objective)
    scaled, unit = objective.on_safe_scale()
    if kind == "sdp":
        seconds = math.inf if time_limit is None else SHARE / 2.0 * time_limit
        bound = max(bound, sdp_bound(scaled, constraint=constraint, time_limit=seconds, deadline=deadline) * unit)
    elif kind == "spectral":
        bound = max(bound, spectral_bound(scaled, deadline) * unit)
    bound = lifted(objective, bound)
    return bound if least is None else max(least, bound)


def simple_bound(objective: Quadratic) -> float:
    """Every term at its least: d + sum A_ii - sum |c_i| - sum |A_ij|.

    Examples
    --------
    >>> import numpy as np, flipwise
    >>> round(simple_bound(flipwise.Quadratic(np.array([[0.0, 1.0], [1.0, 0.0]]))), 6)
    -2.0
    """
    rows = accurate_sum(sum((term.absolute_row_sums() for term in objective.terms), np.zeros(objective.n)))
    linear = accurate_sum(np.abs(objective.c))
    size = rows + linear + abs(objective.d)
    least = objective.d - rows - linear
    least += accurate_sum(objective.diagonal) + accurate_sum(np.abs(objective.diagonal))
    return least if objective.grain else least - 4.0 * objective.n * float(np.finfo(np.float64).eps) * size
