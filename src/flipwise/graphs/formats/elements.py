"""Formats that list their nodes: nodes and edges as they are met, and the graph that they are in the end.

One rule for GraphML, GEXF, GML and node-link JSON. A node is called by its `label`, or else its `name`, where every
node has one and no two are equal, otherwise by its id; names that are all whole numbers are numbers, as in edge lists.
The weight of an edge is its attribute `weight`, `w` or `value`. Edges between nodes that are not listed, nodes listed
twice, and weights that only some edges have are refused.
"""

from __future__ import annotations

import math
from array import array
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NoReturn

import numpy as np

from flipwise.foundation.errors import InvalidFile, InvalidInput
from flipwise.graphs.graph import ArcBlock, Graph, Symmetrise, build_graph
from flipwise.graphs.names import PackedNames
from flipwise.graphs.streams import blocks

WEIGHT_NAMES = ("weight", "w", "value")
"""What attributes and columns of weights are called; the first that is there counts."""
LABELS = ("label", "name")
"""The attributes that call a node by its name."""


class Elements:
    """The nodes and edges of a file.

    Parameters
    ----------
    path
        The file, for messages.
    default_weight
        What an edge without a weight weighs where others have one; None refuses that.
    typed
        Whether the file tells numbers from texts; otherwise names that are all whole numbers become numbers.
    """

    def __init__(self, path: Path, *, default_weight: float | None = None, typed: bool = False) -> None:
        self.path, self.default_weight, self.typed = path, default_weight, typed
        self._index: dict[Any, int] = {}
        self._labels: dict[str, list[Any]] = {name: [] for name in LABELS}
        self._edges: list[tuple[Any, Any]] = []
        self._weights = array("d")
        self._places = array("q")
        self._weighed = 0
        self._weight_name = ""

    def wrong(self, place: int, problem: str) -> NoReturn:
        """Raise for what stands in a line of the file."""
        raise InvalidFile(f"{self.path}, {self.where(place)}: {problem}")

    def where(self, place: int) -> str:
        """How a place in the file is called in messages."""
        return f"line {place:,}"

    def add_node(self, place: int, key: Any, labels: Mapping[str, Any]) -> None:
        """Take in a node by its id, with the attributes that it has."""
        if key is None or key == "":
            self.wrong(place, "a node without an id.")
        if key in self._index:
            self.wrong(place, f"a second node with the id {key!r}.")
        self._index[key] = len(self._index)
        for name, values in self._labels.items():
            value = labels.get(name)
            if value is not None and value != "" and len(values) == len(self._index) - 1:
                values.append(value)

    def add_edge(self, place: int, ends: tuple[Any, Any], weight: Any = None, name: str = "weight") -> None:
        """Take in an edge between two ids, with its weight, a number or its text, if it has one."""
        for end, role in zip(ends, ("source", "target")):
            if end is None or end == "":
                self.wrong(place, f"an edge without a {role}.")
        number = math.nan
        if weight is not None:
            number = self._weight_number(place, weight)
            self._weighed += 1
            if self._weight_name not in ("", name):
                self.wrong(place, f"the weight is called {name!r} here and {self._weight_name!r} in other edges.")
            self._weight_name = name
        self._edges.append(ends)
        self._weights.append(number)
        self._places.append(place)

    def _weight_number(self, place: int, weight: Any) -> float:
        """A weight as a finite number."""
        try:
            if isinstance(weight, bool) or (isinstance(weight, str) and ("_" in weight or not weight.isascii())):
                raise ValueError
            number = float(weight)
        except (ValueError, TypeError, OverflowError):
            number = math.nan
        if not math.isfinite(number):
            self.wrong(place, f"the weight of an edge must be a finite number, got {weight!r}.")
        return number

    def graph(self, symmetrise: Symmetrise, weighted: bool | None) -> Graph:
        """The graph of all that was taken in."""
        m = len(self._edges)
        if weighted and not self._weighed:
            raise InvalidInput(f"`weighted` is True, but the edges of {self.path} have no weights.")
        weights = np.frombuffer(self._weights, dtype=np.float64).copy() if m else np.empty(0)
        missing = np.isnan(weights)
        use = bool(self._weighed) and weighted is not False
        if use and missing.any():
            if self.default_weight is None:
                self.wrong(
                    self._places[int(np.argmax(missing))],
                    "an edge without a weight, where others have one. Give it one, or pass weighted=False to ignore "
                    "weights (on the command line --unweighted).",
                )
            weights[missing] = self.default_weight
        ends = np.empty((2, m), dtype=np.int64)
        for position, pair in enumerate(self._edges):
            for side, key in enumerate(pair):
                node = self._index.get(key)
                if node is None:
                    self.wrong(self._places[position], f"an edge to {key!r}, which is no node of the file.")
                ends[side, position] = node
        names, said = self._node_names()
        told = f"weights from {self._weight_name!r}" if use else "weights ignored" if self._weighed else "no weights"
        return build_graph(
            len(self._index),
            [ArcBlock(ends[0], ends[1], weights if use else None)],
            symmetrise=symmetrise,
            names=names,
            notes=(f"Nodes are called by their {said}; {told}.",),
            what=str(self.path),
        )

    def _node_names(self) -> tuple[Sequence[Any] | None, str]:
        """What the nodes are called, None for 0, 1, 2, ..., and where that stands in the file."""
        n = len(self._index)
        chosen, said = list(self._index), "id"
        for name, values in self._labels.items():
            if len(values) == n and all(type(v) in (str, int) for v in values) and len(set(map(str, values))) == n:
                chosen, said = values, name
                break
        if not self.typed and all(_is_whole(name) for name in chosen):
            chosen = [int(name) for name in chosen]
        if all(type(name) is int and name == i for i, name in enumerate(chosen)):
            return None, said
        if all(type(name) is str for name in chosen):
            return PackedNames.pack(chosen), said
        return chosen, said


def _is_whole(name: Any) -> bool:
    """Whether a name is a node number as it is usually written."""
    text = str(name)
    return text.isascii() and text.isdigit() and (text == "0" or text[0] != "0") and len(text) < 19


def weight_of(attributes: Mapping[str, Any]) -> tuple[Any, str]:
    """The weight among the attributes of an edge and what it is called; None where there is none."""
    if len(attributes) > 0:
        lower = {name.lower(): name for name in attributes}
        for name in WEIGHT_NAMES:
            if name in lower:
                return attributes[lower[name]], name
    return None, ""


def whole_text(path: Path, max_bytes: int | None) -> str:
    """The text of a file in UTF-8."""
    data = b"".join(blocks(path, max_bytes)).removeprefix(b"\xef\xbb\xbf")
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise InvalidFile(f"{path}, line {line:,}: not text in UTF-8. Save the file in UTF-8.") from None


def written_names(graph: Graph, format: str) -> list[str]:
    """The names of the nodes as texts; two that would look the same are refused."""
    names = [str(name) for name in (range(graph.n) if graph.names is None else graph.names)]
    if graph.names is not None:
        seen: dict[str, int] = {}
        for position, name in enumerate(names):
            other = seen.setdefault(name, position)
            if other != position or name == "":
                raise InvalidInput(
                    f"`graph`: the names {graph.names[other]!r} and {graph.names[position]!r} are the same text, or "
                    f"empty, and nodes of {format} files are called by their texts. Rename one."
                )
    return names


def checked_attributes(graph: Graph, attributes: Mapping[str, Any] | None) -> dict[str, list[Any]]:
    """Attributes of nodes, a value for each: all truths, whole numbers, finite numbers or texts."""
    checked: dict[str, list[Any]] = {}
    for name, values in (attributes or {}).items():
        column = np.asarray(values)
        if not isinstance(name, str) or not name.isidentifier() or not name.isascii() or name in ("id", *LABELS):
            raise InvalidInput(f"`attributes`: {name!r} is no name of an attribute; use letters, digits and '_'.")
        if column.shape != (graph.n,) or column.dtype.kind not in "biufU":
            raise InvalidInput(
                f"`attributes`: {name!r} must have a truth, number or text for each of the {graph.n:,} nodes, got "
                f"{column.dtype} of shape {column.shape}."
            )
        if column.dtype.kind == "f" and not np.isfinite(column).all():
            raise InvalidInput(f"`attributes`: {name!r} must be finite; remove or replace NaN and inf.")
        checked[name] = column.tolist()
    return checked
