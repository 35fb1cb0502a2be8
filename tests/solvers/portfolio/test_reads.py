"""Reads for samplers: feasible, no worse than the descent from their start, and as good as each structure allows."""

from __future__ import annotations

import itertools

import networkx as nx
import numpy as np
import pytest

import flipwise
from flipwise.engine.limits import Clock
from flipwise.model.constraints import Cardinality, Constraint, Free, GroupCounts
from flipwise.model.problem import Problem
from flipwise.solvers.portfolio.reads import Reads


def glass(n: int, seed: int = 0) -> flipwise.Quadratic:
    """A dense integer glass with a linear part."""
    rng = np.random.default_rng(seed)
    A = np.triu(rng.integers(-9, 10, (n, n)), 1).astype(float)
    return flipwise.Quadratic(A + A.T, rng.integers(-9, 10, n).astype(float))


def chain(n: int) -> flipwise.Quadratic:
    """Couplings of falling size, all bound to each other, no linear part."""
    return flipwise.Quadratic(np.diag(4.0 ** np.arange(n - 1), 1) + np.diag(4.0 ** np.arange(n - 1), -1))


def packing(n: int) -> flipwise.Quadratic:
    """The largest independent set of a random graph."""
    A = nx.to_numpy_array(nx.gnp_random_graph(n, 0.4, seed=1))
    return flipwise.QuadraticModel.from_qubo(np.triu(2 * A, 1) - np.eye(n)).objective()


@pytest.mark.parametrize(
    ("objective", "constraint"),
    [
        (glass(10), Free()),
        (chain(10), Free()),
        (packing(10), Free()),
        (glass(10), Cardinality(4)),
        (glass(10), GroupCounts([0, 1] * 5, [2, 3])),
    ],
)
def test_the_best_of_a_few_reads_is_the_optimum(objective: flipwise.Quadratic, constraint: Constraint) -> None:
    """Each read is feasible, one seed gives one point, and the best of five is that of all points."""
    problem = Problem(objective, constraint)
    reads = Reads.of(problem, 0.1)
    assert reads is not None
    values = []
    for seed in range(5):
        start = constraint.random((10,), np.random.default_rng(seed))
        found, again = (reads.read(start, np.random.default_rng(seed), Clock()) for _ in range(2))
        assert np.array_equal(found, again)
        assert constraint.contains(found.astype(float))
        values.append(objective.value(found.astype(float)))
    points = (np.array(p) for p in itertools.product([-1.0, 1.0], repeat=10))
    assert min(values) == min(objective.value(p) for p in points if constraint.contains(p))


def test_without_time_a_read_is_the_descent_from_its_start() -> None:
    """A clock that has run out leaves a point that no single flip improves."""
    objective = glass(12)
    reads = Reads.of(Problem(objective, Free()), 1.0)
    assert reads is not None
    assert reads.are_hurried(Clock(0.0), 1)
    x = reads.read(np.ones(12), np.random.default_rng(0), Clock(0.0)).astype(float)
    for i in range(12):
        other = x.copy()
        other[i] = -x[i]
        assert objective.value(other) >= objective.value(x)


def test_what_has_no_matrix_is_not_read() -> None:
    """Polynomials are left to the search."""
    assert Reads.of(Problem(flipwise.Polynomial({(0, 1, 2): 1.0}), Free()), 1.0) is None
