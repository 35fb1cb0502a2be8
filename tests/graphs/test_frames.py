"""Tables of edges of pandas, polars and pyarrow, there and back."""

from __future__ import annotations

from typing import Any

import networkx as nx
import numpy as np
import pytest

from flipwise import InvalidInput
from flipwise.graphs.convert import as_graph
from tests.graphs.files import weighted_graph
from tests.graphs.test_formats_exchange import FAR, NAMES, columns, named, networkx, wanted


def frame(library: str, data: Any) -> Any:
    """A table of a library."""
    module = pytest.importorskip(library)
    return module.table(data) if library == "pyarrow" else module.DataFrame(data)


@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow"])
@pytest.mark.parametrize("names", [NAMES, FAR], ids=["names", "numbers"])
def test_tables_of_edges(library: str, names: list[Any]) -> None:
    """Names or numbers, weights, columns found by name wherever they stand; there and back."""
    data = columns(names)
    table = frame(library, {"id": list(range(5)), "weight": data["weight"], **data})
    graph = as_graph(table)
    assert named(graph) == wanted(names, alone=False) and "'source' and 'target'" in graph.notes[0]
    back = graph.to(library)
    assert type(back) is type(table) and named(as_graph(back)) == wanted(names, alone=False)
    renamed = frame(library, columns(names, ("payer", "payee", "amount")) | {"day": [1] * 5})
    assert named(as_graph(renamed, columns=("payer", "payee", "amount"))) == wanted(names, alone=False)
    assert as_graph(renamed, columns=("payer", "payee")).weights is None
    with pytest.raises(InvalidInput, match="which of the columns"):
        as_graph(renamed)
    with pytest.raises(InvalidInput, match="0 columns called 'x'"):
        as_graph(renamed, columns=("payer", "x"))


@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow"])
@pytest.mark.parametrize(
    ("data", "message"),
    [
        ({"source": ["a", None], "target": ["b", "c"]}, "missing values"),
        ({"source": [1.5, 2.0], "target": [1.0, 2.0]}, "whole numbers or strings"),
        ({"source": [-1, 2], "target": [1, 2]}, "from 0 to"),
        ({"source": [1, 2], "target": ["a", "b"]}, "both"),
        ({"source": [1, 2], "target": [2, 3], "weight": ["x", "y"]}, "must hold numbers"),
        ({"source": [1, 2], "target": [2, 3], "weight": [1.0, float("nan")]}, "must be finite"),
    ],
)
def test_tables_that_are_refused(library: str, data: Any, message: str) -> None:
    """With the column and what is wrong."""
    with pytest.raises(InvalidInput, match=message):
        as_graph(frame(library, data))


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_square_frames_are_matrices_unless_they_say_edges(library: str) -> None:
    """An adjacency matrix stays one; a square table that may be either is refused."""
    matrix = weighted_graph(1).to_scipy().toarray()[:3, :3]
    table = frame(library, {name: matrix[:, k] for k, name in enumerate(("ann", "bob", "eve"))})
    assert np.array_equal(as_graph(table).to_scipy().toarray(), matrix)
    edges = frame(library, {"source": [0, 1], "target": [1, 2]})
    assert as_graph(edges).n_edges == 2
    with pytest.raises(InvalidInput, match="a list of edges or an adjacency matrix"):
        as_graph(frame(library, {"u": [0, 1], "v": [1, 0]}))


def test_matrices_of_pandas_keep_their_names() -> None:
    """Where rows and columns are called alike."""
    pytest.importorskip("pandas")
    graph = networkx(NAMES)
    assert named(as_graph(nx.to_pandas_adjacency(graph))) == wanted(NAMES)


def test_lonely_nodes_of_pyarrow_tables() -> None:
    """Stand in the metadata of the table."""
    pytest.importorskip("pyarrow")
    assert named(as_graph(as_graph(networkx(NAMES)).to("pyarrow"))) == wanted(NAMES)
