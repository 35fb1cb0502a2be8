"""Exchanges of a whole clique: one outside the set comes in, as many of the weakest nodes go.

What a random piece move finds rarely is found here by looking: a clique through every node outside, weighed against
what the set loses when its weakest nodes go one after another.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from flipwise.arrays import Floats, Ints
from flipwise.graphs.subset import Subset
from flipwise.kernels import cliques as kernels
from flipwise.kernels.jit import threads_worth
from flipwise.kernels.subgraph import multiply

SHED_WORK = 2e7
"""Nodes looked at while the weakest ones go, at most: this limits the cliques of large graphs."""


def clique_exchanges(subset: Subset, loads: Floats, work: float) -> Iterator[Subset]:
    """Copies of the subset with one clique exchanged, the most promising first.

    Seeds are the nodes outside, the most loaded first, as many as looking at `work` arcs allows.
    """
    seeds = _seeds(subset, loads, work)
    most = min(int(np.count_nonzero(subset.inside)) // 2, int(SHED_WORK / subset.graph.n))
    if not seeds.size or not most:
        return
    room = _Room(subset, most)
    gains, sizes = np.empty(seeds.size, dtype=subset.degrees.dtype), np.empty(seeds.size, dtype=np.int64)
    kernels.best_cliques(*subset.csr, seeds, _losses(subset, most), *room.shared, room.piece, room.worth, gains, sizes)
    met = np.zeros(subset.graph.n, dtype=bool)
    for at in np.argsort(-gains, kind="stable"):
        if met[seeds[at]]:
            continue
        piece = room.clique(seeds[at])[: sizes[at]].copy()
        met[piece] = True
        exchanged = subset.copy()
        exchanged.exchange(np.empty(0, np.int64), piece)
        exchanged.shed(piece.size, piece)
        yield exchanged


class _Room:
    """Where the kernels work and leave a clique."""

    def __init__(self, subset: Subset, most: int) -> None:
        kind, n = subset.degrees.dtype, subset.graph.n
        self.csr = subset.csr
        work = np.zeros(n, dtype=kind), np.zeros(n, dtype=np.int64), np.zeros(n, dtype=kind)
        self.shared = (subset.inside, subset.degrees, *work)
        self.piece, self.worth = np.empty(most, dtype=np.int64), np.empty(most + 1, dtype=kind)

    def clique(self, seed: int) -> Ints:
        """A clique through a node, in the order of its growth."""
        size = kernels.clique_through(*self.csr, seed, *self.shared, self.piece, self.worth)
        return self.piece[:size]


def _seeds(subset: Subset, loads: Floats, work: float) -> Ints:
    """Nodes outside, the most loaded first: a clique through one looks at the arcs of all its neighbours."""
    graph = subset.graph
    outside = np.flatnonzero(subset.inside == 0)
    outside = outside[np.argsort(-loads[outside], kind="stable")]
    arcs = np.empty(graph.n)
    with threads_worth(graph.n_arcs):
        multiply(graph.indptr, graph.indices, np.ones(1, np.int64), graph.degrees.astype(np.float64), arcs)
    return outside[: int(np.searchsorted(np.cumsum(2.0 * arcs[outside]), work, side="right"))]


def _losses(subset: Subset, most: int) -> npt.NDArray[Any]:
    """What E loses when the weakest node goes, then the weakest of the rest, and so on: after 0, 1, ..., most nodes."""
    left, losses = subset.copy(), np.zeros_like(subset.degrees, shape=most + 1)
    nobody = np.empty(0, dtype=np.int64)
    for q in range(1, most + 1):
        left.shed(1, nobody)
        losses[q] = subset.weight - left.weight
    return losses
