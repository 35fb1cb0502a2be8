"""The nodes' own labels: numbers that occur in a file, and packed strings."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from flipwise import InvalidFile, read_graph
from flipwise.graphs.names import PackedNames
from tests.graphs.files import written


def test_numbers_that_occur_or_a_range(tmp_path: Path) -> None:
    """Without `base` the nodes are the numbers that occur; with it all from there on."""
    path = written(tmp_path, "1 2\n2 5\n")
    assert list(read_graph(path).names) == [1, 2, 5]
    ranged = read_graph(path, base=1)
    assert ranged.n == 5 and list(ranged.names) == [1, 2, 3, 4, 5]
    assert read_graph(path, base=0).n == 6 and read_graph(path, base=0).names is None
    assert list(read_graph(written(tmp_path, "1 2\n2 3\n")).names) == [1, 2, 3]


def test_far_apart_numbers(tmp_path: Path) -> None:
    """Numbers up to 18 digits are nodes like any other; a range over them is refused, not allocated."""
    path = written(tmp_path, "999999999999999999 4\n4 3000000000\n")
    graph = read_graph(path)
    assert list(graph.names) == [4, 3_000_000_000, 999_999_999_999_999_999] and graph.n_edges == 2
    with pytest.raises(InvalidFile, match="Leave `base` out"):
        read_graph(path, base=0)


def test_packed_names_are_a_sequence_of_strings() -> None:
    """Indices from both ends, slices, comparison, and a short representation."""
    words = ["Ada", "", "Zoë", "名"]
    names = PackedNames.pack(words)
    assert list(names) == words and names[-1] == "名" and names[1:3] == ["", "Zoë"]
    assert names == words and names != words[:3] and "4 names" in repr(names)
    assert names.data.dtype == np.uint8
    with pytest.raises(IndexError, match="name 4 of 4"):
        names[4]
