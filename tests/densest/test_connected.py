"""Connected sets stay connected, keep who must be in, and know what they weigh."""

from __future__ import annotations

import networkx as nx
import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from flipwise.densest.connected import Field, Piece, first_piece, pieces_in_order, shaken
from flipwise.graphs.convert import as_graph


def a_field(seed: int, n: int, pinned: int, least: int, most: int) -> tuple[nx.Graph, Field]:
    """A connected random graph whose nodes have weights of their own, some of which must be in."""
    rng = np.random.default_rng(seed)
    graph = nx.gnm_random_graph(n, 2 * n, seed=seed)
    nx.add_path(graph, range(n))
    marks = np.zeros(n, np.uint8)
    marks[rng.permutation(n)[:pinned]] = 1
    return graph, Field(as_graph(graph), np.arange(n), rng.integers(0, 3, n) / 2.0, marks, least, most)


def assert_sound(graph: nx.Graph, piece: Piece) -> None:
    """A connected set with those that must be in, its size, its weight, and what each node adds."""
    members, field = piece.members, piece.field
    inner = graph.subgraph(members.tolist())
    assert nx.is_connected(inner) and members.size == piece.size and (piece.inside[field.pinned == 1] == 1).all()
    assert np.isclose(piece.weight, inner.number_of_edges() + field.bonus[members].sum())
    ties = np.array([sum(int(piece.inside[other]) for other in graph[node]) for node in range(field.graph.n)])
    assert np.array_equal(piece.ties, ties) and np.allclose(piece.degrees, field.bonus + ties)


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10**6), st.integers(4, 14), st.integers(0, 3), st.data())
def test_pieces_stay_sound_whatever_is_done_to_them(seed: int, n: int, pinned: int, data: st.DataObject) -> None:
    """Grown, shed, improved, shaken (of one node nothing would be left); an improvement never loses weight."""
    least = data.draw(st.integers(max(2, pinned), n))
    graph, field = a_field(seed, n, pinned, least, least)
    rng = np.random.default_rng(seed)
    piece = first_piece(field, rng.random(n))
    if piece is None:
        return
    assert_sound(graph, piece)
    assert piece.fits
    before = piece.weight
    piece.improve()
    assert_sound(graph, piece)
    assert piece.weight >= before - 1e-9 and piece.fits
    other = shaken(piece, rng)
    assert_sound(graph, other)
    assert_sound(graph, piece)


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10**6), st.integers(4, 14), st.data())
def test_pieces_in_an_order_have_a_wanted_size(seed: int, n: int, data: st.DataObject) -> None:
    """Whatever the order."""
    least = data.draw(st.integers(1, n))
    most = data.draw(st.integers(least, n))
    graph, field = a_field(seed, n, 1, least, most)
    for piece in pieces_in_order(field, np.random.default_rng(seed).permutation(n)):
        assert_sound(graph, piece)
        assert least <= piece.size <= most
