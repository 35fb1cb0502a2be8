"""Fixed members by name: `fixed`, `include` and `exclude`, and tables of pandas whose rows and columns have names."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import flipwise

Q = np.array([[-1.0, 2.0, 0.0], [2.0, -3.0, 1.0], [0.0, 1.0, 1.0]])
MODEL = {("a", "b"): 4.0, ("a", "a"): -1.0, ("b", "b"): -3.0, ("b", "c"): 2.0, ("c", "c"): 1.0}


def test_members_are_short_for_fixed() -> None:
    """Included variables are 1 and excluded ones 0, by index, by label, beside `fixed`; -1 among spins."""
    quadratic = flipwise.Quadratic(Q, variables="binary")
    assert flipwise.minimize(quadratic, include=[0], exclude=[1], seed=0).x.tolist() == [1, 0, 0]
    result = flipwise.solve_qubo(MODEL, include=["a"], fixed={"c": 1}, exclude=["b"], seed=0)
    assert dict(zip(result.info["labels"], result.x.tolist(), strict=True)) == {"a": 1, "b": 0, "c": 1}
    spins = flipwise.solve_ising({"a": -1.0}, {("a", "b"): -1.0}, exclude=["a"], seed=0)
    assert spins.x.tolist() == [-1, -1]


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"include": ["a"], "exclude": ["a"]}, "'a', to which another value"),
        ({"include": ["a"], "fixed": {"a": 0}}, "'a', to which another value"),
        ({"include": "a"}, r"Write \['a'\]"),
        ({"exclude": 3}, r"Write \[3\]"),
        ({"exclude": ["z"]}, "'z', which is none of the 3"),
    ],
)
def test_members_that_make_no_sense_are_refused(given: dict[str, Any], words: str) -> None:
    """Twice with different values, no list, a name that is not there."""
    with pytest.raises(flipwise.InvalidInput, match=words):
        flipwise.solve_qubo(MODEL, **given)


def test_tables_name_their_variables() -> None:
    """The columns of a table are labels for `fixed`, `rows` and the result, whatever the order of its rows."""
    pandas = pytest.importorskip("pandas")
    table = pandas.DataFrame(Q, index=list("abc"), columns=list("abc"))
    for each in (table, table.loc[["c", "a", "b"]]):
        result = flipwise.solve_qubo(each, include=["a"], rows=[({"a": 1, "b": 1}, "<=", 1)], seed=0)
        assert result.value == -1.0 and dict(zip(result.info["labels"], result.x.tolist(), strict=True))["a"] == 1
        assert flipwise.solve_qubo(each, seed=0).value == flipwise.solve_qubo(Q, seed=0).value
    assert flipwise.minimize(table, exclude=["b"], seed=0).info["labels"] == ["a", "b", "c"]
    h = pandas.Series([3.0, 0.0, 0.0], index=["c", "a", "b"])
    assert flipwise.solve_ising(h, table, seed=0).value == flipwise.solve_ising([0.0, 0.0, 3.0], Q, seed=0).value
    assert "labels" not in flipwise.solve_qubo(pandas.DataFrame(Q), seed=0).info


def test_tables_with_different_names_are_refused() -> None:
    """Rows that are not the columns, or names that occur twice, would be misread."""
    pandas = pytest.importorskip("pandas")
    with pytest.raises(flipwise.InvalidInput, match="the same names"):
        flipwise.solve_qubo(pandas.DataFrame(Q, index=list("abc"), columns=list("abz")))
    with pytest.raises(flipwise.InvalidInput, match="different names"):
        flipwise.minimize(pandas.DataFrame(Q, index=list("aac"), columns=list("aac")))
