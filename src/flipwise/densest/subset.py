"""A set of k nodes with the degrees of all nodes into it, and what improves it: DPCD, and exchanges of whole cliques.

The descent is Algorithm 1 of Xiong et al. for f(x) = -x'Wx on Omega_k, with incremental degrees. The gradient is -2
times the degrees d into the set. On Omega_k it is known up to a constant, so the gauge comes first: the level that
separates the k largest degrees from the rest. S_plus are members below it, S_minus outsiders above it; they are paired,
the strongest first, and exchanged as one batch. The change of a batch is exact; a batch that does not improve is undone
and made smaller. The end is a set that no exchange of two nodes improves.

Cliques are looked for: one through every node outside, weighed against what the set loses when its weakest nodes go one
after another. A random piece move finds them rarely.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from flipwise.densest.core import Degrees, arc_weights, no_degrees
from flipwise.foundation.arrays import Bools, Floats, Ints
from flipwise.graphs.graph import Graph
from flipwise.kernels import subgraph as kernels
from flipwise.kernels.jit import threads_worth

MOST_BATCHES = 200
"""Batches of one descent."""
FINAL_WORK = 2e9
"""Nodes looked at for best exchanges at the end of one descent, about; enough to finish on all but huge cores."""
SHED_WORK = 2e7
"""Nodes looked at while the weakest ones go, at most: this limits the cliques of large graphs."""


@dataclass(eq=False)
class Subset:
    """S as a mask, `degrees[i]` = weight of the edges from i into S, and `weight` = E(S)."""

    graph: Graph
    inside: npt.NDArray[np.uint8]
    degrees: Degrees
    weight: float

    @classmethod
    def of(cls, graph: Graph, mask: Bools) -> Subset:
        """The subset of a mask, its degrees by one full gradient."""
        inside = mask.astype(np.uint8)
        weights = arc_weights(graph)
        degrees = no_degrees(graph)
        with threads_worth(graph.n_arcs):
            kernels.degrees_into(graph.indptr, graph.indices, weights, inside, degrees)
        return cls(graph, inside, degrees, float(degrees[mask].sum()) / 2)

    @classmethod
    def empty(cls, graph: Graph) -> Subset:
        return cls(graph, np.zeros(graph.n, np.uint8), no_degrees(graph), 0.0)

    @property
    def csr(self) -> tuple[Ints, Ints, Degrees]:
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

    def best_swaps(self, limit: int) -> None:
        """Make best exchanges until none of all pairs improves, or `limit` were made."""
        members, weights = self.members, arc_weights(self.graph)
        if members.size:
            work = np.empty(members.size, dtype=np.int64), np.zeros(self.graph.n, dtype=weights.dtype)
            least = weights.min(initial=0)
            _, change = kernels.best_swaps(*self.csr, least, self.inside, self.degrees, members, *work, limit)
            self.weight += float(change)

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


def descend(subset: Subset) -> None:
    """Improve the subset in place until no exchange does."""
    for _ in range(MOST_BATCHES):
        if not _exchange_batch(subset):
            break
    subset.best_swaps(max(100, int(FINAL_WORK / subset.graph.n)))


def _exchange_batch(subset: Subset) -> int:
    """One principal coordinate update; returns the number of exchanges kept."""
    d, inside = subset.degrees, subset.inside.astype(bool)
    k = int(np.count_nonzero(inside))
    if k == 0 or k == inside.size:
        return 0
    level = np.partition(d, d.size - k)[d.size - k]
    S_plus = np.flatnonzero(inside & (d < level))
    S_minus = np.flatnonzero(~inside & (d >= level))
    S_plus = S_plus[np.argsort(d[S_plus], kind="stable")]
    S_minus = S_minus[np.argsort(-d[S_minus], kind="stable")]
    size = min(S_plus.size, S_minus.size)
    tolerance = 0.0 if subset.graph.weights is None else 1e-12 * float(np.abs(d).sum())
    while size > 8:
        if subset.exchange(S_plus[:size], S_minus[:size]) > tolerance:
            return size
        subset.exchange(S_minus[:size], S_plus[:size])
        size //= 4
    return subset.exchange_improving(S_plus, S_minus[: S_plus.size]) if size else 0


def clique_exchanges(subset: Subset, loads: Floats, work: float) -> Iterator[Subset]:
    """Copies of the subset with one clique exchanged, the most promising first.

    Seeds are the nodes outside, the most loaded first, as many as looking at `work` arcs allows.
    """
    seeds = _seeds(subset, loads, work)
    most = min(int(np.count_nonzero(subset.inside)) // 2, int(SHED_WORK / subset.graph.n))
    if not seeds.size or not most:
        return
    room = _room(subset, most)
    *_, clique, _ = room
    gains, sizes = np.empty(seeds.size, dtype=subset.degrees.dtype), np.empty(seeds.size, dtype=np.int64)
    kernels.best_cliques(*subset.csr, seeds, _losses(subset, most), *room, gains, sizes)
    met = np.zeros(subset.graph.n, dtype=bool)
    for at in np.argsort(-gains, kind="stable"):
        if met[seeds[at]]:
            continue
        kernels.clique_through(*subset.csr, seeds[at], *room)
        piece = clique[: sizes[at]].copy()
        met[piece] = True
        exchanged = subset.copy()
        exchanged.exchange(np.empty(0, np.int64), piece)
        exchanged.shed(piece.size, piece)
        yield exchanged


def _room(subset: Subset, most: int) -> tuple[npt.NDArray[Any], ...]:
    """The set and its degrees, three work arrays, and where the kernels leave a clique and what it is worth."""
    kind, n = subset.degrees.dtype, subset.graph.n
    work = np.zeros(n, dtype=kind), np.zeros(n, dtype=np.int64), np.zeros(n, dtype=kind)
    return subset.inside, subset.degrees, *work, np.empty(most, dtype=np.int64), np.empty(most + 1, dtype=kind)


def _seeds(subset: Subset, loads: Floats, work: float) -> Ints:
    """Nodes outside, the most loaded first: a clique through one looks at the arcs of all its neighbours."""
    graph = subset.graph
    outside = np.flatnonzero(subset.inside == 0)
    outside = outside[np.argsort(-loads[outside], kind="stable")]
    arcs = np.empty(graph.n)
    with threads_worth(graph.n_arcs):
        kernels.multiply(graph.indptr, graph.indices, np.ones(1, np.int64), graph.degrees.astype(np.float64), arcs)
    return outside[: int(np.searchsorted(np.cumsum(2.0 * arcs[outside]), work, side="right"))]


def _losses(subset: Subset, most: int) -> npt.NDArray[Any]:
    """What E loses when the weakest node goes, then the weakest of the rest, and so on: after 0, 1, ..., most nodes."""
    left, losses = subset.copy(), np.zeros_like(subset.degrees, shape=most + 1)
    nobody = np.empty(0, dtype=np.int64)
    for q in range(1, most + 1):
        left.shed(1, nobody)
        losses[q] = subset.weight - left.weight
    return losses
