"""Projections against a general quadratic programming solver and against their optimality conditions."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.optimize
from hypothesis import given
from hypothesis import strategies as st

from flipwise import Cardinality, ColumnCounts, Free, GroupCounts
from flipwise.foundation.arrays import largest
from flipwise.solvers import projections
from flipwise.solvers.projections import Polytope, onto_box_with_sum, onto_sphere

CONSTRAINTS = [
    (Free(), (6,)),
    (Cardinality(2), (6,)),
    (Cardinality(0), (6,)),
    (Cardinality(6), (6,)),
    (ColumnCounts([1, 2]), (4, 2)),
    (GroupCounts([0, 1, 0, 1, 1, 1], [1, 3]), (6,)),
]


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize(("constraint", "shape"), CONSTRAINTS, ids=lambda v: str(v)[:24])
def test_against_a_quadratic_program(constraint, shape, seed) -> None:
    """The projection is the point that SLSQP finds for min |x - y|^2 over the polytope."""
    polytope = Polytope(constraint, shape)
    y = 2.0 * np.random.default_rng(seed).standard_normal(polytope.n)
    sums = [
        {"type": "eq", "fun": lambda x, inside=inside, total=total: x[inside].sum() - total}
        for inside, total in zip(polytope.members, polytope.sums)
    ]
    answer = scipy.optimize.minimize(
        lambda x: ((x - y) ** 2).sum(),
        polytope.centre(),
        jac=lambda x: 2.0 * (x - y),
        bounds=[(-1.0, 1.0)] * polytope.n,
        constraints=sums,
        method="SLSQP",
        options={"ftol": 1e-14, "maxiter": 500},
    )
    assert np.allclose(polytope.project(y), answer.x, atol=1e-5)


@given(
    st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=40),
    st.floats(0.0, 1.0),
    st.integers(0, 3),
)
def test_sum_projection_is_optimal(values, share, repeat) -> None:
    """x = clip(y - t, -1, 1) for one t, with the right sum, for any numbers and many ties."""
    y = np.repeat(np.array(values), repeat + 1)
    total = (2.0 * share - 1.0) * y.size
    x = onto_box_with_sum(y, total)
    assert x.sum() == pytest.approx(total, abs=1e-6 + 1e-10 * np.abs(y).max() * y.size)
    assert (np.abs(x) <= 1.0).all()
    inside = np.abs(x) < 1.0 - 1e-9
    if inside.any():
        levels = (y - x)[inside]
        scale = 1e-6 * (1.0 + np.abs(y).max())
        assert np.ptp(levels) <= scale
        assert ((y - levels[0])[x >= 1.0] >= 1.0 - scale).all()
        assert ((y - levels[0])[x <= -1.0] <= -1.0 + scale).all()


@pytest.mark.kernels
@given(st.integers(0, 1000), st.sampled_from([0.0, 0.01, 0.5, 0.99]), st.sampled_from([1e-3, 1.0, 50.0]))
def test_both_ways_to_the_level_agree(seed, share, scale) -> None:
    """Newton's method and the halving of breakpoints find the same projection."""
    y = scale * np.random.default_rng(seed).standard_normal(60)
    total = (2.0 * share - 1.0) * y.size
    newton, halved = projections.newton_level(y, total), projections.breakpoint_level(y, total)
    if newton is not None and abs(total) < y.size:
        assert np.allclose(np.clip(y - newton, -1, 1), np.clip(y - halved, -1, 1), atol=1e-9)


def test_box_with_sum_and_sphere() -> None:
    """A count of 7 sums to 7 - 43 within the box; the sphere's point has the radius and the direction."""
    y = np.random.default_rng(0).standard_normal(50)
    x = onto_box_with_sum(y, 7 - 43)
    assert x.sum() == pytest.approx(7 - 43) and x.min() >= -1.0 and x.max() <= 1.0
    z = onto_sphere(y, 3.0)
    assert np.linalg.norm(z) == pytest.approx(3.0)
    assert np.allclose(np.cross(z[:3], y[:3]), 0.0) and z @ y > 0.0
    assert np.linalg.norm(onto_sphere(np.zeros(4), 2.0)) == pytest.approx(2.0)


def test_tangent_and_centre() -> None:
    """Directions keep the sums, the centre is the mean of all points."""
    polytope = Polytope(GroupCounts([0, 1, 0, 1, 1], [1, 2]), (5,))
    d = polytope.tangent(np.arange(5.0))
    assert all(d[inside].sum() == pytest.approx(0.0) for inside in polytope.members)
    assert np.allclose(polytope.centre(), [0.0, 1 / 3, 0.0, 1 / 3, 1 / 3])
    assert np.allclose(polytope.project(np.zeros(5)), polytope.centre())


@given(st.lists(st.integers(-3, 3), min_size=1, max_size=30), st.integers(0, 30))
def test_largest_is_a_stable_sort(values, count) -> None:
    """Selection in O(n) gives what a stable sort gives, ties by index."""
    scores = np.array(values, dtype=float)
    count = min(count, scores.size)
    assert np.array_equal(largest(scores, count), np.sort(np.argsort(-scores, kind="stable")[:count]))
