"""Points that keep linear rows, and the rows that conflict where there is no such point.

A short search by chains of flips (`kernels.chains`) comes first, then HiGHS, which also proves that there is none.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.optimize
import scipy.sparse as sp

from flipwise.foundation.arrays import Floats, Signs
from flipwise.foundation.errors import InfeasibleModel
from flipwise.kernels import annealing as tables
from flipwise.kernels import chains as kernels

if TYPE_CHECKING:
    from flipwise.model.rows import LinearConstraints

TRIES = 3
"""Searches from different points before HiGHS is asked."""
SWEEPS = 40
"""Sweeps of the first search; each later one is twice as long."""
DEPTH = 8
"""Flips of the longest chain."""
SECONDS = 60.0
"""What HiGHS may take to find a point."""
CONFLICT_SECONDS = 10.0
"""What may be spent on which rows conflict."""
CONFLICT_ROWS = 400
"""The most rows among which a conflict is looked for."""

_QUANTILES = tables.exponential_quantiles()


class RowChains:
    """An anneal under rows: the point, its fields, the rows' activities and weights, and what it has found."""

    def __init__(
        self, rows: LinearConstraints, couplings: tuple[Any, ...], h: Floats, s: Signs, weight: Floats, seed: int
    ) -> None:
        self.rows = rows
        self.couplings = couplings
        self.h = h
        self.weight = weight.copy()
        self.counts = np.zeros(2, dtype=np.int64)
        self.state = np.array([seed], dtype=np.uint64)
        self.best = s.copy()
        self.totals = np.array([0.0, np.inf, 0.0])
        self.begin(s)

    def begin(self, s: Signs) -> None:
        """Go on from this point."""
        self.s = s.copy()
        self.f = fields_at(self.couplings, self.h, s)
        self.activity = self.rows.activity(s)
        self.totals[0] = float(np.dot(s, self.f + self.h)) / 2.0

    def run(self, schedule: Floats, mode: int) -> None:
        """A sweep at each temperature."""
        kernels.anneal_by_chains(
            *self.couplings, self.f, self.s, *self.rows.arrays, self.weight, schedule, _QUANTILES, mode, DEPTH,
            self.activity, self.best, self.totals, self.counts, self.state,
        )  # fmt: skip

    @property
    def found(self) -> Signs | None:
        """The best point that keeps all rows, looked at anew."""
        if not np.isfinite(self.totals[1]) or not self.rows.contains(self.best):
            return None
        return self.best


def fields_at(couplings: tuple[Any, ...], h: Floats, s: Signs) -> Floats:
    """The local fields h + J s."""
    indptr, indices, data = couplings
    return np.asarray(h + sp.csr_array((data, indices, indptr), shape=(s.size, s.size)) @ s.astype(np.float64))


def row_units(rows: LinearConstraints) -> Floats:
    """The mean size of a coefficient in each row: what a violation is measured in."""
    lengths = np.maximum(1, np.diff(rows.A.indptr))
    sizes = np.asarray(abs(rows.A).sum(axis=1)).reshape(-1) / lengths
    return np.where(sizes > 0.0, sizes, 1.0)


def _no_couplings(n: int) -> tuple[Any, ...]:
    """The arrays of a sparse matrix of zeros."""
    return np.zeros(n + 1, dtype=np.int64), np.zeros(0, dtype=np.int64), np.zeros(0)


def feasible_point(rows: LinearConstraints, rng: np.random.Generator) -> Floats:
    """Any point that keeps the rows; `InfeasibleModel` where there is none, or none was found."""
    n = rows.A.shape[1]
    for attempt in range(TRIES):
        s = np.where(rng.integers(0, 2, n) > 0, 1, -1).astype(np.int8)
        chains = RowChains(rows, _no_couplings(n), np.zeros(n), s, 1.0 / row_units(rows), int(rng.integers(1, 2**63)))
        chains.run(np.full(SWEEPS * 2**attempt, 0.1), kernels.FIRST)
        if rows.contains(chains.s):
            return chains.s.astype(np.float64)
    return _by_highs(rows, rng.random(n))


def nearest_point(rows: LinearConstraints, y: Floats) -> Floats:
    """A feasible point near the real vector y: the nearest where its signs are feasible, else by a short search."""
    s = np.where(y >= 0.0, 1, -1).astype(np.int8)
    if rows.contains(s):
        return s.astype(np.float64)
    n = y.size
    unit = float(np.abs(y).mean()) or 1.0
    chains = RowChains(rows, _no_couplings(n), -y, s, 8.0 * unit / row_units(rows), 1)
    for sweeps in (8, 32, 128):
        chains.run(np.geomspace(unit, 0.05 * unit, sweeps), kernels.SOFT)
        if chains.found is not None:
            break
    start = chains.found
    if start is None:
        start = _by_highs(rows, -y).astype(np.int8)
        chains.totals[1] = np.inf
    chains.begin(start)
    chains.run(np.zeros(2), kernels.HARD)
    nearest = chains.found
    return (start if nearest is None else nearest).astype(np.float64)


# --- HiGHS -----------------------------------------------------------------------------------------------------------


def milp(rows: LinearConstraints, cost: Floats, seconds: float, kept: Any = None) -> Any:
    """What scipy's `milp` says of a linear cost of bits under the rows, or those of them that are `kept`."""
    A, lower, upper = rows.A, *rows.limits
    if kept is not None:
        A, lower, upper = A[kept], lower[kept], upper[kept]
    constraints = [] if A.shape[0] == 0 else [scipy.optimize.LinearConstraint(short_indices(A), lower, upper)]
    return scipy.optimize.milp(
        cost,
        integrality=np.ones(cost.size, dtype=np.int64),
        bounds=scipy.optimize.Bounds(0.0, 1.0),
        constraints=constraints,
        options={"time_limit": max(seconds, 1e-3), "mip_rel_gap": 1.0},
    )


def short_indices(A: sp.csr_array) -> sp.csr_array:
    """The same matrix with the indices that HiGHS takes, which older versions of scipy do not make themselves."""
    return sp.csr_array((A.data, A.indices.astype(np.int32), A.indptr.astype(np.int32)), shape=A.shape)


def _by_highs(rows: LinearConstraints, cost: Floats) -> Floats:
    """A feasible point that HiGHS finds; an error where there is none, or none was found in time."""
    answer = milp(rows, cost, SECONDS)
    if answer.x is not None:
        s = np.where(answer.x > 0.5, 1.0, -1.0)
        if rows.contains(s):
            return s
    if answer.status == 2:
        raise infeasible(rows)
    raise InfeasibleModel(
        f"no point was found that keeps all {rows.m} rows, nor a proof that there is none, by a search and in "
        f"{SECONDS:.0f} s of HiGHS.",
        proven=False,
    )


def infeasible(rows: LinearConstraints) -> InfeasibleModel:
    """The error of rows that no point keeps, with as few of them as conflict already."""
    kept, is_least = _conflicting_rows(rows)
    names = [f"{rows.name(row)} ({rows.range_in_words(row)})" for row in kept[:8]]
    more = f" and {len(kept) - 8} more" if len(kept) > 8 else ""
    least = ", and every one of them is needed for that" if is_least else ""
    which = "row" if len(kept) == 1 else "rows"
    return InfeasibleModel(
        f"no point keeps all rows: {which} {', '.join(names)}{more} cannot be kept together{least}.",
        rows=[rows.label(row) for row in kept],
    )


def _conflicting_rows(rows: LinearConstraints) -> tuple[list[int], bool]:
    """Rows that conflict, and whether all of them are needed for that: each is left out in turn (deletion filter)."""
    from flipwise.kernels.compile_time import working_time

    kept = list(range(rows.m))
    if rows.m > CONFLICT_ROWS:
        return kept, False
    end = working_time() + CONFLICT_SECONDS
    cost = np.zeros(rows.A.shape[1])
    for row in range(rows.m):
        if working_time() >= end:
            return kept, False
        others = [other for other in kept if other != row]
        if milp(rows, cost, end - working_time(), others).status == 2:
            kept = others
    return kept, working_time() < end


def refuse_hopeless_rows(rows: LinearConstraints) -> None:
    """An error for a row that no point keeps, whatever the others say."""
    lower, upper = rows.limits
    least = np.asarray(rows.A.minimum(0.0).sum(axis=1)).reshape(-1)
    most = np.asarray(rows.A.maximum(0.0).sum(axis=1)).reshape(-1)
    hopeless = (least > upper) | (most < lower) | (lower > upper)
    if hopeless.any():
        row = int(np.argmax(hopeless))
        raise InfeasibleModel(
            f"no point keeps row {rows.name(row)}: it must be {rows.range_in_words(row)}, but lies between "
            f"{rows.told_sum(row, least[row]):.12g} and {rows.told_sum(row, most[row]):.12g}"
            + (", in steps of whole numbers." if lower[row] > upper[row] else "."),
            rows=[rows.label(row)],
        )
