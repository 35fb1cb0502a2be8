"""The whole graph as the search asks about it, and the problem on it.

The rest of the search happens in cores, so the graph may lie anywhere, also in shards.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol, runtime_checkable

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components

from flipwise.densest import starts
from flipwise.densest.core import Core, core_above, core_of_size, induced, whole_core
from flipwise.densest.subset import Subset, inner_weight
from flipwise.foundation.arrays import Floats, Ints, largest
from flipwise.foundation.checks import Variables
from flipwise.foundation.numbers import check_size
from flipwise.graphs.graph import Graph
from flipwise.model.exactness import common_divisor

BIPARTITE_ARCS = 2_000_000
"""Larger graphs are not asked whether they are bipartite."""


@runtime_checkable
class WholeGraph(Protocol):
    """A graph that can be cut down to cores. `names` and `notes` are those of `Graph`."""

    names: Sequence[Any] | None
    notes: tuple[str, ...]

    @property
    def n(self) -> int:
        """Number of nodes."""

    @property
    def n_arcs(self) -> int:
        """Number of arcs, twice the number of edges."""

    @property
    def weight_range(self) -> tuple[float, float]:
        """The least and the largest weight between two nodes, which is 0 where they are not joined."""

    @property
    def integral(self) -> bool:
        """Whether every set's weight is an integer that float64 holds exactly."""

    @property
    def unit(self) -> float:
        """Every set's weight is an exact multiple of this; 0 where there is no such number."""

    def core_of_size(self, size: int) -> Core:
        """See the function of this name."""

    def core_above(self, cap: float) -> Core:
        """See the function of this name."""

    def subgraph(self, nodes: Ints) -> Graph:
        """The subgraph on some nodes, numbered in ascending order."""

    def nodes_above(self, nodes: Ints, least: float) -> Ints:
        """The nodes whose degree into the set `nodes` is above `least`."""

    def published_sets(self, k: int) -> list[Ints]:
        """The sets that the published methods find on the whole graph."""

    def inner_weight(self, nodes: Ints) -> float:
        """x'Wx of a set of nodes."""


@dataclass(eq=False)
class GraphInMemory:
    """A graph in this process's memory, or mapped into it, as the search asks about it."""

    graph: Graph

    def __post_init__(self) -> None:
        if self.graph.weights is not None:
            check_size("graph", self.graph.weights)
        self.names, self.notes = self.graph.names, self.graph.notes
        self.n, self.n_arcs = self.graph.n, self.graph.n_arcs

    @cached_property
    def weight_range(self) -> tuple[float, float]:
        """The least and the largest weight between two nodes, which is 0 where they are not joined."""
        return weight_range(self.graph)

    @cached_property
    def integral(self) -> bool:
        """Whether every set's weight is an integer that float64 holds exactly."""
        return integral_weights(self.graph)

    @cached_property
    def unit(self) -> float:
        """Every set's weight is an exact multiple of this; 0 where there is no such number."""
        return weight_unit(self.graph)

    @cached_property
    def bipartite(self) -> bool:
        """Whether no edge joins two nodes of one side, for two sides of the nodes; False also where it takes long."""
        return self.n_arcs <= BIPARTITE_ARCS and is_bipartite(self.graph)

    def core_of_size(self, size: int) -> Core:
        """A core of at least `size` nodes and not many more where the degrees allow."""
        return core_of_size(whole_core(self.graph), size)

    def core_above(self, cap: float) -> Core:
        """What is left after nodes tied by at most `cap` are gone."""
        return core_above(whole_core(self.graph), cap)

    def subgraph(self, nodes: Ints) -> Graph:
        """The subgraph on some nodes, numbered in ascending order."""
        return induced(self.graph, nodes)

    def nodes_above(self, nodes: Ints, least: float) -> Ints:
        """The nodes whose degree into the set is above `least`."""
        mask = np.zeros(self.n, dtype=bool)
        mask[nodes] = True
        return np.flatnonzero(Subset.of(self.graph, mask).degrees > least)

    def published_sets(self, k: int) -> list[Ints]:
        """The sets of RAVI, peeling, Frank-Wolfe and the truncated power method, with their own parameters."""
        grown, peeled = starts.ravi_nodes(self.graph, k), starts.peeled_nodes(self.graph, k)
        *_, point = starts.frank_wolfe_points(self.graph, k, starts.leading_eigenvalue(self.graph))
        heaviest, _ = max(starts.power_sets(self.graph, k), key=lambda found: found[1])
        return [np.sort(grown), np.sort(peeled), largest(point, k), heaviest]

    def inner_weight(self, nodes: Ints) -> float:
        """x'Wx of a set of nodes."""
        return inner_weight(self.graph, nodes)


class SubgraphObjective:
    """f(x) = -x'Wx in 0/1 variables, by the graph's own account: what a run of the search reports."""

    variables: Variables = "binary"

    def __init__(self, graph: WholeGraph) -> None:
        self.graph = graph

    @property
    def shape(self) -> tuple[int, ...]:
        """One variable for each node."""
        return (self.graph.n,)

    def value(self, x: Floats) -> float:
        """-b'Wb with b = (x + 1) / 2, for spins x."""
        return -self.graph.inner_weight(np.flatnonzero(x > 0))

    def gradient(self, x: Floats) -> Floats:
        """Never asked for: the search keeps degrees of its own."""
        raise NotImplementedError


def is_bipartite(graph: Graph) -> bool:
    """Whether every piece falls apart when each node is doubled and edges lead from one copy to the other."""
    A = sp.csr_array((np.ones(graph.n_arcs, np.int8), graph.indices, graph.indptr), shape=(graph.n, graph.n))
    pieces, _ = connected_components(A, directed=False)
    doubled, _ = connected_components(sp.block_array([[None, A], [A, None]]), directed=False)
    return int(doubled) == 2 * int(pieces)


def weight_range(graph: Graph) -> tuple[float, float]:
    """The least and the largest weight between two nodes, which is 0 where they are not joined."""
    if graph.weights is None:
        one = 1.0 if graph.n_arcs else 0.0
        return min(one, 0.0), one
    if graph.n > 1 and graph.n_arcs == graph.n * (graph.n - 1):
        return float(graph.weights.min()), float(graph.weights.max())
    return float(graph.weights.min(initial=0.0)), float(graph.weights.max(initial=0.0))


def weight_unit(graph: Graph) -> float:
    """The greatest common divisor of all weights where sums of them are exact: 1 without weights, 0.5 with halves."""
    if graph.weights is None:
        return 1.0
    return common_divisor(graph.weights)


def integral_weights(graph: Graph) -> bool:
    """Whether every set's weight is an integer that float64 holds exactly."""
    if graph.weights is None:
        return True
    whole = bool(np.all(graph.weights == np.floor(graph.weights)))
    return whole and float(np.abs(graph.weights).sum()) < 2.0**52
