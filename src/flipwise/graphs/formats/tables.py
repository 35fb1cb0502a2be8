"""Tables of edges: which columns hold the ends and the weight, and columns made into a graph.

One rule for CSV files, Parquet files and the tables of pyarrow, pandas and polars. The ends are the columns `source`
and `target` (or src / dst, from / to, u / v and the like, also as `from_node_id`), wherever they stand; a table
with two columns besides the weight needs no such names. The weight is the column `weight`, `w` or `value`. What this
does not settle is refused; `columns=` settles it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from flipwise.foundation.errors import InvalidFile, InvalidInput
from flipwise.graphs.formats.elements import WEIGHT_NAMES
from flipwise.graphs.graph import ArcBlock, Graph, Symmetrise, build_graph
from flipwise.graphs.names import NodeNumbers, PackedNames

Fault = type[InvalidFile | InvalidInput]
"""As what a problem with a table is raised: whether it stood in a file or was given."""

_FIRST = {"source", "src", "from", "start", "head", "u", "i", "left"}
_SECOND = {"target", "dst", "to", "end", "tail", "v", "j", "dest", "destination", "right"}
_NUMBERED = ({"1", "a", "x"}, {"2", "b", "y"})
"""What follows `node`, `id` and the like in column names, and means nothing alone."""
_AFFIXES = re.compile(r"[ _.\-]|^(node|vertex|user|id)(?=.)|(?<=.)(node|vertex|user|name|id)$|(?<=.)nodeid$")


class EdgeColumns(NamedTuple):
    """The names of the columns of a table of edges."""

    source: str
    target: str
    weight: str | None

    @property
    def note(self) -> str:
        """A sentence on what was taken for what."""
        weight = "no column is the weight" if self.weight is None else f"column {self.weight!r} is the weight"
        return f"Columns {self.source!r} and {self.target!r} are the ends of the edges; {weight}."


def is_column_name(word: str, side: int) -> bool:
    """Whether a word is a usual name of the first (0) or second (1) column: `from_node_id` is, for it says `from`."""
    before, stem = "", word.lower()
    while before != stem:
        before, stem = stem, _AFFIXES.sub("", stem)
    return stem in (_FIRST, _SECOND)[side] or (stem != word.lower() and stem in _NUMBERED[side])


def named_ends(names: Sequence[str]) -> tuple[int, int] | None:
    """The places of the two columns that are called like the ends of an edge, where just two are."""
    for known in (lambda word, side: word.lower() == ("source", "target")[side], is_column_name):
        places = [[k for k, word in enumerate(names) if known(word, side)] for side in (0, 1)]
        if all(len(found) == 1 for found in places):
            return places[0][0], places[1][0]
    return None


def check_columns(columns: Any) -> None:
    """Raise unless `columns` is two or three different names."""
    fits = isinstance(columns, list | tuple) and len(columns) in (2, 3) and all(isinstance(c, str) for c in columns)
    if not fits or len(set(columns)) != len(columns):
        raise InvalidInput(
            f"`columns` must be the names of the columns of the source, the target and, if wanted, the weight, got "
            f"{columns!r}."
        )


def choose_columns(
    names: Sequence[str], what: str, fault: Fault, *, weighted: bool | None = None, columns: Sequence[str] | None = None
) -> EdgeColumns:
    """The columns of the ends and of the weight; the weight is None where there is none to be used."""
    names = list(names)
    if columns is not None:
        return _given_columns(names, columns, what, weighted)
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise fault(f"{what}: has several columns called {twice[0]!r}.")
    lower = {name.lower(): name for name in names}
    weight = next((lower[w] for w in WEIGHT_NAMES if w in lower), None)
    others = [name for name in names if name != weight]
    ends = named_ends(others) or ((0, 1) if len(others) == 2 else None)
    if ends is None:
        raise fault(
            f"{what}: which of the columns {names} hold the two ends of an edge? Call them 'source' and 'target', or "
            "pass columns=(source, target) or columns=(source, target, weight) (on the command line --columns)."
        )
    if weight is None and weighted:
        raise fault(f"{what}: has no weight column (weight, w or value), got {names}.")
    return EdgeColumns(others[ends[0]], others[ends[1]], None if weighted is False else weight)


def _given_columns(names: list[str], columns: Sequence[str], what: str, weighted: bool | None) -> EdgeColumns:
    """The columns that the caller named; one that is not there, or there twice, is refused."""
    for name in columns:
        if names.count(name) != 1:
            raise InvalidInput(f"`columns`: {what} has {names.count(name)} columns called {name!r}; it has {names}.")
    weight = columns[2] if len(columns) == 3 and weighted is not False else None
    if weighted and weight is None:
        raise InvalidInput("`weighted` is True, but `columns` names no column of weights.")
    return EdgeColumns(columns[0], columns[1], weight)


def graph_from_columns(
    ends: tuple[npt.NDArray[Any], npt.NDArray[Any]],
    weights: npt.NDArray[Any] | None,
    columns: EdgeColumns,
    what: str,
    fault: Fault,
    *,
    symmetrise: Symmetrise = "max",
) -> Graph:
    """The graph of a table whose columns are arrays: whole numbers or texts, and numbers."""
    heavy = None
    if weights is not None:
        if weights.dtype.kind not in "iuf":
            raise fault(f"{what}: column {columns.weight!r} must hold numbers, got {weights.dtype}.")
        heavy = weights.astype(np.float64)
        if not np.isfinite(heavy).all():
            raise fault(f"{what}: column {columns.weight!r} must be finite; remove missing values, NaN and inf.")
    if not ends[0].size:
        raise fault(f"{what}: holds no edges.")
    titles = (columns.source, columns.target)
    settled = [_typed_column(column, name, what, fault) for column, name in zip(ends, titles)]
    notes = (columns.note,)
    if all(column.dtype.kind in "iu" for column in settled):
        numbers = NodeNumbers()
        sources, targets = (_node_numbers(side, name, what, fault) for side, name in zip(settled, titles))
        block = ArcBlock(sources, targets, heavy)
        numbers.add(block)
        n, names, renumber = numbers.numbering(None, what)
        return build_graph(n, [renumber(block)], symmetrise=symmetrise, names=names, notes=notes, what=what)
    if not all(column.dtype.kind == "O" for column in settled):
        raise fault(f"{what}: columns {columns[0]!r} and {columns[1]!r} must both be whole numbers or both strings.")
    index: dict[str, int] = {}
    sides = [np.array([index.setdefault(name, len(index)) for name in side], dtype=np.int64) for side in settled]
    packed = PackedNames.pack(list(index))
    blocks = [ArcBlock(sides[0], sides[1], heavy)]
    return build_graph(len(index), blocks, symmetrise=symmetrise, names=packed, notes=notes, what=what)


def _typed_column(column: npt.NDArray[Any], name: str, what: str, fault: Fault) -> npt.NDArray[Any]:
    """A column of whole numbers, or of Python's strings."""
    if column.dtype.kind in "iu":
        return column
    values = column.astype(object)
    if all(type(value) is str for value in values):
        return values
    if all(isinstance(value, int | np.integer) and not isinstance(value, bool) for value in values):
        return np.array(values.tolist(), dtype=np.int64) if all(abs(int(v)) < 2**63 for v in values) else values
    if any(value is None or value != value or type(value).__name__ in ("NAType", "NaTType") for value in values):
        raise fault(f"{what}: column {name!r} has missing values.")
    raise fault(f"{what}: columns of nodes must both be whole numbers or strings; {name!r} holds {column.dtype}.")


def _node_numbers(column: npt.NDArray[Any], name: str, what: str, fault: Fault) -> npt.NDArray[np.int64]:
    """A column of node numbers."""
    if column.size and (int(column.min()) < 0 or int(column.max()) >= 2**63):
        raise fault(f"{what}: column {name!r} must hold node numbers from 0 to 2^63 - 1.")
    return column.astype(np.int64)
