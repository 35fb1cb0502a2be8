"""The continuous optimum of each relaxation against an independent solver."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
import scipy.optimize
import scipy.sparse as sp

import flipwise
from flipwise import Cardinality, Free, Quadratic
from flipwise.bounds.linearised import linearise, solve_linearised
from flipwise.engine.limits import Limits, Status
from flipwise.engine.run import Run
from flipwise.foundation.arrays import inner
from flipwise.model.problem import as_problem
from flipwise.solvers import mpec_epm
from flipwise.solvers.projections import Polytope, sweep
from flipwise.solvers.registry import GENERAL, find_method
from flipwise.solvers.relaxed import Model, conjugate_gradients, convex_load, projected_gradient


def _problem(constraint, seed: int = 0, n: int = 10):
    rng = np.random.default_rng(seed)
    A = rng.standard_normal((n, n))
    return as_problem(Quadratic(A + A.T, rng.standard_normal(n)), None, constraint)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("constraint", [Free(), Cardinality(3)], ids=["free", "count"])
def test_convex_box_relaxation(constraint, seed) -> None:
    """Projected gradients reach the value SLSQP finds for the convex relaxation."""
    problem = _problem(constraint, seed)
    run = Run(problem)
    model = Model(problem, run, load=convex_load(problem, run))
    polytope = Polytope(constraint, problem.shape)
    x, _ = projected_gradient(
        model, polytope, polytope.near_centre(np.random.default_rng(0)), tolerance=1e-10, max_steps=5000
    )
    sums = [{"type": "eq", "fun": lambda x: x.sum() - polytope.sums[0]}] if constraint.swaps else []
    answer = scipy.optimize.minimize(
        model.value,
        polytope.centre(),
        jac=model.gradient,
        bounds=[(-1.0, 1.0)] * problem.n,
        constraints=sums,
        method="SLSQP",
        options={"ftol": 1e-12, "maxiter": 1000},
    )
    assert model.value(x) == pytest.approx(answer.fun, rel=1e-5, abs=1e-5)


def test_load_makes_convex_and_keeps_binary_values() -> None:
    """With the load the Hessian has no negative eigenvalue, and values on the cube are unchanged."""
    problem = _problem(Free())
    run = Run(problem)
    model = Model(problem, run, load=convex_load(problem, run))
    hessian = np.stack([model.hessian_times(e) for e in np.eye(problem.n)])
    assert np.linalg.eigvalsh(hessian)[0] >= -1e-9
    x = Free().random(problem.shape, np.random.default_rng(1))
    assert model.value(x) == pytest.approx(problem.objective.value(x))


def test_model_gradient_is_the_slope_of_its_value() -> None:
    """Every extra term of the subproblem has its own gradient."""
    problem = _problem(Free())
    rng = np.random.default_rng(3)
    model = Model(problem, Run(problem), load=0.7).plus(
        linear=rng.standard_normal(10), square=0.3, vector=rng.standard_normal(10), weight=0.2, quartic=0.4
    )
    x, d, h = rng.uniform(-1, 1, 10), rng.standard_normal(10), 1e-6
    slope = (model.value(x + h * d) - model.value(x - h * d)) / (2 * h)
    assert slope == pytest.approx(inner(model.gradient(x), d), rel=1e-6)


def test_conjugate_gradients_solve_the_linear_system() -> None:
    """The x-step of the splitting is the solution of its linear system."""
    problem = _problem(Cardinality(4))
    run = Run(problem)
    model = Model(problem, run, load=convex_load(problem, run)).plus(square=1.0)
    hessian = np.stack([model.hessian_times(e) for e in np.eye(10)])
    x = conjugate_gradients(model, np.zeros(10), tolerance=1e-12, max_steps=200)
    assert np.allclose(hessian @ x, -model.gradient(np.zeros(10)), atol=1e-8)


@pytest.mark.parametrize("constraint", [Free(), Cardinality(3)], ids=["free", "count"])
def test_linearised_program(constraint) -> None:
    """The program has the objective's values on binary points; its bound is below them and is HiGHS' optimum."""
    rng = np.random.default_rng(4)
    A = np.triu(rng.standard_normal((7, 7)) * (rng.random((7, 7)) < 0.6))
    quadratic = Quadratic(sp.csr_array(A + A.T), rng.standard_normal(7), 0.25)
    program = linearise(quadratic, constraint)
    points = [np.array(p) for p in product([-1.0, 1.0], repeat=7) if constraint.contains(np.array(p))]
    upper = sp.triu(quadratic.terms[0].A, k=1, format="coo")
    for x in points:
        b = (x + 1.0) / 2.0
        v = np.concatenate([b, b[upper.row] * b[upper.col]])
        assert program.cost @ v + program.constant == pytest.approx(quadratic.value(x))
        assert (program.matrix @ v <= program.right + 1e-12).all()
    relaxed, bound = solve_linearised(quadratic, constraint, np.inf)
    assert relaxed is not None and bound is not None
    assert bound <= min(quadratic.value(x) for x in points)
    b = (relaxed + 1.0) / 2.0
    joint = np.where(
        8.0 * upper.data < 0, np.minimum(b[upper.row], b[upper.col]), np.maximum(b[upper.row] + b[upper.col] - 1, 0)
    )
    assert bound == pytest.approx(program.cost @ np.concatenate([b, joint]) + program.constant, abs=1e-6)


def test_lp_linearised_option() -> None:
    """The linear program as a method: feasible, with a bound; refused for callables."""
    rng = np.random.default_rng(0)
    A = np.triu(rng.standard_normal((9, 9)), 1)
    result = flipwise.minimize(sp.csr_array(A + A.T), method="lp", linearised=True, seed=0)
    assert result.bound is not None and result.bound <= result.value
    with pytest.raises(flipwise.IncompatibleObjective, match="linearised"):
        flipwise.minimize(lambda x: (float(x.sum()), np.ones(3)), 3, method="lp", linearised=True)


def test_spectral_sweep_is_the_best_cut() -> None:
    """The sweep finds the best of all thresholds of a vector."""
    problem = _problem(Free())
    y = np.random.default_rng(5).standard_normal(10)
    order = np.argsort(-y)
    cuts = []
    for size in range(11):
        x = np.full(10, -1.0)
        x[order[:size]] = 1.0
        cuts.append(problem.objective.value(x))
    assert problem.objective.value(sweep(problem, y)) == pytest.approx(min(cuts))


def test_mpec_reaches_a_binary_point() -> None:
    """At the end of the exact penalty method the complementarity holds: its relaxed point is binary."""
    problem = _problem(Cardinality(3))
    result = flipwise.minimize(problem.objective, constraint=problem.constraint, method="mpec-epm", seed=0)
    assert result.status is flipwise.Status.CONVERGED
    assert mpec_epm.MPECEPM().T == 10


def test_branch_and_bound_agrees_with_enumeration() -> None:
    """HiGHS' branch and bound and the enumeration find the same minimum."""
    rng = np.random.default_rng(8)
    A = np.triu(rng.integers(-3, 4, (14, 14)) * (rng.random((14, 14)) < 0.3), 1).astype(float)
    W = sp.csr_array(A + A.T)
    for constraint in (Free(), Cardinality(5)):
        enumerated = flipwise.minimize(W, constraint=constraint, method="exact")
        branched = flipwise.minimize(W, constraint=constraint, method="exact", enumerate_up_to=0, points=0)
        assert branched.status is flipwise.Status.OPTIMAL
        assert branched.value == enumerated.value == branched.bound


@pytest.mark.parametrize("method", ["lp", "mpec-epm", "mpec-adm", "penalty-decomposition", "l2box-admm", "piecewise"])
def test_a_relaxation_cut_short_rounds_the_point_it_had_come_to(method, monkeypatch) -> None:
    """When time runs out inside an inner solver, its point counts: better than the random start it began with."""
    problem = _problem(Cardinality(12), seed=1, n=40)
    run = Run(problem, Limits(time_limit=1e9))
    calls = iter(range(10**6))
    monkeypatch.setattr(run, "check_time", lambda: Status.TIME_LIMIT if next(calls) > 5 else None)
    options = {} if method == "piecewise" else {"convex": False}
    x = problem.constraint.random(problem.shape, np.random.default_rng(0))
    first = problem.objective.value(x)
    status = find_method(method, GENERAL).make(options).solve(problem, x, np.random.default_rng(0), run)
    assert status is Status.TIME_LIMIT
    assert run.best_value < first and problem.constraint.contains(run.best_x)
