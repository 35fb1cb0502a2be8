"""Writers of every format: what they write is read back, by others too."""

from __future__ import annotations

from pathlib import Path

import networkx as nx
import numpy as np
import pytest
import scipy.io

from flipwise import InvalidInput, read_graph, write_graph
from tests.graphs.files import random_graph, same, weighted_graph


def test_writing_is_atomic(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A failed write leaves the old file and no litter."""
    path = write_graph(random_graph(5, 4, seed=0), tmp_path / "g.txt")
    before = path.read_bytes()
    monkeypatch.setattr("flipwise.graphs.formats.edgelist.write_edges", lambda *_, **__: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        write_graph(random_graph(6, 7, seed=0), path)
    assert path.read_bytes() == before and list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("suffix", [".txt", ".mtx", ".metis", ".rudy", ".tsv.gz", ".mtx.xz", ".rudy.zst", ".el.bz2"])
def test_text_round_trip(tmp_path: Path, suffix: str) -> None:
    """Every text format is read back as written."""
    graph = random_graph(30, 120, seed=3)
    back = read_graph(write_graph(graph, tmp_path / f"g{suffix}"))
    assert same(graph, back)
    if "metis" not in suffix:
        heavy = weighted_graph(4)
        assert same(heavy, read_graph(write_graph(heavy, tmp_path / f"h{suffix}")))


@pytest.mark.filterwarnings("ignore:The default value for `spmatrix`:DeprecationWarning")
def test_written_files_are_read_by_others(tmp_path: Path) -> None:
    """scipy reads our MatrixMarket, networkx our edge list."""
    heavy = weighted_graph(5)
    write_graph(heavy, tmp_path / "m.mtx")
    assert np.array_equal(np.asarray(scipy.io.mmread(tmp_path / "m.mtx").todense()), heavy.to_scipy().todense())
    plain = random_graph(30, 120, seed=6)
    G = nx.read_edgelist(write_graph(plain, tmp_path / "e.txt"), nodetype=int)
    assert G.number_of_edges() == 120


@pytest.mark.parametrize(
    ("graph", "name", "message"),
    [
        (nx.Graph([((1, 2), "a")]), "g.flipgraph", "all strings or all whole numbers"),
        ((2, [[0, 1, 0.5]]), "g.metis", "positive whole weights"),
        ((2, []), "no/folder.txt", "does not exist"),
        ((2, []), "g.dot", "can be written"),
        ((2, []), "g.g6", "can be written"),
        ((2, []), "g.csv", "2 nodes have no edge"),
        ((2, []), "g.parquet.gz", "not packed"),
        (nx.Graph([(1, "1")]), "g.graphml", "the same text"),
        (nx.Graph([("a\0", "b")]), "g.gexf", "cannot hold"),
        (nx.Graph([("a\n", "b")]), "g.gml", "control character"),
        (nx.Graph([("a\n", "b")]), "g.csv", "cannot stand in a CSV"),
        (nx.Graph([(1.5, "b")]), "g.json", "no text or whole number"),
        (nx.Graph([(1, "b")]), "g.parquet", "all strings or all whole numbers"),
        ((2, []), "graph", "without a suffix"),
        ((2, []), "g.flipgraph.gz", "not packed"),
    ],
)
def test_what_cannot_be_written(tmp_path: Path, graph, name, message) -> None:  # type: ignore[no-untyped-def]
    """Refused with the reason."""
    with pytest.raises(InvalidInput, match=message):
        write_graph(graph, tmp_path / name)
