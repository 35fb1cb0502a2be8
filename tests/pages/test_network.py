"""Drawings of graphs: the order around the circle, and what is in the picture."""

from __future__ import annotations

from xml.etree import ElementTree

import networkx as nx
import numpy as np
import pytest

from flipwise.graphs.convert import as_graph
from flipwise.pages.network import circle_order, network_svg


@pytest.mark.parametrize("n", [0, 1, 2, 3, 9])
def test_every_node_has_one_place(n: int) -> None:
    """Also where there are too few for an order."""
    assert sorted(circle_order(as_graph((n, np.zeros((0, 2), dtype=np.int64)))).tolist()) == list(range(n))


def test_two_cliques_joined_by_an_edge_stand_apart() -> None:
    """The first half of the circle is one of them."""
    graph = nx.disjoint_union(nx.complete_graph(5), nx.complete_graph(5))
    graph.add_edge(0, 5)
    order = np.random.default_rng(0).permutation(10)
    mixed = nx.relabel_nodes(graph, dict(enumerate(order.tolist())))
    shuffled = nx.Graph()
    shuffled.add_nodes_from(range(10))
    shuffled.add_edges_from(mixed.edges)
    halves = [set(circle_order(as_graph(shuffled))[:5].tolist()), set(circle_order(as_graph(shuffled))[5:].tolist())]
    assert set(order[:5].tolist()) in halves


def test_names_are_escaped_in_the_picture() -> None:
    """It stays well-formed whatever nodes are called."""
    names = ["<a & 'b'>", "b", "c", "d"]
    svg = ElementTree.fromstring(network_svg(as_graph(nx.complete_graph(4)), names))
    assert set(names) <= {text.strip() for text in svg.itertext()}
