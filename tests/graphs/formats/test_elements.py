"""The rules that GraphML, GEXF, GML and node-link JSON share: what nodes are called, what edges weigh."""

from __future__ import annotations

from pathlib import Path

import networkx as nx
import pytest

from flipwise import InvalidInput, read_graph
from tests.graphs.files import dense, written

XML = (
    '<graphml><key id="k" for="edge" attr.name="weight"><default>2</default></key>'
    '<key id="l" for="node" attr.name="name"/><graph>{}</graph></graphml>'
)
NODE = '<node id="{}"><data key="l">{}</data></node>'


@pytest.mark.parametrize(
    ("nodes", "names"),
    [
        ([("n0", "ann"), ("n1", "bob")], ["ann", "bob"]),
        ([("n0", "ann"), ("n1", "ann")], ["n0", "n1"]),
        ([("n0", "ann"), ("n1", "")], ["n0", "n1"]),
        ([("n0", "7"), ("n1", "5")], [7, 5]),
        ([("n0", "07"), ("n1", "5")], ["07", "5"]),
        ([("n0", "0"), ("n1", "1")], None),
    ],
)
def test_what_nodes_are_called(tmp_path: Path, nodes: list[tuple[str, str]], names: list[object] | None) -> None:
    """By a name that every node has for itself, otherwise by their ids; whole numbers are numbers."""
    graph = read_graph(written(tmp_path, XML.format("".join(NODE.format(*node) for node in nodes)), "g.graphml"))
    assert (None if graph.names is None else list(graph.names)) == names
    assert graph.notes[0].startswith("Nodes are called by their " + ("id" if names == ["n0", "n1"] else "name"))


def test_weights(tmp_path: Path) -> None:
    """A default counts, parallel and opposite edges follow `symmetrise`, and weights can be ignored or demanded."""
    edges = '<edge source="a" target="b"/><edge source="b" target="a"><data key="k">5</data></edge>'
    path = written(tmp_path, XML.format('<node id="a"/><node id="b"/>' + edges), "g.graphml")
    assert dense(read_graph(path)) == [[0, 5], [5, 0]]
    assert dense(read_graph(path, symmetrise="sum")) == [[0, 7], [7, 0]]
    assert read_graph(path, weighted=False).weights is None
    with pytest.raises(InvalidInput, match="no weights"):
        read_graph(written(tmp_path, "graph [ node [ id 0 ] ]", "g.gml"), weighted=True)


@pytest.mark.parametrize("kind", ["gexf", "gml", "graphml"])
def test_larger_graphs_as_networkx_reads_them(tmp_path: Path, kind: str) -> None:
    """The same edges as by the readers of networkx, directed ones and loops included."""
    G = nx.gnp_random_graph(40, 0.2, seed=3, directed=True)
    G.add_edge(0, 0)
    getattr(nx, f"write_{kind}")(G, tmp_path / f"g.{kind}")
    graph = read_graph(tmp_path / f"g.{kind}")
    wanted = nx.Graph(G)
    wanted.remove_edges_from(nx.selfloop_edges(G))
    assert graph.to("networkx").edges == wanted.edges and "self loop dropped" in graph.notes[1]


def test_gml_of_older_tools(tmp_path: Path) -> None:
    """Comments, keys of their own, `value` as weight, texts over several lines, names in other scripts."""
    text = (
        'Creator "x\ny"\n# comment\ngraph\n[\n  directed 0\n  node\n  [\n    id 7\n    label "Zo&#235;"\n'
        '    graphics [ x 1.5 ]\n  ]\n  node [ id 9 label "Ж" ]\n  edge [ source 7 target 9 value 3 ]\n]\n'
    )
    graph = read_graph(written(tmp_path, text, "g.gml"))
    assert list(graph.names) == ["Zoë", "Ж"] and dense(graph) == [[0, 3], [3, 0]]


def test_edge_lists_say_what_they_were_taken_for_and_keep_lonely_nodes(tmp_path: Path) -> None:
    """The columns, the separator, the header and the first edge; comments of ours hold nodes without an edge."""
    from flipwise import write_graph

    graph = read_graph(written(tmp_path, "id;target;source\n1;ann;bob\n"))
    assert graph.notes[0] == (
        "Read between semicolons: columns 'source' and 'target' as nodes with names, no weights, the first line as "
        "column names; the first edge is 'bob ann'."
    )
    for names in (["a", "b", "c"], [5, 7, 3]):
        G = nx.Graph([(names[0], names[1])])
        G.add_node(names[2])
        assert set(read_graph(write_graph(G, tmp_path / "g.txt")).names) == set(names)
