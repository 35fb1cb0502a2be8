"""graph6 and sparse6, as networkx writes them."""

from __future__ import annotations

from pathlib import Path

import networkx as nx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from flipwise import InvalidInput, read_graph
from tests.graphs.files import written


@given(st.integers(0, 90), st.floats(0, 1), st.integers(0, 99), st.sampled_from(["graph6", "sparse6"]), st.booleans())
def test_as_networkx_writes_them(tmp_path_factory, n, density, seed, kind, header) -> None:  # type: ignore[no-untyped-def]
    """Any size around one and four characters, with and without the header."""
    G = nx.gnp_random_graph(n, density, seed=seed)
    data = getattr(nx, f"to_{kind}_bytes")(G, header=header)
    graph = read_graph(written(tmp_path_factory.mktemp("g"), data, "g.g6"))
    assert graph.n == n and graph.to("networkx").edges == G.edges


def test_no_weights(tmp_path: Path) -> None:
    """Cannot be demanded."""
    with pytest.raises(InvalidInput, match="no weights"):
        read_graph(written(tmp_path, "A_", "g.g6"), weighted=True)
