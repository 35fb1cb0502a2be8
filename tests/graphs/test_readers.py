"""Text formats: what they mean, and what they refuse."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
from pathlib import Path

import networkx as nx
import numpy as np
import pytest
import scipy.io
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from flipwise import Graph, InvalidFile, InvalidInput, read_graph, save_graph
from flipwise.datasets.local import local_graph
from flipwise.graphs.convert import as_graph
from flipwise.graphs.read import detect_format


def _write(folder: Path, text: str | bytes, name: str = "g.txt") -> Path:
    path = folder / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def _dense(graph: Graph) -> list[list[float]]:
    return graph.to_scipy().toarray().tolist()


TRIANGLE = [[0, 1, 1], [1, 0, 1], [1, 1, 0]]


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
        "a;b\n0;1\n1;2\n2;0\n",
        "\ufeff0 1\n1 2\n2 0\n",
        "0 1 {}\n1 2 {}\n2 0 {}\n",
        "0, 1, 1.0\n1, 2, 1\n2, 0, 1e0\n",
    ],
)
def test_shapes_of_edge_lists(tmp_path: Path, text: str) -> None:
    """Separators, comments, headers, blank lines and line ends all give the same triangle."""
    graph = read_graph(_write(tmp_path, text))
    assert _dense(graph) == TRIANGLE and graph.names is None and graph.weights is None


def test_numbers_that_occur_or_a_range(tmp_path: Path) -> None:
    """Without `base` the nodes are the numbers that occur; with it all from there on."""
    path = _write(tmp_path, "1 2\n2 5\n")
    assert list(read_graph(path).names) == [1, 2, 5]
    ranged = read_graph(path, base=1)
    assert ranged.n == 5 and list(ranged.names) == [1, 2, 3, 4, 5]
    assert read_graph(path, base=0).n == 6 and read_graph(path, base=0).names is None
    assert list(read_graph(_write(tmp_path, "1 2\n2 3\n")).names) == [1, 2, 3]


def test_far_apart_numbers(tmp_path: Path) -> None:
    """Numbers up to 18 digits are nodes like any other; a range over them is refused, not allocated."""
    path = _write(tmp_path, "999999999999999999 4\n4 3000000000\n")
    graph = read_graph(path)
    assert list(graph.names) == [4, 3_000_000_000, 999_999_999_999_999_999] and graph.n_edges == 2
    with pytest.raises(InvalidFile, match="Leave `base` out"):
        read_graph(path, base=0)


def test_names(tmp_path: Path) -> None:
    """Names of any kind, in order of appearance, with CSV quotes."""
    assert list(read_graph(_write(tmp_path, "zoë bob\nbob eve\nzoë eve\n")).names) == ["zoë", "bob", "eve"]
    quoted = read_graph(_write(tmp_path, 'from,to\n"New York, NY",Boston\nBoston, "Los Angeles"\n'))
    assert list(quoted.names) == ["New York, NY", "Boston", "Los Angeles"] and quoted.n_edges == 2
    assert list(read_graph(_write(tmp_path, "1 2\n2 3\n"), names=True).names) == ["1", "2", "3"]


def test_many_names_survive_growing_tables(tmp_path: Path) -> None:
    """Names beyond one piece and one table keep their identity."""
    rng = np.random.default_rng(0)
    pairs = rng.integers(0, 60_000, (90_000, 2))
    path = _write(tmp_path, "".join(f"node_{a} node_{b}\n" for a, b in pairs))
    graph = read_graph(path)
    order = list(dict.fromkeys(f"node_{x}" for x in pairs.ravel()))
    assert list(graph.names) == order
    index = {name: i for i, name in enumerate(order)}
    expected = as_graph((len(order), [[index[f"node_{a}"], index[f"node_{b}"]] for a, b in pairs]))
    assert np.array_equal(graph.indices, expected.indices) and np.array_equal(graph.indptr, expected.indptr)


def test_weights(tmp_path: Path) -> None:
    """A third number is the weight; it can be ignored or demanded; further columns are said to be ignored."""
    path = _write(tmp_path, "0 1 2.5\n1 2 -1e-3\n")
    assert _dense(read_graph(path)) == [[0, 2.5, 0], [2.5, 0, -0.001], [0, -0.001, 0]]
    assert read_graph(path, weighted=False).weights is None
    timed = read_graph(_write(tmp_path, "0 1 2 1082040961\n1 2 3 1082155839\n"))
    assert timed.weights is not None and timed.notes[0] == "Columns after the third were ignored."
    with pytest.raises(InvalidFile, match=r"line 1, .* too few columns"):
        read_graph(_write(tmp_path, "0 1\n"), weighted=True)


@pytest.mark.kernels
@given(st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=1, max_size=30))
def test_weights_round_trip_exactly(tmp_path_factory, values) -> None:  # type: ignore[no-untyped-def]
    """Any float64 written by repr is read back to the bit."""
    path = _write(tmp_path_factory.mktemp("w"), "".join(f"0 {i + 1} {v!r}\n" for i, v in enumerate(values)))
    row = read_graph(path, base=0).to_scipy().toarray()[0, 1:]
    assert row.tolist() == [v if v else 0.0 for v in values]


@pytest.mark.parametrize("text", ["1", "-2.5", "+3", ".5", "5.", "1e5", "1E-5", "9007199254740993", "1" * 30, "1e22"])
def test_spellings_of_numbers(tmp_path: Path, text: str) -> None:
    """Every spelling float() knows gives the float of Python."""
    assert _dense(read_graph(_write(tmp_path, f"0 1 {text}\n")))[0][1] == float(text)


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
        read_graph(_write(tmp_path, text))


def test_line_numbers_across_pieces(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Line numbers count from the start of the file, not of the block."""
    monkeypatch.setattr("flipwise.graphs.streams.BLOCK_BYTES", 100)
    path = _write(tmp_path, "0 1\n" * 500 + "oops 1\n" + "0 1\n" * 500)
    with pytest.raises(InvalidFile, match="line 501, byte 1 "):
        read_graph(path)
    assert read_graph(_write(tmp_path, "10 11\n" * 5 + "12 345\n" * 50)).n_edges == 2


@pytest.mark.parametrize("name", ["g.txt", "g.mtx", "g.metis", "g.rudy", "far.txt"])
def test_files_too_large_to_keep_are_parsed_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    """The graph does not depend on whether arcs are kept or read again."""
    rng = np.random.default_rng(1)
    if name == "far.txt":
        path = _write(tmp_path, "".join(f"{a} {b * 10**12}\n" for a, b in rng.integers(0, 90, (400, 2))), name)
    else:
        path = save_graph((90, rng.integers(0, 90, (400, 2))), tmp_path / name)
    kept = read_graph(path)
    monkeypatch.setattr("flipwise.graphs.readers.text.KEPT_BYTES", 0)
    again = read_graph(path)
    assert np.array_equal(kept.indices, again.indices) and np.array_equal(kept.indptr, again.indptr)
    assert (kept.names is None and again.names is None) or list(kept.names) == list(again.names)
    assert kept.notes == again.notes


@pytest.mark.parametrize("text", ["0 1\n0 2\n", "0 1\n0 2\n0 1\n0 1\n", "0 1\n7 8\n1 2\n", "0 1\n9 9\n1 2\n"])
def test_a_file_that_changes_while_it_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    """Other arcs on the next pass are refused, never written past a row."""
    from flipwise.graphs import build

    monkeypatch.setattr("flipwise.graphs.readers.text.KEPT_BYTES", 0)
    path = _write(tmp_path, "0 1\n0 2\n1 2\n")
    real = build.kernels.count_arcs

    def count_then_change(*arguments):  # type: ignore[no-untyped-def]
        path.write_text(text)
        return real(*arguments)

    monkeypatch.setattr(build.kernels, "count_arcs", count_then_change)
    with pytest.raises((InvalidFile, InvalidInput), match=r"changed while|out of range"):
        read_graph(path)


def test_real_edge_list_is_networkx(data_folder: Path) -> None:
    """facebook_combined as networkx reads it, and as it is packed."""
    path = data_folder / "graphs" / "facebook_combined.txt.gz"
    graph = read_graph(path)
    A = nx.to_scipy_sparse_array(nx.read_edgelist(path, nodetype=int), nodelist=range(4039), format="csr")
    A.sort_indices()
    assert np.array_equal(graph.indices, A.indices) and np.array_equal(graph.indptr, A.indptr)
    assert np.array_equal(graph.indices, local_graph("facebook_combined", data_folder).indices)


@pytest.mark.parametrize("name", ["email-Enron.mtx.gz", "walshaw-4elt.metis.gz"])
def test_real_files_are_the_packed_graphs(data_folder: Path, name: str) -> None:
    """MatrixMarket and METIS files from their collections."""
    graph, packed = read_graph(data_folder / "graphs" / name), local_graph(name.split(".")[0], data_folder)
    assert np.array_equal(graph.indices, packed.indices) and np.array_equal(graph.indptr, packed.indptr)


def test_gset_is_found_by_content(data_folder: Path) -> None:
    """Gset files have no telling suffix; their shape tells."""
    graph = read_graph(data_folder / "qubo" / "gset" / "G11.txt.xz")
    assert (graph.n, graph.n_edges) == (800, 1600) and set(graph.weights.tolist()) == {-1.0, 1.0}


@pytest.mark.filterwarnings("ignore:The default value for `spmatrix`:DeprecationWarning")
@pytest.mark.parametrize("field", ["real", "integer", "pattern"])
@pytest.mark.parametrize("symmetry", ["general", "symmetric"])
def test_matrix_market_is_scipy(tmp_path: Path, field: str, symmetry: str) -> None:
    """scipy.io.mmwrite out, ours in, against scipy.io.mmread."""
    rng = np.random.default_rng(4)
    A = np.triu(rng.integers(-3, 4, (20, 20)) * (rng.random((20, 20)) < 0.3), 1)
    A = A + A.T if symmetry == "symmetric" else A + 2 * np.tril(A.T, -2)
    A = A.astype(float) if field == "real" else A
    path = tmp_path / "m.mtx"
    scipy.io.mmwrite(path, sp.coo_array(A), field=field, symmetry=symmetry)
    B = np.asarray(sp.coo_array(scipy.io.mmread(path)).toarray(), dtype=float)
    stored = np.where(B != 0, B, -np.inf)
    expected = np.maximum(stored, stored.T)
    np.fill_diagonal(expected, 0)
    expected[np.isneginf(expected)] = 0
    assert np.array_equal(read_graph(path).to_scipy().toarray(), expected)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("%%MatrixMarket matrix array real general\n2 2\n1\n", "line 1: only sparse"),
        ("%%MatrixMarket matrix coordinate complex general\n1 1 0\n", "line 1: only sparse"),
        ("%%MatrixMarket matrix coordinate real skew-symmetric\n1 1 0\n", "symmetry"),
        ("%%MatrixMarket matrix coordinate real\n", "line 1: expected"),
        ("%%MatrixMarket matrix coordinate real general\n% c\n2 3 1\n1 1 1\n", "line 3: .*square"),
        ("%%MatrixMarket matrix coordinate real general\n2 2\n", "line 2: expected whole numbers"),
        ("%%MatrixMarket matrix coordinate real general\n", "the file ends before"),
        ("%%MatrixMarket matrix coordinate real general\n2 2 2\n1 2 1\n", "announces 2 entries, the file holds 1"),
        ("%%MatrixMarket matrix coordinate real general\n2 2 1\n1 3 1\n", r"line 3.*out of range \(1 to 2\)"),
        ("%%MatrixMarket matrix coordinate real general\n2 2 1\n0 1 1\n", r"line 3.*out of range"),
        ("%%MatrixMarket matrix coordinate pattern general\n2 2 1\n1 2 1\n", "line 3.*more columns"),
        ("%%MatrixMarket matrix coordinate pattern general\n999999999999 999999999999 0\n", "more than a file"),
    ],
)
def test_malformed_matrix_market(tmp_path: Path, text: str, message: str) -> None:
    """Headers and entries that cannot be are refused with their line."""
    with pytest.raises(InvalidFile, match=r"(?s)m\.mtx.*" + message):
        read_graph(_write(tmp_path, text, "m.mtx"))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("3 2\n2\n1 3\n2\n", [[0, 1, 0], [1, 0, 1], [0, 1, 0]]),
        ("% c\n3 2 001\n2 5\n% mid\n1 5 3 7\n2 7\n", [[0, 5, 0], [5, 0, 7], [0, 7, 0]]),
        ("3 1 011 2\n9 9 2 5\n9 9 1 5\n9 9\n", [[0, 5, 0], [5, 0, 0], [0, 0, 0]]),
        ("3 1 100\n4 2\n4 1\n4\n", [[0, 1, 0], [1, 0, 0], [0, 0, 0]]),
        ("3 1\n2\n1\n\n", [[0, 1, 0], [1, 0, 0], [0, 0, 0]]),
    ],
)
def test_metis_forms(tmp_path: Path, text: str, expected: list[list[float]]) -> None:
    """Node sizes and weights are passed over, edge weights kept, blank lines isolated nodes."""
    path = _write(tmp_path, text, "g.graph")
    for rule in ("max", "sum", "error"):
        assert _dense(read_graph(path, symmetrise=rule)) == expected


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("3 2\n2\n1 3\n", "announces 3 nodes, the file has lines for 2"),
        ("3 3\n2\n1 3\n2\n", "announces 3 edges"),
        ("3 2\n2\n1 4\n2\n", r"line 3: neighbour 4 is out of range \(1 to 3\)"),
        ("3 2\n2\n1 0\n2\n", "line 3: neighbour 0"),
        ("3 2 7\n", "fmt"),
        ("3 2 001\n2 1\n1 1 3\n2\n", "line 3: a neighbour without"),
        ("2 1\n2\n1\n% c\n\n1\n", "line 6: a line beyond"),
        ("2 1 010\n\n1 1\n", "line 2: fewer than the 1 node weights"),
        ("x\n", "line 1: expected whole numbers"),
        ("3 2\n2\n1 a\n2\n", "line 3.*expected a whole number"),
    ],
)
def test_malformed_metis(tmp_path: Path, text: str, message: str) -> None:
    """Lines that contradict the header are refused with their number."""
    with pytest.raises(InvalidFile, match=r"(?s)g\.metis.*" + message):
        read_graph(_write(tmp_path, text, "g.metis"))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("3 2\n1 2 1\n", "announces 2 edges, the file holds 1"),
        ("3 1\n1 4 1\n", "line 2.*out of range"),
        ("3 1\n1 2\n", "line 2.*too few"),
        ("3\n1 2 1\n", "line 1"),
    ],
)
def test_malformed_rudy(tmp_path: Path, text: str, message: str) -> None:
    """rudy's counts and ranges are checked."""
    with pytest.raises(InvalidFile, match=r"(?s)g\.rudy.*" + message):
        read_graph(_write(tmp_path, text, "g.rudy"))


def _zstd(data: bytes) -> bytes:
    return pytest.importorskip("zstandard").ZstdCompressor().compress(data)  # type: ignore[no-any-return]


PACKERS = {"gz": gzip.compress, "bz2": bz2.compress, "xz": lzma.compress, "zst": _zstd}


@pytest.mark.parametrize("kind", PACKERS)
def test_compression_by_content(tmp_path: Path, kind: str) -> None:
    """Packed files are recognised without their suffix, also as several streams in a row."""
    pack = PACKERS[kind]
    path = _write(tmp_path, pack(b"0 1\n1 2\n") + pack(b"2 0\n"))
    assert _dense(read_graph(path)) == TRIANGLE


@pytest.mark.parametrize("kind", PACKERS)
def test_truncated_compression(tmp_path: Path, kind: str) -> None:
    """A packed file cut anywhere is refused, never read in part."""
    rng = np.random.default_rng(0)
    whole = PACKERS[kind]("".join(f"{a} {b}\n" for a, b in rng.integers(0, 50, (300, 2))).encode())
    for size in range(8, len(whole) - 1, max(1, len(whole) // 40)):
        with pytest.raises(InvalidFile, match=r"g\.txt"):
            read_graph(_write(tmp_path, whole[:size]))


@pytest.mark.parametrize("kind", ["xz", "zst"])
def test_bombs(tmp_path: Path, kind: str) -> None:
    """A small file that unpacks to very much is refused, unless that was asked for."""
    path = _write(tmp_path, PACKERS[kind](b"#" * 99 + b"\n" + b"0 1\n" * (18 << 20)))
    with pytest.raises(InvalidFile, match="larger `max_bytes`"):
        read_graph(path)


def test_bomb_limit_can_be_moved(tmp_path: Path) -> None:
    """`max_bytes` is the limit, both ways."""
    path = _write(tmp_path, gzip.compress(b"0 1\n" * 1000))
    assert read_graph(path, max_bytes=4000).n_edges == 1
    with pytest.raises(InvalidFile, match="more than 3,999 bytes"):
        read_graph(path, max_bytes=3999)


def test_endless_line(tmp_path: Path) -> None:
    """A file without line ends is not gathered whole."""
    with pytest.raises(InvalidFile, match="longer than"):
        read_graph(_write(tmp_path, b"1" * (9 << 20)))


def test_parquet(tmp_path: Path) -> None:
    """Parquet edge tables with numbers, names and weights."""
    pa, pq = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    path = tmp_path / "e.parquet"
    pq.write_table(pa.table({"source": [1, 5, 5], "target": [5, 9, 1], "weight": [1.0, 2.0, 4.0]}), path)
    graph = read_graph(path)
    assert list(graph.names) == [1, 5, 9] and _dense(graph) == [[0, 4, 0], [4, 0, 2], [0, 2, 0]]
    assert read_graph(path, weighted=False).weights is None
    whole = path.read_bytes()
    for size in (4, len(whole) // 2, len(whole) - 3):
        with pytest.raises(InvalidFile, match=r"e\.parquet"):
            read_graph(_write(tmp_path, whole[:size], "e.parquet"))


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
    ],
)
def test_detection(tmp_path: Path, name: str, text: str, expected: str) -> None:
    """Content first, then suffix, then edge list."""
    assert detect_format(_write(tmp_path, text, name)) == expected


def test_options_are_checked(tmp_path: Path) -> None:
    """Wrong options, missing and binary files are refused before any work."""
    path = _write(tmp_path, "0 1\n")
    for options, name in (
        ({"format": "gml"}, "format"),
        ({"symmetrise": "min"}, "symmetrise"),
        ({"base": -1}, "base"),
        ({"max_bytes": 0}, "max_bytes"),
        ({"format": "metis", "base": 1}, "base"),
    ):
        with pytest.raises(InvalidInput, match=name):
            read_graph(path, **options)
    with pytest.raises(InvalidInput, match="existing file"):
        read_graph(tmp_path / "none.txt")
    with pytest.raises(InvalidFile, match="binary"):
        read_graph(_write(tmp_path, b"\x7fELF\0\0\0\0"))


@given(data=st.binary(max_size=200), name=st.sampled_from(["g.txt", "g.mtx", "g.metis", "g.rudy", "g.csv"]))
def test_any_bytes_give_a_graph_or_a_clear_refusal(tmp_path_factory, data, name) -> None:  # type: ignore[no-untyped-def]
    """Arbitrary bytes never do anything but parse or raise InvalidFile."""
    path = _write(tmp_path_factory.mktemp("any"), data, name)
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
    path = _write(tmp_path_factory.mktemp("soup"), head + text, name)
    try:
        assert read_graph(path).n >= 0
    except InvalidFile as error:
        assert name in str(error)


def test_numpy_reads_the_same_numbers(tmp_path: Path) -> None:
    """The compiled tier agrees with numpy.loadtxt on a larger file."""
    rng = np.random.default_rng(0)
    table = np.column_stack([rng.integers(0, 2000, (30_000, 2)), rng.standard_normal(30_000)])
    text = io.StringIO()
    np.savetxt(text, table, fmt=["%d", "%d", "%.17g"])
    graph = read_graph(_write(tmp_path, text.getvalue()), base=0)
    expected = as_graph((graph.n, np.loadtxt(io.StringIO(text.getvalue()))))
    assert np.array_equal(graph.indices, expected.indices) and np.array_equal(graph.weights, expected.weights)
