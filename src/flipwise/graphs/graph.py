"""The one graph type, simple and undirected, as a symmetric CSR structure without self loops; and arcs made into one.

The rule. Self loops are dropped. All arcs between two nodes, in either direction, become one edge, whose weight is
their maximum (`symmetrise="max"`, the default: the simple undirected graph) or their sum (`"sum"`: A + A^T for a
directed graph). `"error"` refuses input that is not simple already: a self loop, a repeated arc, or a reverse that
only some arcs have. An edge whose weight comes to 0 is no edge. What was done stands in `Graph.notes`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from flipwise.foundation.arrays import Floats, Ints
from flipwise.foundation.checks import check_memory
from flipwise.foundation.errors import InvalidInput
from flipwise.foundation.tables import html_facts
from flipwise.kernels import arcs as kernels

Symmetrise = Literal["max", "sum", "error", "arcs"]
"""What the weight of an edge is when several arcs join its ends. "arcs", for `graphs.digraph` only, joins none: the
graph is the bipartite double cover of the arcs, sources 0..n-1 and targets n..2n-1, with the names of the n nodes."""
RULES = "max", "sum", "error"
"""What a user may say."""

KEPT_BYTES = 1 << 25
"""Arcs of a text file that are kept in memory; a file with more is parsed again for each further pass."""


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

    def to(self, library: str, attributes: Mapping[str, Any] | None = None) -> Any:
        """The graph as an object of another library: a graph, or a table of its edges.

        Parameters
        ----------
        library
            `"networkx"`, `"igraph"`, `"networkit"` (which has no names), `"graph-tool"`, or, for a table with the
            columns source, target and weight, `"pandas"`, `"polars"`, `"pyarrow"` (nodes without an
            edge are in none of them, but for the metadata of pyarrow's).
        attributes
            Attributes of nodes by their names, a value for each node, for networkx, igraph and graph-tool.

        Examples
        --------
        >>> from flipwise.graphs.convert import as_graph
        >>> as_graph((3, [[0, 1], [1, 2]])).to("networkx").edges
        EdgeView([(0, 1), (1, 2)])
        """
        from flipwise.graphs.libraries import to_library

        return to_library(self, library, attributes)

    def __repr__(self) -> str:
        kind = "unweighted" if self.weights is None else "weighted"
        return f"Graph({self.n:,} nodes, {self.n_edges:,} edges, {kind})"

    def _repr_html_(self) -> str:
        facts = [("nodes", f"{self.n:,}"), ("edges", f"{self.n_edges:,}")]
        if self.n:
            degrees = self.degrees
            facts.append(("degrees", f"{degrees.min():,} to {degrees.max():,}, on average {degrees.mean():.4g}"))
        weights = self.weights
        if weights is not None and weights.size:
            facts.append(("weights", f"{weights.min():.6g} to {weights.max():.6g}"))
        else:
            facts.append(("weights", "none"))
        if self.names is not None:
            shown = ", ".join(str(self.names[i]) for i in range(min(5, self.n)))
            facts.append(("names", f"{shown}, ..." if self.n > 5 else shown))
        return html_facts("Graph", [*facts, *(("note", note) for note in self.notes)])


class ArcBlock(NamedTuple):
    """Some arcs `sources[p] -> targets[p]`; `weights` None means that all are 1."""

    sources: Ints
    targets: Ints
    weights: Floats | None = None


class KeptBlocks:
    """Blocks of arcs that are kept in memory while they are few (`KEPT_BYTES`), so that a file need not be read again.

    Kept arcs take as much memory as the graph they become; reading a file again takes time instead.
    """

    def __init__(self) -> None:
        self.blocks: list[ArcBlock] = []
        self.complete = True
        """Whether every block that was added is still here."""
        self._bytes = 0

    def add(self, block: ArcBlock) -> None:
        """Keep a block, or let go of all of them once they are too many."""
        self._bytes += sum(column.nbytes for column in block if column is not None)
        self.complete = self.complete and self._bytes <= KEPT_BYTES
        if self.complete:
            self.blocks.append(block)
        else:
            self.blocks.clear()

    def drain(self) -> Iterator[ArcBlock]:
        """The blocks in their order, for the last time: each can go once it was used."""
        self.blocks.reverse()
        while self.blocks:
            yield self.blocks.pop()


class ArcCounts(NamedTuple):
    """What the input held: arcs, and among them what had to be repaired."""

    arcs: int
    loops: int = 0
    repeated: int = 0
    mutual: int = 0
    unequal: int = 0
    zero: int = 0


def check_symmetrise(symmetrise: str) -> None:
    """Raise unless `symmetrise` names a rule."""
    if symmetrise not in RULES:
        raise InvalidInput(f'`symmetrise` must be "max", "sum" or "error", got {symmetrise!r}.')


def index_type(n: int) -> np.dtype[np.integer[Any]]:
    """The integer type of node indices in a graph with n nodes."""
    return np.dtype(np.int32 if n < 2**31 else np.int64)


def build_graph(
    n: int,
    blocks: list[ArcBlock],
    *,
    symmetrise: Symmetrise = "max",
    names: Sequence[Any] | None = None,
    notes: Sequence[str] = (),
    what: str = "the arcs",
) -> Graph:
    """The graph on nodes 0..n-1 with these arcs. The list is emptied, so that each block can go once it is stored.

    Examples
    --------
    >>> import numpy as np
    >>> graph = build_graph(3, [ArcBlock(np.array([0, 1, 1]), np.array([1, 0, 2]))])
    >>> graph, graph.notes
    (Graph(3 nodes, 2 edges, unweighted), ('3 arcs read: 1 pair of opposite arcs joined, 1 single arc mirrored.',))
    """
    weighted = any(block.weights is not None for block in blocks)
    builder = GraphBuilder(n, weighted=weighted, symmetrise=symmetrise, what=what)
    kind = index_type(n)
    for position, block in enumerate(blocks):
        for side in block[:2]:
            if side.size and (side.min() < 0 or side.max() >= n):
                worst = int(side.min() if side.min() < 0 else side.max())
                raise InvalidInput(f"{what}: node {worst} is outside 0..{n - 1} (the graph has {n} nodes).")
        if block.weights is not None and not np.isfinite(block.weights).all():
            raise InvalidInput(f"{what}: weights must be finite; remove or replace NaN and inf.")
        sources, targets = (np.ascontiguousarray(side, dtype=kind) for side in block[:2])
        blocks[position] = ArcBlock(sources, targets, block.weights)
        builder.count(blocks[position])
    blocks.reverse()
    while blocks:
        builder.store(blocks.pop())
    return builder.graph(names, notes)


class GraphBuilder:
    """Makes a graph from arcs that come block by block, twice: `count` all of them, then `store` them all again.

    Nothing larger than the graph is held besides the block at hand. Nodes must be in 0..n-1 and weights finite.

    Parameters
    ----------
    n
        Number of nodes.
    weighted
        Whether blocks may have weights.
    symmetrise
        The weight of an edge given by several arcs.
    what
        What the arcs are called in errors, such as the path of their file.
    """

    def __init__(
        self, n: int, *, weighted: bool = False, symmetrise: Symmetrise = "max", what: str = "the arcs"
    ) -> None:
        self.directed = symmetrise == "arcs"
        if self.directed:  # the double cover: sources, then targets
            n *= 2
        else:
            check_symmetrise(symmetrise)
        check_memory(16 * (n + 1), f"{what}: a graph of {n:,} nodes")
        self.n, self.symmetrise, self.what = n, symmetrise, what
        self.weighted = weighted or symmetrise == "sum"
        self.arcs = self.loops = 0
        self._indptr = np.zeros(n + 1, dtype=np.int64)
        self._cursor: npt.NDArray[np.int64] | None = None

    def count(self, block: ArcBlock) -> None:
        """Take in how many arcs each node has; the first of the two passes."""
        block = self._double_cover(block)
        self.arcs += block.sources.size
        self.loops += int(kernels.count_arcs(block.sources, block.targets, self._indptr))

    def store(self, block: ArcBlock) -> None:
        """Put the arcs into the rows of their ends; the second pass, over the same arcs."""
        block = self._double_cover(block)
        cursor = self._next_places()
        if self.weighted:
            weights = np.ones(block.sources.size) if block.weights is None else block.weights
            fits = kernels.fill_weighted_arcs(
                block.sources, block.targets, weights, self._indptr, cursor, self._keys, self._values
            )
        else:
            fits = kernels.fill_arcs(block.sources, block.targets, self._indptr, cursor, self._keys)
        if not fits:
            raise InvalidInput(f"{self.what}: changed while it was read.")

    def _double_cover(self, block: ArcBlock) -> ArcBlock:
        """The arcs of the double cover, where arcs keep their direction."""
        if not self.directed:
            return block
        kind = index_type(self.n)
        targets = block.targets.astype(kind) + kind.type(self.n // 2)
        return ArcBlock(block.sources.astype(kind, copy=False), targets, block.weights)

    def _next_places(self) -> npt.NDArray[np.int64]:
        """Where the next arc of each node goes; makes room for all of them when counting is over."""
        if self._cursor is None:
            np.cumsum(self._indptr, out=self._indptr)
            stored = int(self._indptr[-1])
            kind = index_type(self.n)
            size = kind.itemsize + (8 if self.weighted else 0)
            check_memory(size * stored, f"{self.what}: a graph of {self.n:,} nodes with {stored:,} arcs")
            # 2j + 1 needs one bit more than j: unsigned while j is an int32, whose place the keys take.
            self._keys = np.empty(stored, dtype=np.uint32 if kind == np.int32 else np.int64)
            self._values = np.empty(stored if self.weighted else 0)
            self._cursor = self._indptr[:-1].copy()
        return self._cursor

    def graph(self, names: Sequence[Any] | None = None, notes: Sequence[str] = ()) -> Graph:
        """Sort and merge the rows. The builder cannot be used again."""
        if not np.array_equal(self._next_places(), self._indptr[1:]):
            raise InvalidInput(f"{self.what}: changed while it was read.")
        self._cursor = None
        indptr, keys, values = self._indptr, self._keys, self._values
        del self._keys, self._values
        tally = np.zeros(4, dtype=np.int64)
        kernels.sort_rows(indptr, keys, values)
        if self.weighted:
            with np.errstate(over="ignore"):  # looked for below
                left = int(kernels.merge_weighted_rows(indptr, keys, values, self.symmetrise == "sum", tally))
            values = shrunk(values, left)
        else:
            left = int(kernels.merge_rows(indptr, keys, tally))
        counts = ArcCounts(self.arcs, self.loops, *(int(t) for t in tally))
        if self.symmetrise == "error":
            refuse_repairs(counts, self.what)
        if self.symmetrise == "sum" and not np.isfinite(values).all():
            raise InvalidInput(
                f'{self.what}: with symmetrise="sum" the weight of an edge is beyond the largest number (1.8e308). '
                'Scale the weights down, or use symmetrise="max".'
            )
        indices = shrunk(keys, left).view(index_type(self.n))
        weights = values if self.weighted and not (values == 1.0).all() else None
        return Graph(indptr, indices, weights, names, (*notes, repairs_note(counts, self.symmetrise)))


def shrunk(array: npt.NDArray[Any], size: int) -> npt.NDArray[Any]:
    """`array[:size]` without keeping the rest alive."""
    if size == array.size:
        return array
    if array.base is None and array.flags.owndata:
        array.resize(size, refcheck=False)
        return array
    return array[:size].copy()


def refuse_repairs(counts: ArcCounts, what: str) -> None:
    """Raise if the input was not a simple undirected graph already."""
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


def repairs_note(counts: ArcCounts, symmetrise: str = "max") -> str:
    """One sentence on what was done to make the input simple and undirected."""
    arcs, loops, repeated, mutual, _, zero = counts
    single = arcs - loops - repeated - 2 * mutual
    done = [
        text
        for number, text in (
            (loops, f"{_counted_noun(loops, 'self loop')} dropped"),
            (repeated, f"{_counted_noun(repeated, 'repeated arc')} merged"),
            (mutual, f"{_counted_noun(mutual, 'pair')} of opposite arcs joined"),
            (single if mutual else 0, f"{_counted_noun(single, 'single arc')} mirrored"),
            (zero, f"{_counted_noun(zero, 'edge')} of weight 0 dropped"),
        )
        if number
    ]
    if not done:
        return f"{_counted_noun(arcs, 'arc')} read, each an edge."
    rule = f", weights by {symmetrise}" if repeated + mutual and symmetrise == "sum" else ""
    return f"{_counted_noun(arcs, 'arc')} read: {', '.join(done)}{rule}."


def _counted_noun(number: int, noun: str) -> str:
    """A number with its noun in the singular or plural."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"
