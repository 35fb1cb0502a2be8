"""`flipwise subgraph`: the bound by its name, and files that are written also when Ctrl-C comes after the search."""

from __future__ import annotations

import importlib
import json
import signal
from pathlib import Path
from typing import Any

import pytest

from flipwise import read_graph
from tests.cli.conftest import Call


@pytest.mark.parametrize(("flag", "proven"), [((), True), (("--bound",), True), (("--no-bound",), False)])
def test_the_bound_is_proven_or_skipped(call: Call, flag: tuple[str, ...], proven: bool) -> None:
    """`--bound` is the default, `--no-bound` leaves bound and gap empty."""
    ended = call("subgraph", "graph.txt", "-k", "12", "--effort", "0", "--json", "-q", *flag)
    (result,) = json.loads(ended.out)["results"]
    assert ended.code == 0 and (result["bound"] is not None) is proven and (result["gap"] is not None) is proven


def test_without_k_the_densest_of_any_size(call: Call) -> None:
    """Exact, and proven by a flow."""
    ended = call("subgraph", "graph.txt", "--json", "-q")
    (result,) = json.loads(ended.out)["results"]
    assert ended.code == 0 and result["optimal"] and result["bound"] == result["density"] and result["k"] > 1
    assert call("subgraph", "graph.txt", "--checkpoint", "run.npz").code == 2


def test_a_pool_of_sets_in_the_table_in_json_and_in_a_file(call: Call) -> None:
    """By their nodes, the best first; what a pool does not go with is refused."""
    run = ("subgraph", "graph.txt", "-k", "12", "--no-bound", "--pool", "3", "--distance", "4", "-q")
    (result,) = json.loads(call(*run, "--json", "-o", "found.json").out)["results"]
    assert json.loads(Path("found.json").read_text())["results"][0]["pool"] == result["pool"]
    assert result["pool"][0] == {"density": result["density"], "nodes": result["nodes"]}
    sets = [set(found["nodes"]) for found in result["pool"]]
    assert [len(nodes) for nodes in sets] == [12] * 3
    assert all(len(one ^ other) >= 4 for one in sets for other in sets if one is not other)
    graph = read_graph("graph.txt").to_scipy()
    for found in result["pool"]:
        assert found["density"] == pytest.approx(graph[found["nodes"]][:, found["nodes"]].sum() / 12)
    table = call(*run).out
    assert "from best" in table and table.count(f"{result['pool'][2]['density']:.12g}") >= 1
    for refused in (("-k", "5,6"), (), ("-k", "5", "--include", "3"), ("-k", "5", "--cluster", "local:1")):
        assert call("subgraph", "graph.txt", *refused, "--pool", "3").code == 2
    assert call("subgraph", "graph.txt", "-k", "5", "--distance", "3").code == 2


def test_the_answer_as_a_table_a_graph_and_marks(call: Call) -> None:
    """By the ending of the name; the nodes are the same in all of them."""
    import networkx as nx

    run = ("subgraph", "graph.txt", "-k", "12", "--effort", "0", "-q", "--no-bound")
    nodes = json.loads(call(*run, "--json").out)["results"][0]["nodes"]
    assert call(*run, "-o", "nodes.csv", "--marks", "marked.gexf").code == 0
    head, *rows = Path("nodes.csv").read_text().splitlines()
    assert head == "node,degree,weight,core" and [row.split(",")[0] for row in rows] == [str(node) for node in nodes]
    for name in ("found.parquet", "found.flipgraph"):
        assert call(*run, "-o", name).code == 0 and read_graph(name).n == 12
    assert call(*run, "-o", "found.graphml").code == 0
    found, marked = nx.read_graphml("found.graphml"), nx.read_gexf("marked.gexf")
    assert (
        set(found)
        == {str(node) for node in nodes}
        == {node for node, data in marked.nodes(data=True) if data["inside"]}
    )
    assert [int(row.split(",")[1]) for row in rows] == [found.degree(str(node)) for node in nodes]
    assert call(*run, "--marks", "marked.txt").code == call(*run[:3], "5,6", "--marks", "marked.gexf").code == 2


def test_ctrl_c_after_the_search_still_writes_the_files(call: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    """While the page is drawn: the nodes, the page and the table are there, and the next Ctrl-C is one again."""
    pages = importlib.import_module("flipwise.pages.subgraph_page")  # the package has a function of that name
    drawn = pages.subgraph_page

    def interrupted(*arguments: Any, **keywords: Any) -> str:
        signal.raise_signal(signal.SIGINT)
        return drawn(*arguments, **keywords)

    monkeypatch.setattr(pages, "subgraph_page", interrupted)
    before = signal.getsignal(signal.SIGINT)
    ended = call("subgraph", "graph.txt", "-k", "12", "--effort", "0", "-o", "nodes.txt", "--report", "page.html", "-q")
    assert ended.code == 0 and "12" in ended.out and signal.getsignal(signal.SIGINT) is before
    assert len(Path("nodes.txt").read_text().split()) == 12 and "</html>" in Path("page.html").read_text()


def test_ctrl_c_in_a_sweep_gives_the_sizes_that_are_done(call: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    """The exit code says that it was interrupted; the file holds what there is."""
    from flipwise.densest import solver

    find = solver.Search.find

    def interrupted(search: solver.Search, given: Any) -> Any:
        if search.k == 10:
            signal.raise_signal(signal.SIGINT)
        return find(search, given)

    monkeypatch.setattr(solver.Search, "find", interrupted)
    ended = call("subgraph", "graph.txt", "-k", "5,10,20", "--effort", "0.02", "-o", "all.json", "-q")
    results = json.loads(Path("all.json").read_text())["results"]
    assert ended.code == 130 and [result["k"] for result in results] == [10, 20]
    assert results[0]["status"] == "interrupted" and len(results[0]["nodes"]) == 10


def test_conditions_are_kept_and_contradictions_named(call: Call) -> None:
    """Nodes by their names, sizes, several sets, weights from a file; what does not go together ends with code 2."""
    run = ("subgraph", "graph.txt", "--effort", "0", "--json", "-q")
    (found,) = json.loads(call(*run, "--include", "3,5", "--exclude", "4", "--at-least", "9", "--connected").out)[
        "results"
    ]
    assert {3, 5} <= set(found["nodes"]) and 4 not in found["nodes"] and found["k"] >= 9
    assert found["bound"] >= found["density"] and found["conditions"].endswith("connected")
    sets = json.loads(call(*run, "-k", "6", "--several", "2").out)["results"]
    assert len(sets) == 2 and not set(sets[0]["nodes"]) & set(sets[1]["nodes"])
    Path("weights.txt").write_text("# node, weight\n3 500\n")
    (weighed,) = json.loads(call(*run, "--node-weights", "weights.txt", "--at-most", "2").out)["results"]
    assert weighed["nodes"] == [3] and weighed["density"] == 500.0
    for wrong in (
        ("--include", "no"),
        ("-k", "3", "--at-least", "2"),
        ("--overlap", "0.5"),
        ("--include", "3", "--exclude", "3"),
    ):
        assert call(*run, *wrong).code == 2
    Path("weights.txt").write_text("3 heavy\n")
    assert call(*run, "--node-weights", "weights.txt").code != 0
