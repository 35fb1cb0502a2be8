"""Connected dense sets: pieces of growing sets, brought to the wanted size and improved by moves that keep them whole.

1. Nodes are added in several orders (by loads, by peeling, by the given sets); of all connected pieces on the way that
   hold the nodes which must be in, the best are kept. Where these nodes are far apart, shortest paths join them.
2. A piece too small grows by the best neighbour, one too large sheds its weakest node that does not hold it together.
3. Moves follow as long as one improves: exchange two nodes, add one, remove one. Then a part is shed and grown anew.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from scipy.sparse.csgraph import breadth_first_order

from flipwise.densest.conditions import ConditionedGraph, mask_of, pieces
from flipwise.densest.core import arc_weights, induced, whole_core
from flipwise.foundation.arrays import Floats, Ints
from flipwise.graphs.graph import Graph
from flipwise.kernels import connected as kernels

MOST_SHED = 400
"""Nodes that a piece may have to shed, at most: each time all its edges are looked at."""
MOVE_WORK = 3e8
"""Elements looked at while improving one set, about."""


@dataclass(eq=False)
class Field:
    """Where a connected set is looked for: the nodes that may be chosen, with their own weights."""

    graph: Graph
    nodes: Ints
    bonus: Floats
    pinned: npt.NDArray[np.uint8]
    least: int
    most: int

    @classmethod
    def of(cls, conditioned: ConditionedGraph) -> Field:
        """The pieces of the graph that can hold a set."""
        nodes, whole, conditions = conditioned.candidates, conditioned.whole.graph, conditioned.conditions
        graph = whole if nodes.size == whole.n else induced(whole, nodes)
        pinned = np.isin(nodes, conditions.include).astype(np.uint8)
        return cls(graph, nodes, conditioned.half[nodes], pinned, conditions.least, min(conditions.most, nodes.size))

    @property
    def csr(self) -> tuple[Ints, Ints, Floats]:
        """The graph as the kernels take it."""
        return self.graph.indptr, self.graph.indices, arc_weights(self.graph).astype(np.float64, copy=False)

    def near(self, piece: Piece, ranks: Ints, size: int) -> Field:
        """The same among the nodes of a piece and so many of the first ranked ones."""
        kept = np.union1d(piece.members, ranks[:size])
        if kept.size >= self.graph.n:
            return self
        inner = induced(self.graph, kept)
        most = min(self.most, kept.size)
        return Field(inner, self.nodes[kept], self.bonus[kept], self.pinned[kept], self.least, most)


@dataclass(eq=False)
class Piece:
    """A connected set: its members, what every node adds to it or brings, and how many neighbours it has there."""

    field: Field
    inside: npt.NDArray[np.uint8]
    degrees: Floats
    ties: npt.NDArray[np.int64]
    size: int
    weight: float

    @classmethod
    def of(cls, field: Field, members: Ints) -> Piece:
        """The piece of some nodes of the field."""
        n = field.graph.n
        piece = cls(field, np.zeros(n, np.uint8), field.bonus.copy(), np.zeros(n, np.int64), int(members.size), 0.0)
        piece.weight = float(kernels.add_nodes(*field.csr, members, piece.inside, piece.degrees, piece.ties))
        return piece

    @property
    def members(self) -> Ints:
        """The members, ascending."""
        return np.flatnonzero(self.inside)

    @property
    def ratio(self) -> float:
        """What it weighs for its size."""
        return self.weight / max(self.size, 1)

    @property
    def fits(self) -> bool:
        """Whether it has a number of nodes that is wanted."""
        return self.field.least <= self.size <= self.field.most

    def copied(self) -> Piece:
        """Another piece with the same members."""
        other = copy.copy(self)
        other.inside, other.degrees, other.ties = self.inside.copy(), self.degrees.copy(), self.ties.copy()
        return other

    def grow(self, count: int, noise: Floats | None = None) -> None:
        """Add the best neighbours, one after another."""
        some = np.zeros(self.inside.size) if noise is None else noise
        change, added = kernels.grow_connected(*self.field.csr, some, self.inside, self.degrees, self.ties, count)
        self.weight, self.size = self.weight + float(change), self.size + int(added)

    def shed(self, count: int, noise: Floats | None = None) -> None:
        """Remove the weakest nodes that do not hold it together, one after another."""
        some = np.zeros(self.inside.size) if noise is None else noise
        arrays = some, self.field.pinned, self.inside, self.degrees, self.ties, count
        change, removed = kernels.shed_connected(*self.field.csr, *arrays, *self._buffers())
        self.weight, self.size = self.weight + float(change), self.size - int(removed)

    def improve(self, work: float = MOVE_WORK) -> None:
        """Make the best move until none improves."""
        n = self.inside.size
        limit = max(5, int(work / (8 * n + 4 * self.field.graph.n_arcs)))
        size, weight = kernels.improve_connected(
            *self.field.csr, self.field.pinned, self.inside, self.degrees, self.ties, np.zeros(n),
            np.zeros(n, np.int64), self.size, self.weight, self.field.least, self.field.most, limit, *self._buffers(),
        )  # fmt: skip
        self.size, self.weight = int(size), float(weight)

    def fit(self) -> bool:
        """Bring it to a wanted size; whether that was possible."""
        if self.size < self.field.least:
            self.grow(self.field.least - self.size)
        elif self.size > self.field.most and self.size - self.field.most <= MOST_SHED:
            self.shed(self.size - self.field.most)
        return self.fits

    def _buffers(self) -> tuple[Any, ...]:
        """Work arrays for the marks of nodes that hold the set together."""
        n = self.inside.size
        return *(np.empty(n, np.int64) for _ in range(5)), np.empty(n, np.uint8)


def first_piece(field: Field, scores: Floats) -> Piece | None:
    """A connected set of a wanted size, soon: shortest paths between the nodes that must be in, then the best next."""
    wanted = np.flatnonzero(field.pinned)
    begin = int(wanted[0]) if wanted.size else int(np.argmax(scores))
    members = {begin}
    if wanted.size > 1:
        graph = field.graph
        matrix = sp.csr_array((np.ones(graph.n_arcs, np.int8), graph.indices, graph.indptr), shape=(graph.n, graph.n))
        _, before = breadth_first_order(matrix, begin, directed=False)
        for node in wanted.tolist():
            while node not in members:
                members.add(node)
                node = int(before[node])
    piece = Piece.of(field, np.array(sorted(members), dtype=np.int64))
    return piece if piece.fit() else None


def pieces_in_order(field: Field, order: Ints) -> Iterator[Piece]:
    """The best connected pieces while nodes are added in some order, brought to a wanted size."""
    n = field.graph.n
    limits = [(field.least, field.most, False), (1, field.least, True), (field.most, n, False)]
    if field.least < field.most:
        limits.append((field.least, field.most, True))
    for least, most, by_weight in limits:
        work = np.empty(n, np.int64), np.empty(n, np.int64), np.empty(n), np.empty(n, np.int64)
        steps, node = kernels.best_piece(*field.csr, field.bonus, order, field.pinned, least, most, by_weight, *work)
        if node < 0:
            continue
        added = np.sort(order[: int(steps)])
        labels = pieces(field.graph, added)
        piece = Piece.of(field, added[labels == labels[np.searchsorted(added, node)]])
        if piece.fit():
            yield piece


def peeled(field: Field) -> Ints:
    """The nodes in the order of peeling, last first."""
    return whole_core(field.graph).peeling.order[::-1]


def shaken(piece: Piece, rng: np.random.Generator) -> Piece:
    """A copy that has lost a part, grown anew by another way."""
    other = piece.copied()
    loose = other.size - int(piece.field.pinned.sum())
    count = int(rng.integers(1, max(2, min(loose, MOST_SHED) // 2 + 1)))
    scale = max(float(np.abs(piece.degrees[piece.members]).mean()), 1e-300)
    size, before = other.size, other.members
    other.shed(count, scale * rng.exponential(0.5, other.inside.size) * rng.choice([1.0, -1.0]))
    noise = scale * rng.exponential(0.3, other.inside.size)
    noise[before] -= 0.3 * scale  # somewhere else, if that is as good
    other.grow(size - other.size, noise)
    return other


def order_beginning_with(sets: list[Ints], field: Field, scores: Floats) -> Ints:
    """An order that begins with some sets of the whole graph, then by score."""
    first = np.zeros(field.graph.n)
    for nodes in sets:
        first += mask_of(field.graph.n, np.searchsorted(field.nodes, nodes))
    return np.lexsort((-scores, -first))
