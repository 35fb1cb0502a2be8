"""Headers of counts: none makes us believe in more than a file can hold."""

from __future__ import annotations

from pathlib import Path

import pytest

from flipwise import InvalidFile, read_graph
from tests.graphs.files import written


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("g.mtx", "%%MatrixMarket matrix coordinate pattern general\n{n} {n} 1\n1 2\n"),
        ("g.metis", "{n} 1\n2\n1\n"),
        ("g.rudy", "{n} 1\n1 2 1\n"),
    ],
)
def test_announced_nodes_are_believed_up_to_a_limit(tmp_path: Path, name: str, text: str) -> None:
    """Far more nodes than lines are refused before memory is asked for, a few thousand are not."""
    with pytest.raises(InvalidFile, match="more than a file of this size can hold"):
        read_graph(written(tmp_path, text.format(n=10**12), name))
    if name != "g.metis":  # which has a line for every node
        assert read_graph(written(tmp_path, text.format(n=5000), name)).n == 5000


@pytest.mark.parametrize("name", ["g.mtx", "g.metis", "g.rudy"])
def test_a_file_without_counts_is_refused(tmp_path: Path, name: str) -> None:
    """Comments only: the message says that the header is missing."""
    head = "%%MatrixMarket matrix coordinate pattern general\n" if name == "g.mtx" else ""
    comment = "# c\n" if name == "g.rudy" else "% c\n"
    with pytest.raises(InvalidFile, match="ends before its header of counts"):
        read_graph(written(tmp_path, head + comment, name))
