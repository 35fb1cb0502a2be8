"""Files of other formats are refused by name, whatever they are called."""

from __future__ import annotations

import contextlib
import io
import json
import sqlite3
from pathlib import Path

import networkx as nx
import numpy as np
import pytest

from flipwise import InvalidFile, read_graph

KARATE = nx.karate_club_graph()


def _contents(folder: Path) -> dict[str, bytes]:
    """What other libraries write, by the name of the format."""
    made = {}
    made["JSON"] = json.dumps([[0, 1], [1, 2]]).encode()
    made["Cytoscape"] = json.dumps(nx.cytoscape_data(KARATE)).encode()
    made["XML"] = b"<?xml version='1.0'?>\n<rows><row a='1' b='2'/></rows>"
    made["DOT"] = b"graph karate {\n  0 -- 1;\n  1 -- 2;\n}\n"
    made["DOT (strict)"] = b"// made by hand\nstrict digraph {\n  0 -> 1\n}\n"
    nx.write_pajek(KARATE, folder / "net")
    made["Pajek"] = (folder / "net").read_bytes()
    made["DIMACS"] = b"c a clique\np edge 3 2\ne 1 2\ne 2 3\n"
    made["LEDA"] = b"LEDA.GRAPH\nstring\nint\n-1\n3\n"
    made["UTF-16"] = "0 1\n1 2\n".encode("utf-16")
    stored = io.BytesIO()
    np.save(stored, np.eye(3))
    made["NumPy"] = stored.getvalue()
    with sqlite3.connect(folder / "table.sqlite") as database:
        database.execute("create table edges (source, target)")
    database.close()
    made["SQLite"] = (folder / "table.sqlite").read_bytes()
    made["HTML"] = b"<!DOCTYPE html><html><body>404</body></html>"
    return made


@pytest.mark.parametrize("name", ["g", "g.txt", "g.csv", "g.dat"])
def test_other_formats_are_refused_by_name(tmp_path: Path, name: str) -> None:
    """By content, with the format in the message; also when an edge list is asked for."""
    for kind, content in _contents(tmp_path).items():
        path = tmp_path / name
        path.write_bytes(content)
        wanted = kind.split(" ")[-1] if kind.startswith("one-line") else kind.split(" ")[0]
        with pytest.raises(InvalidFile, match=wanted):
            read_graph(path)
        with pytest.raises(InvalidFile):
            read_graph(path, format="edgelist")


@pytest.mark.parametrize("suffix", [".graphml", ".gexf", ".gml", ".json", ".g6", ".parquet", ".dot", ".net", ".xlsx"])
def test_names_of_other_formats_are_refused(tmp_path: Path, suffix: str) -> None:
    """An edge list is not read under a name that says something else."""
    path = tmp_path / f"g{suffix}"
    path.write_bytes(b"0 1\n1 2\n")
    with pytest.raises(InvalidFile, match=r"not read|broken|expected|graph6|Parquet"):
        read_graph(path)


@pytest.mark.parametrize("name", ["GraphML", "GEXF", "GML", "JSON"])
def test_formats_that_are_read_are_no_edge_lists(tmp_path: Path, name: str) -> None:
    """Found out by content under any name; refused by name where an edge list is asked for."""
    path = tmp_path / "g.txt"
    if name == "JSON":
        path.write_text(json.dumps(nx.node_link_data(KARATE, edges="links")))
    else:
        getattr(nx, f"write_{name.lower()}")(KARATE, path)
    assert read_graph(path).n_edges == 78
    path.write_bytes(b"".join(line.strip() + b" " for line in path.read_bytes().splitlines()))
    assert read_graph(path).n_edges == 78
    with pytest.raises(InvalidFile, match=f"format {name}, no edge list"):
        read_graph(path, format="edgelist")


def test_comments_cannot_make_the_check_slow(tmp_path: Path) -> None:
    """Thousands of signs that begin comments are looked at once each."""
    for sign in (b"#", b"//", b"/*", b"c ", b"%", b"creator "):
        path = tmp_path / "g"
        path.write_bytes(sign * 2000 + b"\n")
        with contextlib.suppress(InvalidFile):
            read_graph(path)
