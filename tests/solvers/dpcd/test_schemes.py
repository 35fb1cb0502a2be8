"""The schemes for any differentiable function: contracts of a method, exact counts, batches, statuses that are true."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest
from scipy.optimize import linear_sum_assignment

import flipwise
from flipwise.model.evaluation import evaluator
from flipwise.model.flips import single_moves
from flipwise.model.problem import as_problem
from flipwise.solvers.dpcd.budget import Budget, Meter
from flipwise.solvers.dpcd.exchanges import circles, exchanges
from flipwise.solvers.dpcd.finish import TwoSteps
from flipwise.solvers.dpcd.nonmonotone import Cooling, Momentum, Sums, Tabu, walk
from flipwise.solvers.dpcd.principal import PrincipalMoves
from flipwise.solvers.dpcd.relaxation import Means
from flipwise.solvers.dpcd.schemes import schemes_for
from flipwise.testing import check_solver
from tests.engine.test_solve import Pinned

GROUPS = flipwise.GroupCounts([0] * 5 + [1] * 7, [2, 3])
SOLVERS = [
    flipwise.Portfolio(),
    flipwise.MomentumDPCD(),
    flipwise.MomentumDPCD(normalised=False, share=0.2),
    flipwise.CooledDPCD(),
    flipwise.MeanField(),
]


def quartic(n: int, seed: int = 3) -> Any:
    """A function with products of four, value and gradient."""
    rng = np.random.default_rng(seed)
    A, b = rng.standard_normal((6, n)) / np.sqrt(n), rng.standard_normal(6)

    def both(x: np.ndarray) -> tuple[float, np.ndarray]:
        r = A @ x.reshape(-1) - b
        return float((r**4).sum()), (4.0 * A.T @ r**3).reshape(x.shape)

    return both


def lowest(function: Any, constraint: Any, n: int) -> float:
    """The least value of all points."""
    points = (np.array(p) for p in product((-1.0, 1.0), repeat=n))
    return min(function(x)[0] for x in points if constraint.contains(x))


@pytest.mark.parametrize("solver", SOLVERS, ids=lambda s: repr(s)[:20])
def test_the_contract_of_a_method(solver: Any) -> None:
    """Feasible, in time, one answer for one seed, also when stopped and resumed; free, one count, counts of groups."""
    objective = flipwise.Smooth(quartic(12), 12)
    check_solver(solver, constraints=[flipwise.Free(), flipwise.Cardinality(4), GROUPS], objective=objective)


@pytest.mark.parametrize("constraint", [flipwise.Free(), flipwise.Cardinality(4), GROUPS], ids=["free", "count", "two"])
def test_small_functions_are_solved(constraint: Any) -> None:
    """The default reaches the least of all points, and says truly how it ended."""
    function = quartic(12)
    result = flipwise.minimize(function, 12, constraint=constraint, seed=0)
    assert result.value == pytest.approx(lowest(function, constraint, 12))
    assert result.method == "portfolio" and result.status is flipwise.Status.LOCAL_OPTIMUM


def test_the_default_is_never_worse_than_the_bare_descent() -> None:
    """From one start the schemes end at or below DPCD."""
    function = quartic(60)
    start = np.where(np.random.default_rng(0).random(60) < 0.5, 1, -1)
    bare = flipwise.minimize(function, 60, method="dpcd", start=start, seed=0)
    assert flipwise.minimize(function, 60, start=start, seed=0).value <= bare.value + 1e-12


def test_a_constraint_of_ones_own_is_kept() -> None:
    """Pinned entries stay, whatever scheme has its turn."""
    pinned = Pinned([0, 5], [1, -1])
    result = flipwise.minimize(quartic(20), 20, constraint=pinned, seed=0)
    assert pinned.violation(result.x) is None


def test_the_clock_ends_the_schemes() -> None:
    """With a limit alone the schemes go on until it, and say so."""
    result = flipwise.minimize(quartic(30), 30, time_limit=0.3, seed=0)
    assert result.status is flipwise.Status.TIME_LIMIT and result.seconds >= 0.3


def test_batches_make_the_steps_and_all_data_the_value() -> None:
    """A sum over a data loader: every call is counted, the value is the mean over all data."""
    rng = np.random.default_rng(0)
    data = rng.standard_normal((100, 30)) + 0.3
    calls = 0

    def loss(x: np.ndarray, batch: np.ndarray) -> tuple[float, np.ndarray]:
        nonlocal calls
        calls += 1
        t = batch @ x
        p = 1.0 / (1.0 + np.exp(t))
        return float(np.logaddexp(0.0, -t).mean()), -(p @ batch) / len(batch)

    f = flipwise.Smooth(loss, 30, batches=[data[:64], data[64:90], data[90:]])
    x = np.ones(30)
    assert f.value(x) == pytest.approx(float(np.logaddexp(0.0, -data @ x).mean()))
    assert flipwise.check_objective(f).ok
    calls = 0
    for method in ("auto", "momentum", "mean-field", "dpcd"):
        calls = 0
        result = flipwise.minimize(f, method=method, seed=0)
        assert result.evaluations == calls
        assert result.value == pytest.approx(float(np.logaddexp(0.0, -data @ result.x).mean()))
    with pytest.raises(flipwise.InvalidInput, match="batches"):
        flipwise.Smooth(loss, 30, batches=(batch for batch in [data]))


def test_single_precision_is_kept() -> None:
    """A gradient in float32 stays so in a scheme, and becomes float64 where the contract of an objective says it."""
    f = flipwise.Smooth(lambda x: (float(x.sum()), np.ones(4, dtype=np.float32)), 4)
    problem = as_problem(f, None, None)
    assert evaluator(problem.objective)(np.ones(4))[1].dtype == np.float32
    assert f.gradient(np.ones(4)).dtype == np.float64
    assert flipwise.minimize(f, seed=0).x.tolist() == [-1] * 4


def test_an_array_that_is_written_into_again_does_no_harm() -> None:
    """A function that always returns the same buffer is minimised as any other."""
    buffer = np.empty(20)
    function = quartic(20)

    def reusing(x: np.ndarray) -> tuple[float, np.ndarray]:
        value, buffer[:] = function(x)
        return value, buffer

    mine, other = (flipwise.minimize(f, 20, seed=1) for f in (reusing, function))
    assert mine.value == other.value and np.array_equal(mine.x, other.x)


def test_means_keep_the_counts() -> None:
    """The means of every group add up to what its points do; groups without a choice are at the ends."""
    constraint = flipwise.GroupCounts([0] * 4 + [1] * 3 + [2] * 2, [1, 0, 2])
    means = Means(constraint, (9,))
    rng = np.random.default_rng(0)
    for _ in range(20):
        mu = means(rng.standard_normal(9))
    assert float(mu[:4].sum()) == pytest.approx(-2.0, abs=1e-3)
    assert mu[4:].tolist() == [-1.0] * 3 + [1.0] * 2


def test_choices_of_two_groups_are_exchanged() -> None:
    """Every exchange of two groups' choices is offered once and keeps all counts; other counts have none."""
    constraint = flipwise.GroupCounts(np.repeat(np.arange(4), 4), [1] * 4)
    labels, rng = constraint.labels((16,)), np.random.default_rng(0)
    x = -np.ones(16)
    x[[0, 5, 10, 15]] = 1.0
    found = set()
    for move in exchanges(x, rng.standard_normal(16), labels):
        y = x.copy()
        y[move] *= -1.0
        assert constraint.contains(y) and (y.reshape(4, 4) > 0).sum(axis=0).tolist() == [1] * 4
        found.add(tuple(sorted(move.tolist())))
    assert len(found) == 6
    assert not list(exchanges(GROUPS.random((12,), rng), np.ones(12), GROUPS.labels((12,))))


def test_choices_are_dealt_out_anew_in_circles() -> None:
    """The circles lead to the best permutation by the slopes; choices that are taken twice stay so."""
    rng, labels = np.random.default_rng(0), np.repeat(np.arange(6), 6)
    g = rng.standard_normal(36)
    x = -np.ones((6, 6))
    x[np.arange(6), rng.permutation(6)] = 1.0
    x = x.reshape(-1)
    moves = circles(x, g, labels)
    gains = []
    for move in moves:
        gains.append(float(x[move] @ g[move]))
        x[move] *= -1.0
    assert gains == sorted(gains, reverse=True) and min(gains) > 0.0
    rows, columns = linear_sum_assignment(g.reshape(6, 6))
    assert np.array_equal(np.argmax(x.reshape(6, 6), axis=1), columns[np.argsort(rows)])
    assert not circles(x, g, labels)
    twice = -np.ones((6, 6))
    twice[np.arange(6), [0, 0, 1, 2, 2, 2]] = 1.0
    for move in circles(twice.reshape(-1), g, labels):
        twice.reshape(-1)[move] *= -1.0
    assert (twice > 0).sum(axis=0).tolist() == [2, 1, 3, 0, 0, 0] and (twice > 0).sum(axis=1).tolist() == [1] * 6
    assert not circles(x, g, None)


def test_an_assignment_is_mended() -> None:
    """Rows choose columns, doubly taken columns cost: the schemes come to the optimum of the assignment problem."""
    size = 6
    cost = np.random.default_rng(1).random((size, size))
    rows, columns = linear_sum_assignment(cost)

    def both(x: np.ndarray) -> tuple[float, np.ndarray]:
        b = (x.reshape(size, size) + 1.0) / 2.0
        excess = b.sum(axis=0) - 1.0
        return float((cost * b).sum() + (excess**2).sum()), (0.5 * (cost + 2.0 * excess)).reshape(-1)

    constraint = flipwise.GroupCounts(np.repeat(np.arange(size), size), [1] * size)
    result = flipwise.minimize(both, size * size, constraint=constraint, seed=0)
    assert result.value == pytest.approx(float(cost[rows, columns].sum()))


def test_single_moves_are_all_there_are() -> None:
    """Every flip, or every pair of a group, once, the most promising first."""
    rng = np.random.default_rng(0)
    x, g = GROUPS.random((12,), rng), rng.standard_normal(12)
    flips, complete = single_moves(x, g, None)
    assert complete and sorted(flips[:, 0].tolist()) == list(range(12))
    labels = GROUPS.labels((12,))
    pairs, complete = single_moves(x, g, labels)
    expected = {(i, j) for i in range(12) for j in range(12) if x[i] > 0 > x[j] and labels[i] == labels[j]}
    assert complete and len(pairs) == len(expected) and {tuple(pair) for pair in pairs.tolist()} == expected
    gains = g[pairs[:, 0]] - g[pairs[:, 1]]
    assert (np.diff(gains) <= 0).all()
    assert not single_moves(np.ones(5000), np.ones(5000), None)[1]


@pytest.mark.parametrize(
    "rule", [Momentum(0.9, 0.99, None), Cooling(0.7, 0.1), Sums(), Tabu(40)], ids=lambda r: type(r).__name__
)
@pytest.mark.parametrize("constraint", [flipwise.Free(), flipwise.Cardinality(9)], ids=["free", "count"])
def test_walks_keep_the_best_point_they_met(rule: Any, constraint: Any) -> None:
    """What a walk returns is feasible, has the value it says, and is the least of all values that it asked for."""
    function, met = quartic(40), []

    def noted(x: np.ndarray) -> tuple[float, np.ndarray]:
        value, g = function(x)
        met.append(value)
        return value, g

    problem = as_problem(flipwise.Smooth(noted, 40), None, constraint)
    rng = np.random.default_rng(0)
    start = constraint.random((40,), rng)
    x, value, stop = walk(problem, start, rng, flipwise.Run(problem), Budget(60), rule)
    assert stop is None and constraint.contains(x)
    assert value == min(met) == function(x)[0] and len(met) == 60


def test_a_maximum_of_many_slopes_needs_their_sum() -> None:
    """With time for few evaluations of very many variables, sums of gradients are what is used, and they find a way."""
    rng = np.random.default_rng(0)
    A = rng.standard_normal((6, 3000)) / 50.0

    def largest(x: np.ndarray) -> tuple[float, np.ndarray]:
        z = A @ x
        p = np.exp(z - z.max())
        return float(z.max() + np.log(p.sum())), (p / p.sum()) @ A

    problem = as_problem(flipwise.Smooth(largest, 3000), None, None)
    assert schemes_for(problem, 50) == ["summed gradients"]
    x = np.where(rng.random(3000) < 0.5, 1.0, -1.0)
    value = walk(problem, x, np.random.default_rng(0), flipwise.Run(problem), Budget(50), Sums())[1]
    assert value < 0.9 * -np.abs(A.sum(axis=0)).sum() / 6


def test_swaps_in_two_steps_find_the_substitute() -> None:
    """Of sets that cover the same items one takes another's place; a function that fails off its count is let be."""
    rng = np.random.default_rng(1)
    L = np.log1p(-0.9 * (rng.random((24, 60)) < 0.15))

    def missed(x: np.ndarray) -> tuple[float, np.ndarray]:
        left = np.exp(L.T @ ((x + 1.0) / 2.0))
        return float(left.sum()), 0.5 * (L @ left)

    def strict(x: np.ndarray) -> tuple[float, np.ndarray]:
        assert (x > 0).sum() == 4
        return missed(x)

    constraint = flipwise.Cardinality(4)
    start = np.where(np.arange(24) < 4, 1.0, -1.0)
    for function, possible in ((missed, True), (strict, False)):
        problem = as_problem(flipwise.Smooth(function, 24), None, constraint)
        run = flipwise.Run(problem)
        steps = TwoSteps(evaluator(problem.objective), constraint.labels((24,)))
        x, value, stop = steps.descend(start.copy(), missed(start)[0], run, Meter(Budget(10_000), run))
        assert steps.possible is possible and stop is None
        assert constraint.contains(x) and value == pytest.approx(missed(x)[0])
        assert (value < missed(start)[0]) is possible
        result = flipwise.minimize(function, 24, constraint=constraint, seed=0)
        assert result.status is flipwise.Status.LOCAL_OPTIMUM
        assert result.value <= value


def test_the_largest_gains_of_very_many_are_about_so_many() -> None:
    """Above a hundred thousand variables about q of the largest gains are chosen, also when all are equal."""
    rng = np.random.default_rng(0)
    n, moves = 250_000, PrincipalMoves(flipwise.Free(), (250_000,))
    x, d = np.ones(n), rng.standard_normal(n)
    for q in (5, 3000, 60_000, n):
        chosen = moves.choose(x, d, q)
        assert (d[chosen] > 0).all() and chosen.size == np.unique(chosen).size
        assert 0.9 * min(q, n / 2.1) <= chosen.size <= 1.1 * q
        if q < 0.45 * n:
            assert d[chosen].min() >= np.sort(d)[-int(1.1 * q) - 1]
    assert 0.9 * 3000 <= moves.choose(x, np.ones(n), 3000).size <= 1.1 * 3000


@pytest.mark.parametrize("constraint", [flipwise.Free(), flipwise.Cardinality(4), GROUPS], ids=["free", "count", "two"])
def test_evaluations_are_the_calls_of_the_function(constraint: Any) -> None:
    """Every call is counted once, those that fail between the two halves of a swap too."""
    function, calls = quartic(12), 0

    def counted(x: np.ndarray) -> tuple[float, np.ndarray]:
        nonlocal calls
        calls += 1
        if not constraint.contains(x):
            raise ValueError("not a point that was promised")
        return function(x)

    for options in ({}, {"max_iterations": 50}, {"effort": 0.1}):
        calls = 0
        result = flipwise.minimize(counted, 12, constraint=constraint, seed=0, **options)
        assert result.evaluations == calls > 0
