"""A matrix of weights as a bipartite graph, and the problems of its dense blocks.

The nodes are the rows, then the columns. A block is some rows with some columns; what it weighs is the sum of the
entries where they meet. Directed graphs are such matrices too, with a row and a column for each node.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from flipwise.densest.core import Degrees, arc_weights, induced
from flipwise.densest.subset import inner_weight
from flipwise.densest.whole import integral_weights, weight_range, weight_unit
from flipwise.foundation.arrays import Floats, Ints
from flipwise.foundation.checks import Variables
from flipwise.graphs.graph import Graph, index_type
from flipwise.kernels import subgraph as kernels
from flipwise.model.constraints import Free


class Block(NamedTuple):
    """The numbers of some rows and of some columns, ascending, and what they weigh together."""

    rows: Ints
    columns: Ints
    weight: float

    @property
    def density(self) -> float:
        """The weight for each geometric mean of rows and columns."""
        return block_density(self.weight, self.rows.size, self.columns.size)


def block_density(weight: float, rows: int, columns: int) -> float:
    """w(S, T) / sqrt(|S| |T|), 0 for an empty block."""
    return (weight + 0.0) / math.sqrt(rows * columns) if rows and columns else 0.0


@dataclass(frozen=True, eq=False)
class TwoSided:
    """A bipartite graph whose first nodes are the rows of a matrix and whose last are its columns."""

    graph: Graph
    rows: int
    columns: int

    @classmethod
    def of(cls, matrix: sp.csr_array) -> TwoSided:
        """The graph of a matrix in rows, without zeros, ascending."""
        rows, columns = matrix.shape
        turned = sp.csr_array(matrix.T)
        kind = index_type(rows + columns)
        indptr = np.concatenate([matrix.indptr.astype(np.int64), turned.indptr[1:].astype(np.int64) + matrix.nnz])
        indices = np.concatenate([matrix.indices.astype(kind) + kind.type(rows), turned.indices.astype(kind)])
        plain = bool((matrix.data == 1.0).all())
        weights = None if plain else np.concatenate([matrix.data, turned.data])
        return cls(Graph(indptr, indices, weights), rows, columns)

    @property
    def n(self) -> int:
        """Rows and columns."""
        return self.rows + self.columns

    @cached_property
    def weight_range(self) -> tuple[float, float]:
        """The least and the largest weight, or 0 where it is beyond that."""
        return weight_range(self.graph)

    @cached_property
    def unit(self) -> float:
        """Every block's weight is an exact multiple of this; 0 where there is no such number."""
        return weight_unit(self.graph)

    @cached_property
    def real_weights(self) -> Floats:
        """The weights of the arcs as kernels take them, a single 1 for all."""
        return arc_weights(self.graph).astype(np.float64, copy=False)

    @cached_property
    def degrees(self) -> Degrees:
        """What each row and each column weighs in all, its positive weights only."""
        if self.graph.weights is None:
            return self.graph.degrees
        sums = np.zeros(self.n)
        owners = np.repeat(np.arange(self.n), self.graph.degrees)
        np.add.at(sums, owners, np.maximum(self.graph.weights, 0.0))
        return sums

    def split(self, nodes: Ints) -> tuple[Ints, Ints]:
        """The rows and the columns among some nodes, ascending."""
        nodes = np.sort(nodes)
        at = int(np.searchsorted(nodes, self.rows))
        return nodes[:at], nodes[at:] - self.rows

    def block(self, nodes: Ints) -> Block:
        """Some nodes as a block; its weight is added up anew, and rounded once."""
        rows, columns = self.split(nodes)
        nodes = np.concatenate([rows, columns + self.rows])
        if integral_weights(self.graph):
            return Block(rows, columns, inner_weight(self.graph, nodes) / 2 + 0.0)
        weights = induced(self.graph, nodes).weights
        return Block(rows, columns, 0.0 if weights is None else math.fsum(weights) / 2 + 0.0)

    def scores(self, nodes: Ints) -> Floats:
        """What ties every node to some others: their rows are added up."""
        product = np.zeros(self.n)
        kernels.add_rows(self.graph.indptr, self.graph.indices, self.real_weights, nodes, product)
        return product

    def point(self, block: Block) -> Floats:
        """A block as spins."""
        x = np.full(self.n, -1.0)
        x[block.rows] = 1.0
        x[block.columns + self.rows] = 1.0
        return x


@dataclass(frozen=True, eq=False)
class BlockObjective:
    """What is minimised over blocks: minus their density, or minus their weight where the sizes are given."""

    sides: TwoSided
    by_density: bool
    variables: Variables = "binary"

    @property
    def shape(self) -> tuple[int, ...]:
        """One variable for each row and each column."""
        return (self.sides.n,)

    def value(self, x: Floats) -> float:
        """Minus the density or the weight of the rows and columns at +1."""
        block = self.sides.block(np.flatnonzero(x > 0))
        return -(block.density if self.by_density else block.weight)

    def gradient(self, x: Floats) -> Floats:
        """Never asked for: the searches keep scores of their own."""
        raise NotImplementedError


@dataclass(frozen=True)
class NonemptyBlocks(Free):
    """Every block with at least a row and a column."""

    rows: int = 0

    def violation(self, x: npt.NDArray[np.generic]) -> str | None:
        """What is wrong with a block."""
        up = np.asarray(x, dtype=np.float64) > 0
        return None if up[: self.rows].any() and up[self.rows :].any() else "no row, or no column, is chosen"
