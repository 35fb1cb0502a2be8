"""What holds for a file of any format: how it is found out, read again, and refused."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from flipwise import InvalidFile, InvalidInput, read_graph, write_graph
from flipwise.graphs.read import detect_format
from tests.graphs.files import written


@pytest.mark.parametrize("name", ["g.txt", "g.mtx", "g.metis", "g.rudy", "far.txt"])
def test_files_too_large_to_keep_are_parsed_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    """The graph does not depend on whether arcs are kept or read again."""
    rng = np.random.default_rng(1)
    if name == "far.txt":
        path = written(tmp_path, "".join(f"{a} {b * 10**12}\n" for a, b in rng.integers(0, 90, (400, 2))), name)
    else:
        path = write_graph((90, rng.integers(0, 90, (400, 2))), tmp_path / name)
    kept = read_graph(path)
    monkeypatch.setattr("flipwise.graphs.graph.KEPT_BYTES", 0)
    again = read_graph(path)
    assert np.array_equal(kept.indices, again.indices) and np.array_equal(kept.indptr, again.indptr)
    assert (kept.names is None and again.names is None) or list(kept.names) == list(again.names)
    assert kept.notes == again.notes


@pytest.mark.parametrize("text", ["0 1\n0 2\n", "0 1\n0 2\n0 1\n0 1\n", "0 1\n7 8\n1 2\n", "0 1\n9 9\n1 2\n"])
def test_a_file_that_changes_while_it_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    """Other arcs on the next pass are refused, never written past a row."""
    from flipwise.kernels import arcs

    monkeypatch.setattr("flipwise.graphs.graph.KEPT_BYTES", 0)
    path = written(tmp_path, "0 1\n0 2\n1 2\n")
    real = arcs.count_arcs

    def count_then_change(*arguments):  # type: ignore[no-untyped-def]
        path.write_text(text)
        return real(*arguments)

    monkeypatch.setattr(arcs, "count_arcs", count_then_change)
    with pytest.raises((InvalidFile, InvalidInput), match=r"changed while|out of range"):
        read_graph(path)


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        ("a.mtx", "%%MatrixMarket matrix", "matrixmarket"),
        ("a.txt", "%%MatrixMarket matrix", "matrixmarket"),
        ("a.graph", "1 0\n", "metis"),
        ("a.rud", "1 0\n", "rudy"),
        ("a.txt", "3 1\n1 2 1\n", "rudy"),
        ("a.txt", "3 1\n1 2\n", "edgelist"),
        ("a.csv.gz", "3,1\n", "edgelist"),
        ("a.txt", "0 1\n1 2 3\n", "edgelist"),
        ("a.txt", "<?xml version='1.0'?><graphml>", "graphml"),
        ("a.xml", "<gexf>", "gexf"),
        ("a.graphml", "<?xml version='1.0'?>", "graphml"),
        ("a.txt", "Creator x\ngraph [\n", "gml"),
        ("a", '{"nodes": []', "nodelink"),
        ("a.g6", "A_", "graph6"),
    ],
)
def test_detection(tmp_path: Path, name: str, text: str, expected: str) -> None:
    """Content first, then suffix, then edge list."""
    assert detect_format(written(tmp_path, text, name)) == expected


def test_options_are_checked(tmp_path: Path) -> None:
    """Wrong options, missing and binary files are refused before any work."""
    path = written(tmp_path, "0 1\n")
    for options, name in (
        ({"format": "dot"}, "format"),
        ({"symmetrise": "min"}, "symmetrise"),
        ({"base": -1}, "base"),
        ({"max_bytes": 0}, "max_bytes"),
        ({"format": "metis", "base": 1}, "base"),
        ({"format": "metis", "columns": ("a", "b")}, "columns"),
        ({"columns": "ab"}, "columns"),
        ({"columns": ("a", "a")}, "columns"),
    ):
        with pytest.raises(InvalidInput, match=name):
            read_graph(path, **options)
    with pytest.raises(InvalidInput, match="existing file"):
        read_graph(tmp_path / "none.txt")
    with pytest.raises(InvalidFile, match="binary"):
        read_graph(written(tmp_path, b"\x7fELF\0\0\0\0"))


@given(data=st.binary(max_size=200), name=st.sampled_from(["g.txt", "g.mtx", "g.metis", "g.rudy", "g.csv"]))
def test_any_bytes_give_a_graph_or_a_clear_refusal(tmp_path_factory, data, name) -> None:  # type: ignore[no-untyped-def]
    """Arbitrary bytes never do anything but parse or raise InvalidFile."""
    path = written(tmp_path_factory.mktemp("any"), data, name)
    try:
        assert read_graph(path).n >= 0
    except InvalidFile as error:
        assert name in str(error)


@given(
    text=st.text(alphabet="0123456789 \n,.\t-e%#", max_size=120),
    name=st.sampled_from(["g.txt", "g.mtx", "g.metis", "g.rudy"]),
)
def test_number_soup(tmp_path_factory, text, name) -> None:  # type: ignore[no-untyped-def]
    """Text that almost is a graph parses or is refused."""
    head = "%%MatrixMarket matrix coordinate real general\n" if name.endswith("mtx") else ""
    path = written(tmp_path_factory.mktemp("soup"), head + text, name)
    try:
        assert read_graph(path).n >= 0
    except InvalidFile as error:
        assert name in str(error)
