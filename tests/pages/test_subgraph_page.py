"""The page of dense subgraphs: self-contained, well-formed, safe with odd names, and its pictures show the subgraph."""

from __future__ import annotations

import base64
import re
import struct
import zlib
from html.parser import HTMLParser

import numpy as np
import pytest

import flipwise
from flipwise.graphs.graph import Graph
from flipwise.graphs.planted import planted_subgraph
from flipwise.pages.network import circle_order, network_svg
from flipwise.pages.subgraph_page import adjacency_svg, complementary_counts, profile_chart, subgraph_page

VOID = {"meta", "line", "circle", "image", "rect", "br"}


class Balance(HTMLParser):
    """Counts tags that stay open."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []

    def handle_starttag(self, tag: str, attributes: object) -> None:
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if tag not in VOID:
            assert self.open.pop() == tag


def _page(names: list[str] | None = None) -> str:
    graph, _ = planted_subgraph(60, 12, seed=0)
    named = Graph(graph.indptr, graph.indices, None, names)
    return subgraph_page(named, list(flipwise.densest_subgraph(named, [6, 12], seed=0, effort=0)), title="A <page>")


def test_the_page_is_whole_and_alone() -> None:
    """Every tag is closed, nothing is fetched, no script runs."""
    page = _page()
    parser = Balance()
    parser.feed(page)
    # html and body may stay open at the end of a document only if they are closed by their end tags, which they are
    assert parser.open == []
    assert "<script" not in page and "http" not in page
    assert len(page) < 100_000


def test_names_and_titles_are_escaped() -> None:
    """Node names with markup appear as text."""
    page = _page([f"<b>{i}</b>&<script>'\"</code></details><img src=x onerror=y>" for i in range(60)])
    assert "<script" not in page and "<img" not in page
    parser = Balance()
    parser.feed(page)
    assert parser.open == []
    assert "<b>" not in page and "&lt;b&gt;" in page and "A &lt;page&gt;" in page


def test_the_picture_is_the_adjacency() -> None:
    """The embedded PNG, decoded, is the block of ones and zeros, also where the side is no multiple of 8."""
    block = np.random.default_rng(0).random((13, 13)) < 0.5
    data = base64.b64decode(re.search(r"base64,([^']+)'", adjacency_svg(block))[1])  # type: ignore[index]
    assert data[:8] == b"\x89PNG\r\n\x1a\n"
    length = struct.unpack(">I", data[33:37])[0]
    rows = np.frombuffer(zlib.decompress(data[41 : 41 + length]), np.uint8).reshape(13, -1)[:, 1:]
    assert np.array_equal(np.unpackbits(rows, axis=1)[:, :13].astype(bool), block)


@pytest.mark.parametrize("bounds", [[9.0, 8.0, 7.5], [None, None, None], [9.0, None, 7.5]])
def test_the_profile_is_drawn_with_and_without_bounds(bounds: list[float | None]) -> None:
    """A point for each k; a band exactly where bounds are known."""
    svg = profile_chart([1, 10, 100], [8.0, 7.0, 7.0], bounds).svg()
    assert svg.count('class="dot"') == 3
    assert ('class="band"' in svg) == any(bound is not None for bound in bounds)
    assert "nan" not in svg


def test_a_profile_of_one_size_or_zero_density_is_drawn() -> None:
    """No division by zero."""
    assert "nan" not in profile_chart([5], [0.0], [0.0]).svg()


def test_pictures_of_one_size_are_told_apart() -> None:
    """Two subgraphs that are drawn with the same number of nodes have masks of their own."""
    masks = [re.search("mask id='([^']+)'", adjacency_svg(block))[1] for block in (np.eye(5) > 0, np.eye(5) == 0)]  # type: ignore[index]
    assert masks[0] != masks[1]


def test_the_subgraph_is_drawn_with_all_names() -> None:
    """A name and a dot for each node, an edge for each edge; long names are cut, and whole in the title."""
    graph, _ = planted_subgraph(40, 12, seed=0)
    svg = network_svg(graph, [f"node {i} of the graph that is drawn" for i in range(40)])
    assert svg.count("class='node'") == 40 == svg.count("<text")
    assert sum(path.count("M") for path in re.findall(r"<path d='([^']*)'", svg)) == graph.n_edges
    assert "node 7 of the graph…" in svg and "<title>node 7 of the graph that is drawn:" in svg
    assert sorted(circle_order(graph).tolist()) == list(range(40))


def test_where_a_set_sits() -> None:
    """The curves say how many nodes have at least so large a degree."""
    assert complementary_counts(np.array([0, 1, 1, 3])) == [(1.0, 3.0), (3.0, 1.0)]
    assert complementary_counts(np.zeros(3, dtype=np.int64)) == []
    assert len(complementary_counts(np.arange(1, 5000))) <= 160


def test_large_sets_are_not_drawn_with_names() -> None:
    """Beyond some hundred nodes names have no room; without edges there is still a page."""
    graph, _ = planted_subgraph(400, 20, seed=0)
    page = subgraph_page(graph, [flipwise.densest_subgraph(graph, 350, seed=0, effort=0)])
    assert "class='network'" not in page and "where the set sits" in page
    empty = Graph(np.zeros(4, np.int64), np.zeros(0, np.int32))
    assert "nan" not in subgraph_page(empty, [flipwise.densest_subgraph(empty, 2, seed=0)])
