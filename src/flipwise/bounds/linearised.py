"""The standard linearisation of a quadratic as a linear or mixed-integer program for HiGHS, with a proven bound.

In b = (x + 1)/2 in [0, 1]:  min sum_{i<j} q_ij z_ij + l'b + constant, where z_ij stands for b_i b_j:
z >= b_i + b_j - 1, z >= 0 where q > 0, and z <= b_i, z <= b_j where q < 0 (the others never bind).
For any multipliers, what is left of the Lagrangian is bounded below entry by entry over [0, 1], which makes the dual
solution of a floating-point solver a bound whether or not it is exactly optimal.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.optimize
import scipy.sparse as sp

from flipwise.foundation.arrays import Floats
from flipwise.model.constraints import Constraint
from flipwise.model.forms import homogeneous
from flipwise.model.quadratic import Quadratic

_EPS = float(np.finfo(np.float64).eps)


@dataclass(frozen=True, eq=False)
class LinearProgram:
    """min cost'v + constant, matrix v <= right, equal v = sums, 0 <= v <= 1; the first n entries of v are b."""

    cost: Floats
    matrix: sp.csr_array
    right: Floats
    equal: sp.csr_array | None
    sums: Floats
    constant: float
    n: int
    rounding: float
    """More than what rounding can have taken from the quadratic, at any binary point, before it got here."""


def linearise(quadratic: Quadratic, constraint: Constraint) -> LinearProgram:
    """The program of a quadratic; low-rank terms are written out."""
    n = quadratic.n
    form = homogeneous(quadratic, lift=False)
    A = form.part if form.is_sparse and not form.s.size else sp.csr_array(form.to_dense())
    upper = sp.triu(A, k=1, format="coo")
    # x'Ax + c'x + d with x = 2b - 1. On binary points the diagonal is a constant; it must not meet the row sums,
    # whose digits a large one would take away.
    q = 8.0 * upper.data
    linear = 2.0 * quadratic.c - 4.0 * (np.bincount(upper.row, upper.data, n) + np.bincount(upper.col, upper.data, n))
    constant = quadratic.d - math.fsum(quadratic.c) + math.fsum(A.data)
    most = int(np.bincount(np.concatenate([upper.row, upper.col]), minlength=1).max())  # terms of one row sum
    rounding = n * form.rounding() + 8.0 * _EPS * most * float(np.abs(upper.data).sum())
    edges = upper.data.size
    i, j, z = upper.row, upper.col, n + np.arange(edges)
    up, down = np.flatnonzero(q > 0), np.flatnonzero(q < 0)
    first, second = np.arange(up.size), up.size + np.arange(2 * down.size)
    ones_up, ones_down = np.ones(up.size), np.ones(down.size)
    rows = np.concatenate([first, first, first, second, second])
    columns = np.concatenate([i[up], j[up], z[up], z[down], z[down], i[down], j[down]])
    entries = np.concatenate([ones_up, ones_up, -ones_up, ones_down, ones_down, -ones_down, -ones_down])
    matrix = sp.csr_array((entries, (rows, columns)), shape=(up.size + 2 * down.size, n + edges))
    right = np.concatenate([ones_up, np.zeros(2 * down.size)])
    equal, sums = None, np.zeros(0)
    if constraint.swaps:
        labels = constraint.labels(quadratic.shape)
        groups = int(labels.max(initial=-1)) + 1
        equal = sp.csr_array((np.ones(n), (labels, np.arange(n))), shape=(groups, n + edges))
        anywhere = constraint.project(np.zeros(quadratic.shape)).reshape(-1)
        sums = np.asarray(np.bincount(labels, weights=(anywhere + 1.0) / 2.0, minlength=groups), dtype=np.float64)
    return LinearProgram(np.concatenate([linear, q]), matrix, right, equal, sums, constant, n, rounding)


def solve_linearised(
    quadratic: Quadratic, constraint: Constraint, seconds: float
) -> tuple[Floats | None, float | None]:
    """The relaxed optimum as spins in [-1, 1] and the proven bound; None where the time did not suffice."""
    program = linearise(quadratic, constraint)
    options: dict[str, Any] = {} if math.isinf(seconds) else {"time_limit": max(seconds, 1e-3)}
    solve: Any = scipy.optimize.linprog
    answer = solve(
        program.cost,
        A_ub=program.matrix if program.matrix.shape[0] else None,
        b_ub=program.right if program.matrix.shape[0] else None,
        A_eq=program.equal,
        b_eq=program.sums if program.equal is not None else None,
        bounds=(0.0, 1.0),
        method="highs",
        options=options,
    )
    if answer.x is None or answer.status != 0:
        return None, None
    multipliers = np.minimum(answer.ineqlin.marginals, 0.0) if program.matrix.shape[0] else np.zeros(0)
    balance = np.asarray(answer.eqlin.marginals) if program.equal is not None else np.zeros(0)
    return 2.0 * answer.x[: program.n] - 1.0, dual_bound(program, multipliers, balance)


def dual_bound(program: LinearProgram, multipliers: Floats, balance: Floats) -> float:
    """The bound that multipliers <= 0 of the inequalities and any multipliers of the equalities prove."""
    reduced = program.cost - np.asarray(program.matrix.T @ multipliers)
    size = np.abs(program.cost) + np.asarray(abs(program.matrix).T @ np.abs(multipliers))
    total = math.fsum(multipliers * program.right) + program.constant
    if program.equal is not None:
        reduced -= np.asarray(program.equal.T @ balance)
        size += np.asarray(program.equal.T @ np.abs(balance))
        total += math.fsum(balance * program.sums)
    total += math.fsum(np.minimum(reduced, 0.0))
    return total - 16.0 * _EPS * (float(size.sum()) + abs(total)) - program.rounding
