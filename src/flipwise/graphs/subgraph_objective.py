"""f(x) = -x'Wx in 0/1 variables on a graph, without a copy of the graph: what a run of the search minimises."""

from __future__ import annotations

import numpy as np

from flipwise.arrays import Floats, Ints
from flipwise.graphs.core import arc_weights
from flipwise.graphs.graph import Graph
from flipwise.kernels import subgraph as kernels
from flipwise.objectives.protocol import Variables


class SubgraphObjective:
    """The negated weight inside a set of nodes, each edge counted twice."""

    variables: Variables = "binary"

    def __init__(self, graph: Graph) -> None:
        self.graph = graph

    @property
    def shape(self) -> tuple[int, ...]:
        """One variable for each node."""
        return (self.graph.n,)

    def value(self, x: Floats) -> float:
        """-b'Wb with b = (x + 1) / 2, for spins x."""
        if np.all(np.abs(x) == 1.0):
            return -inner_weight(self.graph, np.flatnonzero(x > 0))
        bits = 0.5 * (x + 1.0)
        return -float(bits @ self._times(bits))

    def gradient(self, x: Floats) -> Floats:
        """-Wb: the derivative by the spins, half of that by the bits."""
        return -self._times(0.5 * (x + 1.0))

    def _times(self, bits: Floats) -> Floats:
        product = np.empty(self.graph.n)
        kernels.multiply(self.graph.indptr, self.graph.indices, arc_weights(self.graph), bits, product)
        return product


def inner_weight(graph: Graph, nodes: Ints) -> float:
    """x'Wx of a set of nodes, from scratch: only the rows of the nodes are read."""
    inside = np.zeros(graph.n, dtype=np.uint8)
    inside[nodes] = 1
    return float(kernels.inner_weight(graph.indptr, graph.indices, arc_weights(graph), nodes, inside))
