"""What the first lines of an edge list say: read as it was meant, or refused with what to do."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flipwise import InvalidFile, read_graph
from flipwise.graphs.formats.layout import is_finite_number, split_line
from tests.graphs.files import written


def edges(path: Path, **options: Any) -> set[tuple[frozenset[str], float]]:
    """The edges that are read, by the names of their ends, with their weights."""
    graph = read_graph(path, **options)
    names = [str(name) for name in (graph.names if graph.names is not None else range(graph.n))]
    matrix = graph.to_scipy().tocoo()
    return {(frozenset((names[i], names[j])), float(w)) for i, j, w in zip(matrix.row, matrix.col, matrix.data)}


def edge(a: str, b: str, weight: float = 1.0) -> tuple[frozenset[str], float]:
    """One of them."""
    return frozenset((a, b)), weight


AMBIGUOUS = [
    # a line above numbers that may be an edge
    ("-1 5\n2 3\n3 4\n", r"line 1.*'-1 5'.*header=True.*header=False"),
    ("x1 x2\n3 4\n5 6\n", r"line 1.*'x1 x2'.*header=True"),
    ("a b\n1 2\n3 4\n", r"line 1.*'a b'"),
    ("1 b\n2 3\n", r"line 1.*'1 b'"),
    ("-1,5\n2,3\n", r"line 1"),
    ("u v\nann bob\n", r"line 1.*column names"),
    ("source target\n", r"line 1.*column names only"),
    ("source target\nann bob\nbob source\n", r"'source'.*first line.*node in another line.*header=False"),
    # nodes that are numbers, but no node numbers
    ("-1 5\n-2 3\n", r"line 1.*'-1'.*names=True"),
    ("1.0 2.0\n2.0 3.0\n", r"line 1.*'1.0'.*whole number"),
    ("1e5 2e5\n2e5 3e5\n", r"line 1.*'1e5'"),
    ("+1 +2\n", r"line 1.*'\+1'"),
    # weights that are none
    ("0 1 nan\n1 2 0.5\n", r"line 1.*finite.*'nan'"),
    ("0 1 inf\n1 2 0.5\n", r"line 1.*finite.*'inf'"),
    ("0 1 1e400\n1 2 0.5\n", r"line 1.*finite.*'1e400'"),
    ("a b -Infinity\n", r"line 1.*finite"),
    ("0 1 NA\n1 2 0.5\n", r"line 1.*'NA' here and a number"),
    ("person1,person2,strength\nann,bob,0.5\n", r"line 1.*'strength' here and a number"),
    ("a,b,,5\nb,c,,7\n", r"line 1.*third column.*empty"),
    ("a,b,5\nb,c,,7\n", r"line 2.*empty field"),
    ("a\tb\t5\nb\tc\t\t7\n", r"line 2.*empty field"),
    ("0\t1\t5\n1\t2\t\t7\n", r"line 2.*empty field"),
    ("a,b,5\nb,c,7 kg\n", r"line 2.*separator"),
    ("0 1 {'weight': 3.0}\n1 2 {'weight': 2.0}\n", r"line 1.*braces"),
    ("0 1 {'weight': 3.0, 'b': 2}\n", r"line 1.*braces"),
    (
        "source,target,time\n0,1,99\n",
        r"line 1.*is the column 'time' the weight\?.*columns=\('source', 'target', 'time'\)",
    ),
    ("id,src,dst,to\n0,1,2,3\n", r"line 1.*'id src' stands above lines of numbers|which of the columns"),
    ("id,source,target\ne0,ann\n", r"line 2.*2 columns, where the line of column names has 3"),
    ("id,source,target\ne0,ann,\n", r"line 2.*'target' is empty"),
    ("id,source,target,weight\ne0,ann,bob,x\n", r"line 2.*finite number.*'x'"),
    ("id,source,target\n0,1,2\n1,ann,2\n", r"'ann' is no whole number.*names=True"),
    ('id,source,target\n0,"a,b\n', r"line 2.*quotes"),
    # commas of decimals
    ("1 2 0,5\n2 3 1,5\n", r"line 1.*decimal comma"),
    ("1;2;0,5\n2;3;1,5\n", r"line 1.*decimal comma"),
    ("1\t2\t0,5\n", r"line 1.*decimal comma"),
    ("ann bob 0,5\n", r"line 1.*decimal comma"),
    ("1 2 0.5\n2 3 0,5\n", r"line 2.*'0,5'"),
    ("1,0 2,0\n2,0 3,0\n", r"line 1.*'1,0'.*decimal comma"),
    ("1,5 2\n2,5 3\n", r"line 1.*'1,5'.*decimal comma"),
    ("ann 1,5 bob\n", r"line 1.*'1,5'.*decimal comma"),
    ("1,5\t2,5\n3,5\t4,5\n", r"line 1.*'1,5'.*whole number"),
    ("1;2;0.5;x\n2;3;0,5;x\n", r"line 2.*finite number"),
    ("a;b;0.5;x\nc;d;0,5;x\n", r"line 2.*finite number"),
    ("a;b,c;d\n", r"line 1.*both ';' and ','"),
    ("0,1\n1 2\n", r"line 2.*separator"),
    ("ann bob\t5\n", r"line 1.*'ann bob' one name or two"),
    # line ends
    ("0 1\r1 2\r2 0\r", r"line 1.*carriage return"),
    ("0 1\n1 2\r2 0\n", r"line 2.*carriage return"),
    ("a b\rb c\rc a\r", r"line 1.*carriage return"),
    # other formats
    ("a -- b\nb -- c\n", r"'--' stands where a node should"),
    ("a b\nb -> c\n", r"'->' stands where a node should|more columns"),
    ("a b x\nb -> c\n", r"'->' stands where a node should"),
    ("e 1 2\ne 2 3\n", r"DIMACS"),
    ("ann bob eve zoe\nbob eve\n", r"from 2 to 4 columns"),
    ("4 3\n1 2\n2 3\n3 4\n", r"4 3.*nodes and edges.*header=True"),
    ('"ann lee" "bob ray"\n"bob ray" "eve kim"\n', r"double quote"),
    ("ann #b\n#b eve\n", r"'#b'.*sign of a comment"),
    ("ann \xff\n", r"line 1.*UTF-8"),
    ("0 1\n\x00 2\n", r"line 2.*zero byte"),
]


@pytest.mark.parametrize(("text", "message"), AMBIGUOUS, ids=[repr(text)[:40] for text, _ in AMBIGUOUS])
def test_what_may_mean_two_things_is_refused(tmp_path: Path, text: str, message: str) -> None:
    """No edge is lost, no weight dropped, no node invented: the message says what is in doubt and what to do."""
    path = tmp_path / "g.txt"
    path.write_bytes(text.encode("latin-1"))
    with pytest.raises(InvalidFile, match=r"(?s)g\.txt.*(" + message + ")"):
        read_graph(path, format="edgelist")


@pytest.mark.parametrize(
    ("text", "options", "wanted"),
    [
        ("-1 5\n2 3\n", {"names": True}, {edge("-1", "5"), edge("2", "3")}),
        ("x1 x2\n3 4\n", {"header": True}, {edge("3", "4")}),
        ("x1 x2\n3 4\n", {"header": False}, {edge("x1", "x2"), edge("3", "4")}),
        ("4 1\n1 2\n", {"header": False}, {edge("1", "4"), edge("1", "2")}),
        ("4 1\n1 2\n", {"header": True}, {edge("1", "2")}),
        ("u v\nv w\n", {"header": False}, {edge("u", "v"), edge("v", "w")}),
        ("0 1 nan\n1 2 x\n", {"weighted": False}, {edge("0", "1"), edge("1", "2")}),
        ("ann bob eve\nbob eve\n", {"weighted": False}, {edge("ann", "bob"), edge("bob", "eve")}),
        ("person,other,strength\nann,bob,0.5\n", {"header": True}, {edge("ann", "bob", 0.5)}),
        ("from_node_id to_node_id\n1 2\n", {}, {edge("1", "2")}),
        ("Node1,Node2,weight\n1,2,0.5\n", {}, {edge("1", "2", 0.5)}),
        ("source;target;value\nann;bob;2\n", {}, {edge("ann", "bob", 2.0)}),
        ("Route 66,5\n", {}, {edge("Route 66", "5")}),
        ('"a;b",c\n', {}, {edge("a;b", "c")}),
        ('"a, b",c,2\n', {}, {edge("a, b", "c", 2.0)}),
        ("1 2\t0.5\n2 3\t1.5\n", {}, {edge("1", "2", 0.5), edge("2", "3", 1.5)}),
        ("0 1\r\n1 2\r\n", {}, {edge("0", "1"), edge("1", "2")}),
        ("ann bob # friends\nbob eve # foes\n", {}, {edge("ann", "bob"), edge("bob", "eve")}),
        ("a,b,\nb,c,\n", {}, {edge("a", "b"), edge("b", "c")}),
        ("Source,Target,Type,Id,Label,Weight\n0,1,Undirected,0,,2.5\n", {}, {edge("0", "1", 2.5)}),
        ("id,source,target\ne1,ann,bob\n", {}, {edge("ann", "bob")}),
        ("id;target;source;w\n1;5;7;2\n2;6;7;3\n", {}, {edge("5", "7", 2.0), edge("6", "7", 3.0)}),
        ("id,source,target\n1,5,7\n", {"base": 4}, {edge("5", "7")}),
        ("a,b,c,d\n1,ann,bob,2\n", {"columns": ("b", "c", "d")}, {edge("ann", "bob", 2.0)}),
        ("a,b,c,d\n1,2,bob,2\n", {"columns": ("a", "b")}, {edge("1", "2")}),
        ("source,target,time\n0,1,99\n", {"weighted": False}, {edge("0", "1")}),
        ("source,target,time\n0,1,99\n", {"columns": ("source", "target", "time")}, {edge("0", "1", 99.0)}),
        ("weight,source,target\n9,0,1\n", {"weighted": False}, {edge("0", "1")}),
    ],
)  # fmt: skip
def test_either_meaning_can_be_asked_for(tmp_path: Path, text: str, options: Any, wanted: Any) -> None:
    """What the options say, and what is sure without them, is read as it stands."""
    assert edges(written(tmp_path, text), **options) == wanted


def test_our_own_comment_is_held_to(tmp_path: Path) -> None:
    """A file of `write_graph` that lost lines is refused, as is one whose first edge looks like column names."""
    path = written(tmp_path, "# 3 nodes, 2 edges\n0 1\n1 2\n")
    assert read_graph(path).n_edges == 2
    for text in ("# 3 nodes, 2 edges\n0 1\n", "# 4 nodes, 2 edges\nsource target\n1 2\n"):
        with pytest.raises(InvalidFile, match="announces 2 edges, the file holds 1"):
            read_graph(written(tmp_path, text))


@given(st.text(alphabet="0123456789.,;- \tabx#\"'\n", max_size=40))
def test_no_line_of_data_is_lost(tmp_path_factory: pytest.TempPathFactory, text: str) -> None:
    """What is read has no more ends of arcs than lines, and at most one line fewer (a header) is read than stands."""
    path = tmp_path_factory.mktemp("l") / "g.txt"
    path.write_text(text, encoding="utf-8")
    try:
        graph = read_graph(path, format="edgelist")
    except InvalidFile:
        return
    data = [line for line in text.split("\n") if line.strip(" \t") and line.strip(" \t")[0] not in "#%"]
    arcs = next(int(note.split(" arc")[0].replace(",", "")) for note in graph.notes if " read" in note)
    assert arcs == len(data)  # the alphabet has no header words


@given(st.text(max_size=12))
def test_finite_numbers_are_those_of_python_in_plain_digits(text: str) -> None:
    """No underscores and no digits of other scripts, which `float` would take."""
    try:
        number = float(text)
    except ValueError:
        number = math.nan
    assert is_finite_number(text) == (math.isfinite(number) and text.isascii() and "_" not in text)


def test_fields_of_a_line() -> None:
    """Quotes are those of CSV; an empty last field is none."""
    assert split_line('"a, b", c,', ",") == ["a, b", "c"]
    assert split_line(" a  b\tc ", None) == ["a", "b", "c"]
