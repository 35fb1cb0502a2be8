"""Edge lists: what they mean, and what they refuse."""

from __future__ import annotations

import io
from pathlib import Path

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from flipwise import InvalidFile, InvalidInput, densest_block, read_graph, write_graph
from flipwise.graphs.convert import as_graph
from flipwise_studies.data.local import local_graph
from tests.graphs.files import TRIANGLE, dense, written


@pytest.mark.parametrize(
    "text",
    [
        "0 1\n1 2\n2 0\n",
        "0 1\n1 2\n2 0",
        "# SNAP\n# Nodes: 3 Edges: 3\n0\t1\r\n1\t2\r\n2\t0\r\n",
        "% konect\n\n  0   1  \n1 2\n\n\n2 0\n",
        "0,1\n1,2\n2,0\n",
        "source,target\n0,1\n1,2\n2,0\n",
        "FromNodeId\tToNodeId\n0\t1\n1\t2\n2\t0\n",
        "u;v\n0;1\n1;2\n2;0\n",
        "\ufeff0 1\n1 2\n2 0\n",
        "0 1 {}\n1 2 {}\n2 0 {}\n",
        "0, 1, 1.0\n1, 2, 1\n2, 0, 1e0\n",
    ],
)
def test_shapes_of_edge_lists(tmp_path: Path, text: str) -> None:
    """Separators, comments, headers, blank lines and line ends all give the same triangle."""
    graph = read_graph(written(tmp_path, text))
    assert dense(graph) == TRIANGLE and graph.names is None and graph.weights is None


def test_names(tmp_path: Path) -> None:
    """Names of any kind, in order of appearance, with CSV quotes."""
    assert list(read_graph(written(tmp_path, "zoë bob\nbob eve\nzoë eve\n")).names) == ["zoë", "bob", "eve"]
    quoted = read_graph(written(tmp_path, 'from,to\n"New York, NY",Boston\nBoston, "Los Angeles"\n'))
    assert list(quoted.names) == ["New York, NY", "Boston", "Los Angeles"] and quoted.n_edges == 2
    assert list(read_graph(written(tmp_path, "1 2\n2 3\n"), names=True).names) == ["1", "2", "3"]


def test_many_names_survive_growing_tables(tmp_path: Path) -> None:
    """Names beyond one piece and one table keep their identity."""
    rng = np.random.default_rng(0)
    pairs = rng.integers(0, 60_000, (90_000, 2))
    path = written(tmp_path, "".join(f"node_{a} node_{b}\n" for a, b in pairs))
    graph = read_graph(path)
    order = list(dict.fromkeys(f"node_{x}" for x in pairs.ravel()))
    assert list(graph.names) == order
    index = {name: i for i, name in enumerate(order)}
    expected = as_graph((len(order), [[index[f"node_{a}"], index[f"node_{b}"]] for a, b in pairs]))
    assert np.array_equal(graph.indices, expected.indices) and np.array_equal(graph.indptr, expected.indptr)


def test_weights(tmp_path: Path) -> None:
    """A third number is the weight; it can be ignored or demanded; further columns are said to be ignored."""
    path = written(tmp_path, "0 1 2.5\n1 2 -1e-3\n")
    assert dense(read_graph(path)) == [[0, 2.5, 0], [2.5, 0, -0.001], [0, -0.001, 0]]
    assert read_graph(path, weighted=False).weights is None
    timed = read_graph(written(tmp_path, "0 1 2 1082040961\n1 2 3 1082155839\n"))
    assert timed.weights is not None and timed.notes[1] == "Columns after the third were ignored."
    with pytest.raises(InvalidFile, match=r"line 1, .* too few columns"):
        read_graph(written(tmp_path, "0 1\n"), weighted=True)


@pytest.mark.kernels
@given(st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=1, max_size=30))
def test_weights_round_trip_exactly(tmp_path_factory, values) -> None:  # type: ignore[no-untyped-def]
    """Any float64 written by repr is read back to the bit."""
    path = written(tmp_path_factory.mktemp("w"), "".join(f"0 {i + 1} {v!r}\n" for i, v in enumerate(values)))
    row = read_graph(path, base=0).to_scipy().toarray()[0, 1:]
    assert row.tolist() == [v if v else 0.0 for v in values]


@pytest.mark.parametrize("text", ["1", "-2.5", "+3", ".5", "5.", "1e5", "1E-5", "9007199254740993", "1" * 30, "1e22"])
def test_spellings_of_numbers(tmp_path: Path, text: str) -> None:
    """Every spelling float() knows gives the float of Python."""
    assert dense(read_graph(written(tmp_path, f"0 1 {text}\n")))[0][1] == float(text)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("0 1\n1 x\n", r"line 2, byte 3 of the line: expected a whole number, found 'x'.*names=True"),
        ("0 1\n\n# c\n5\n", r"line 4.*too few columns"),
        ("0 1\n1 2 3\n", r"line 2.*more columns"),
        ("0 1 2\n1 2\n", r"line 2.*too few columns"),
        ("0 1 2\n1 2 z\n", r"line 2.*expected a finite number, found 'z'"),
        ("0 1 2\n1 2 inf\n", r"line 2.*expected a finite number"),
        ("0 1 2\n1 2 1e999\n", r"line 2.*expected a finite number"),
        ("0 1\n1 -2\n", r"line 2.*expected a whole number"),
        ("0 1\n1 1234567890123456789\n", r"line 2.*more than 18 digits"),
        ("0,1\n1,,2\n", r"line 2.*empty field"),
        ("0,1\n,2\n", r"line 2.*empty field"),
        ('a,b\nc,d\n"e,f\n', r"line 3.*quotes"),
        ("a b\nc\n", r"line 2.*too few columns"),
        ("# nothing\n\n", "holds no edges"),
        ("", "holds no edges"),
    ],
)
def test_malformed_edge_lists(tmp_path: Path, text: str, message: str) -> None:
    """The file, the line, the byte and what is wrong there."""
    with pytest.raises(InvalidFile, match=r"(?s)g\.txt.*" + message):
        read_graph(written(tmp_path, text))


def test_real_edge_list_is_networkx(data_folder: Path) -> None:
    """facebook_combined as networkx reads it, and as it is packed."""
    path = data_folder / "graphs" / "facebook_combined.txt.gz"
    graph = read_graph(path)
    A = nx.to_scipy_sparse_array(nx.read_edgelist(path, nodetype=int), nodelist=range(4039), format="csr")
    A.sort_indices()
    assert np.array_equal(graph.indices, A.indices) and np.array_equal(graph.indptr, A.indptr)
    assert np.array_equal(graph.indices, local_graph("facebook_combined", data_folder).indices)


def test_numpy_reads_the_same_numbers(tmp_path: Path) -> None:
    """The compiled tier agrees with numpy.loadtxt on a larger file."""
    rng = np.random.default_rng(0)
    table = np.column_stack([rng.integers(0, 2000, (30_000, 2)), rng.standard_normal(30_000)])
    text = io.StringIO()
    np.savetxt(text, table, fmt=["%d", "%d", "%.17g"])
    graph = read_graph(written(tmp_path, text.getvalue()), base=0)
    expected = as_graph((graph.n, np.loadtxt(io.StringIO(text.getvalue()))))
    assert np.array_equal(graph.indices, expected.indices) and np.array_equal(graph.weights, expected.weights)


def test_names_in_edge_lists(tmp_path: Path) -> None:
    """Names are written, unless they would be read back as something else."""
    graph = as_graph(nx.Graph([("ann", "bob"), ("bob", "eve")]))
    assert list(read_graph(write_graph(graph, tmp_path / "n.txt")).names) == ["ann", "bob", "eve"]
    with pytest.raises(InvalidInput, match="new york"):
        write_graph(nx.Graph([("new york", "bob")]), tmp_path / "n.txt")


def test_a_first_line_of_other_names_is_refused(tmp_path: Path) -> None:
    """Names in the first line of a table and nowhere else may be those of columns; either meaning can be said."""
    path = tmp_path / "ratings.csv"
    path.write_text("account,product\na,x\na,y\nb,x\nb,y\n")
    with pytest.raises(InvalidFile, match="'account' and 'product' stand in the first line and in no other"):
        read_graph(path)
    with pytest.raises(InvalidFile, match="names of columns"):
        densest_block(path)
    assert read_graph(path, header=True).n_edges == 4
    assert read_graph(path, columns=("account", "product")).n_edges == 4
    assert read_graph(path, header=False).n_edges == 5
    assert densest_block(path, names=("account", "product")).rows == ["a", "b"]
    path.write_text("a,x\na,y\nb,x\nb,y\n")
    assert read_graph(path).n_edges == 4


def test_the_numbering_of_a_table_of_pandas_is_passed_over(tmp_path: Path) -> None:
    """`to_csv` without `index=False` writes a first column without a title; with one, an empty field stays an error."""
    path = tmp_path / "numbered.csv"
    path.write_text(",source,target,weight\n0,a,b,2\n1,b,c,3\n")
    graph = read_graph(path)
    assert graph.names is not None and list(graph.names) == ["a", "b", "c"]
    assert graph.weights is not None and sorted(set(graph.weights.tolist())) == [2.0, 3.0]
    for text in ("source,target\na,b\n,b,c\n", ",b,c\na,b,c\n"):
        path.write_text(text)
        with pytest.raises(InvalidFile):
            read_graph(path)


def test_an_unknown_title_of_the_weights_leads_to_columns(tmp_path: Path) -> None:
    """A header with names of its own, read as an edge, is refused with the option that says which columns are meant."""
    path = tmp_path / "payments.csv"
    path.write_text("payer,payee,amount\na,b,2\nb,c,3\n")
    with pytest.raises(InvalidFile, match="--columns"):
        read_graph(path)
    assert read_graph(path, columns=("payer", "payee", "amount")).n_edges == 2
