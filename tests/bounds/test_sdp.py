"""The semidefinite and spectral bounds: below every value, equal to independent solvers, proven eigenvalues."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
import scipy.sparse as sp

from flipwise import Cardinality, GroupCounts, LowRank, Quadratic
from flipwise.bounds.eigenvalues import eigenvalue_bound, gershgorin_bound
from flipwise.bounds.sdp import sdp_bound, spectral_bound
from flipwise.model.forms import homogeneous


def _random(n: int, seed: int, kind: str, linear: bool = True) -> tuple[Quadratic, np.ndarray]:
    rng = np.random.default_rng(seed)
    c = rng.standard_normal(n) if linear else np.zeros(n)
    U = rng.standard_normal((n, 3))
    s = np.array([1.0, -1.0, 0.5])
    A = rng.standard_normal((n, n)) * (rng.random((n, n)) < 0.6)
    A = A + A.T
    if kind == "low-rank":
        return Quadratic(LowRank(U, s), c, 1.5), (U * s) @ U.T
    if kind == "sum":
        return Quadratic([sp.csr_array(A), LowRank(U, s)], c, 1.5), A + (U * s) @ U.T
    return Quadratic(A if kind == "dense" else sp.csr_array(A), c, 1.5), A


def _points(n: int) -> np.ndarray:
    return np.array(list(product([-1.0, 1.0], repeat=n)))


@pytest.mark.parametrize("kind", ["dense", "sparse", "low-rank", "sum"])
@pytest.mark.parametrize("seed", range(3))
def test_bounds_hold_on_all_points(kind: str, seed: int) -> None:
    """The bounds are below the minimum, the semidefinite one is the better of the two."""
    n = 9
    quadratic, _ = _random(n, seed, kind, linear=seed > 0)
    values = np.array([quadratic.value(x) for x in _points(n)])
    semidefinite, spectral = sdp_bound(quadratic), spectral_bound(quadratic)
    assert spectral <= semidefinite + 1e-3 <= values.min() + 2e-3
    assert semidefinite <= values.min()


@pytest.mark.parametrize("r", [0, 1, 4, 9])
def test_counts_are_used(r: int) -> None:
    """With a count the bound stays below the constrained minimum and is not worse than the free one."""
    quadratic, _ = _random(9, 3, "dense")
    feasible = [x for x in _points(9) if (x > 0).sum() == r]
    bound = sdp_bound(quadratic, constraint=Cardinality(r))
    assert bound <= min(quadratic.value(x) for x in feasible)
    assert bound >= sdp_bound(quadratic) - 0.05


def test_group_counts_are_used() -> None:
    """Counts in groups give a bound below the constrained minimum."""
    quadratic, _ = _random(8, 4, "sparse")
    groups = GroupCounts([0, 0, 0, 1, 1, 1, 1, 1], [1, 3])
    feasible = [x for x in _points(8) if groups.contains(x)]
    assert sdp_bound(quadratic, constraint=groups) <= min(quadratic.value(x) for x in feasible)


def test_agrees_with_an_interior_point_solver() -> None:
    """The relaxation's value is that of a general conic solver, free and with a count."""
    cp = pytest.importorskip("cvxpy")
    n, r = 10, 3
    quadratic, A = _random(n, 0, "dense")
    H = np.zeros((n + 1, n + 1))
    H[:n, :n] = A
    H[:n, n] = H[n, :n] = quadratic.c / 2
    X = cp.Variable((n + 1, n + 1), PSD=True)
    m = 2 * r - n
    counted = [cp.sum(X[:n, n]) == m, cp.sum(X[:n, :n]) == m * m]
    for constraint, extra in ((None, []), (Cardinality(r), counted)):
        model = cp.Problem(cp.Minimize(cp.trace(H @ X)), [cp.diag(X) == 1, *extra])
        model.solve(solver="SCS", eps=1e-7, max_iters=50_000)
        assert sdp_bound(quadratic, constraint=constraint) == pytest.approx(model.value + 1.5, rel=2e-3)


@pytest.mark.parametrize("n", [40, 700])
@pytest.mark.parametrize("narrow", [True, False])
def test_eigenvalue_bounds_are_below_and_near(n: int, narrow: bool) -> None:
    """The proven bound is below the smallest eigenvalue and close to it; Gershgorin's is below too."""
    rng = np.random.default_rng(n)
    A = (
        sp.diags_array([rng.standard_normal(n - 1)], offsets=[1])
        if narrow
        else sp.random_array((n, n), density=0.02, rng=rng)
    )
    A = sp.csr_array(A + A.T + sp.diags_array(rng.standard_normal(n)))
    y = rng.standard_normal(n)
    truth = float(np.linalg.eigvalsh(A.todense() - np.diag(y))[0])
    form = homogeneous(Quadratic(A))
    bound = eigenvalue_bound(form, y)
    assert truth - 1e-4 * abs(truth) <= bound <= truth
    assert gershgorin_bound(form, y) <= truth
