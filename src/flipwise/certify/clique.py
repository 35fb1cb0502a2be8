"""Bounds on the edges among k nodes that need no optimisation.

clique   k nodes have k(k-1)/2 pairs, each of at most the largest weight.
order    In any order of all nodes, let o_i be the number of neighbours of i that come later. Each edge of S belongs to
         its earlier end, and the member with t members after it owns at most min(o_i, t) of them:
             E(S) <= sum over t = 0..k-1 of min(t, the (t+1)-th smallest of the k largest o).
         (Pairing both in ascending order is the worst case, since min is supermodular.) The peeling order makes every
         o_i at most the largest core number D, so k > D nodes have at most kD - D(D+1)/2 edges.
"""

from __future__ import annotations

import numpy as np

from flipwise.graphs.core import Core
from flipwise.kernels.cores import later_neighbours
from flipwise.kernels.jit import threads_worth


def clique_bound(k: int, largest_weight: float) -> float:
    """All pairs, at the largest weight."""
    return k * (k - 1) / 2 * max(0.0, largest_weight)


def order_bound(core: Core, k: int) -> int:
    """The order bound of an unweighted core by its peeling order; nodes outside come first and own at most `cap`."""
    graph = core.graph
    place = np.empty(graph.n, dtype=np.int64)
    place[core.order] = np.arange(graph.n)
    later = np.zeros(graph.n, dtype=np.int64)
    with threads_worth(graph.n_arcs):
        later_neighbours(graph.indptr, graph.indices, place, later)
    outside = int(max(core.cap, 0.0))
    largest = np.sort(np.maximum(later, outside))[max(0, graph.n - k) :]
    largest = np.concatenate([np.full(k - largest.size, outside, dtype=np.int64), largest])
    return int(np.minimum(np.arange(k), largest).sum())
