"""Which columns of a table hold the ends and the weight of an edge."""

from __future__ import annotations

from typing import Any

import pytest

from flipwise import InvalidFile, InvalidInput
from flipwise.graphs.formats.tables import EdgeColumns, check_columns, choose_columns, is_column_name, named_ends


@pytest.mark.parametrize(
    ("first", "second"),
    [("source", "target"), ("SRC", "dst"), ("from_node_id", "to_node_id"), ("node1", "node2"), ("user_a", "user_b")],
)
def test_usual_names_are_known_on_their_side_only(first: str, second: str) -> None:
    """In any order, among other columns."""
    assert is_column_name(first, 0) and is_column_name(second, 1)
    assert not is_column_name(first, 1) and not is_column_name(second, 0)
    assert named_ends(["label", second, "year", first]) == (3, 1)


@pytest.mark.parametrize(
    "names", [["a", "x", "b"], ["src", "from", "target"], ["year", "label", "note"], ["source", "note"]]
)
def test_names_that_settle_nothing_are_not_guessed_at(names: list[str]) -> None:
    """A letter alone, two columns for one side, none for the other."""
    assert named_ends(names) is None


def test_source_and_target_are_plainer_than_other_names() -> None:
    """Also where another column could be the first end."""
    assert named_ends(["source", "src", "target"]) == (0, 2)


def test_two_columns_besides_the_weight_need_no_names() -> None:
    """More of them do, and a name that is there twice settles nothing."""
    assert choose_columns(["p", "q"], "t", InvalidFile) == EdgeColumns("p", "q", None)
    assert choose_columns(["p", "W", "q"], "t", InvalidFile) == EdgeColumns("p", "q", "W")
    assert choose_columns(["p", "W", "q"], "t", InvalidFile, weighted=False).weight is None
    for names, words in ((["p", "q", "r"], "which of the columns"), (["p", "p"], "several columns called 'p'")):
        with pytest.raises(InvalidFile, match=words):
            choose_columns(names, "t", InvalidFile)
    with pytest.raises(InvalidFile, match="no weight column"):
        choose_columns(["p", "q"], "t", InvalidFile, weighted=True)


def test_columns_that_the_caller_names_are_taken_as_they_are() -> None:
    """One that is not there is an error of the call, not of the file."""
    names = ["source", "target", "p", "q", "r"]
    assert choose_columns(names, "t", InvalidFile, columns=["p", "q"]) == EdgeColumns("p", "q", None)
    assert choose_columns(names, "t", InvalidFile, columns=["p", "q", "r"]) == EdgeColumns("p", "q", "r")
    with pytest.raises(InvalidInput, match="0 columns called 's'"):
        choose_columns(names, "t", InvalidFile, columns=["p", "s"])
    with pytest.raises(InvalidInput, match="`weighted` is True"):
        choose_columns(names, "t", InvalidFile, columns=["p", "q"], weighted=True)


@pytest.mark.parametrize("columns", ["pq", ["p"], ["p", "p"], ["p", 2], ["p", "q", "r", "s"], 3])
def test_columns_are_two_or_three_different_names(columns: Any) -> None:
    """A text is no list of names."""
    check_columns(("p", "q"))
    with pytest.raises(InvalidInput, match="`columns` must be"):
        check_columns(columns)
