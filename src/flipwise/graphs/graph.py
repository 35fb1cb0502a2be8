"""The one graph type: simple, undirected, as a symmetric CSR structure without self loops; and arcs made into one.

The rule. Self loops are dropped. All arcs between two nodes, in either direction, become one edge, whose weight is
their maximum (`symmetrise="max"`, the default: the simple undirected graph) or their sum (`"sum"`: A + A^T for a
directed graph). `"error"` refuses input that is not simple already: a self loop, a repeated arc, or a reverse that
only some arcs have. An edge whose weight comes to 0 is no edge. What was done stands in `Graph.notes`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, get_args

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from flipwise.foundation.arrays import Floats, Ints
from flipwise.foundation.errors import InvalidInput
from flipwise.foundation.memory import require
from flipwise.kernels import arcs as kernels

Symmetrise = Literal["max", "sum", "error"]
"""What the weight of an edge is when several arcs join its ends."""

BLOCK_ARCS = 1 << 20
"""Arcs that are expanded at a time when the input is a CSR structure."""


@dataclass(frozen=True, eq=False)
class Graph:
    """A simple undirected graph; every edge stands in both rows.

    Attributes
    ----------
    indptr, indices
        The CSR structure: the neighbours of i are `indices[indptr[i]:indptr[i + 1]]`, ascending. `indptr` is int64,
        `indices` int32 (int64 from 2^31 nodes on).
    weights
        The weight of each arc, or None when all are 1.
    names
        The nodes' own labels, or None when they are 0, 1, 2, ...
    notes
        What was done to make the input simple and undirected, one sentence each.

    Examples
    --------
    >>> from flipwise.graphs.convert import as_graph
    >>> graph = as_graph((4, [[0, 1], [1, 2], [2, 0]]))
    >>> graph, graph.degrees.tolist()
    (Graph(4 nodes, 3 edges, unweighted), [2, 2, 2, 0])
    """

    indptr: npt.NDArray[np.int64]
    indices: Ints
    weights: Floats | None = None
    names: Sequence[Any] | None = None
    notes: tuple[str, ...] = ()

    @property
    def n(self) -> int:
        """Number of nodes."""
        return self.indptr.size - 1

    @property
    def n_arcs(self) -> int:
        """Number of stored arcs, twice the number of edges."""
        return int(self.indptr[-1])

    @property
    def n_edges(self) -> int:
        """Number of edges."""
        return self.n_arcs // 2

    @property
    def degrees(self) -> npt.NDArray[np.int64]:
        """The number of neighbours of each node."""
        return np.diff(self.indptr)

    def to_scipy(self) -> sp.csr_array:
        """The symmetric adjacency matrix W."""
        weights = np.ones(self.n_arcs) if self.weights is None else self.weights
        return sp.csr_array((weights, self.indices, self.indptr), shape=(self.n, self.n))

    def __repr__(self) -> str:
        kind = "unweighted" if self.weights is None else "weighted"
        return f"Graph({self.n:,} nodes, {self.n_edges:,} edges, {kind})"


class Arcs(NamedTuple):
    """A block of arcs `sources[p] -> targets[p]`; `weights` None means that all are 1."""

    sources: Ints
    targets: Ints
    weights: Floats | None = None


def check_symmetrise(symmetrise: str) -> None:
    if symmetrise not in get_args(Symmetrise):
        raise InvalidInput(f'`symmetrise` must be "max", "sum" or "error", got {symmetrise!r}.')


def index_type(n: int) -> np.dtype[np.integer[Any]]:
    """The integer type of node indices in a graph with n nodes."""
    return np.dtype(np.int32 if n < 2**31 else np.int64)


def build_graph(
    n: int,
    blocks: list[Arcs],
    *,
    symmetrise: Symmetrise = "max",
    names: Sequence[Any] | None = None,
    notes: Sequence[str] = (),
    what: str = "the arcs",
) -> Graph:
    """The graph on nodes 0..n-1 with these arcs. `blocks` is used up, each block as soon as it is stored.

    Examples
    --------
    >>> import numpy as np
    >>> graph = build_graph(3, [Arcs(np.array([0, 1, 1]), np.array([1, 0, 2]))])
    >>> graph, graph.notes
    (Graph(3 nodes, 2 edges, unweighted), ('3 arcs read: 1 pair of opposite arcs joined, 1 single arc mirrored.',))
    """
    check_symmetrise(symmetrise)
    kind = index_type(n)
    for position, block in enumerate(blocks):
        for side in (block.sources, block.targets):
            if side.size and (side.min() < 0 or side.max() >= n):
                worst = int(side.min() if side.min() < 0 else side.max())
                raise InvalidInput(f"{what}: node {worst} is outside 0..{n - 1} (the graph has {n} nodes).")
        if block.weights is not None and not np.isfinite(block.weights).all():
            raise InvalidInput(f"{what}: weights must be finite; remove or replace NaN and inf.")
        sources, targets = (np.ascontiguousarray(side, dtype=kind) for side in block[:2])
        blocks[position] = Arcs(sources, targets, block.weights)
    weighted = symmetrise == "sum" or any(block.weights is not None for block in blocks)
    return merge_arcs(n, _Stored(blocks), weighted, symmetrise, names, notes, what)


def graph_from_csr(
    indptr: npt.NDArray[np.int64],
    indices: Ints,
    weights: Floats | None = None,
    *,
    symmetrise: Symmetrise = "max",
    what: str = "the arcs",
) -> Graph:
    """The graph of a directed CSR structure with ascending rows without repeats.

    The arrays belong to the new graph: they are changed in place, or become its own when they are symmetric.
    """
    check_symmetrise(symmetrise)
    n = indptr.size - 1
    if weights is None and symmetrise != "sum":
        arcs = int(indptr[-1])
        if kernels.rows_are_symmetric(indptr, indices, indptr[:-1].copy()):
            kept = kernels.drop_loops(indptr, indices)
            counts = _Counts(arcs, loops=arcs - kept, mutual=kept // 2)
            if symmetrise == "error":
                _refuse_repairs(counts, what)
            return Graph(indptr, _shrunk(indices, kept), notes=(_note(counts),))
    weighted = symmetrise == "sum" or weights is not None
    return merge_arcs(n, CsrArcs(indptr, indices, weights), weighted, symmetrise, what=what)


class ArcSource(ABC):
    """Blocks of arcs that can be gone through twice: to count, then to store."""

    @abstractmethod
    def __iter__(self) -> Iterator[Arcs]:
        """The blocks."""

    def drain(self) -> Iterator[Arcs]:
        """The same blocks for the last time."""
        return iter(self)


class _Stored(ArcSource):
    def __init__(self, blocks: list[Arcs]) -> None:
        self.blocks = blocks

    def __iter__(self) -> Iterator[Arcs]:
        return iter(self.blocks)

    def drain(self) -> Iterator[Arcs]:
        return let_go(self.blocks)


def let_go(blocks: list[Arcs]) -> Iterator[Arcs]:
    """The blocks in their order, each taken out of the list as it comes."""
    blocks.reverse()
    while blocks:
        yield blocks.pop()


class CsrArcs(ArcSource):
    """A CSR structure as blocks of arcs, made as they are needed."""

    def __init__(self, indptr: npt.NDArray[np.int64], indices: Ints, weights: Floats | None) -> None:
        self.indptr, self.indices, self.weights = indptr, indices, weights

    def __iter__(self) -> Iterator[Arcs]:
        n = self.indptr.size - 1
        row = 0
        while row < n:
            last = int(np.searchsorted(self.indptr, self.indptr[row] + BLOCK_ARCS, side="right")) - 1
            last = min(max(last, row + 1), n)
            begin, end = int(self.indptr[row]), int(self.indptr[last])
            rows = np.arange(row, last, dtype=self.indices.dtype)
            sources = np.repeat(rows, np.diff(self.indptr[row : last + 1]))
            weights = None if self.weights is None else self.weights[begin:end]
            yield Arcs(sources, self.indices[begin:end], weights)
            row = last


class _Counts(NamedTuple):
    """What the input held."""

    arcs: int
    loops: int = 0
    repeated: int = 0
    mutual: int = 0
    unequal: int = 0
    zero: int = 0


def merge_arcs(
    n: int,
    source: ArcSource,
    weighted: bool = False,
    symmetrise: Symmetrise = "max",
    names: Sequence[Any] | None = None,
    notes: Sequence[str] = (),
    what: str = "the arcs",
) -> Graph:
    """Count, fill, sort and merge; the source's nodes are in range and its weights finite."""
    require(16 * (n + 1), f"{what}: a graph of {n:,} nodes")
    indptr = np.zeros(n + 1, dtype=np.int64)
    arcs = loops = 0
    for block in source:
        arcs += block.sources.size
        loops += int(kernels.count_arcs(block.sources, block.targets, indptr))
    np.cumsum(indptr, out=indptr)
    stored = int(indptr[-1])
    kind = index_type(n)
    require((kind.itemsize + (8 if weighted else 0)) * stored, f"{what}: a graph of {n:,} nodes with {stored:,} arcs")
    # 2j + 1 needs one bit more than j: unsigned while j is an int32, whose place the keys take.
    keys = np.empty(stored, dtype=np.uint32 if kind == np.int32 else np.int64)
    values = np.empty(stored if weighted else 0)
    cursor = indptr[:-1].copy()
    for block in source.drain():
        if weighted:
            weights = np.ones(block.sources.size) if block.weights is None else block.weights
            same = kernels.fill_weighted_arcs(block.sources, block.targets, weights, indptr, cursor, keys, values)
        else:
            same = kernels.fill_arcs(block.sources, block.targets, indptr, cursor, keys)
        if not same:
            break
        del block
    if not np.array_equal(cursor, indptr[1:]):
        raise InvalidInput(f"{what}: changed while it was read.")
    del cursor
    tally = np.zeros(4, dtype=np.int64)
    kernels.sort_rows(indptr, keys, values)
    if weighted:
        kept = int(kernels.merge_weighted_rows(indptr, keys, values, symmetrise == "sum", tally))
        values = _shrunk(values, kept)
    else:
        kept = int(kernels.merge_rows(indptr, keys, tally))
    counts = _Counts(arcs, loops, *(int(t) for t in tally))
    if symmetrise == "error":
        _refuse_repairs(counts, what)
    indices = _shrunk(keys, kept).view(kind)
    found = values if weighted and not (values == 1.0).all() else None
    return Graph(indptr, indices, found, names, (*notes, _note(counts, symmetrise)))


def _shrunk(array: npt.NDArray[Any], size: int) -> npt.NDArray[Any]:
    """`array[:size]` without keeping the rest alive."""
    if size == array.size:
        return array
    if array.base is None and array.flags.owndata:
        array.resize(size, refcheck=False)
        return array
    return array[:size].copy()


def _refuse_repairs(counts: _Counts, what: str) -> None:
    faults = [
        f"{number:,} {text}"
        for number, text in (
            (counts.loops, "self loops"),
            (counts.repeated, "repeated arcs"),
            (counts.unequal, "pairs of opposite arcs of different weight"),
            (counts.arcs - 2 * counts.mutual if counts.mutual else 0, "arcs without a reverse while others have one"),
        )
        if number
    ]
    if faults:
        raise InvalidInput(
            f'{what}: not a simple undirected graph ({"; ".join(faults)}), and `symmetrise="error"` repairs nothing. '
            'Use symmetrise="max" or "sum".'
        )


def _note(counts: _Counts, symmetrise: str = "max") -> str:
    arcs, loops, repeated, mutual, _, zero = counts
    single = arcs - loops - repeated - 2 * mutual
    done = [
        text
        for number, text in (
            (loops, f"{_count(loops, 'self loop')} dropped"),
            (repeated, f"{_count(repeated, 'repeated arc')} merged"),
            (mutual, f"{_count(mutual, 'pair')} of opposite arcs joined"),
            (single if mutual else 0, f"{_count(single, 'single arc')} mirrored"),
            (zero, f"{_count(zero, 'edge')} of weight 0 dropped"),
        )
        if number
    ]
    if not done:
        return f"{_count(arcs, 'arc')} read, each an edge."
    rule = f", weights by {symmetrise}" if repeated + mutual and symmetrise == "sum" else ""
    return f"{_count(arcs, 'arc')} read: {', '.join(done)}{rule}."


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"
