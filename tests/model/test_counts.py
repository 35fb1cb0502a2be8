"""Exact numbers of ones, in the whole array, in each column and in each group: hand-computed cases and the edges."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import flipwise
from flipwise.model.constraints import Constraint
from tests.reference import all_spins

INTERLEAVED = flipwise.GroupCounts([0, 1, 0, 1, 1, 0], [1, 2])


def test_one_variable_has_a_group_of_its_own() -> None:
    """The smallest array there is, at both of its counts."""
    for r, spin in ((0, -1.0), (1, 1.0)):
        for constraint in (flipwise.Cardinality(r), flipwise.GroupCounts([0], [r])):
            constraint.check((1,))
            assert constraint.random((1,), np.random.default_rng(0)).tolist() == [spin]
            assert constraint.project(np.array([0.0])).tolist() == [spin]
            assert constraint.gauge(np.array([3.0])).tolist() == [3.0]


@pytest.mark.parametrize("r", [np.int64(2), np.uint8(2), np.int32(2)])
def test_counts_may_be_integers_of_numpy(r: Any) -> None:
    """A count computed by NumPy is as good as any."""
    y = np.array([[1.0, 2.0], [3.0, 4.0], [0.0, 0.0]])
    assert flipwise.Cardinality(r).project(y).tolist() == [[-1, -1], [1, 1], [-1, -1]]
    assert flipwise.ColumnCounts(r) == flipwise.ColumnCounts(2)
    assert flipwise.ColumnCounts([r, r]).ones == (2, 2)


@pytest.mark.parametrize("value", [-1, 1.0, 2.5, True, "2", None])
def test_what_is_no_count_is_refused_by_name(value: Any) -> None:
    """The error names the argument and the value."""
    with pytest.raises(flipwise.InvalidInput, match=r"^`count` must be an integer of at least 0") as error:
        flipwise.Cardinality(value)
    assert repr(value) in str(error.value)
    with pytest.raises(flipwise.InvalidInput, match=r"^`ones` must be an integer of at least 0"):
        flipwise.ColumnCounts([value])
    with pytest.raises(flipwise.InvalidInput, match=r"^`ones` must be an integer of at least 0"):
        flipwise.ColumnCounts([1, value])


@pytest.mark.parametrize("ones", [[-1, 1], [1, -1], [-2, -2], [[1, 1]], [1.0, 1.0], ["1", "1"]])
def test_the_counts_of_groups_are_a_list_of_integers(ones: Any) -> None:
    """One negative count is enough to be refused."""
    with pytest.raises(flipwise.InvalidInput, match=r"^`ones` must be a list of integers of at least 0"):
        flipwise.GroupCounts([0, 1], ones)


@pytest.mark.parametrize("groups", [np.empty(0, dtype=int), [0.0, 1.0], [0, -2], [-3, -1], [True, False]])
def test_the_groups_are_numbers_from_0_or_names(groups: Any) -> None:
    """An empty array of integers is refused too."""
    with pytest.raises(flipwise.InvalidInput, match=r"^`groups` must be a nonempty array with the group of each"):
        flipwise.GroupCounts(groups, [1, 1])


def test_a_group_without_a_count_is_named() -> None:
    """The largest group decides, wherever it stands."""
    with pytest.raises(flipwise.InvalidInput, match="`ones` has 2 counts, but `groups` names group 2"):
        flipwise.GroupCounts([0, 2, 1], [1, 1])
    flipwise.GroupCounts([0, 1, 1], [1, 1]).check((3,))


@pytest.mark.parametrize(
    ("constraint", "shape", "words"),
    [
        (flipwise.ColumnCounts(1), (4,), r"shape \(n, r\), got shape \(4,\)"),
        (flipwise.ColumnCounts(1), (2, 2, 2), r"got shape \(2, 2, 2\)"),
        (flipwise.ColumnCounts([1, 1, 1]), (4, 2), "each of the 2 columns, got 3"),
        (flipwise.ColumnCounts([4, 5]), (4, 2), "ones in group 1 must be between 0 and the 4 variables there, got 5"),
        (flipwise.ColumnCounts(5), (4, 1), "ones must be between 0 and the 4 variables there, got 5"),
        (INTERLEAVED, (5,), r"`groups` has 6 entries, the variable has shape \(5,\)"),
        (flipwise.GroupCounts([0, 0], [1, 1]), (2,), "in group 1 must be between 0 and the 0 variables there, got 1"),
    ],
)
def test_a_shape_that_does_not_fit_is_refused(constraint: Constraint, shape: tuple[int, ...], words: str) -> None:
    """The error says what the constraint needs and what the variable is."""
    with pytest.raises(flipwise.InvalidInput, match=words):
        constraint.check(shape)


@pytest.mark.parametrize(
    ("constraint", "shape"),
    [
        (flipwise.Cardinality(6), (2, 3)),
        (flipwise.Cardinality(0), (2, 3)),
        (flipwise.ColumnCounts(2), (2, 3)),
        (flipwise.ColumnCounts([0, 1, 2]), (2, 3)),
        (INTERLEAVED, (6,)),
        (INTERLEAVED, (2, 3)),
        (flipwise.GroupCounts([[0, 1], [1, 0]], [2, 0]), (2, 2)),
        (flipwise.GroupCounts([0, 2], [1, 0, 1]), (2,)),
    ],
)
def test_random_points_are_all_feasible_points(constraint: Constraint, shape: tuple[int, ...]) -> None:
    """Every draw is feasible in the shape asked for, and every feasible point is drawn."""
    constraint.check(shape)
    rng = np.random.default_rng(0)
    drawn = [constraint.random(shape, rng) for _ in range(200)]
    assert all(x.shape == shape and constraint.contains(x) for x in drawn)
    feasible = [x for x in all_spins(int(np.prod(shape))) if constraint.contains(x.reshape(shape))]
    assert {tuple(x.reshape(-1).tolist()) for x in drawn} == {tuple(x.tolist()) for x in feasible}


def test_spins_and_bits_are_counted_alike() -> None:
    """A point in 0/1 variables is judged like the same point in -1/+1."""
    for x in all_spins(6):
        wrong = INTERLEAVED.violation(x)
        assert wrong == INTERLEAVED.violation((x + 1) / 2) == INTERLEAVED.violation(((x + 1) // 2).astype(np.int8))
        assert INTERLEAVED.contains(x) == (wrong is None) == (x[[0, 2, 5]].sum() == -1 and x[[1, 3, 4]].sum() == 1)


def test_the_first_wrong_group_is_described() -> None:
    """Its number, what it must have and what it has; no number where there is one group only."""
    assert INTERLEAVED.violation(-np.ones(6)) == "it must have exactly 1 ones in group 0, it has 0"
    wrong = INTERLEAVED.violation(np.array([1, 1, -1, 1, 1, -1]))
    assert wrong == "it must have exactly 2 ones in group 1, it has 3"
    assert flipwise.Cardinality(1).violation(np.ones((2, 2))) == "it must have exactly 1 ones, it has 4"
    assert (
        flipwise.ColumnCounts([1, 2]).violation(np.ones((2, 2))) == "it must have exactly 1 ones in group 0, it has 2"
    )
    assert flipwise.ColumnCounts([1, 2]).violation(np.array([[-1, 1], [1, 1]])) is None


@given(st.lists(st.integers(-3, 3), min_size=6, max_size=6))
def test_projections_of_several_groups_are_nearest(entries: list[int]) -> None:
    """Against every feasible point, ties by index: the first of the nearest in reversed order of bits."""
    y = np.array(entries, dtype=float)
    feasible = [x for x in all_spins(6)[::-1] if INTERLEAVED.contains(x)]
    nearest = min(feasible, key=lambda x: float(((x - y) ** 2).sum()))
    assert INTERLEAVED.project(y).tolist() == nearest.tolist()
    assert INTERLEAVED.project(y.reshape(3, 2)).tolist() == nearest.reshape(3, 2).tolist()


def test_projections_of_columns_and_of_more_axes() -> None:
    """Columns one by one; an array of three axes under one count keeps its shape."""
    y = np.array([[0.2, 5.0], [0.9, 4.0], [-1.0, 6.0]])
    assert flipwise.ColumnCounts([1, 2]).project(y).tolist() == [[-1, 1], [1, -1], [-1, 1]]
    cube = np.arange(8.0).reshape(2, 2, 2)
    assert flipwise.Cardinality(3).project(cube).tolist() == [[[-1, -1], [-1, -1]], [[-1, 1], [1, 1]]]


def test_every_group_has_a_gauge_of_its_own() -> None:
    """The level lies between the r smallest entries of the group and its others, wherever they stand in the array."""
    g = np.array([9.0, 100.0, 1.0, 104.0, 110.0, 5.0])  # group 0: 9, 1, 5 with one 1; group 1: 100, 104, 110 with two
    assert INTERLEAVED.gauge(g).tolist() == [6.0, -7.0, -2.0, -3.0, 3.0, 2.0]
    assert INTERLEAVED.gauge(g.reshape(2, 3)).tolist() == [[6.0, -7.0, -2.0], [-3.0, 3.0, 2.0]]
    assert g.tolist() == [9.0, 100.0, 1.0, 104.0, 110.0, 5.0]  # the argument is left alone
    columns = flipwise.ColumnCounts([1, 2]).gauge(np.array([[0.0, 8.0], [4.0, 2.0], [10.0, 0.0]]))
    assert columns.tolist() == [[-2.0, 3.0], [2.0, -3.0], [8.0, -5.0]]


@given(st.integers(2, 20), st.integers(0, 2**31))
def test_the_gauge_of_each_group_separates_its_smallest_entries(n: int, seed: int) -> None:
    """In every group with a choice exactly its count of entries is negative, and these are its smallest."""
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, 3, n)
    counts = [int(rng.integers(0, size + 1)) for size in np.bincount(labels, minlength=3)]
    g = rng.standard_normal(n) + 50.0 * labels
    fixed = flipwise.GroupCounts(labels, counts).gauge(g)
    for group, r in enumerate(counts):
        inside = np.flatnonzero(labels == group)
        if 0 < r < inside.size:
            order = inside[np.argsort(g[inside])]
            level = (g[order[r - 1]] + g[order[r]]) / 2
            assert fixed[inside] == pytest.approx(g[inside] - level)
        else:
            assert fixed[inside].tolist() == g[inside].tolist()


def test_pairs_are_the_strongest_of_each_group_strongest_first() -> None:
    """In group 0 two of three leave for two; in group 1 one of two is replaced; an empty side pairs nothing."""
    labels = np.array([0, 0, 0, 0, 0, 1, 1, 1, 2, 2])
    constraint = flipwise.GroupCounts(labels, [3, 1, 1])
    g = np.array([1.0, 3.0, 2.0, -1.0, -5.0, 7.0, -2.0, -4.0, 9.0, -9.0])
    plus, minus = np.array([0, 1, 2, 5, 8]), np.array([3, 4, 6, 7])
    assert constraint.pair(plus, minus, g).tolist() == [[1, 4], [2, 3], [5, 7]]
    assert constraint.pair(plus, minus, g.reshape(2, 5)).tolist() == [[1, 4], [2, 3], [5, 7]]
    nothing = constraint.pair(plus[:0], minus, g)
    assert nothing.shape == (0, 2)


@given(st.integers(0, 2**31))
def test_pairs_lower_a_linear_function_as_far_as_the_sides_allow(seed: int) -> None:
    """No other pairing of as many entries of each group has a larger sum of strengths."""
    rng = np.random.default_rng(seed)
    g = rng.standard_normal(6)
    x = INTERLEAVED.random((6,), rng)
    plus, minus = np.flatnonzero((x > 0) & (g > -0.5)), np.flatnonzero((x < 0) & (g < 0.5))
    pairs = INTERLEAVED.pair(plus, minus, g)
    labels = INTERLEAVED.labels((6,))
    for group in (0, 1):
        out, into = plus[labels[plus] == group], minus[labels[minus] == group]
        own = pairs[labels[pairs[:, 0]] == group]
        m = min(out.size, into.size)
        assert len(own) == m
        best = max(
            g[list(a)].sum() - g[list(b)].sum()
            for a in itertools.combinations(out, m)
            for b in itertools.combinations(into, m)
        )
        assert g[own[:, 0]].sum() - g[own[:, 1]].sum() == pytest.approx(best)


@pytest.mark.parametrize("seed", range(3))
def test_one_group_is_one_count(seed: int) -> None:
    """GroupCounts with a single group does everything that Cardinality does."""
    rng = np.random.default_rng(seed)
    one, same = flipwise.Cardinality(3), flipwise.GroupCounts(np.zeros(8, dtype=int), [3])
    y = rng.standard_normal(8)
    x = one.random((8,), np.random.default_rng(seed))
    assert x.tolist() == same.random((8,), np.random.default_rng(seed)).tolist()
    assert one.project(y).tolist() == same.project(y).tolist()
    assert one.gauge(y).tolist() == same.gauge(y).tolist()
    plus, minus = np.flatnonzero(x > 0), np.flatnonzero(x < 0)
    assert one.pair(plus, minus, y).tolist() == same.pair(plus, minus, y).tolist()
    assert [part.tolist() for part in one.members((8,))] == [part.tolist() for part in same.members((8,))]
    assert one.labels((8,)).tolist() == same.labels((8,)).tolist()
    assert one.counts((8,)).tolist() == same.counts((8,)).tolist()


@pytest.mark.parametrize("k", range(4))
def test_a_range_of_one_number_is_that_number(k: int) -> None:
    """In every function, its certificate included."""
    assert flipwise.Cardinality(at_least=k, at_most=k) == flipwise.Cardinality(k)
    Q = np.array([[1.0, -3.0, 0.5], [-3.0, 2.0, 1.0], [0.5, 1.0, -1.0]])
    ranged, exact = (flipwise.solve_qubo(Q, count=count, seed=0) for count in ((k, k), k))
    assert ranged.value == exact.value == ranged.bound
    assert ranged.certificate is not None and flipwise.verify(Q, ranged.certificate, count=k) == ranged.bound
    assert flipwise.minimize(Q, count=(k, k), pool="optima").optimal
    assert flipwise.minimize(lambda x: (float(x @ Q @ x), 2 * Q @ x), 3, count=(k, k), seed=0).x.sum() == 2 * k - 3
