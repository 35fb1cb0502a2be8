"""A set of k nodes with the degrees of all nodes into it, and what improves it: DPCD, and exchanges of whole cliques.

The descent is Algorithm 1 of Xiong et al. (`solvers.dpcd.algorithm`) for f(x) = -x'Wx on Omega_k, with incremental
degrees in place of the gradient, which is minus the degrees d into the set. On Omega_k it is known up to a constant, so
the gauge comes first: the level that separates the k largest degrees from the rest. S_plus are members below it,
S_minus outsiders that reach it; they are paired, the strongest first, and exchanged as one batch. The change of a batch
is exact; a batch that does not improve is undone and made smaller. The end is a set that no exchange of two nodes
improves. A test holds this second form to the gauge, the coordinates and the pairs of the algorithm's own parts.

Cliques are looked for: one through every node outside, weighed against what the set loses when its weakest nodes go one
after another. A random piece move finds them rarely.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from flipwise.densest.core import Degrees, arc_weights, no_degrees
from flipwise.engine.limits import Clock
from flipwise.foundation.arrays import Bools, Floats, Ints
from flipwise.graphs.graph import Graph
from flipwise.kernels import subgraph as kernels
from flipwise.kernels.jit import threads_worth

MOST_BATCHES = 200
"""Batches of one descent."""
SMALL_BATCH = 8
"""A batch of at most so many pairs is not tried as a whole: each pair is exchanged where that improves at its turn."""
FINAL_WORK = 2e9
"""Nodes looked at for best exchanges at the end of one descent, about; enough to finish on all but huge cores."""
SLICE_WORK = 2e8
"""The same between two looks at the clock of a limited run."""
SHED_WORK = 2e7
"""Nodes looked at while the weakest ones go, at most: this limits the cliques of large graphs."""


@dataclass(eq=False)
class Subset:
    """S as a mask, `degrees[i]` = weight of the edges from i into S, and `weight` = E(S).

    Nodes may weigh something by themselves, their bonuses: then degrees and E have it too, and nothing else changes.
    """

    graph: Graph
    inside: npt.NDArray[np.uint8]
    degrees: Degrees
    weight: float

    @classmethod
    def of(cls, graph: Graph, mask: Bools, bonus: Degrees | None = None) -> Subset:
        """The subset of a mask, its degrees by one full gradient, and what the nodes weigh themselves."""
        inside = mask.astype(np.uint8)
        degrees = no_degrees(graph)
        with threads_worth(graph.n_arcs):
            kernels.degrees_into(graph.indptr, graph.indices, arc_weights(graph), inside, degrees)
        weight = float(degrees[mask].sum()) / 2
        if bonus is None:
            return cls(graph, inside, degrees, weight)
        return cls(graph, inside, degrees + bonus, weight + float(bonus[mask].sum()))

    @classmethod
    def empty(cls, graph: Graph) -> Subset:
        """The subset without nodes."""
        return cls(graph, np.zeros(graph.n, np.uint8), no_degrees(graph), 0.0)

    @property
    def csr(self) -> tuple[Ints, Ints, Degrees]:
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
        """Another subset with the same members, to be changed by itself."""
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
        members, weights = self.members, arc_weights(self.graph)
        made = 0
        if members.size:
            work = np.empty(members.size, dtype=np.int64), np.zeros(self.graph.n, dtype=weights.dtype)
            least = weights.min(initial=0)
            made, change = kernels.best_swaps(*self.csr, least, self.inside, self.degrees, members, *work, limit)
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


def descend(subset: Subset, clock: Clock | None = None) -> None:
    """Improve the subset in place until no exchange of two nodes does, or the time of `clock` is over."""
    for _ in range(MOST_BATCHES):
        if clock is not None and clock.expired:
            return
        leaving, entering = principal_coordinates(subset)
        size = leaving.size
        tolerance = 0.0 if subset.graph.weights is None else 1e-12 * float(np.abs(subset.degrees).sum())
        while size > SMALL_BATCH:
            if subset.exchange(leaving[:size], entering[:size]) > tolerance:
                break
            subset.exchange(entering[:size], leaving[:size])  # it did not improve: undone, and tried with fewer
            size //= 4
        else:
            size = subset.exchange_improving(leaving, entering) if leaving.size else 0
        if not size:
            break
    most = max(100, int(FINAL_WORK / subset.graph.n))
    limited = clock is not None and clock.seconds_left < math.inf
    piece = max(10, int(SLICE_WORK / subset.graph.n)) if limited else most
    for done in range(0, most, piece):
        if subset.best_swaps(min(piece, most - done)) < piece or (clock is not None and clock.expired):
            break


def principal_coordinates(subset: Subset) -> tuple[Ints, Ints]:
    """S_plus and S_minus, paired: the members that should leave, the weakest first, and who comes in their place."""
    d, inside = subset.degrees, subset.mask
    k = int(np.count_nonzero(inside))
    if k == 0 or k == inside.size:
        return np.empty(0, np.int64), np.empty(0, np.int64)
    level = np.partition(d, d.size - k)[d.size - k]
    S_plus = np.flatnonzero(inside & (d < level))
    S_minus = np.flatnonzero(~inside & (d >= level))  # at least as many: k nodes reach the level
    S_plus = S_plus[np.argsort(d[S_plus], kind="stable")]
    S_minus = S_minus[np.argsort(-d[S_minus], kind="stable")]
    return S_plus, S_minus[: S_plus.size]


class CliqueArrays(NamedTuple):
    """What the kernels that grow cliques work on, in the order of their arguments."""

    inside: npt.NDArray[np.uint8]
    degrees: Degrees
    near: npt.NDArray[Any]
    common: npt.NDArray[np.int64]
    own: npt.NDArray[Any]
    clique: npt.NDArray[np.int64]
    """Where a kernel leaves the clique ..."""
    worth: npt.NDArray[Any]
    """... and what its first nodes bring."""

    @classmethod
    def of(cls, subset: Subset, most: int) -> CliqueArrays:
        """The arrays for cliques of at most `most` nodes beside a subset."""
        kind, n = subset.degrees.dtype, subset.graph.n
        near, common, own = np.zeros(n, dtype=kind), np.zeros(n, dtype=np.int64), np.zeros(n, dtype=kind)
        clique, worth = np.empty(most, dtype=np.int64), np.empty(most + 1, dtype=kind)
        return cls(subset.inside, subset.degrees, near, common, own, clique, worth)


def clique_exchanges(subset: Subset, loads: Floats, work: float) -> Iterator[Subset]:
    """Copies of the subset with one clique exchanged, the most promising first.

    Seeds are the nodes outside, the most loaded first, as many as looking at `work` arcs allows.
    """
    seeds = _clique_seeds(subset, loads, work)
    most = min(int(np.count_nonzero(subset.inside)) // 2, int(SHED_WORK / subset.graph.n))
    if not seeds.size or not most:
        return
    arrays = CliqueArrays.of(subset, most)
    gains, sizes = np.empty(seeds.size, dtype=subset.degrees.dtype), np.empty(seeds.size, dtype=np.int64)
    kernels.best_cliques(*subset.csr, seeds, losses(subset, most), *arrays, gains, sizes)
    met = np.zeros(subset.graph.n, dtype=bool)
    for at in np.argsort(-gains, kind="stable"):
        if met[seeds[at]]:
            continue
        kernels.clique_through(*subset.csr, seeds[at], *arrays)
        piece = arrays.clique[: sizes[at]].copy()
        met[piece] = True
        exchanged = subset.copy()
        exchanged.exchange(np.empty(0, np.int64), piece)
        exchanged.shed(piece.size, piece)
        yield exchanged


def _clique_seeds(subset: Subset, loads: Floats, work: float) -> Ints:
    """Nodes outside, the most loaded first: a clique through one looks at the arcs of all its neighbours."""
    outside = np.flatnonzero(subset.inside == 0)
    outside = outside[np.argsort(-loads[outside], kind="stable")]
    arcs = np.empty(subset.graph.n)
    with threads_worth(subset.graph.n_arcs):
        indptr, indices, _ = subset.csr
        kernels.multiply(indptr, indices, np.ones(1, np.int64), subset.graph.degrees.astype(np.float64), arcs)
    return outside[: int(np.searchsorted(np.cumsum(2.0 * arcs[outside]), work, side="right"))]


def losses(subset: Subset, most: int) -> npt.NDArray[Any]:
    """What E loses when the weakest node goes, then the weakest of the rest, and so on: after 0, 1, ..., most nodes."""
    left, losses, csr = subset.copy(), np.zeros_like(subset.degrees, shape=most + 1), subset.csr
    nobody = np.zeros(subset.graph.n, dtype=np.uint8)
    for q in range(1, most + 1):
        left.weight += float(kernels.shed(*csr, 1, nobody, left.inside, left.degrees))
        losses[q] = subset.weight - left.weight
    return losses


def times(graph: Graph, x: Floats) -> Floats:
    """W x."""
    product = np.empty(graph.n)
    with threads_worth(graph.n_arcs):
        kernels.multiply(graph.indptr, graph.indices, arc_weights(graph), x, product)
    return product


def inner_weight(graph: Graph, nodes: Ints) -> float:
    """x'Wx of a set of nodes, from scratch: only the rows of the nodes are read."""
    inside = np.zeros(graph.n, dtype=np.uint8)
    inside[nodes] = 1
    return float(kernels.inner_weight(graph.indptr, graph.indices, arc_weights(graph), nodes, inside))
