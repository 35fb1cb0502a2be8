"""Tables of numbers in text: right ones are read, and a wrong line is named."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from flipwise import InvalidFile
from flipwise.qubo.formats.text import counts, index_pairs, read_lines, table, write_text

PATH = Path("model.txt")


@given(st.lists(st.tuples(st.integers(-9, 9), st.floats(-1e9, 1e9)), max_size=8))
def test_numbers_come_back_as_they_were_written(rows: list[tuple[int, float]]) -> None:
    """To the last bit."""
    lines = [f"{first} {second!r}" for first, second in rows]
    assert table(PATH, lines, 1, 2).tolist() == [list(map(float, row)) for row in rows]


@pytest.mark.parametrize("wrong", ["1", "1 2 3", "1 x", "1 nan", "1 1e400", "1 1_0", ""])
def test_a_wrong_line_is_told_by_its_number(wrong: str) -> None:
    """Also beside a line that is as much too long as this one is too short."""
    with pytest.raises(InvalidFile, match="line 7: expected 2 numbers"):
        table(PATH, ["1 2", wrong, "3 4"], 6, 2)
    if wrong == "1":
        with pytest.raises(InvalidFile, match="line 7"):
            table(PATH, ["1 2", "1", "3 4 5"], 6, 2)


@pytest.mark.parametrize("line", ["3", "3 4 5", "3 -4", "3 4.0", "3 ٤", "3 12345678901234567"])
def test_a_header_has_whole_numbers(line: str) -> None:
    """As many as there must be, in plain digits, of a size that a file can mean."""
    assert counts(PATH, "3 4", 1, 2) == [3, 4]
    with pytest.raises(InvalidFile, match="line 1: expected 2 whole numbers"):
        counts(PATH, line, 1, 2)


@pytest.mark.parametrize("wrong", [0.0, 4.0, 1.5, -1.0, 1e300])
def test_an_index_outside_the_model_is_refused(tmp_path: Path, wrong: float) -> None:
    """With what it should be."""
    path = tmp_path / "model.txt"
    path.write_text("x")
    first, second = index_pairs(path, np.array([[1.0, 3.0, 9.0]]), 1, 3, "a node")
    assert (first.tolist(), second.tolist()) == ([0], [2])
    with pytest.raises(InvalidFile, match="a node must be between 1 and 3"):
        index_pairs(path, np.array([[1.0, 3.0], [2.0, wrong]]), 1, 3, "a node")


def test_a_small_file_does_not_promise_a_large_model(tmp_path: Path) -> None:
    """Before memory is asked for."""
    path = tmp_path / "model.txt"
    path.write_text("x")
    with pytest.raises(InvalidFile, match="variables are promised"):
        index_pairs(path, np.zeros((0, 2)), 0, 10**9, "a variable")


@pytest.mark.parametrize("name", ["lines.txt", "lines.txt.gz"])
def test_lines_are_written_and_read_plain_or_compressed(tmp_path: Path, name: str) -> None:
    """Blank ones are passed over."""
    path = tmp_path / name
    write_text(path, ["a b", "", "c"])
    assert read_lines(path) == ["a b", "c"]
