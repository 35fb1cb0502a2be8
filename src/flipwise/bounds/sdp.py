"""The spectral and the semidefinite bound of a quadratic on {-1, +1}^n.

With y = (x, 1) when there are linear terms, f(x) = y'Hy + d, and y'y = N on the cube. For every diagonal u,
    f(x) >= sum_i u_i + N * lambda_min(H - Diag(u)) + d:
min over the sphere instead of over the cube. u = 0 is the plain spectral bound; u = diag(H) removes the diagonal, on
which f depends only through its sum. The u that makes the bound largest solves the dual of a relaxation:

    primal   min <H, X>     subject to  X_ii = 1,  X positive semidefinite
    dual     max sum(u) + N * min(0, lambda_min(H - Diag(u)))

The primal is solved in factored form, X = VV' with unit rows (Burer & Monteiro, Math. Program. 95, 2003), by the
mixing method (Wang, Chang & Kolter, arXiv:1706.00476): V_i <- -g_i/|g_i|, g_i = sum_{j != i} H_ij V_j. At a fixed
point u_i = H_ii - |g_i| is the dual variable; it is then corrected by a proven eigenvalue bound, so the result is a
bound however far the sweeps have come.

An exact number of ones in each group q, 1_q'x = m_q, adds terms that vanish on feasible points,
    sum_q  lambda_q (1_q'x - m_q) + mu (1_q'x - m_q)^2,
as a linear and a low-rank term; lambda is found by the method of multipliers.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from flipwise.bounds.eigenvalues import eigenvalue_bound
from flipwise.foundation.arrays import Floats, Ints
from flipwise.foundation.checks import check_memory
from flipwise.kernels import mixing as kernels
from flipwise.kernels.compile_time import working_time
from flipwise.model.constraints import Constraint
from flipwise.model.forms import Homogeneous, homogeneous
from flipwise.model.quadratic import Quadratic
from flipwise.model.terms import LowRank

MOST_RANK = 60
"""More columns than this are not used by default; the bound is true for any rank."""
USUAL_SWEEPS = 20
"""What is expected when the work is judged before it begins."""
ROUNDS = 25
"""The most updates of the multipliers of exact counts."""


def spectral_bound(quadratic: Quadratic, deadline: float = math.inf) -> float:
    """A proven lower bound on min f over {-1, +1}^n; a weaker one where a `working_time` would be over before it.

    Examples
    --------
    >>> import numpy as np, flipwise
    >>> from flipwise.bounds.sdp import spectral_bound
    >>> bound = spectral_bound(flipwise.Quadratic(np.array([[0.0, 1.0], [1.0, 0.0]])))
    >>> bound <= -2.0 and bound > -2.000001
    True
    """
    form = homogeneous(quadratic)
    return diagonal_bound(form, form.diagonal, deadline)


def diagonal_bound(form: Homogeneous, u: Floats, deadline: float = math.inf) -> float:
    """The bound of a diagonal u, rounded down, for which there is time until a `working_time`."""
    least = eigenvalue_bound(form, u, deadline)
    total = math.fsum(u) + form.N * least + form.constant
    size = float(np.abs(u).sum()) + form.N * abs(least) + abs(form.constant)
    return total - 8.0 * float(np.finfo(np.float64).eps) * size


@dataclass(frozen=True, eq=False)
class LowRankSolution:
    """Unit rows V (the last one stands for the constant 1 when `form.lifted`), their value, and the dual diagonal u."""

    form: Homogeneous
    V: Floats
    u: Floats
    value: float
    sweeps: int

    def bound(self, deadline: float = math.inf) -> float:
        """The proven lower bound on f that u gives; a weaker one where a `working_time` would be over before it."""
        return diagonal_bound(self.form, self.u, deadline)

    def directions(self) -> Floats:
        """The rows that stand for variables, turned so that the constant is at its own row's side."""
        return self.V[:-1] if self.form.lifted else self.V


def sdp_bound(
    quadratic: Quadratic,
    *,
    constraint: Constraint | None = None,
    rank: int | None = None,
    max_sweeps: int = 2000,
    tolerance: float = 1e-7,
    seed: int = 0,
    time_limit: float = math.inf,
    deadline: float = math.inf,
) -> float:
    """A proven lower bound on min f over {-1, +1}^n, or over the points of `constraint`.

    Parameters
    ----------
    quadratic
        The objective.
    constraint
        None or `Free()` for all binary points; otherwise the counts are used to tighten the bound.
    rank
        Columns of V; by default sqrt(2N) + 1, at most 60.
    max_sweeps, tolerance, time_limit
        The sweeps end when one lowers the value by less than `tolerance` of its size, or after these limits
        (`time_limit` in seconds covers the sweeps, not the final eigenvalue proof).
    deadline
        The `working_time` at which that proof must be over, too; a weaker one takes its place where it would not be.
    seed
        Of the random start.

    Examples
    --------
    >>> import numpy as np, flipwise
    >>> from flipwise.bounds.sdp import sdp_bound
    >>> pentagon = np.roll(np.eye(5), 1, axis=0) + np.roll(np.eye(5), -1, axis=0)
    >>> round(sdp_bound(flipwise.Quadratic(pentagon)), 3)  # 10 cos(4 pi / 5): the best cut reaches -6
    -8.09
    """
    return solve_sdp(
        quadratic,
        constraint=constraint,
        rank=rank,
        max_sweeps=max_sweeps,
        tolerance=tolerance,
        rng=np.random.default_rng(seed),
        deadline=min(working_time() + time_limit, deadline),
    ).bound(deadline)


def solve_sdp(
    quadratic: Quadratic,
    *,
    constraint: Constraint | None,
    rank: int | None,
    max_sweeps: int,
    tolerance: float,
    rng: np.random.Generator,
    deadline: float,
) -> LowRankSolution:
    """Solve the relaxation until a tolerance, a number of sweeps or a time (`working_time`) is reached."""
    if constraint is None or not constraint.swaps:
        form = homogeneous(quadratic)
        V = random_rows(form.N, rank, rng)
        return _sweep_to_the_end(form, V, max_sweeps, tolerance, deadline)
    return _solve_with_counts(quadratic, constraint, rank, max_sweeps, tolerance, rng, deadline)


def random_rows(N: int, rank: int | None, rng: np.random.Generator) -> Floats:
    columns = min(math.isqrt(2 * N) + 2, MOST_RANK) if rank is None else rank
    check_memory(16 * N * max(1, columns), f"the semidefinite bound for {N:,} variables with {columns} columns")
    V: Floats = rng.standard_normal((N, max(1, columns)))
    V /= np.linalg.norm(V, axis=1, keepdims=True)
    return V


def _sweep_to_the_end(
    form: Homogeneous, V: Floats, max_sweeps: int, tolerance: float, deadline: float
) -> LowRankSolution:
    M = form.U.T @ V
    g = np.empty(V.shape[1])
    norms = np.zeros(form.N)
    size = max(float(np.abs(form.part).sum()) + float((form.U * form.U).sum(axis=0) @ np.abs(form.s)), 1e-300)
    value = float(np.einsum("ij,ij->", V, form.times(V)))
    sweeps = 0
    sweep = kernels.mixing_sweep_csr if form.is_sparse else kernels.mixing_sweep_dense
    part = (form.part.indptr, form.part.indices, form.part.data) if form.is_sparse else (form.part,)
    sweep.expect(min(max_sweeps, USUAL_SWEEPS) * part[-1].size * V.shape[1])
    while sweeps < max_sweeps:
        sweeps += 1
        decrease = sweep(*part, form.U, form.s, M, V, g, norms)
        value -= decrease
        if decrease <= tolerance * max(abs(value), 1e-3 * size) or working_time() >= deadline:
            break
    # H_ii belongs to both the value and u; |g_i| is taken at the final V.
    HV = form.times(V)
    value = float(np.einsum("ij,ij->", V, HV)) + form.constant
    HV -= form.diagonal[:, None] * V
    u = form.diagonal - np.sqrt(np.einsum("ij,ij->i", HV, HV))
    return LowRankSolution(form, V, u, value, sweeps)


def _solve_with_counts(
    quadratic: Quadratic,
    constraint: Constraint,
    rank: int | None,
    max_sweeps: int,
    tolerance: float,
    rng: np.random.Generator,
    deadline: float,
) -> LowRankSolution:
    labels = constraint.labels(quadratic.shape)
    groups = int(labels.max(initial=0)) + 1
    sizes = np.bincount(labels, minlength=groups).astype(np.float64)
    feasible = constraint.project(np.zeros(quadratic.shape)).reshape(-1)
    m = np.asarray(np.bincount(labels, weights=feasible, minlength=groups), dtype=np.float64)
    indicator = np.zeros((quadratic.n, groups))
    indicator[np.arange(quadratic.n), labels] = 1.0
    # mu of the size of a row of A over the size of a group, so that leaving the counts does not pay.
    row = float(np.mean(sum((t.absolute_row_sums() for t in quadratic.terms), np.abs(quadratic.c) / 2.0)))
    mu = 2.0 * max(row, 1e-12) / float(sizes.mean())
    multipliers = np.zeros(groups)
    V = random_rows(quadratic.n + 1, rank, rng)
    for index in range(ROUNDS):
        form = with_counts(quadratic, labels, indicator, m, multipliers, mu)
        last = index == ROUNDS - 1
        relaxation = _sweep_to_the_end(form, V, max_sweeps if last else max_sweeps // ROUNDS + 1, tolerance, deadline)
        V = relaxation.V
        along = V[:-1] @ V[-1]
        off = np.bincount(labels, weights=along, minlength=groups) - m
        if working_time() >= deadline or (not last and float(np.abs(off).max()) <= 1e-6 * quadratic.n):
            break
        multipliers += 2.0 * mu * off
    return relaxation


def with_counts(
    quadratic: Quadratic, labels: Ints, indicator: Floats, m: Floats, multipliers: Floats, mu: float
) -> Homogeneous:
    """f plus the terms that vanish where the counts hold, as a lifted form."""
    c = quadratic.c + (multipliers - 2.0 * mu * m)[labels]
    d = quadratic.d - float(multipliers @ m) + mu * float(m @ m)
    penalty = LowRank(indicator, np.full(m.size, mu))
    return homogeneous(Quadratic([*quadratic.terms, penalty], c, d), lift=True)
