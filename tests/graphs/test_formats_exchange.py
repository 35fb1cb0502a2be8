"""Files that other libraries write are read with all they hold and written again; what is broken is refused by name."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import pytest
import scipy.io

from flipwise import Graph, InvalidFile, read_graph, write_graph
from flipwise.graphs.convert import as_graph

NAMES = ["Ada", "Zoë", "b c", "x<y&z", "Li", "alone"]
EDGES = [(0, 1, 2.5), (1, 2, -1.0), (2, 3, 1e-7), (0, 3, 1e20), (3, 4, 0.1)]
"""The last node has no edge."""

Write = Callable[[Path], object]


def named(graph: Graph) -> dict[Any, dict[Any, float]]:
    """The neighbours of each node by name, with their weights."""
    names = list(range(graph.n)) if graph.names is None else list(graph.names)
    found: dict[Any, dict[Any, float]] = {name: {} for name in names}
    matrix = graph.to_scipy().tocoo()
    for i, j, weight in zip(matrix.row, matrix.col, matrix.data):
        found[names[i]][names[j]] = float(weight)
    return found


def wanted(names: list[Any], *, weights: bool = True, alone: bool = True) -> dict[Any, dict[Any, float]]:
    """What `named` must say of the graph above."""
    found: dict[Any, dict[Any, float]] = {name: {} for name in names[: 6 if alone else 5]}
    for i, j, weight in EDGES:
        found[names[i]][names[j]] = found[names[j]][names[i]] = weight if weights else 1.0
    return found


def networkx(names: list[Any], *, weights: bool = True, alone: bool = True, kind: type = nx.Graph) -> nx.Graph:
    """The graph above as one of networkx."""
    made = kind()
    made.add_nodes_from(names[: 6 if alone else 5])
    for i, j, weight in EDGES:
        made.add_edge(names[i], names[j], **({"weight": weight} if weights else {}))
    return made


def igraph(names: bool, weights: bool = True) -> Any:
    """The graph above as one of igraph."""
    made = pytest.importorskip("igraph").Graph(n=6, edges=[edge[:2] for edge in EDGES])
    if names:
        made.vs["name"] = NAMES
    if weights:
        made.es["weight"] = [edge[2] for edge in EDGES]
    return made


def columns(names: list[Any], titles: tuple[str, str, str] = ("source", "target", "weight")) -> dict[str, list[Any]]:
    """The edges above as columns."""
    ends = ([names[edge[side]] for edge in EDGES] for side in (0, 1))
    return dict(zip(titles, (*ends, [edge[2] for edge in EDGES])))


def pandas(names: list[Any], titles: tuple[str, str, str] = ("source", "target", "weight")) -> Any:
    """The edges above as a frame of pandas."""
    return pytest.importorskip("pandas").DataFrame(columns(names, titles))


def arrow(names: list[Any], titles: tuple[str, str, str] = ("source", "target", "weight")) -> Any:
    """The edges above as a table of pyarrow."""
    return pytest.importorskip("pyarrow").table(columns(names, titles))


def parquet(table: Any, path: Path) -> None:
    """A table in a Parquet file."""
    pytest.importorskip("pyarrow.parquet").write_table(table, path)


def packed(write: Write, path: Path) -> None:
    """What `write` writes, in gzip."""
    write(path.with_suffix(""))
    path.write_bytes(gzip.compress(path.with_suffix("").read_bytes()))


def matrix(path: Path) -> None:
    """The weights in a MatrixMarket file."""
    made = nx.to_scipy_sparse_array(networkx(NUMBERS), nodelist=NUMBERS)
    scipy.io.mmwrite(path, made, symmetry="symmetric")


NUMBERS = [0, 1, 2, 3, 4, 5]
FAR = [7, 3, 10**12, 5, 9, 4]
LETTERS = list("abcdef")

FILES: dict[str, tuple[Write, dict[Any, dict[Any, float]]]] = {
    "nx.graphml": (lambda p: nx.write_graphml(networkx(NAMES), p), wanted(NAMES)),
    "nx_numbers.graphml": (lambda p: nx.write_graphml(networkx(NUMBERS), p), wanted(NUMBERS)),
    "nx_directed.graphml": (lambda p: nx.write_graphml(networkx(NAMES, kind=nx.DiGraph), p), wanted(NAMES)),
    "nx_plain.graphml": (lambda p: nx.write_graphml(networkx(NAMES, weights=False), p), wanted(NAMES, weights=False)),
    "nx.graphml.gz": (lambda p: nx.write_graphml(networkx(NAMES), p), wanted(NAMES)),
    "ig.graphml": (lambda p: igraph(True).write_graphml(str(p)), wanted(NAMES)),
    "ig_plain.graphml": (
        lambda p: igraph(False, False).write_graphml(str(p)),
        wanted([f"n{i}" for i in range(6)], weights=False),
    ),
    "nx.gexf": (lambda p: nx.write_gexf(networkx(NAMES), p), wanted(NAMES)),
    "nx_far.gexf": (lambda p: nx.write_gexf(networkx(FAR), p), wanted(FAR)),
    "nx_plain.gexf": (lambda p: nx.write_gexf(networkx(NAMES, weights=False), p), wanted(NAMES, weights=False)),
    "nx.gml": (lambda p: nx.write_gml(networkx(NAMES), p), wanted(NAMES)),
    "nx_numbers.gml": (lambda p: nx.write_gml(networkx(NUMBERS), p), wanted(NUMBERS)),
    "ig.gml": (lambda p: igraph(True).write_gml(str(p)), wanted(NAMES)),
    "ig_plain.gml": (lambda p: igraph(False).write_gml(str(p)), wanted(NUMBERS)),
    "nx.json": (lambda p: p.write_text(json.dumps(nx.node_link_data(networkx(NAMES), edges="edges"))), wanted(NAMES)),
    "nx_d3.json": (lambda p: p.write_text(json.dumps(nx.node_link_data(networkx(FAR), edges="links"))), wanted(FAR)),
    "nx_edges.txt": (
        lambda p: nx.write_weighted_edgelist(networkx(LETTERS, alone=False), p),
        wanted(LETTERS, alone=False),
    ),
    "nx_plain.edges": (
        lambda p: nx.write_edgelist(networkx(FAR, alone=False), p, data=False),
        wanted(FAR, weights=False, alone=False),
    ),
    "ig.ncol": (
        lambda p: igraph(False).induced_subgraph(range(5)).write_ncol(str(p), names=None),
        wanted(NUMBERS, alone=False),
    ),
    "pd.csv": (lambda p: pandas(NAMES).to_csv(p, index=False), wanted(NAMES, alone=False)),
    "pd_index.csv": (lambda p: pandas(NAMES).to_csv(p, index_label="id"), wanted(NAMES, alone=False)),
    "pd_semicolon.csv": (
        lambda p: pandas(FAR, ("from", "to", "value")).to_csv(p, index=False, sep=";"),
        wanted(FAR, alone=False),
    ),
    "pd_turned.csv": (
        lambda p: pandas(FAR)[["weight", "target", "source"]].to_csv(p, index=False),
        wanted(FAR, alone=False),
    ),
    "pd.tsv": (lambda p: pandas(NAMES).to_csv(p, index=False, sep="\t"), wanted(NAMES, alone=False)),
    "pd.csv.gz": (lambda p: pandas(NAMES).to_csv(p, index=False), wanted(NAMES, alone=False)),
    "pa.csv": (
        lambda p: pytest.importorskip("pyarrow.csv").write_csv(arrow(NAMES), p),
        wanted(NAMES, alone=False),
    ),
    "pd.parquet": (lambda p: pandas(NAMES).to_parquet(p), wanted(NAMES, alone=False)),
    "pa.parquet": (lambda p: parquet(arrow(FAR, ("u", "v", "w")), p), wanted(FAR, alone=False)),
    "pa_names.parquet": (lambda p: parquet(arrow(NAMES), p), wanted(NAMES, alone=False)),
    "scipy.mtx": (matrix, wanted(NUMBERS)),
    "nx.g6": (lambda p: nx.write_graph6(networkx(NUMBERS, weights=False), p), wanted(NUMBERS, weights=False)),
    "nx.s6": (lambda p: nx.write_sparse6(networkx(NUMBERS, weights=False), p), wanted(NUMBERS, weights=False)),
}  # fmt: skip
"""32 files of 12 formats: GraphML, GEXF, GML, node-link JSON, edge list, NCOL, CSV, TSV, Parquet, MatrixMarket, graph6,
sparse6."""


@pytest.mark.parametrize("name", sorted(FILES))
def test_files_of_other_libraries(tmp_path: Path, name: str) -> None:
    """Names, weights and nodes without an edge are those that were written; so they are written again."""
    write, expected = FILES[name]
    path = tmp_path / name
    write(path)
    graph = read_graph(path)
    assert named(graph) == expected
    for suffix in ("graphml", "gexf", "gml", "json", "parquet", "flipgraph"):
        if suffix == "parquet":
            pytest.importorskip("pyarrow")
        assert named(read_graph(write_graph(graph, tmp_path / f"again.{suffix}"))) == expected


@pytest.mark.parametrize("suffix", [".graphml", ".gexf", ".gml", ".json"])
def test_other_libraries_read_what_we_write(tmp_path: Path, suffix: str) -> None:
    """networkx finds the same names, weights, marks and nodes without an edge."""
    graph = as_graph(networkx(NAMES))
    path = write_graph(graph, tmp_path / f"g{suffix}", attributes={"inside": np.arange(6) < 3, "core": np.arange(6)})
    if suffix == ".json":
        back = nx.node_link_graph(json.loads(path.read_text()), edges="edges")
    else:
        back = getattr(nx, f"read_{suffix[1:]}")(path)
    assert {n: {m: d.get("weight") for m, d in back.adj[n].items()} for n in back} == wanted(NAMES)
    assert [bool(back.nodes[name]["inside"]) for name in NAMES] == [True] * 3 + [False] * 3
    assert [int(back.nodes[name]["core"]) for name in NAMES] == list(range(6))


GRAPHML = '<graphml xmlns="http://graphml.graphdrawing.org/xmlns">{}</graphml>'
PAIR = '<node id="a"/><node id="b"/>'
EDGE = f'<graph>{PAIR}<edge source="a" target="b">{{}}</edge></graph>'
KEY = '<key id="k" for="edge" attr.name="weight" attr.type="double"/>'
GEXF = '<gexf xmlns="http://www.gexf.net/1.2draft"><graph{}>{}</graph></gexf>'
NODES = '<nodes><node id="a"/><node id="b"/></nodes>'
BOMB = '<!DOCTYPE x [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;">]>'
REFUSED = [
    ("g.graphml", BOMB + GRAPHML.format("<graph><node id='&b;'/></graph>"), "document type"),
    ("g.graphml", '<!DOCTYPE graphml SYSTEM "file:///etc/passwd">' + GRAPHML.format("<graph/>"), "document type"),
    ("g.gexf", BOMB + GEXF.format("", ""), "document type"),
    ("g.graphml", GRAPHML.format(f"<graph>{PAIR}</graph>")[:-3], "broken XML"),
    ("g.graphml", "<graphml><graph></graphml>", "line 1: broken XML"),
    ("g.graphml", "<html/>", "HTML"),
    ("g.graphml", "<rows/>", "no graphml file"),
    ("g.graphml", "", "broken XML"),
    ("g.graphml", GRAPHML.format(""), "without a graph"),
    ("g.graphml", GRAPHML.format("<graph/><graph/>"), "second graph"),
    ("g.graphml", GRAPHML.format("<graph><node id='a'><graph/></node></graph>"), "graph inside a node"),
    ("g.graphml", GRAPHML.format(f"<graph>{PAIR}<hyperedge/></graph>"), "hyperedge"),
    ("g.graphml", GRAPHML.format("<graph><node/></graph>"), "node without an id"),
    ("g.graphml", GRAPHML.format("<graph><node id='a'/><node id='a'/></graph>"), "second node with the id 'a'"),
    ("g.graphml", GRAPHML.format(f"<graph>{PAIR}<edge source='a'/></graph>"), "edge without a target"),
    ("g.graphml", GRAPHML.format(f"<graph>{PAIR}<edge source='a' target='c'/></graph>"), "'c', which is no node"),
    ("g.graphml", GRAPHML.format(EDGE.format("<data key='z'>1</data>")), "not declared"),
    ("g.graphml", GRAPHML.format(KEY + EDGE.format("<data key='k'>nan</data>")), "finite number"),
    ("g.graphml", GRAPHML.format(KEY + EDGE.format("<data key='k'>0,5</data>")), "finite number"),
    ("g.graphml", GRAPHML.format(KEY + EDGE.format("<data key='k'>1</data></edge><edge source='a' target='a'>")),
     "without a weight"),
    ("g.graphml", GRAPHML.format(f"<graph>{PAIR}<vertex/></graph>"), "<vertex> in <graph>"),
    ("g.graphml", GRAPHML.format("<a>" * 200), "part of GraphML"),
    ("g.graphml", "<?xml version='1.0'?>" + " " * 5000 + GEXF.format("", NODES), "no graphml"),
    ("g.gexf", GEXF.format(' mode="dynamic"', NODES), "changes in time"),
    ("g.gexf", GEXF.format("", "<nodes><node id='a' start='1'/></nodes>"), "changes in time"),
    ("g.gexf", GEXF.format("", "<nodes><node id='a'><nodes/></node></nodes>"), "node inside a node"),
    ("g.gexf", GEXF.format("", "<nodes><node id='a' pid='b'/></nodes>"), "node inside a node"),
    ("g.gexf", GEXF.format("", NODES + "<edges><edge source='a' target='q'/></edges>"), "'q', which is no node"),
    ("g.gexf", GEXF.format("", NODES + "<edges><edge source='a' target='b' weight='x'/></edges>"), "finite number"),
    ("g.gexf", GEXF.format("", "<nodes><node id='a'><attvalues><attvalue for='9'/></attvalues></node></nodes>"),
     "not declared"),
    ("g.gexf", GEXF.format("", NODES + "<lines/>"), "<lines> in <graph>"),
    ("g.gml", "graph [ node [ id 0 ]", "ends inside 'graph'"),
    ("g.gml", "graph [ node [ id 0 ] ] ]", "expected a key"),
    ("g.gml", "graph [ node [ label \"a\" ] ]", "node without an id"),
    ("g.gml", "graph [ node [ id 0 ] node [ id 0 ] ]", "second node"),
    ("g.gml", "graph [ node [ id 0 id 1 ] ]", "second 'id'"),
    ("g.gml", "graph [ node [ id \"a\" ] ]", "whole number"),
    ("g.gml", "graph [ node [ id 0 ] edge [ source 0 target 7 ] ]", "7, which is no node"),
    ("g.gml", "graph [ node [ id 0 ] edge [ source 0 ] ]", "edge without a target"),
    ("g.gml", "graph [ node [ id 0 ] edge [ source 0 target 0 weight nan ] ]", "expected a value of 'weight'"),
    ("g.gml", "graph [ ] graph [ ]", "second graph"),
    ("g.gml", "Creator \"x\"\n", "no `graph"),
    ("g.gml", "graph [ node 5 ]", "list of 'node'"),
    ("g.gml", "graph " + "[ a " * 200, "inside one another"),
    ("g.gml", b"graph [ node [ id 0 label \"\xff\" ] ]", "UTF-8"),
    ("g.json", "{", "broken JSON"),
    ("g.json", "[" * 100_000, "deep|broken"),
    ("g.json", "[[0, 1], [1, 2]]", "no node-link graph"),
    ("g.json", '{"elements": {"nodes": []}}', "Cytoscape JSON"),
    ("g.json", '{"graph": {"nodes": {}, "edges": []}}', "JSON Graph Format"),
    ("g.json", '{"variable_ids": [], "quadratic_terms": []}', "BQPJSON"),
    ("g.json", '{"nodes": [{"name": "a"}], "links": []}', "node 0.*`id`"),
    ("g.json", '{"nodes": [{"id": 1.5}], "links": []}', "node 0.*text or a whole number"),
    ("g.json", '{"nodes": [{"id": 1}, {"id": 1}], "links": []}', "node 1.*second node"),
    ("g.json", '{"nodes": [{"id": 1}], "links": [{"source": 1}]}', "edge 0.*`target`"),
    ("g.json", '{"nodes": [{"id": 1}], "links": [{"source": 1, "target": 2}]}', "edge 0.*2, which is no node"),
    ("g.json", '{"nodes": [{"id": 1}], "links": [{"source": 1, "target": 1, "weight": NaN}]}', "NaN"),
    ("g.json", '{"nodes": [{"id": 1}], "links": [{"source": 1, "target": 1, "weight": "2"}]}', "edge 0.*text"),
    ("g.json", '{"nodes": [], "links": [], "edges": []}', "both"),
    ("g.json", '{"nodes": {}, "links": []}', "must be lists"),
    ("g.json", '{"nodes": [{"id": 1, "id": 2}], "links": []}', "one key twice"),
    ("g.g6", "A_\nA_\n", "several graphs"),
    ("g.g6", "D", "characters"),
    ("g.g6", "A\x01", "characters"),
    ("g.s6", ":~~~~~~~~", "announces"),
    ("g.parquet", "PAR1 and no more", "Parquet"),
    ("g.dot", "graph { a -- b }", "DOT"),
    ("g.net", "*Vertices 2\n1 \"a\"\n2 \"b\"\n*Edges\n1 2\n", "Pajek"),
    ("g.txt", b"ARROW1\0\0and more", "Arrow"),
    ("g.txt", b"\x80\x04\x95pickled", "pickle"),
    ("g.col", "p edge 3 2\ne 1 2\ne 2 3\n", "DIMACS"),
    ("g.csv", "time,account,other,amount\n1,ann,bob,5\n2,bob,eve,6\n", "which of the columns .*columns="),
    ("g.csv", "src,source,dst,amount\n1,2,3,4\n", "may be a line of column names"),
]  # fmt: skip


@pytest.mark.parametrize(("name", "content", "message"), REFUSED, ids=[f"{k} {r[2]}" for k, r in enumerate(REFUSED)])
def test_malformed_and_foreign_files_are_refused(tmp_path: Path, name: str, content: str | bytes, message: str) -> None:
    """With the file's name and what is wrong; never read as something else."""
    path = tmp_path / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    with pytest.raises(InvalidFile, match=rf"(?s)g\.\w+.*({message})"):
        read_graph(path)


def test_tables_with_doubtful_columns_are_refused(tmp_path: Path) -> None:
    """Parquet files whose columns could mean several things; `columns=` says what they mean."""
    pa = pytest.importorskip("pyarrow")
    path = tmp_path / "g.parquet"
    parquet(pa.table({"time": [1, 2], "account": [5, 6], "other": [6, 7]}), path)
    with pytest.raises(InvalidFile, match="which of the columns"):
        read_graph(path)
    assert list(read_graph(path, columns=("account", "other")).names) == [5, 6, 7]
