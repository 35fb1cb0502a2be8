"""All feasible points, each once, and the best of them."""

from __future__ import annotations

import numpy as np
import pytest

import flipwise
from flipwise.model.constraints import Constraint
from flipwise.model.problem import Problem, as_problem
from flipwise.solvers.exact import feasible_points
from tests.reference import all_spins, brute_force, random_symmetric

CONSTRAINTS = [
    flipwise.Free(),
    flipwise.Cardinality(2),
    flipwise.GroupCounts([0, 0, 1, 1, 1], [1, 2]),
]


@pytest.mark.parametrize("constraint", CONSTRAINTS, ids=repr)
def test_every_feasible_point_comes_once(constraint: Constraint) -> None:
    """And no other does."""
    problem = Problem(flipwise.Quadratic(np.eye(5)), constraint)
    points = [tuple(x.reshape(-1).tolist()) for x in feasible_points(problem)]
    assert sorted(points) == sorted(tuple(x.tolist()) for x in all_spins(5) if constraint.contains(x))
    assert len(set(points)) == len(points)


def test_ranges_and_fixed_variables_are_kept() -> None:
    """The points stand for those of the user's problem."""
    problem = as_problem(flipwise.Quadratic(np.eye(5)), None, None, (1, 2), {0: 1, 4: -1})
    points = {tuple(problem.to_user(x.reshape(problem.shape)).tolist()) for x in feasible_points(problem)}
    expected = {
        tuple(x.astype(int).tolist()) for x in all_spins(5) if x[0] == 1 and x[4] == -1 and 1 <= (x > 0).sum() <= 2
    }
    assert points == expected


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("ones", [None, 3])
def test_the_minimum_is_that_of_a_look_at_all(seed: int, ones: int | None) -> None:
    """Proven, for quadratics and for functions of the user's own."""
    A = np.rint(9.0 * random_symmetric(np.random.default_rng(seed), 7))
    least = brute_force(lambda x: float(x @ A @ x), 7, ones)
    own = flipwise.Smooth(lambda x: (float(x @ A @ x), 2.0 * A @ x), 7)
    for objective in (flipwise.Quadratic(A), own):
        found = flipwise.minimize(objective, count=ones, method="exact", seed=0)
        assert found.value == pytest.approx(least) and found.optimal
