"""Feasible sets: random points, projections, gauges and pairings."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import flipwise
from flipwise.model.constraints import Constraint
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


def test_messages_name_the_group_only_where_there_are_several() -> None:
    """One count needs no number of a group; several do."""
    with pytest.raises(flipwise.InvalidInput) as single:
        flipwise.Cardinality(4).check((3,))
    assert str(single.value) == "the number of ones must be between 0 and the 3 variables there, got 4."
    with pytest.raises(
        flipwise.InvalidInput, match="ones in group 1 must be between 0 and the 2 variables there, got 3"
    ):
        flipwise.GroupCounts([0, 1, 1], [1, 3]).check((3,))
    flipwise.GroupCounts([0, 1, 1], [0, 2]).check((3,))
    flipwise.Cardinality(0).check((3,))
    flipwise.Cardinality(3).check((3,))


def test_what_a_solver_asks_of_a_feasible_set() -> None:
    """Whether moves are swaps, the group of each entry, the entries of each group."""
    assert not flipwise.Free().swaps and flipwise.Cardinality(1).swaps and flipwise.ColumnCounts(1).swaps
    assert flipwise.Free().labels((2, 3)).tolist() == [0] * 6
    assert flipwise.Cardinality(1).labels((2, 2)).tolist() == [0] * 4
    columns = flipwise.ColumnCounts(1)
    assert columns.ones == 1 and flipwise.ColumnCounts([1, 2]).ones == (1, 2)
    assert columns.labels((2, 3)).tolist() == [0, 1, 2, 0, 1, 2] and columns.counts((2, 3)).tolist() == [1, 1, 1]
    assert [part.tolist() for part in columns.members((2, 3))] == [[0, 3], [1, 4], [2, 5]]
    groups = flipwise.GroupCounts([2, 0, 2, 0], [1, 0, 2])
    assert [part.tolist() for part in groups.members((4,))] == [[1, 3], [], [0, 2]]
    assert groups.labels((4,)).tolist() == [2, 0, 2, 0] and groups.counts((4,)).tolist() == [1, 0, 2]


@pytest.mark.parametrize("constraint", [flipwise.Free(), flipwise.Cardinality(500), flipwise.ColumnCounts(250)])
def test_random_points_are_binary_balanced_and_differ(constraint: Constraint) -> None:
    """-1 and +1 in the shape asked for, half of each, another point with another generator."""
    rng = np.random.default_rng(0)
    x, y = constraint.random((500, 2), rng), constraint.random((500, 2), rng)
    assert x.shape == (500, 2) and set(np.unique(x)) == {-1.0, 1.0}
    assert abs(x.sum()) < 150 and not np.array_equal(x, y)
    assert 300 < np.count_nonzero(x != y) < 700


def test_projections_at_ties_and_in_matrices() -> None:
    """Zero counts as +1 without a count; under a count the earlier entry wins; the shape stays."""
    assert flipwise.Free().project(np.array([0.0, -0.0, -1e-300])).tolist() == [1.0, 1.0, -1.0]
    assert flipwise.Cardinality(2).project(np.zeros((2, 2))).tolist() == [[1.0, 1.0], [-1.0, -1.0]]
    assert flipwise.ColumnCounts([0, 2]).project(np.zeros((2, 2))).tolist() == [[-1.0, 1.0], [-1.0, 1.0]]


def test_the_gauge_lies_half_way_and_leaves_full_and_empty_groups_alone() -> None:
    """The level is the middle between the r-th and the next entry of each group; no level where there is no choice."""
    g = np.array([0.0, 4.0, 10.0])
    assert flipwise.Cardinality(1).gauge(g).tolist() == [-2.0, 2.0, 8.0]
    assert flipwise.Cardinality(2).gauge(g).tolist() == [-7.0, -3.0, 3.0]
    assert flipwise.Cardinality(0).gauge(g).tolist() == g.tolist() == flipwise.Cardinality(3).gauge(g).tolist()
    mixed = flipwise.GroupCounts([0, 0, 1], [1, 1]).gauge(g)
    assert mixed.tolist() == [-2.0, 2.0, 10.0]
    assert flipwise.Free().gauge(g) is g and g.tolist() == [0.0, 4.0, 10.0]


def test_pairs_stay_within_their_groups() -> None:
    """Entries are exchanged inside a group only, equal strengths in their order; without a count all flip."""
    plus, minus = np.array([0, 1, 4]), np.array([2, 3, 5])
    pairs = flipwise.GroupCounts([0, 0, 0, 1, 1, 1], [2, 1]).pair(plus, minus, np.zeros(6))
    assert pairs.tolist() == [[0, 2], [4, 3]]
    assert flipwise.Free().pair(plus, minus, np.zeros(6)).tolist() == [0, 1, 4, 2, 3, 5]


@pytest.mark.parametrize("groups", [[0.5, 1.0], [-2, 0], [[]]])
def test_groups_must_be_numbers_from_0(groups: list[object]) -> None:
    """Fractions, negative numbers and nothing at all are refused."""
    with pytest.raises(flipwise.InvalidInput, match=r"`groups` must be"):
        flipwise.GroupCounts(groups, [1, 1])
    with pytest.raises(flipwise.InvalidInput, match="list of integers"):
        flipwise.GroupCounts([0, 1], [[1, 1]])
    with pytest.raises(flipwise.InvalidInput, match="list of integers"):
        flipwise.GroupCounts([0, 1], [0.5, 1.0])
