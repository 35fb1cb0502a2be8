"""Tables of edges in Python: pandas, polars and pyarrow, into a `Graph` and back."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from typing import Any

import numpy as np

from flipwise.foundation.errors import InvalidInput, MissingDependency
from flipwise.foundation.numbers import as_floats
from flipwise.graphs.formats.elements import WEIGHT_NAMES
from flipwise.graphs.formats.lines import edges
from flipwise.graphs.formats.parquet import graph_from_table, name_column, table_of
from flipwise.graphs.formats.tables import choose_columns, graph_from_columns, named_ends
from flipwise.graphs.graph import Graph, Symmetrise
from flipwise.graphs.libraries import is_instance

_WHAT = "the table"


def from_frame(table: Any, symmetrise: Symmetrise, columns: Sequence[str] | None) -> Graph | None:
    """The graph of a table of edges; None where it is an adjacency matrix instead."""
    if is_instance(table, "pyarrow", "Table"):
        return graph_from_table(table, symmetrise=symmetrise, columns=columns)
    titles = [str(name) for name in table.columns]
    if columns is None and _is_matrix(table, titles):
        return None
    chosen = choose_columns(titles, _WHAT, InvalidInput, columns=columns)
    arrays = [table[table.columns[titles.index(name)]] for name in chosen if name is not None]
    ends = [np.asarray(column.to_numpy()) for column in arrays[:2]]
    weights = None if chosen.weight is None else _weight_column(arrays[2], chosen.weight)
    return graph_from_columns((ends[0], ends[1]), weights, chosen, _WHAT, InvalidInput, symmetrise=symmetrise)


def _weight_column(column: Any, title: str) -> Any:
    """A column of weights as floats; what is no number is refused."""
    values = np.asarray(column.to_numpy())
    if values.dtype.kind == "O":  # decimals, numbers with missing ones among them
        try:
            return as_floats("graph", values)
        except InvalidInput as error:
            raise InvalidInput(f"{_WHAT}: column {title!r} must hold numbers. {error}") from None
    return values


def _is_matrix(table: Any, titles: list[str]) -> bool:
    """Whether a data frame is an adjacency matrix; one that may be a table of edges as well is refused."""
    if table.shape[0] != table.shape[1]:
        return False
    if is_instance(table, "pandas", "DataFrame") and list(table.index) == list(table.columns):
        return True
    ends = named_ends(titles)
    sure = ends is not None and all(len(titles[k]) > 1 for k in ends)
    if not sure and (ends is not None or any(title.lower() in WEIGHT_NAMES for title in titles)):
        raise InvalidInput(
            f"`graph`: is the square table with the columns {titles} a list of edges or an adjacency matrix? Pass "
            "columns=(source, target) or columns=(source, target, weight) for edges, table.to_numpy() for a matrix."
        )
    return not sure


def matrix_names(table: Any) -> list[Any] | None:
    """The names of the nodes of an adjacency matrix in a pandas frame, where rows and columns are called alike."""
    if not is_instance(table, "pandas", "DataFrame"):
        return None
    names = list(table.columns)
    plain = names == list(range(len(names)))
    return None if plain or names != list(table.index) or len(set(names)) < len(names) else names


def renamed(graph: Graph, names: Sequence[Any] | None) -> Graph:
    """The graph with names, if there are any."""
    return graph if names is None else Graph(graph.indptr, graph.indices, graph.weights, names, graph.notes)


def to_frame(graph: Graph, library: str) -> Any:
    """A table of the edges with the columns source, target and, where there are any, weight."""
    if library == "pyarrow":
        return table_of(graph)
    try:
        module = import_module(library)
    except ImportError:
        raise MissingDependency(library, "frames", f"A table of {library}") from None
    names = name_column(graph)
    listed = list(edges(graph))
    columns: dict[str, Any] = {}
    for side, title in enumerate(("source", "target")):
        ends = np.array([edge[side] for edge in listed], dtype=np.int64)
        columns[title] = ends if names is None else names[ends].tolist() if names.dtype == object else names[ends]
    if graph.weights is not None:
        columns["weight"] = np.array([edge[2] for edge in listed], dtype=np.float64)
    return module.DataFrame(columns)
