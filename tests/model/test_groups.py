"""Counts in groups: groups by name, and a total beside them."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest

import flipwise
from flipwise.model.counts import MANY, as_cardinality

SECTORS = ["oil", "oil", "banks", None, "banks", "oil"]


def test_groups_may_have_names() -> None:
    """Names are numbered as they come; None and NaN stand for no group, in a table's column too."""
    counts = flipwise.GroupCounts(SECTORS, at_most=1)
    assert counts.groups.tolist() == [0, 0, 1, -1, 1, 0] and counts.names == ("oil", "banks")
    assert counts.violation(np.array([1, 1, -1, -1, -1, -1])) == "it must have at most 1 ones in group 'oil', it has 2"
    column = np.array(["oil", float("nan"), "banks"], dtype=object)
    assert flipwise.GroupCounts(column, 1).groups.tolist() == [0, -1, 1]


def test_counts_by_name() -> None:
    """A dictionary says the count of each group; what a range leaves out has no limit."""
    counts = flipwise.GroupCounts(SECTORS, at_least={"banks": 1}, at_most={"oil": 2})
    assert counts.at_least.tolist() == [0, 1] and counts.at_most.tolist() == [2, MANY]  # type: ignore[union-attr]
    numbered = flipwise.GroupCounts([0, 1, 1, -1], {1: 2, 0: 1})
    assert numbered.ones.tolist() == [1, 2]  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("groups", "given", "words"),
    [
        ([[0, 1, 2], [3, 4]], {"at_most": 1}, "the group of each variable"),
        (SECTORS, {"ones": {"oil": 1}}, "'banks' has none"),
        (SECTORS, {"at_most": {"gas": 1}}, "'gas', which is none"),
        (SECTORS, {"at_most": [1, 2]}, "{group: number}"),
        (SECTORS, {"at_most": {"oil": -1}}, "at least 0"),
        ([0.5, 1.5], {"at_most": 1}, "the group of each variable"),
    ],
)
def test_groups_that_make_no_sense_are_refused(groups: Any, given: Any, words: str) -> None:
    """Members instead of groups, names that are not there, counts without an order."""
    with pytest.raises(flipwise.InvalidInput, match=words):
        flipwise.GroupCounts(groups, **given)


def test_a_pair_is_no_count_of_a_cardinality() -> None:
    """`Cardinality((5, 10))` is refused when it is made, with what to write."""
    with pytest.raises(flipwise.InvalidInput, match=r"at_least=\.\.\., at_most="):
        flipwise.Cardinality((5, 10))  # type: ignore[arg-type]


TOTALS = [2, (1, 3), flipwise.at_most(2), flipwise.at_least(3)]


@pytest.mark.parametrize("total", TOTALS)
@pytest.mark.parametrize("seed", range(3))
def test_a_total_beside_groups(seed: int, total: Any) -> None:
    """At most so many in all and so many in each group: feasible, and the best of all points, by search and proof."""
    rng = np.random.default_rng(seed)
    n = 8
    Q = rng.integers(-9, 10, (n, n))
    Q = Q + Q.T
    groups = np.concatenate([[0, 1, -1], rng.integers(-1, 2, n - 3)])
    inside, whole = flipwise.GroupCounts(groups, at_most=2), as_cardinality(total)
    points = [np.array(point) for point in product((0, 1), repeat=n)]
    least = min(p @ Q @ p for p in points if inside.contains(p) and whole.contains(p))
    for bound in ("auto", "none"):
        result = flipwise.solve_qubo(Q, constraint=inside, count=total, bound=bound, effort=0.05, seed=0)  # type: ignore[arg-type]
        assert inside.contains(result.x) and whole.contains(result.x) and result.value == least
    assert result.info["rows"] in ("moves", "enumeration")


def test_a_total_beside_columns_of_a_function_of_ones_own() -> None:
    """Functions keep both, and fixed variables."""
    f = flipwise.Smooth(lambda x: (-float(x.sum()), -np.ones((4, 3))), (4, 3), variables="binary")
    two = flipwise.ColumnCounts(at_most=2)
    result = flipwise.minimize(f, constraint=two, count=4, fixed={(0, 0): 1}, max_evaluations=60, seed=0)
    assert result.x.sum() == 4 and result.x.sum(axis=0).max() <= 2 and result.x[0, 0] == 1


def test_a_total_that_groups_exclude_is_refused() -> None:
    """The message names the total and the group that leaves no room for it."""
    with pytest.raises(flipwise.InfeasibleModel, match="count") as error:
        flipwise.minimize(-np.eye(4), constraint=flipwise.GroupCounts(["a", "a", "b", "b"], 1), count=3)
    assert "count" in error.value.rows and "count of group 'a'" in error.value.rows


def test_a_total_beside_a_constraint_of_ones_own_is_refused() -> None:
    """Nothing is known of it, so it has to keep the number itself."""
    with pytest.raises(flipwise.InvalidInput, match="beside `ColumnCounts` and `GroupCounts` only"):
        flipwise.minimize(np.eye(3), constraint=flipwise.Cardinality(1), count=1)
