"""Feasible sets: random points, projections, gauges and pairings."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import flipwise
from flipwise.constraints import Constraint
from tests.reference import all_spins


def _constraint(kind: str, n: int, rng: np.random.Generator) -> Constraint:
    if kind == "free":
        return flipwise.Free()
    if kind == "cardinality":
        return flipwise.Cardinality(int(rng.integers(0, n + 1)))
    groups = rng.integers(0, 3, n)
    sizes = np.bincount(groups, minlength=3)
    return flipwise.GroupCounts(groups, [int(rng.integers(0, s + 1)) for s in sizes])


KINDS = st.sampled_from(["free", "cardinality", "groups"])


@given(KINDS, st.integers(1, 9), st.integers(0, 2**31))
def test_projection_is_the_nearest_feasible_point(kind: str, n: int, seed: int) -> None:
    """No feasible point is nearer than the projection, and projecting twice changes nothing."""
    rng = np.random.default_rng(seed)
    constraint = _constraint(kind, n, rng)
    y = rng.standard_normal(n)
    x = constraint.project(y)
    assert constraint.contains(x)
    feasible = [p for p in all_spins(n) if constraint.contains(p)]
    assert np.linalg.norm(x - y) <= min(np.linalg.norm(p - y) for p in feasible) + 1e-12
    assert np.array_equal(constraint.project(x), x)


@given(KINDS, st.integers(1, 30), st.integers(0, 2**31))
def test_random_points_and_paired_flips_are_feasible(kind: str, n: int, seed: int) -> None:
    """A random point is feasible, and stays so after the paired flips of any two sets."""
    rng = np.random.default_rng(seed)
    constraint = _constraint(kind, n, rng)
    x = constraint.random((n,), rng)
    assert constraint.contains(x)
    g = rng.standard_normal(n)
    plus = np.flatnonzero((x > 0) & (rng.random(n) < 0.7))
    minus = np.flatnonzero((x < 0) & (rng.random(n) < 0.7))
    moves = constraint.pair(plus, minus, g)
    x[moves.reshape(-1)] *= -1
    assert constraint.contains(x)


@given(st.integers(2, 30), st.integers(0, 2**31))
def test_pairing_takes_the_strongest_of_both_sides(n: int, seed: int) -> None:
    """Under a count the m largest of each side flip, strongest first."""
    rng = np.random.default_rng(seed)
    constraint = flipwise.Cardinality(n // 2)
    x = constraint.random((n,), rng)
    g = rng.standard_normal(n)
    plus, minus = np.flatnonzero(x > 0)[1:], np.flatnonzero(x < 0)
    pairs = constraint.pair(plus, minus, g)
    m = min(plus.size, minus.size)
    assert pairs[:, 0].tolist() == sorted(plus.tolist(), key=lambda i: -g[i])[:m]
    assert pairs[:, 1].tolist() == sorted(minus.tolist(), key=lambda j: g[j])[:m]


@given(st.integers(2, 30), st.integers(0, 2**31))
def test_the_gauge_separates_the_r_smallest_entries(n: int, seed: int) -> None:
    """After the gauge exactly r entries are negative, in the same order; differences are untouched."""
    rng = np.random.default_rng(seed)
    r = int(rng.integers(1, n))
    g = rng.standard_normal(n)
    fixed = flipwise.Cardinality(r).gauge(g)
    assert np.count_nonzero(fixed < 0) == r
    assert np.ptp(fixed - g) <= 1e-12 and set(np.argsort(g)[:r]) == set(np.flatnonzero(fixed < 0))


def test_columns_of_a_matrix_are_counted_one_by_one() -> None:
    """ColumnCounts is GroupCounts with the columns as groups."""
    rng = np.random.default_rng(0)
    columns, groups = flipwise.ColumnCounts([1, 2, 3]), flipwise.GroupCounts(np.tile([0, 1, 2], 5), [1, 2, 3])
    y = rng.standard_normal((5, 3))
    assert np.array_equal(columns.project(y), groups.project(y))
    assert np.array_equal(columns.gauge(y), groups.gauge(y))
    assert (columns.random((5, 3), rng) > 0).sum(axis=0).tolist() == [1, 2, 3]


@pytest.mark.parametrize(
    ("make", "shape", "words"),
    [
        (lambda: flipwise.Cardinality(-1), (3,), "at least 0"),
        (lambda: flipwise.Cardinality(2.5), (3,), "integer"),  # type: ignore[arg-type]
        (lambda: flipwise.Cardinality(True), (3,), "integer"),
        (lambda: flipwise.Cardinality(4), (3,), "between 0 and"),
        (lambda: flipwise.ColumnCounts(2), (3,), "matrix variable"),
        (lambda: flipwise.ColumnCounts([1, 1]), (3, 3), "each of the 3 columns"),
        (lambda: flipwise.ColumnCounts(4), (3, 3), "between 0 and"),
        (lambda: flipwise.GroupCounts([0, 1], [1]), (2,), "names group 1"),
        (lambda: flipwise.GroupCounts([], [1]), (2,), "nonempty"),
        (lambda: flipwise.GroupCounts([0, 0], [-1]), (2,), "at least 0"),
        (lambda: flipwise.GroupCounts([0, 0], [1]), (3,), "has 2 entries"),
        (lambda: flipwise.GroupCounts([0, 0], [3]), (2,), "between 0 and"),
    ],
)
def test_impossible_counts_are_refused(make, shape, words) -> None:  # type: ignore[no-untyped-def]
    """A constraint that cannot be met says why."""
    with pytest.raises(flipwise.InvalidInput, match=words):
        make().check(shape)


def test_a_violation_is_described() -> None:
    """The message says what is required and what was found."""
    assert flipwise.Cardinality(2).violation(np.array([1, -1, -1])) == "it must have exactly 2 ones, it has 1"
    assert "group 1" in str(flipwise.GroupCounts([0, 1], [1, 1]).violation(np.array([1, 0])))
