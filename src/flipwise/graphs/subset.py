"""A set of k nodes with the degrees of all nodes into it, and the moves that keep both up to date."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from flipwise.arrays import Bools, Ints
from flipwise.graphs.core import arc_weights
from flipwise.graphs.graph import Graph
from flipwise.kernels import subgraph as kernels
from flipwise.kernels.jit import threads_worth

Weights = npt.NDArray[np.int64] | npt.NDArray[np.float64]


@dataclass(eq=False)
class Subset:
    """S as a mask, `degrees[i]` = weight of the edges from i into S, and `weight` = E(S)."""

    graph: Graph
    inside: npt.NDArray[np.uint8]
    degrees: Weights
    weight: float

    @classmethod
    def of(cls, graph: Graph, mask: Bools) -> Subset:
        """The subset of a mask, its degrees by one full gradient."""
        inside = mask.astype(np.uint8)
        weights = arc_weights(graph)
        degrees = _no_degrees(graph)
        with threads_worth(graph.n_arcs):
            kernels.degrees_into(graph.indptr, graph.indices, weights, inside, degrees)
        return cls(graph, inside, degrees, float(degrees[mask].sum()) / 2)

    @classmethod
    def empty(cls, graph: Graph) -> Subset:
        """No node at all."""
        return cls(graph, np.zeros(graph.n, np.uint8), _no_degrees(graph), 0.0)

    @property
    def csr(self) -> tuple[Ints, Ints, Weights]:
        """The graph as the kernels take it."""
        return self.graph.indptr, self.graph.indices, arc_weights(self.graph)

    @property
    def mask(self) -> Bools:
        """The members, as a new mask."""
        return self.inside.astype(bool)

    @property
    def members(self) -> Ints:
        """The members, ascending."""
        return np.flatnonzero(self.inside)

    def copy(self) -> Subset:
        """An independent copy."""
        return Subset(self.graph, self.inside.copy(), self.degrees.copy(), self.weight)

    def exchange(self, leaving: Ints, entering: Ints) -> float:
        """Exchange two groups of nodes whatever comes of it; returns the exact change of E."""
        change = float(kernels.toggle_all(*self.csr, np.concatenate([leaving, entering]), self.inside, self.degrees))
        self.weight += change
        return change

    def exchange_improving(self, leaving: Ints, entering: Ints) -> int:
        """Exchange the pairs that improve at their turn; returns how many did."""
        made, change = kernels.exchange_improving(*self.csr, leaving, entering, self.inside, self.degrees)
        self.weight += float(change)
        return int(made)

    def best_swaps(self, limit: int) -> int:
        """Make best exchanges until none of all pairs improves, or `limit` were made; returns how many were."""
        indptr, indices, weights = self.csr
        least = weights.min(initial=0)
        tie = np.zeros(self.graph.n, dtype=weights.dtype)
        members = self.members
        low = np.empty(members.size, dtype=np.int64)
        if not members.size:
            return 0
        made, change = kernels.best_swaps(
            indptr, indices, weights, least, self.inside, self.degrees, members, low, tie, limit
        )
        self.weight += float(change)
        return int(made)

    def grow(self, seed: int, size: int, pull: int) -> Ints:
        """Add `size` nodes from `seed` on, drawn `pull` times as strongly to the new piece; returns the piece."""
        piece = np.empty(size, dtype=np.int64)
        own = np.zeros(self.graph.n, dtype=self.degrees.dtype)
        self.weight += float(kernels.grow(*self.csr, seed, size, pull, self.inside, self.degrees, own, piece))
        return piece

    def shed(self, size: int, spared: Ints) -> None:
        """Remove the `size` nodes of least degree, one after another, sparing some."""
        kept = np.zeros(self.graph.n, dtype=np.uint8)
        kept[spared] = 1
        self.weight += float(kernels.shed(*self.csr, size, kept, self.inside, self.degrees))


def _no_degrees(graph: Graph) -> Weights:
    """Zeros of the kind the degrees have: integers without weights."""
    return np.zeros(graph.n, dtype=np.int64) if graph.weights is None else np.zeros(graph.n)
