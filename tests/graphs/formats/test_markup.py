"""Texts and values as XML holds them."""

from __future__ import annotations

from typing import Any
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flipwise import InvalidInput
from flipwise.graphs.formats.markup import kind_of, quoted, value_text

PLAIN = st.text(st.characters(exclude_categories=["Cs", "Cc", "Cn"]) | st.sampled_from("\t\n\r<>&'\""))


@given(PLAIN)
def test_a_quoted_text_is_read_back_as_it_was(text: str) -> None:
    """Also its line ends and tabs, which a parser would make blanks."""
    assert ElementTree.fromstring(f"<a b={quoted(text)}/>").get("b") == text


@pytest.mark.parametrize("text", ["a\0b", "\x1b[0m", "\ud800", "\uffff"])
def test_a_character_that_xml_cannot_hold_is_refused(text: str) -> None:
    """With a way out."""
    with pytest.raises(InvalidInput, match="Rename the node"):
        quoted(text)


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        ([True, False], "boolean"),
        ([1, 2], "long"),
        ([1.0, 2.5], "double"),
        ([1, 2.5], "string"),
        ([True, 1], "string"),
        (["a"], "string"),
        ([], "string"),
    ],
)
def test_a_column_has_a_type_when_all_its_values_have(values: list[Any], kind: str) -> None:
    """Truth values are no integers."""
    assert kind_of(values) == kind


def test_truth_values_are_written_as_xml_has_them() -> None:
    """In small letters."""
    assert [value_text(value) for value in (True, False, 1, 2.5, "True")] == ["true", "false", "1", "2.5", "True"]
